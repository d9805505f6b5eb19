//! What the page and the librarian, its worker, say to each other, as JSON texts. Pure.
//!
//! Each [`Request`] has a number, and what comes of it, each [`Answer`], bears the same. Episodes travel as in
//! [`crate::protocol`]: a head, then steps in parts, then the end.

mod answer;
mod request;

use volary_core::json::{Json, Text};

pub use self::answer::Answer;
pub use self::request::Request;

/// Which request something belongs to; counts up.
pub type Number = u32;

/// What begins every text of this protocol.
const SAY: &str = "library";

fn word<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
    json.get(key)?.as_text().map(|text| &**text)
}

fn number(json: &Json) -> Option<Number> {
    json.get("number")?.as_i64()?.try_into().ok()
}

fn texts(json: &Json) -> Option<Vec<Text>> {
    let texts = json.as_list()?.iter();
    texts.map(|text| text.as_text().cloned()).collect()
}

#[cfg(test)]
mod tests;
