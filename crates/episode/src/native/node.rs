//! Typed access to JSON that tracks the path: every error contains its location in the file.

use std::fmt;

use volary_core::json::{Json, Key, Object, Text};

/// A mismatch between a value and the expected format. Boxed, since every reader returns it.
pub type Fault = Box<Misfit>;

/// A mismatch between a value and the expected format, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}.")]
pub struct Misfit {
    /// The path, such as `steps[3].action`.
    pub path: String,
    /// The expected and the actual value.
    pub reason: String,
}

/// A value and its path.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    value: &'a Json,
    path: JsonPath<'a>,
}

/// The path to a value, as a linked list on the stack, so that successful reads do not allocate.
#[derive(Clone, Copy)]
enum JsonPath<'a> {
    Root,
    Key(&'a JsonPath<'a>, &'a str),
    Index(&'a JsonPath<'a>, usize),
}

impl fmt::Display for JsonPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonPath::Root => Ok(()),
            JsonPath::Key(JsonPath::Root, key) => formatter.write_str(key),
            JsonPath::Key(around, key) => write!(formatter, "{around}.{key}"),
            JsonPath::Index(around, index) => write!(formatter, "{around}[{index}]"),
        }
    }
}

impl<'a> Node<'a> {
    pub fn root(value: &'a Json) -> Self {
        Node {
            value,
            path: JsonPath::Root,
        }
    }

    pub fn value(&self) -> &'a Json {
        self.value
    }

    /// The error that this value does not match the format.
    pub fn refuse(&self, reason: impl Into<String>) -> Fault {
        let path = match self.path {
            JsonPath::Root => "the whole".to_owned(),
            path => path.to_string(),
        };
        Box::new(Misfit {
            path,
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

    /// A non-negative integer.
    pub fn count(&self) -> Result<usize, Fault> {
        let count = self.value.as_i64();
        let count = count.and_then(|count| usize::try_from(count).ok());
        self.expected("a whole number, not negative", count)
    }

    /// Reads a required member.
    pub fn member<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(Node<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match self.object()?.get(key) {
            Some(value) => read(Node {
                value,
                path: JsonPath::Key(&self.path, key),
            }),
            None => Err(self.refuse(format!("lacks \"{key}\""))),
        }
    }

    /// Reads an optional member, which may be missing or null.
    pub fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(Node<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        match self.object()?.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => read(Node {
                value,
                path: JsonPath::Key(&self.path, key),
            })
            .map(Some),
        }
    }

    /// Reads the elements of a list.
    pub fn each<T>(
        &self,
        mut read: impl FnMut(Node<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let elements = self.list()?.iter().enumerate();
        elements
            .map(|(index, value)| {
                read(Node {
                    value,
                    path: JsonPath::Index(&self.path, index),
                })
            })
            .collect()
    }

    /// Reads the members of an object.
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
                        path: JsonPath::Key(&self.path, key),
                    },
                )
            })
            .collect()
    }

    /// The members that are unknown to the format.
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
