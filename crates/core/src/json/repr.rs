//! Python's `repr` and `str` of JSON values, which occur in aviary's messages.

use super::Json;
use super::number::{append, float_text};
use super::printable::Printable;
use super::write::write_integer;

impl Json {
    /// Python's `repr`: `R`.
    pub fn to_repr(&self) -> String {
        let mut out = String::new();
        write(&mut out, self);
        out
    }

    /// Python's `str`: `S`, which equals `R` except that a text is not quoted.
    pub fn to_display(&self) -> String {
        match self {
            Json::Text(text) => text.to_string(),
            other => other.to_repr(),
        }
    }
}

/// Python's `repr` of a text.
pub fn text_repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text_repr(&mut out, text);
    out
}

fn write(out: &mut String, value: &Json) {
    match value {
        Json::Null => out.push_str("None"),
        Json::Bool(true) => out.push_str("True"),
        Json::Bool(false) => out.push_str("False"),
        Json::Integer(value) => write_integer(out, value),
        Json::Float(value) => out.push_str(&float_text(*value)),
        Json::Text(text) => write_text_repr(out, text),
        Json::List(list) => {
            out.push('[');
            for (index, element) in list.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write(out, element);
            }
            out.push(']');
        }
        Json::Object(object) => {
            out.push('{');
            for (index, (key, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_text_repr(out, key);
                out.push_str(": ");
                write(out, value);
            }
            out.push('}');
        }
    }
}

/// Appends the `repr` of a text.
pub fn write_text_repr(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut printable = Printable::default();
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            same if same == quote => {
                out.push('\\');
                out.push(quote);
            }
            ' '..='~' => out.push(character),
            shown if printable.holds(shown) => out.push(shown),
            escaped => match u32::from(escaped) {
                code @ 0..=0xff => append(out, format_args!("\\x{code:02x}")),
                code @ 0x100..=0xffff => append(out, format_args!("\\u{code:04x}")),
                code => append(out, format_args!("\\U{code:08x}")),
            },
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn texts() {
        for (text, shown) in [
            ("plain", "'plain'"),
            ("it's", "\"it's\""),
            ("it's \"so\"", "'it\\'s \"so\"'"),
            ("a\\b\n\r\t", "'a\\\\b\\n\\r\\t'"),
            ("\0\u{7f}\u{a0}é", "'\\x00\\x7f\\xa0é'"),
            ("\u{200b}中🙂\u{10ffff}", "'\\u200b中🙂\\U0010ffff'"),
        ] {
            assert_eq!(text_repr(text), shown);
        }
    }

    #[test]
    fn values() {
        let value = json!({"k": [1, 1.0, null, true, "x"], "n": {}});
        assert_eq!(value.to_repr(), "{'k': [1, 1.0, None, True, 'x'], 'n': {}}");
        assert_eq!(json!("it's").to_display(), "it's");
        assert_eq!(json!(["it's"]).to_display(), "[\"it's\"]");
    }
}
