//! JSON values as readable text: coloured, indented if a line would be too long, with characters beyond ASCII
//! unescaped.
//!
//! This is not a wire format; see `core::json` for those. The output is limited to a number of lines.

use volary_core::Json;

/// Values up to this length stay on one line.
const LINE_WIDTH: usize = 72;
/// The maximum indentation depth.
const MOST_INDENTS: usize = 24;

/// The kind of a token, which sets its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Brackets, commas, white space.
    Plain,
    /// A key of an object.
    Key,
    Text,
    Number,
    /// `true`, `false`, `null`.
    Word,
}

/// A run of one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind, which sets the colour.
    pub kind: TokenKind,
    pub text: String,
}

/// A formatted value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pretty {
    /// The tokens in order.
    pub tokens: Vec<Token>,
    /// Whether it was truncated at the limit of lines.
    pub cut: bool,
}

/// A value on one line, cut to about `limit` characters; for headings and previews.
pub fn one_line(value: &Json, most: usize) -> String {
    let mut printer = Printer::new(1, most);
    printer.value(value, 0, true);
    let cut = printer.full();
    let mut text: String = printer
        .pretty
        .tokens
        .into_iter()
        .map(|token| token.text)
        .collect();
    if cut || text.len() > most {
        text.truncate(super::text::cut_at(&text, most));
        text.push('…');
    }
    text
}

/// A value on at most `lines` lines.
pub fn pretty(value: &Json, most_lines: usize) -> Pretty {
    let mut printer = Printer::new(most_lines, usize::MAX);
    printer.value(value, 0, false);
    printer.pretty.cut = printer.full();
    printer.pretty
}

/// The text of a number, string, boolean or null as [`pretty`] shows it. Empty for lists and objects.
pub fn scalar(value: &Json) -> (TokenKind, String) {
    match value {
        Json::Null => (TokenKind::Word, "null".into()),
        Json::Bool(true) => (TokenKind::Word, "true".into()),
        Json::Bool(false) => (TokenKind::Word, "false".into()),
        Json::Integer(_) | Json::Float(_) => (TokenKind::Number, value.to_python_text()),
        Json::Text(text) => (TokenKind::Text, quoted(text)),
        Json::List(_) | Json::Object(_) => (TokenKind::Plain, String::new()),
    }
}

/// A quoted string. Only characters that would break the line or the quotes are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

struct Printer {
    pretty: Pretty,
    lines_left: usize,
    bytes_left: usize,
}

impl Printer {
    fn new(lines: usize, bytes: usize) -> Self {
        Printer {
            pretty: Pretty::default(),
            lines_left: lines,
            bytes_left: bytes,
        }
    }

    fn full(&self) -> bool {
        self.lines_left == 0 || self.bytes_left == 0
    }

    /// Merges adjacent tokens of the same kind, which saves elements on the page.
    fn push(&mut self, kind: TokenKind, text: &str) {
        if self.full() {
            return;
        }
        self.bytes_left = self.bytes_left.saturating_sub(text.len());
        match self.pretty.tokens.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.pretty.tokens.push(Token {
                kind,
                text: text.to_owned(),
            }),
        }
    }

    fn line_break(&mut self, level: usize) {
        self.lines_left = self.lines_left.saturating_sub(1);
        if !self.full() {
            let indent = "  ".repeat(level.min(MOST_INDENTS));
            self.push(TokenKind::Plain, &format!("\n{indent}"));
        }
    }

    fn value(&mut self, value: &Json, level: usize, inline: bool) {
        if self.full() {
            return;
        }
        let room = LINE_WIDTH.saturating_sub(2 * level);
        let inline = inline || width(value, room).is_some();
        match value {
            Json::List(list) => {
                self.container(
                    ("[", "]"),
                    list.iter().map(|value| (None, value)),
                    level,
                    inline,
                );
            }
            Json::Object(object) => {
                let members = object.iter().map(|(key, value)| (Some(&**key), value));
                self.container(("{", "}"), members, level, inline);
            }
            Json::Text(text) if text.len() > self.bytes_left => {
                // Only a part will be visible: megabytes need not be escaped for it.
                let end = super::text::cut_at(text, self.bytes_left);
                self.push(
                    TokenKind::Text,
                    &quoted(text.get(..end).unwrap_or_default()),
                );
                self.bytes_left = 0;
            }
            other => {
                let (kind, text) = scalar(other);
                self.push(kind, &text);
            }
        }
    }

    fn container<'a>(
        &mut self,
        (open, close): (&str, &str),
        members: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Json)>,
        level: usize,
        inline: bool,
    ) {
        self.push(TokenKind::Plain, open);
        let count = members.len();
        for (place, (key, value)) in members.enumerate() {
            if self.full() {
                return;
            }
            if !inline {
                self.line_break(level + 1);
            }
            if let Some(key) = key {
                self.push(TokenKind::Key, &quoted(key));
                self.push(TokenKind::Plain, ": ");
            }
            self.value(value, level + 1, inline);
            if place + 1 < count {
                self.push(TokenKind::Plain, if inline { ", " } else { "," });
            }
        }
        if !inline && count > 0 {
            self.line_break(level);
        }
        self.push(TokenKind::Plain, close);
    }
}

/// The width of a value on one line, if at most `room`.
fn width(value: &Json, room: usize) -> Option<usize> {
    let mut total = match value {
        Json::Text(text) if text.len() > 4 * room => return None,
        Json::Text(text) => quoted(text).chars().count(),
        Json::List(_) | Json::Object(_) => 2,
        other => scalar(other).1.len(),
    };
    let mut add = |key: usize, value: &Json| {
        total += key + 2;
        total += width(value, room.checked_sub(total)?)?;
        Some(())
    };
    match value {
        Json::List(list) => list.iter().try_for_each(|value| add(0, value))?,
        Json::Object(object) => object
            .iter()
            .try_for_each(|(key, value)| add(key.chars().count() + 4, value))?,
        _ => {}
    }
    (total <= room).then_some(total)
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    fn text(pretty: &Pretty) -> String {
        pretty.tokens.iter().map(|token| &*token.text).collect()
    }

    #[test]
    fn short_values_stay_on_a_line() {
        let value = json!({"a": [1, 2.5, null], "b": {"c": "x\ny"}});
        assert_eq!(
            text(&pretty(&value, 100)),
            r#"{"a": [1, 2.5, null], "b": {"c": "x\ny"}}"#
        );
    }

    #[test]
    fn long_values_are_indented() {
        let long = "x".repeat(60);
        let value = json!({"a": [1, 2], "b": (long.as_str())});
        assert_eq!(
            text(&pretty(&value, 100)),
            format!("{{\n  \"a\": [1, 2],\n  \"b\": \"{long}\"\n}}")
        );
    }

    #[test]
    fn lines_are_bounded() {
        let value = Json::from((0..1_000).collect::<Vec<i32>>());
        let shown = pretty(&value, 5);
        assert!(shown.cut);
        assert_eq!(text(&shown), "[\n  0,\n  1,\n  2,\n  3,");
        assert!(!pretty(&value, 2_000).cut);
    }

    #[test]
    fn a_line_is_cut() {
        assert_eq!(one_line(&json!({"a": 1}), 20), r#"{"a": 1}"#);
        assert_eq!(one_line(&json!([1, 2, 3, 4, 5, 6]), 8), "[1, 2, 3…");
        let long = Json::from("é".repeat(1_000_000));
        assert!(one_line(&long, 20).len() < 30);
    }

    #[test]
    fn deep_values_do_not_overflow() {
        let mut value = Json::Null;
        for _ in 0..900 {
            value = Json::List(vec![value]);
        }
        assert!(pretty(&value, 40).cut);
    }
}
