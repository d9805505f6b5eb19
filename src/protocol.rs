//! What page and worker say to each other, as JSON texts in `volary_trace`'s native codec. Pure.
//!
//! A worker answers with [`Event`]s. Each carries the token of the
//! opening that it belongs to, so that answers to what is no longer wanted are told apart and dropped.
//! An episode travels as a head (all but its steps) and then in parts, so that neither side
//! works for long at a time, however long the episode is.

use volary_core::json::{Json, Text};
use volary_core::object;
use volary_trace::frames::FramePatch;
use volary_trace::native::{self, NativeError};
use volary_trace::{Episode, StepRecord};

/// Which opening something belongs to; counts up.
pub type Token = u32;

/// What a worker says.
#[allow(
    clippy::large_enum_variant,
    reason = "an event is read, taken apart and gone; none is kept"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An environment was started on a server, and will be reset. Said so early that it can be closed though
    /// the page goes meanwhile.
    Begun {
        /// The token of the opening.
        token: Token,
        /// The address of the server.
        url: Text,
        /// The environment's id there.
        env_id: Text,
    },
    /// An episode begins: everything but its steps, and frame 0 if it has frames.
    Opened {
        /// The token of the opening.
        token: Token,
        /// The head.
        head: Episode,
    },
    /// Steps were taken, or read from a file.
    Stepped {
        /// The token of the opening.
        token: Token,
        /// The steps in order.
        steps: Vec<StepRecord>,
        /// The frames that follow those sent so far, as changes.
        patches: Vec<FramePatch>,
    },
    /// The opening is complete.
    Finished {
        /// The token of the opening.
        token: Token,
        /// What there is to say about it, for people.
        notes: Vec<Text>,
    },
    /// It could not be done; nothing changed.
    Refused {
        /// The token of the opening.
        token: Token,
        /// What failed and why, for people.
        reason: Text,
        /// The key of the configuration that is at fault, if one is.
        key: Option<Text>,
    },
    /// The environment of this token was lost, and it is not known what became of the action.
    Lost {
        /// The token of the opening.
        token: Token,
        /// What is known of it, for people.
        reason: Text,
    },
    /// The environment of this token is no longer there; nothing was done.
    Gone {
        /// The token of the opening.
        token: Token,
    },
    /// The worker is about to break down.
    Panicked {
        /// What is known of it.
        message: Text,
    },
}

/// Why a text could not be read. Page and worker are one program, so this points to a defect or to
/// a page and a worker of two versions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The text is no JSON.
    #[error("The worker's words are no JSON: {reason}")]
    Unreadable {
        /// What the reader says.
        reason: String,
    },
    /// A part is missing or of the wrong kind.
    #[error("The worker's words lack \"{part}\".")]
    Lacks {
        /// The part.
        part: &'static str,
    },
    /// A part is not what the codec writes.
    #[error(transparent)]
    Native(#[from] NativeError),
}

impl Event {
    /// The text that the other side reads.
    pub fn to_text(&self) -> String {
        match self {
            Event::Begun { token, url, env_id } => object!({
                "say": "begun",
                "token": (*token),
                "url": (url.clone()),
                "env_id": (env_id.clone())
            }),
            Event::Opened { token, head } => object!({
                "say": "opened",
                "token": (*token),
                "head": (native::episode_to_json(head))
            }),
            Event::Stepped {
                token,
                steps,
                patches,
            } => object!({
                "say": "stepped",
                "token": (*token),
                "steps": (steps.iter().map(native::step_to_json).collect::<Vec<Json>>()),
                "patches": (patches.iter().map(FramePatch::to_json).collect::<Vec<Json>>())
            }),
            Event::Finished { token, notes } => object!({
                "say": "finished",
                "token": (*token),
                "notes": (notes.clone())
            }),
            Event::Refused { token, reason, key } => object!({
                "say": "refused",
                "token": (*token),
                "reason": (reason.clone()),
                "key": (key.clone())
            }),
            Event::Lost { token, reason } => object!({
                "say": "lost",
                "token": (*token),
                "reason": (reason.clone())
            }),
            Event::Gone { token } => object!({ "say": "gone", "token": (*token) }),
            Event::Panicked { message } => object!({
                "say": "panicked",
                "token": 0,
                "message": (message.clone())
            }),
        }
        .to_python_text()
    }

    /// Reads what [`Event::to_text`] wrote.
    pub fn read(text: &str) -> Result<Event, ProtocolError> {
        let json = parse(text)?;
        let token = token(&json)?;
        match say(&json)? {
            "begun" => Ok(Event::Begun {
                token,
                url: text_part(&json, "url")?,
                env_id: text_part(&json, "env_id")?,
            }),
            "opened" => Ok(Event::Opened {
                token,
                head: native::episode_from_json(part(&json, "head")?)?,
            }),
            "stepped" => Ok(Event::Stepped {
                token,
                steps: list(&json, "steps")?
                    .iter()
                    .map(native::step_from_json)
                    .collect::<Result<_, _>>()?,
                patches: list(&json, "patches")?
                    .iter()
                    .map(FramePatch::from_json)
                    .collect::<Result<_, _>>()?,
            }),
            "finished" => Ok(Event::Finished {
                token,
                notes: list(&json, "notes")?
                    .iter()
                    .filter_map(|note| note.as_text().cloned())
                    .collect(),
            }),
            "refused" => Ok(Event::Refused {
                token,
                reason: text_part(&json, "reason")?,
                key: json.get("key").and_then(Json::as_text).cloned(),
            }),
            "lost" => Ok(Event::Lost {
                token,
                reason: text_part(&json, "reason")?,
            }),
            "gone" => Ok(Event::Gone { token }),
            "panicked" => Ok(Event::Panicked {
                message: text_part(&json, "message")?,
            }),
            _ => Err(ProtocolError::Lacks { part: "say" }),
        }
    }
}

fn parse(text: &str) -> Result<Json, ProtocolError> {
    Json::parse(text).map_err(|error| ProtocolError::Unreadable {
        reason: error.to_string(),
    })
}

fn part<'a>(json: &'a Json, part: &'static str) -> Result<&'a Json, ProtocolError> {
    json.get(part).ok_or(ProtocolError::Lacks { part })
}

fn text_part(json: &Json, name: &'static str) -> Result<Text, ProtocolError> {
    part(json, name)?
        .as_text()
        .cloned()
        .ok_or(ProtocolError::Lacks { part: name })
}

fn say(json: &Json) -> Result<&str, ProtocolError> {
    part(json, "say")?
        .as_text()
        .map(|text| &**text)
        .ok_or(ProtocolError::Lacks { part: "say" })
}

fn list<'a>(json: &'a Json, name: &'static str) -> Result<&'a [Json], ProtocolError> {
    part(json, name)?
        .as_list()
        .ok_or(ProtocolError::Lacks { part: name })
}

fn token(json: &Json) -> Result<Token, ProtocolError> {
    json.get("token")
        .and_then(Json::as_i64)
        .and_then(|token| token.try_into().ok())
        .ok_or(ProtocolError::Lacks { part: "token" })
}

#[cfg(test)]
mod tests;
