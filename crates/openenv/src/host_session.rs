//! A connection, from the server's end.
//!
//! Invariants: every message but `close` gets one reply, in the order of arrival. Only one work is performed at a time;
//! messages that arrive meanwhile wait. After the end there are no effects.

use std::collections::VecDeque;
use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::message::error::MessageError;
use volary_core::{AnyMessage, Frame, Reset, Step, Tool, json, object};

use crate::action::Action;
use crate::client_message::ClientMessage;
use crate::json_rpc::{self, RpcCall, RpcCode, RpcRefusal};
use crate::observation;
use crate::refusal::{ErrorCode, Refusal};
use crate::reset_request::ResetRequest;
use crate::server_message::ServerMessage;

/// What the server has to do, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Send(Text),
    /// Perform this and report it with [`HostSession::performed`].
    Perform(Work),
    /// Close the environment and the connection.
    End,
}

/// Work with the environment of the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Close the environment, if there is one, start another and reset it.
    Begin(ResetRequest),
    /// Find the tools without an episode of the session.
    Tools,
    Step(AnyMessage),
    Frame,
}

/// The outcome of work.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    Begun(Reset),
    Tools(Vec<Arc<Tool>>),
    Stepped(Step),
    Frame(Frame),
}

/// How a work is replied to.
#[derive(Clone, Debug, PartialEq)]
enum Awaited {
    Reset {
        episode_id: Option<Text>,
    },
    Tools,
    RpcTools(Json),
    /// The tool, if the action was one call.
    Step(Option<Text>),
    RpcStep(Json),
    State,
}

/// The episode of the session.
#[derive(Clone, Debug, Default, PartialEq)]
struct Played {
    id: Text,
    tools: Vec<Arc<Tool>>,
    steps: u64,
    reward: f64,
    done: bool,
}

/// A session. It holds no environment: the server does.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSession {
    id: Text,
    episodes: u64,
    played: Option<Played>,
    awaited: Option<Awaited>,
    waiting: VecDeque<Text>,
    has_ended: bool,
}

impl HostSession {
    /// A session with this id, without an episode.
    pub fn new(id: impl Into<Text>) -> HostSession {
        HostSession {
            id: id.into(),
            episodes: 0,
            played: None,
            awaited: None,
            waiting: VecDeque::new(),
            has_ended: false,
        }
    }

    /// The number of bytes, and of messages, that wait. The server reads no more from the connection while there are too many.
    pub fn waiting(&self) -> (usize, usize) {
        let bytes = self.waiting.iter().map(|text| text.len()).sum();
        (bytes, self.waiting.len())
    }

    /// A message of the client.
    pub fn receive(&mut self, text: &str) -> Vec<Effect> {
        if self.has_ended {
            return Vec::new();
        }
        if self.awaited.is_some() {
            self.waiting.push_back(text.into());
            return Vec::new();
        }
        vec![self.handle(text)]
    }

    /// The outcome of the last [`Effect::Perform`]. Outcomes of other work are errors of the server, and told as such.
    pub fn performed(&mut self, outcome: Result<Done, Refusal>) -> Vec<Effect> {
        let Some(awaited) = self.awaited.take().filter(|_| !self.has_ended) else {
            return Vec::new();
        };
        let mut effects = vec![send(&self.reply(awaited, outcome))];
        while self.awaited.is_none() && !self.has_ended {
            let Some(text) = self.waiting.pop_front() else {
                break;
            };
            effects.push(self.handle(&text));
        }
        effects
    }

    fn handle(&mut self, text: &str) -> Effect {
        let effect = match ClientMessage::read(text) {
            Ok(ClientMessage::Close) => {
                self.has_ended = true;
                self.waiting.clear();
                Ok(Effect::End)
            }
            Ok(ClientMessage::Reset(data)) => self.reset(&data),
            Ok(ClientMessage::Step(data)) => self.step(&data),
            Ok(ClientMessage::State) => Ok(self.state()),
            Ok(ClientMessage::Mcp(data)) => Ok(self.mcp(&data)),
            Err(refusal) => Err(refusal),
        };
        effect.unwrap_or_else(|refusal| send(&ServerMessage::Error(refusal)))
    }

    fn perform(&mut self, work: Work, awaited: Awaited) -> Effect {
        self.awaited = Some(awaited);
        Effect::Perform(work)
    }

    fn reset(&mut self, data: &Object) -> Result<Effect, Refusal> {
        let request = ResetRequest::read(data)?;
        let episode_id = request.episode_id.clone();
        Ok(self.perform(Work::Begin(request), Awaited::Reset { episode_id }))
    }

    fn step(&mut self, data: &Object) -> Result<Effect, Refusal> {
        let action = Action::read(data)?;
        let steps = self.played.as_ref().map(|played| played.steps);
        let tool = match &action {
            Action::Call(function) => Some(function.name.clone()),
            Action::ListTools | Action::Message { .. } => None,
        };
        match (action.into_message(steps.unwrap_or_default()), steps) {
            (None, _) => Ok(match &self.played {
                Some(played) => send(&ServerMessage::Observation(observation::of_tools(
                    &played.tools,
                ))),
                None => self.perform(Work::Tools, Awaited::Tools),
            }),
            (Some(message), Some(_)) => Ok(self.perform(Work::Step(message), Awaited::Step(tool))),
            (Some(_), None) => Err(not_reset()),
        }
    }

    fn state(&mut self) -> Effect {
        match &self.played {
            Some(_) => self.perform(Work::Frame, Awaited::State),
            None => send(&ServerMessage::State(object!({
                "episode_id": null,
                "step_count": 0
            }))),
        }
    }

    fn mcp(&mut self, data: &Object) -> Effect {
        let (id, call) = match json_rpc::read(data) {
            Ok(request) => (request.id, request.call),
            Err(refusal) => return send(&ServerMessage::Mcp(json_rpc::refuse(refusal))),
        };
        let result = match (call, &self.played) {
            (RpcCall::Ping, _) => json!({}),
            (RpcCall::CreateSession, _) => json!({"session_id": (self.id.clone())}),
            (RpcCall::ListTools, Some(played)) => json_rpc::tools(&played.tools),
            (RpcCall::ListTools, None) => {
                return self.perform(Work::Tools, Awaited::RpcTools(id));
            }
            (RpcCall::CallTool(function), Some(played)) => {
                let message = Action::Call(function).into_message(played.steps);
                return match message {
                    Some(message) => self.perform(Work::Step(message), Awaited::RpcStep(id)),
                    None => rpc_failure(id, not_reset()),
                };
            }
            (RpcCall::CallTool(_), None) => return rpc_failure(id, not_reset()),
        };
        send(&ServerMessage::Mcp(json_rpc::answer(id, result)))
    }

    fn reply(&mut self, awaited: Awaited, outcome: Result<Done, Refusal>) -> ServerMessage {
        let told = match (awaited, outcome) {
            (Awaited::RpcTools(id), Ok(Done::Tools(tools))) => Ok(ServerMessage::Mcp(
                json_rpc::answer(id, json_rpc::tools(&tools)),
            )),
            (Awaited::RpcStep(id), Ok(Done::Stepped(step))) => {
                self.count(&step);
                let result = json_rpc::called_tool(&step).map_err(unwritable);
                result.map(|result| ServerMessage::Mcp(json_rpc::answer(id, result)))
            }
            (Awaited::RpcTools(id) | Awaited::RpcStep(id), outcome) => {
                let refusal = outcome.err().unwrap_or_else(confused);
                return ServerMessage::Mcp(rpc_refusal(id, refusal));
            }
            (Awaited::Reset { episode_id }, outcome) => {
                // The environment before is closed, whatever came of the new one.
                self.played = None;
                self.begun(episode_id, outcome)
            }
            (Awaited::Tools, Ok(Done::Tools(tools))) => {
                Ok(ServerMessage::Observation(observation::of_tools(&tools)))
            }
            (Awaited::Step(tool), Ok(Done::Stepped(step))) => {
                self.count(&step);
                let observed = observation::of_step(&step, tool.as_ref());
                observed.map(ServerMessage::Observation).map_err(unwritable)
            }
            (Awaited::State, Ok(Done::Frame(frame))) => Ok(self.told_state(&frame)),
            (_, Err(refusal)) => Err(refusal),
            (_, Ok(_)) => Err(confused()),
        };
        told.unwrap_or_else(ServerMessage::Error)
    }

    fn begun(
        &mut self,
        episode_id: Option<Text>,
        outcome: Result<Done, Refusal>,
    ) -> Result<ServerMessage, Refusal> {
        let Done::Begun(reset) = outcome? else {
            return Err(confused());
        };
        let observed = observation::of_reset(&reset).map_err(unwritable)?;
        self.episodes += 1;
        let id = || format!("{}-{}", self.id, self.episodes).into();
        self.played = Some(Played {
            id: episode_id.unwrap_or_else(id),
            tools: reset.tools,
            ..Played::default()
        });
        Ok(ServerMessage::Observation(observed))
    }

    fn count(&mut self, step: &Step) {
        if let Some(played) = &mut self.played {
            played.steps += 1;
            played.reward += step.reward;
            played.done = step.done || step.truncated;
        }
    }

    fn told_state(&self, frame: &Frame) -> ServerMessage {
        let played = self.played.clone().unwrap_or_default();
        ServerMessage::State(object!({
            "episode_id": (played.id),
            "step_count": (i64::try_from(played.steps).unwrap_or(i64::MAX)),
            "total_reward": (Some(played.reward).filter(|reward| reward.is_finite())),
            "done": (played.done),
            "frame": {"state": (frame.state.clone()), "info": (frame.info.clone())}
        }))
    }
}

fn send(message: &ServerMessage) -> Effect {
    Effect::Send(message.to_json().to_compact_text().into())
}

fn not_reset() -> Refusal {
    Refusal::new(
        ErrorCode::Execution,
        "There is no episode yet. Send a reset first, and again after one that failed.",
    )
}

fn unwritable(error: MessageError) -> Refusal {
    let message = format!("The environment's message cannot be written as JSON: {error}");
    Refusal::new(ErrorCode::Execution, message)
}

fn confused() -> Refusal {
    Refusal::new(
        ErrorCode::Session,
        "The server mixed up two requests. Connect again.",
    )
}

fn rpc_failure(id: Json, refusal: Refusal) -> Effect {
    send(&ServerMessage::Mcp(rpc_refusal(id, refusal)))
}

fn rpc_refusal(id: Json, refusal: Refusal) -> Object {
    json_rpc::refuse(RpcRefusal {
        id,
        code: RpcCode::Internal,
        message: refusal.message,
    })
}

#[cfg(test)]
mod tests;
