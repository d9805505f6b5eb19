//! Serializes values like Python's `json.dumps`: ASCII, plain or indented.
//!
//! The writer appends to one string and copies runs that need no escape as a whole.

use super::number::{PYTHON, append, write_finite};
use super::{Integer, Json, Object};

impl Json {
    /// The JSON text `J`: separators `", "` and `": "`; all but printable ASCII is escaped.
    pub fn to_python_text(&self) -> String {
        let mut out = String::new();
        self.write_python_text(&mut out);
        out
    }

    /// Appends the JSON text `J`.
    pub fn write_python_text(&self, out: &mut String) {
        write(out, self, &Layout::ONE_LINE, 0);
    }

    /// The JSON text with each member on its own line, indented by `indent` spaces per level. Empty lists and
    /// objects stay on one line.
    pub fn to_python_text_indented(&self, indent: usize) -> String {
        let mut out = String::new();
        let layout = Layout {
            separator: ",",
            indent: Some(indent),
        };
        write(&mut out, self, &layout, 0);
        out
    }
}

impl Object {
    /// The JSON text `J` of the object.
    pub fn to_python_text(&self) -> String {
        let mut out = String::new();
        self.write_python_text(&mut out);
        out
    }

    /// Appends the JSON text `J` of the object.
    pub fn write_python_text(&self, out: &mut String) {
        write_object(out, self, &Layout::ONE_LINE, 0);
    }
}

struct Layout {
    separator: &'static str,
    indent: Option<usize>,
}

impl Layout {
    const ONE_LINE: Layout = Layout {
        separator: ", ",
        indent: None,
    };

    fn break_line(&self, out: &mut String, level: usize) {
        if let Some(indent) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * level));
        }
    }
}

fn write(out: &mut String, value: &Json, layout: &Layout, level: usize) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Integer(value) => write_integer(out, value),
        Json::Float(value) => write_float(out, *value),
        Json::Text(text) => write_text(out, text),
        Json::List(list) => {
            if list.is_empty() {
                out.push_str("[]");
                return;
            }
            out.push('[');
            for (index, element) in list.iter().enumerate() {
                if index > 0 {
                    out.push_str(layout.separator);
                }
                layout.break_line(out, level + 1);
                write(out, element, layout, level + 1);
            }
            layout.break_line(out, level);
            out.push(']');
        }
        Json::Object(object) => write_object(out, object, layout, level),
    }
}

fn write_object(out: &mut String, object: &Object, layout: &Layout, level: usize) {
    if object.is_empty() {
        out.push_str("{}");
        return;
    }
    out.push('{');
    for (index, (key, value)) in object.iter().enumerate() {
        if index > 0 {
            out.push_str(layout.separator);
        }
        layout.break_line(out, level + 1);
        write_text(out, key);
        out.push_str(": ");
        write(out, value, layout, level + 1);
    }
    layout.break_line(out, level);
    out.push('}');
}

pub(super) fn write_integer(out: &mut String, value: &Integer) {
    match value {
        Integer::Small(value) => append(out, format_args!("{value}")),
        Integer::Large(digits) => out.push_str(digits),
    }
}

pub(super) fn write_float(out: &mut String, value: f64) {
    if value.is_nan() {
        out.push_str("NaN");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    } else {
        write_finite(out, value, &PYTHON);
    }
}

pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, from) = rest.split_at(plain_length(rest.as_bytes()));
        out.push_str(plain);
        let mut characters = from.chars();
        let Some(character) = characters.next() else {
            break;
        };
        write_escape(out, character);
        rest = characters.as_str();
    }
    out.push('"');
}

/// The number of leading bytes that need no escape; scans eight at a time.
fn plain_length(text: &[u8]) -> usize {
    let (words, _) = text.as_chunks();
    let plain = words.iter().take_while(|word| !any_needs_escape(**word));
    let length = 8 * plain.count();
    let more = text[length..].iter().position(|byte| needs_escape(*byte));
    more.map_or(text.len(), |more| length + more)
}

/// Whether one of eight bytes needs an escape. (Only a byte that needs one can cause a carry.)
fn any_needs_escape(bytes: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(bytes);
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let beyond = word | word.wrapping_add(ONES);
    (beyond | below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES * 0x80) != 0
}

fn needs_escape(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\'
}

fn write_escape(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        other => {
            for unit in other.encode_utf16(&mut [0; 2]) {
                write_unit(out, *unit);
            }
        }
    }
}

/// Appends `\uXXXX` in lower-case hex.
pub(super) fn write_unit(out: &mut String, unit: u16) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(HEX[usize::from(unit >> shift & 0xf)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes_at_once_classify_like_single_ones() {
        for offset in 0..8 {
            for byte in 0..=u8::MAX {
                for around in [b' ', b'~', b'!', b'#', b'[', b']'] {
                    let mut bytes = [around; 8];
                    bytes[offset] = byte;
                    assert_eq!(any_needs_escape(bytes), needs_escape(byte), "{bytes:?}");
                }
            }
        }
    }
}
