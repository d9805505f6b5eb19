//! What a server sends on the socket: `{"type": …, "data": …}`.

use volary_core::fields::{self, FieldError};
use volary_core::json::{Json, Object};
use volary_core::{json, object};

use crate::refusal::{ErrorCode, Refusal};

/// What a server replies.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerMessage {
    /// The result of a reset or a step.
    Observation(Observed),
    State(Object),
    Error(Refusal),
    /// The answer to a call of MCP.
    Mcp(Object),
}

/// An observation with the reward of its step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Its form is the environment's own.
    pub observation: Object,
    /// `None` after a reset, and where the environment gives none.
    pub reward: Option<f64>,
    /// Whether the episode ended.
    pub done: bool,
    pub metadata: Object,
}

impl ServerMessage {
    /// The message on the wire.
    pub fn to_json(&self) -> Json {
        match self {
            ServerMessage::Observation(observed) => {
                json!({"type": "observation", "data": (observed.to_object())})
            }
            ServerMessage::State(state) => json!({"type": "state", "data": (state.clone())}),
            ServerMessage::Error(refusal) => json!({
                "type": "error",
                "data": {"message": (refusal.message.clone()), "code": (refusal.code.as_str())}
            }),
            ServerMessage::Mcp(answer) => json!({"type": "mcp", "data": (answer.clone())}),
        }
    }

    /// Reads a message. Unknown codes of errors count as failures of the environment.
    pub fn read(value: &Json) -> Result<ServerMessage, FieldError> {
        let object = fields::object("", value)?;
        let kind = fields::text("type", fields::required(object, "type")?)?;
        let data = fields::object("data", fields::required(object, "data")?)?;
        match &*kind {
            "observation" => {
                let observed = Observed::read(data).map_err(|error| error.within("data"))?;
                Ok(ServerMessage::Observation(observed))
            }
            "state" => Ok(ServerMessage::State(data.clone())),
            "mcp" => Ok(ServerMessage::Mcp(data.clone())),
            "error" => {
                let text = |key: &str| data.get(key).and_then(Json::as_text);
                let code = text("code").and_then(|code| ErrorCode::from_name(code));
                let message = text("message").cloned();
                Ok(ServerMessage::Error(Refusal::new(
                    code.unwrap_or(ErrorCode::Execution),
                    message.unwrap_or_else(|| "The server gave no reason.".into()),
                )))
            }
            unknown => Err(FieldError::new("type", format!("{unknown} is unknown"))),
        }
    }
}

impl Observed {
    fn to_object(&self) -> Object {
        // JSON has no other numbers.
        let reward = self.reward.filter(|reward| reward.is_finite());
        let mut data = object!({
            "observation": (self.observation.clone()),
            "reward": reward,
            "done": (self.done)
        });
        if !self.metadata.is_empty() {
            data.insert("metadata", self.metadata.clone());
        }
        data
    }

    fn read(data: &Object) -> Result<Observed, FieldError> {
        let observation = fields::required(data, "observation")?;
        let reward = match data.get("reward") {
            None | Some(Json::Null) => None,
            // Some environments reward with true and false.
            Some(Json::Bool(flag)) => Some(f64::from(u8::from(*flag))),
            Some(number) => match number.as_f64() {
                Some(reward) => Some(reward),
                None => return Err(FieldError::new("reward", "a number is needed")),
            },
        };
        let done = data.get("done").filter(|done| !done.is_null());
        Ok(Observed {
            observation: fields::object("observation", observation)?.clone(),
            reward,
            done: done.map_or(Ok(false), |done| fields::flag("done", done))?,
            metadata: match data.get("metadata") {
                Some(Json::Object(metadata)) => metadata.clone(),
                _ => Object::new(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_read() {
        for message in [
            ServerMessage::Observation(Observed {
                observation: object!({"text": "hello"}),
                reward: Some(0.5),
                done: true,
                metadata: object!({"truncated": true}),
            }),
            ServerMessage::Observation(Observed::default()),
            ServerMessage::State(object!({"step_count": 1})),
            ServerMessage::Error(Refusal::new(ErrorCode::CapacityReached, "full")),
            ServerMessage::Mcp(object!({"id": 1})),
        ] {
            assert_eq!(ServerMessage::read(&message.to_json()), Ok(message));
        }
    }

    #[test]
    fn rewards_in_every_form() {
        let reward = |reward: Json| {
            let data = json!({"observation": {}, "reward": reward});
            let read = ServerMessage::read(&json!({"type": "observation", "data": data}));
            match read {
                Ok(ServerMessage::Observation(observed)) => Ok(observed.reward),
                other => Err(other),
            }
        };
        assert_eq!(reward(json!(null)), Ok(None));
        assert_eq!(reward(json!(true)), Ok(Some(1.0)));
        assert_eq!(reward(json!(-2)), Ok(Some(-2.0)));
        assert!(reward(json!("1")).is_err());
        let endless = Observed {
            reward: Some(f64::INFINITY),
            ..Observed::default()
        };
        let text = ServerMessage::Observation(endless)
            .to_json()
            .to_compact_text();
        assert!(text.contains(r#""reward":null"#), "{text}");
    }
}
