//! Reading JSON with an eye on the place: every refusal says where in the file it happened.

use std::fmt;

use volary_core::json::{Json, Key, Object, Text};

/// Something that is not as it must be. Boxed, since every reader passes it on.
pub(crate) type Fault = Box<Misfit>;

/// What is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}.")]
pub struct Misfit {
    /// Where, such as `steps[3].action`.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
}

/// A value and its path.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    value: &'a Json,
    place: Place<'a>,
}

/// The way to a value. Links to the places around it, so that reading what is right costs nothing.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Key(&'a Place<'a>, &'a str),
    Index(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Key(Place::Root, key) => formatter.write_str(key),
            Place::Key(around, key) => write!(formatter, "{around}.{key}"),
            Place::Index(around, index) => write!(formatter, "{around}[{index}]"),
        }
    }
}

impl<'a> Node<'a> {
    pub fn root(value: &'a Json) -> Self {
        Node {
            value,
            place: Place::Root,
        }
    }

    pub fn value(&self) -> &'a Json {
        self.value
    }

    /// The error that this value is not as it must be.
    pub fn refuse(&self, reason: impl Into<String>) -> Fault {
        let place = match self.place {
            Place::Root => "the whole".to_owned(),
            place => place.to_string(),
        };
        Box::new(Misfit {
            place,
            reason: reason.into(),
        })
    }

    fn expected<T>(&self, what: &str, found: Option<T>) -> Result<T, Fault> {
        found.ok_or_else(|| self.refuse(format!("must be {what}, is {}", kind(self.value))))
    }

    pub fn object(&self) -> Result<&'a Object, Fault> {
        self.expected("an object", self.value.as_object())
    }

    pub fn list(&self) -> Result<&'a [Json], Fault> {
        self.expected("a list", self.value.as_list())
    }

    pub fn text(&self) -> Result<Text, Fault> {
        self.expected("a string", self.value.as_text().cloned())
    }

    pub fn boolean(&self) -> Result<bool, Fault> {
        self.expected("true or false", self.value.as_bool())
    }

    pub fn number(&self) -> Result<f64, Fault> {
        self.expected("a number", self.value.as_f64())
    }

    /// A whole number from 0 on.
    pub fn count(&self) -> Result<usize, Fault> {
        let count = self.value.as_i64();
        let count = count.and_then(|count| usize::try_from(count).ok());
        self.expected("a whole number, not negative", count)
    }

    /// Reads a member that must be there.
    pub fn member<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(Node<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match self.object()?.get(key) {
            Some(value) => read(Node {
                value,
                place: Place::Key(&self.place, key),
            }),
            None => Err(self.refuse(format!("lacks \"{key}\""))),
        }
    }

    /// Reads a member that may be missing or null.
    pub fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(Node<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        match self.object()?.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => read(Node {
                value,
                place: Place::Key(&self.place, key),
            })
            .map(Some),
        }
    }

    /// Reads each element of a list.
    pub fn each<T>(
        &self,
        mut read: impl FnMut(Node<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let elements = self.list()?.iter().enumerate();
        elements
            .map(|(index, value)| {
                read(Node {
                    value,
                    place: Place::Index(&self.place, index),
                })
            })
            .collect()
    }

    /// Reads each member of an object.
    pub fn each_member<T>(
        &self,
        read: impl Fn(&'a str, Node<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let members = self.object()?.iter();
        members
            .map(|(key, value)| {
                read(
                    key,
                    Node {
                        value,
                        place: Place::Key(&self.place, key),
                    },
                )
            })
            .collect()
    }

    /// The members that the format does not know.
    pub fn unknown(&self, known: &[&str]) -> Result<Vec<(Key, Json)>, Fault> {
        let members = self.object()?.iter();
        Ok(members
            .filter(|(key, _)| !known.contains(&key.as_ref()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect())
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Integer(_) | Json::Float(_) => "a number",
        Json::Text(_) => "a string",
        Json::List(_) => "a list",
        Json::Object(_) => "an object",
    }
}
