//! What is wrong with a request's body, as the original's framework says it: a list of problems, each with
//! its kind, its place and its input.

use volary_core::json::{Json, Text};
use volary_core::{json, object};

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyProblem {
    /// The kind, such as `missing` or `int_parsing`.
    pub kind: &'static str,
    /// The place within the body: names and positions.
    pub place: Vec<Json>,
    /// For people.
    pub message: Text,
    /// What was there.
    pub input: Json,
}

impl BodyProblem {
    /// A problem with the field of a name.
    pub fn field(kind: &'static str, name: &'static str, message: &str, input: &Json) -> Self {
        BodyProblem {
            kind,
            place: vec![name.into()],
            message: message.into(),
            input: input.clone(),
        }
    }

    /// A problem with the body as a whole.
    pub fn whole(kind: &'static str, message: &str, input: &Json) -> Self {
        BodyProblem {
            kind,
            place: Vec::new(),
            message: message.into(),
            input: input.clone(),
        }
    }

    fn to_json(&self) -> Json {
        let mut place = vec![Json::from("body")];
        place.extend(self.place.iter().cloned());
        json!({
            "type": (self.kind),
            "loc": (Json::List(place)),
            "msg": (self.message.clone()),
            "input": (self.input.clone())
        })
    }
}

/// The body of a 422 reply.
pub fn unprocessable(problems: &[BodyProblem]) -> Json {
    let problems = problems.iter().map(BodyProblem::to_json);
    Json::Object(object!({"detail": (Json::List(problems.collect()))}))
}

/// The body of every other error reply.
pub fn detail(text: &str) -> Json {
    json!({"detail": (text)})
}

/// Reads the text of a body. An empty one is `None`: the framework takes it as no body at all.
pub fn read(text: &str) -> Result<Option<Json>, BodyProblem> {
    if text.is_empty() {
        return Ok(None);
    }
    volary_core::json::read(text)
        .map(Some)
        .map_err(|error| BodyProblem {
            kind: "json_invalid",
            place: vec![Json::from(
                i64::try_from(error.position).unwrap_or(i64::MAX),
            )],
            message: format!("JSON decode error: {error}").into(),
            input: json!({}),
        })
}
