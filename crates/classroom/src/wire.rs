//! The messages between a page and a class server. `docs/classroom.md` lists the endpoints.

use serde::{Deserialize, Serialize};
use volary_core::Json;
use volary_core::json::to_json;
use volary_core::object;

use crate::board::BoardRow;
use crate::hand_in::{HandIn, HandInError};
use crate::name::Name;

/// The paths of the endpoints.
pub const CLASS: &str = "/class";
pub const HAND_INS: &str = "/class/hand-ins";
pub const EXPORT: &str = "/class/export";

/// The length of a pupil's secret, in characters.
const SECRET: std::ops::RangeInclusive<usize> = 16..=100;

/// The reply to a teacher who connects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassInfo {
    /// The name of the class.
    pub name: String,
    /// The code for pupils.
    pub code: String,
    /// The assignments with hand-ins.
    pub assignments: Vec<Summary>,
}

/// An assignment with hand-ins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub assignment: String,
    pub title: Name,
    /// The number of hand-ins.
    pub hand_ins: u32,
}

/// The reply with the rows of the board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    pub rows: Vec<BoardRow>,
}

/// The reply to a hand-in: it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id of the hand-in.
    pub id: String,
    /// Whether it replaced an earlier one.
    pub replaced: bool,
    /// When it was received, in seconds since 1970 (UTC).
    pub received: f64,
}

/// A hand-in on its way to the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// A random text that only this pupil's browser knows, so that nobody else replaces the hand-in.
    pub secret: String,
    pub hand_in: HandIn,
}

impl Submission {
    pub fn to_text(&self) -> String {
        let value = object!({
            "secret": (self.secret.clone()),
            "hand_in": (self.hand_in.to_json())
        });
        Json::from(value).to_python_text()
    }

    pub fn from_json(value: &Json) -> Result<Submission, HandInError> {
        let secret = value.get("secret").and_then(Json::as_text);
        let secret = secret.filter(|secret| SECRET.contains(&secret.len()));
        let hand_in = value.get("hand_in").ok_or(HandInError::Damaged)?;
        Ok(Submission {
            secret: secret.ok_or(HandInError::Damaged)?.to_string(),
            hand_in: HandIn::from_json(hand_in)?,
        })
    }
}

/// A reply as text.
pub fn to_text(reply: &impl Serialize) -> String {
    // Texts and finite numbers can always be serialized.
    to_json(reply).unwrap_or_default().to_compact_text()
}
