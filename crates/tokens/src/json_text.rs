//! Python's `json.dumps` with its options.

use volary_core::json::float_text;
use volary_core::{Json, Object};

/// The options of `json.dumps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonStyle {
    /// Whether to escape non-ASCII characters.
    pub(crate) ensure_ascii: bool,
    /// The indentation of each level; `None` for one line.
    pub(crate) indent: Option<String>,
    /// The separator of elements.
    pub(crate) item_separator: String,
    /// The separator of a key and its value.
    pub(crate) key_separator: String,
    /// Whether to sort members by key.
    pub(crate) sort_keys: bool,
    /// The number of bytes beyond which no more members are written.
    pub(crate) most: usize,
}

impl Default for JsonStyle {
    fn default() -> Self {
        JsonStyle {
            ensure_ascii: false,
            indent: None,
            item_separator: ", ".to_owned(),
            key_separator: ": ".to_owned(),
            sort_keys: false,
            most: usize::MAX,
        }
    }
}

/// `json.dumps(value, ensure_ascii=False)`.
pub(crate) fn plain(value: &Json) -> String {
    JsonStyle::default().write(value)
}

impl JsonStyle {
    /// The JSON text of a value.
    pub(crate) fn write(&self, value: &Json) -> String {
        let mut out = String::new();
        self.value(&mut out, value, 1);
        out
    }

    fn value(&self, out: &mut String, value: &Json, level: usize) {
        match value {
            Json::Text(text) => self.text(out, text),
            Json::List(list) => {
                self.members(out, ['[', ']'], list, level, |out, element| {
                    self.value(out, element, level + 1);
                });
            }
            Json::Object(object) => self.object(out, object, level),
            Json::Float(value) if value.is_finite() => out.push_str(&float_text(*value)),
            Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Float(_) => {
                value.write_python_text(out);
            }
        }
    }

    fn object(&self, out: &mut String, object: &Object, level: usize) {
        let mut members: Vec<(&str, &Json)> =
            object.iter().map(|(key, value)| (&**key, value)).collect();
        if self.sort_keys {
            // UTF-8 sorts by code point.
            members.sort_by_key(|(key, _)| *key);
        }
        self.members(out, ['{', '}'], &members, level, |out, (key, value)| {
            self.text(out, key);
            out.push_str(&self.key_separator);
            self.value(out, value, level + 1);
        });
    }

    fn members<T>(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        members: &[T],
        level: usize,
        write: impl Fn(&mut String, &T),
    ) {
        out.push(open);
        for (index, member) in members.iter().enumerate() {
            if out.len() > self.most {
                return;
            }
            if index > 0 {
                out.push_str(&self.item_separator);
            }
            self.break_line(out, level);
            write(out, member);
        }
        if !members.is_empty() {
            self.break_line(out, level - 1);
        }
        out.push(close);
    }

    fn break_line(&self, out: &mut String, level: usize) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(indent.as_str(), level));
        }
    }

    fn text(&self, out: &mut String, text: &str) {
        if self.ensure_ascii {
            Json::from(text).write_python_text(out);
            return;
        }
        out.push('"');
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                control if control < ' ' => {
                    out.push_str(&format!("\\u{:04x}", u32::from(control)));
                }
                other => out.push(other),
            }
        }
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::json;

    #[test]
    fn one_line_keeps_all_but_controls() {
        let value = json!({"é": ["\u{1}\t\"\\\u{7f}", 1.0, 1e16, null, {}], "a": []});
        assert_eq!(
            plain(&value),
            "{\"é\": [\"\\u0001\\t\\\"\\\\\u{7f}\", 1.0, 1e+16, null, {}], \"a\": []}"
        );
    }

    #[test]
    fn indented_and_sorted() {
        let style = JsonStyle {
            indent: Some("  ".to_owned()),
            item_separator: ",".to_owned(),
            sort_keys: true,
            ..JsonStyle::default()
        };
        assert_eq!(
            style.write(&json!({"b": [1, {}], "a": []})),
            "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {}\n  ]\n}"
        );
    }
}
