//! Validation errors of request bodies in the format of the original's framework: a list of problems, each with
//! its kind, its location and its input.

use volary_core::json::read::{ReadError, ReadProblem};
use volary_core::json::{Json, Text};
use volary_core::{json, object};

/// One validation error.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyProblem {
    /// The kind, such as `missing` or `int_parsing`.
    pub kind: &'static str,
    /// The location within the body: names and indices.
    pub place: Vec<Json>,
    /// The message for people.
    pub message: Text,
    /// The invalid value.
    pub input: Json,
    /// Further details, for the kinds of errors for which the original includes them.
    pub context: Option<Json>,
}

impl BodyProblem {
    /// An error of a field.
    pub fn field(kind: &'static str, name: &'static str, message: &str, input: &Json) -> Self {
        BodyProblem {
            kind,
            place: vec![name.into()],
            message: message.into(),
            input: input.clone(),
            context: None,
        }
    }

    /// An error of the body as a whole.
    pub fn whole(kind: &'static str, message: &str, input: &Json) -> Self {
        BodyProblem {
            kind,
            place: Vec::new(),
            message: message.into(),
            input: input.clone(),
            context: None,
        }
    }

    fn to_json(&self) -> Json {
        let mut place = vec![Json::from("body")];
        place.extend(self.place.iter().cloned());
        let mut problem = object!({
            "type": (self.kind),
            "loc": place,
            "msg": (self.message.clone()),
            "input": (self.input.clone())
        });
        if let Some(context) = &self.context {
            problem.insert("ctx", context.clone());
        }
        Json::Object(problem)
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

/// Why a body cannot be parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreadable {
    /// It is not valid JSON, and the position is known.
    NotJson(BodyProblem),
    /// It is not UTF-8, or nested too deeply.
    Unfit(&'static str),
}

/// Parses the bytes of a body. An empty one is `None`: the framework treats it as a missing body.
pub fn read(bytes: &[u8]) -> Result<Option<Json>, Unreadable> {
    if bytes.is_empty() {
        return Ok(None);
    }
    // A byte order mark is allowed here, unlike in other JSON texts.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::Unfit("it is not UTF-8"))?;
    volary_core::json::read(text).map(Some).map_err(not_json)
}

fn not_json(error: ReadError) -> Unreadable {
    if error.problem == ReadProblem::TooDeep {
        return Unreadable::Unfit("it is nested too deeply");
    }
    let position = i64::try_from(error.position).unwrap_or(i64::MAX);
    Unreadable::NotJson(BodyProblem {
        kind: "json_invalid",
        place: vec![position.into()],
        message: "JSON decode error".into(),
        input: json!({}),
        context: Some(json!({"error": (error.problem.to_string())})),
    })
}
