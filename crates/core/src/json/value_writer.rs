//! Serializers that write a value either as a tree or directly as text.
//!
//! A format writes its values to a [`ValueWriter`] and serves both: readers get a tree, and storage gets the
//! text `J` without an intermediate tree.

use super::write::{write_float, write_integer, write_text};
use super::{Integer, Json, Key, Object, Text};

/// The destination of one value.
pub struct ValueWriter<'a>(Target<'a>);

/// The destination of the members of an object, in order; no key twice.
pub struct Members<'a>(Inside<'a>);

enum Target<'a> {
    Tree(&'a mut Json),
    Text(&'a mut String),
}

enum Inside<'a> {
    Tree(&'a mut Object),
    Text { out: &'a mut String, is_first: bool },
}

/// The tree that `put` writes.
pub fn tree(put: impl FnOnce(ValueWriter<'_>)) -> Json {
    let mut value = Json::Null;
    put(ValueWriter(Target::Tree(&mut value)));
    value
}

/// Appends the text that `put` writes.
pub fn append(out: &mut String, put: impl FnOnce(ValueWriter<'_>)) {
    put(ValueWriter(Target::Text(out)));
}

impl ValueWriter<'_> {
    /// A shared text.
    pub fn text(self, text: &Text) {
        match self.0 {
            Target::Tree(value) => *value = Json::Text(text.clone()),
            Target::Text(out) => write_text(out, text),
        }
    }

    /// A constant of the format.
    pub fn word(self, word: &str) {
        match self.0 {
            Target::Tree(value) => *value = word.into(),
            Target::Text(out) => write_text(out, word),
        }
    }

    /// A boolean.
    pub fn flag(self, flag: bool) {
        match self.0 {
            Target::Tree(value) => *value = flag.into(),
            Target::Text(out) => out.push_str(if flag { "true" } else { "false" }),
        }
    }

    pub fn float(self, float: f64) {
        match self.0 {
            Target::Tree(value) => *value = float.into(),
            Target::Text(out) => write_float(out, float),
        }
    }

    pub fn integer(self, number: impl Into<Integer>) {
        let number = number.into();
        match self.0 {
            Target::Tree(value) => *value = Json::Integer(number),
            Target::Text(out) => write_integer(out, &number),
        }
    }

    /// A value that already is a tree.
    pub fn json(self, json: &Json) {
        match self.0 {
            Target::Tree(value) => *value = json.clone(),
            Target::Text(out) => json.write_python_text(out),
        }
    }

    /// An object that already is a tree.
    pub fn members(self, object: &Object) {
        match self.0 {
            Target::Tree(value) => *value = object.clone().into(),
            Target::Text(out) => object.write_python_text(out),
        }
    }

    /// A list; `put` writes each element.
    pub fn list<T>(self, elements: impl IntoIterator<Item = T>, put: impl Fn(ValueWriter<'_>, T)) {
        match self.0 {
            Target::Tree(value) => {
                let elements = elements.into_iter();
                let trees = elements.map(|element| tree(|writer| put(writer, element)));
                *value = Json::List(trees.collect());
            }
            Target::Text(out) => {
                out.push('[');
                for (number, element) in elements.into_iter().enumerate() {
                    if number > 0 {
                        out.push_str(", ");
                    }
                    append(out, |writer| put(writer, element));
                }
                out.push(']');
            }
        }
    }

    /// An object, whose members `put` writes.
    pub fn object(self, put: impl FnOnce(&mut Members<'_>)) {
        match self.0 {
            Target::Tree(value) => {
                let mut object = Object::new();
                put(&mut Members(Inside::Tree(&mut object)));
                *value = object.into();
            }
            Target::Text(out) => {
                out.push('{');
                let (is_first, out) = (true, out);
                let mut members = Members(Inside::Text { out, is_first });
                put(&mut members);
                members.close();
            }
        }
    }
}

impl Members<'_> {
    /// The destination of the value under a key of the format.
    pub fn at(&mut self, key: &'static str) -> ValueWriter<'_> {
        ValueWriter(match &mut self.0 {
            Inside::Tree(object) => Target::Tree(object.push(Key::Borrowed(key))),
            Inside::Text { out, is_first } => {
                debug_assert!(
                    key.bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                );
                out.push_str(if std::mem::take(is_first) {
                    "\""
                } else {
                    ", \""
                });
                out.push_str(key);
                out.push_str("\": ");
                Target::Text(out)
            }
        })
    }

    /// The destination of the value under any key.
    pub fn under(&mut self, key: &Key) -> ValueWriter<'_> {
        ValueWriter(match &mut self.0 {
            Inside::Tree(object) => Target::Tree(object.push(key.clone())),
            Inside::Text { out, is_first } => {
                if !std::mem::take(is_first) {
                    out.push_str(", ");
                }
                write_text(out, key);
                out.push_str(": ");
                Target::Text(out)
            }
        })
    }

    fn close(self) {
        if let Inside::Text { out, .. } = self.0 {
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(writer: ValueWriter<'_>) {
        writer.object(|members| {
            members.at("a").text(&"é\"".into());
            members
                .at("b")
                .list([1.5, f64::NAN], |writer, float| writer.float(float));
            members.under(&Key::Owned("\n".to_owned())).object(|_| {});
            members
                .at("d")
                .list([], |writer, flag: bool| writer.flag(flag));
            members.at("e").integer(7i64);
            members.at("f").json(&Json::Null);
            members.at("g").members(&crate::object!({"x": [true, "y"]}));
            members.at("h").word("w");
        });
    }

    #[test]
    fn tree_and_text_are_the_same() {
        let mut text = "> ".to_owned();
        append(&mut text, put);
        assert_eq!(
            text,
            r#"> {"a": "\u00e9\"", "b": [1.5, NaN], "\n": {}, "d": [], "e": 7, "f": null, "g": {"x": [true, "y"]}, "h": "w"}"#
        );
        assert_eq!(text[2..], tree(put).to_python_text());
    }
}
