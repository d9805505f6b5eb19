//! Serializes values as pydantic does: no spaces, unescaped non-ASCII characters, no NaN.

use super::number::{COMPACT, write_finite};
use super::write::{write_integer, write_unit};
use super::{Json, Object};

impl Json {
    /// The compact JSON text. `NaN` and the infinities become `null`.
    pub fn to_compact_text(&self) -> String {
        let mut out = String::new();
        self.write_compact_text(&mut out);
        out
    }

    /// Appends the compact JSON text.
    pub fn write_compact_text(&self, out: &mut String) {
        write(out, self);
    }

    /// The compact JSON text without null members of the object itself. Nested nulls are kept: a
    /// record's null fields may be omitted, but the values of its fields are data.
    pub fn to_compact_text_without_nulls(&self) -> String {
        let mut out = String::new();
        match self {
            Json::Object(object) => write_members(
                &mut out,
                object.iter().filter(|(_, value)| !value.is_null()),
            ),
            other => write(&mut out, other),
        }
        out
    }
}

impl Object {
    /// The compact JSON text of the object.
    pub fn to_compact_text(&self) -> String {
        let mut out = String::new();
        write_members(&mut out, self.iter());
        out
    }
}

fn write(out: &mut String, value: &Json) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Integer(value) => write_integer(out, value),
        Json::Float(value) if value.is_finite() => write_finite(out, *value, &COMPACT),
        Json::Float(_) => out.push_str("null"),
        Json::Text(text) => write_text(out, text),
        Json::List(list) => {
            out.push('[');
            for (index, element) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, element);
            }
            out.push(']');
        }
        Json::Object(object) => write_members(out, object.iter()),
    }
}

fn write_members<'a>(out: &mut String, members: impl Iterator<Item = (&'a super::Key, &'a Json)>) {
    out.push('{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(out, key);
        out.push(':');
        write(out, value);
    }
    out.push('}');
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(offset) = rest.bytes().position(needs_escape) {
        out.push_str(&rest[..offset]);
        match rest.as_bytes()[offset] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x8 => out.push_str("\\b"),
            0xc => out.push_str("\\f"),
            other => write_unit(out, u16::from(other)),
        }
        rest = &rest[offset + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}
