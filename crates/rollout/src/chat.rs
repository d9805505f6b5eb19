//! The same loop with any chat model.
//!
//! Such a model returns no tokens, so they are reconstructed from the text with the chosen template and tokenizer, and
//! marked as such: the model used other tokens. The agents are those of tau-bench.

mod agent;

use std::rc::Rc;

use volary_core::{Json, Text};
use volary_tokens::{ChatMessage, ChatRole, ChatTemplate, MaskMode, Tokenizer};

use crate::environment::{EnvReset, EnvStep};
use crate::result::{InteractionResult, StopReason};
use crate::rollout::{Recorder, UnexpectedEvent};
pub use agent::ChatAgent;
use agent::Turn;

/// The settings of a rollout with a chat model.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    pub agent: ChatAgent,
    /// The policy of the domain.
    pub wiki: Text,
    /// The tools, in OpenAI's format.
    pub tools: Vec<Json>,
    /// The chat template for the reconstruction of tokens.
    pub template: Rc<ChatTemplate>,
    /// The method that determines tokens and mask.
    pub mode: MaskMode,
    /// The task; `None` lets the environment choose one.
    pub task_index: Option<i64>,
    /// The maximum number of turns.
    pub max_num_steps: usize,
}

/// A request to a chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The messages, in OpenAI's format.
    pub messages: Vec<Json>,
    /// The tools to declare; empty for agents that call tools in text.
    pub tools: Vec<Json>,
}

/// A tool call of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatCall {
    /// The provider's id.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// Usually JSON text.
    pub arguments: Text,
}

/// The answer of a chat model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatReply {
    /// The text.
    pub content: Option<Text>,
    pub calls: Vec<ChatCall>,
    /// Whether the answer was cut off at the token limit.
    pub is_cut: bool,
}

/// The next effect to perform.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEffect {
    /// Reset the environment to this task.
    Reset(Option<i64>),
    /// Ask the model.
    Ask(ChatRequest),
    /// Take this action in the environment.
    Step(volary_tokens::Action),
    /// No effect: the episode is over.
    Finished,
}

/// The result of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// The result of [`ChatEffect::Reset`].
    Reset(Result<EnvReset, Text>),
    /// The result of [`ChatEffect::Ask`]. An error is reported after all retries.
    Answered(Result<ChatReply, Text>),
    /// The result of [`ChatEffect::Step`].
    Stepped(Result<EnvStep, Text>),
    /// The user cancels the rollout. Accepted at any time.
    Cancel,
}

enum Waiting {
    Reset,
    Answered,
    Stepped(Turn),
    Nothing,
}

/// An episode of a chat model and an environment.
pub struct ChatRollout {
    settings: ChatSettings,
    recorder: Recorder,
    /// The conversation as sent to the model.
    history: Vec<Json>,
    waiting: Waiting,
    turns: usize,
}

impl ChatRollout {
    /// Starts a rollout, and returns its first effect.
    pub fn start(settings: ChatSettings, tokenizer: Rc<dyn Tokenizer>) -> (Self, ChatEffect) {
        let mut recorder = Recorder::new(Rc::clone(&settings.template), settings.mode, tokenizer);
        recorder.mark_reconstructed();
        let effect = ChatEffect::Reset(settings.task_index);
        let rollout = ChatRollout {
            settings,
            recorder,
            history: Vec::new(),
            waiting: Waiting::Reset,
            turns: 0,
        };
        (rollout, effect)
    }

    /// The recording so far.
    pub fn result(&self) -> &InteractionResult {
        self.recorder.result()
    }

    /// The recording.
    pub fn into_result(self) -> InteractionResult {
        self.recorder.into_result()
    }

    /// The conversation as sent to the model, in OpenAI's format.
    pub fn history(&self) -> &[Json] {
        &self.history
    }

    /// Handles an event, and returns the next effect.
    pub fn handle(&mut self, event: ChatEvent) -> Result<ChatEffect, UnexpectedEvent> {
        let waiting = std::mem::replace(&mut self.waiting, Waiting::Nothing);
        let next = match (waiting, event) {
            (Waiting::Nothing, ChatEvent::Cancel) => return Ok(ChatEffect::Finished),
            (_, ChatEvent::Cancel) => Err(StopReason::Cancelled),
            (Waiting::Reset, ChatEvent::Reset(reset)) => self.was_reset(reset),
            (Waiting::Answered, ChatEvent::Answered(reply)) => self.was_answered(reply),
            (Waiting::Stepped(turn), ChatEvent::Stepped(step)) => self.was_stepped(turn, step),
            (waiting, _) => {
                self.waiting = waiting;
                return Err(UnexpectedEvent);
            }
        };
        Ok(next.unwrap_or_else(|reason| {
            self.recorder.stop(reason);
            ChatEffect::Finished
        }))
    }

    fn was_reset(&mut self, reset: Result<EnvReset, Text>) -> Result<ChatEffect, StopReason> {
        let reset = reset.map_err(StopReason::Reset)?;
        let system = self
            .settings
            .agent
            .system(&self.settings.wiki, &self.settings.tools);
        let system = ChatMessage::new(ChatRole::System, system);
        let user = ChatMessage::new(ChatRole::User, reset.observation);
        self.history = vec![system.to_json(), user.to_json()];
        self.recorder.begin(Some(system), user, reset.info);
        let prompt = self.recorder.render(self.offered())?;
        self.recorder.set_prompt(prompt)?;
        if self.settings.max_num_steps == 0 {
            return Err(StopReason::NoTurns);
        }
        Ok(self.ask())
    }

    /// The tools declared to the model.
    fn offered(&self) -> &[Json] {
        if self.settings.agent.calls_in_text() {
            &[]
        } else {
            &self.settings.tools
        }
    }

    fn ask(&mut self) -> ChatEffect {
        self.waiting = Waiting::Answered;
        ChatEffect::Ask(ChatRequest {
            messages: self.history.clone(),
            tools: self.offered().to_vec(),
        })
    }

    fn was_answered(&mut self, reply: Result<ChatReply, Text>) -> Result<ChatEffect, StopReason> {
        let reply = reply.map_err(StopReason::Transport)?;
        let turn = self
            .settings
            .agent
            .turn(&reply)
            .map_err(|error| StopReason::Parser(error.to_string().into()))?;
        if reply.is_cut {
            self.recorder.note_cut(self.turns);
        }
        self.history.push(turn.sent.clone());
        self.recorder.record_text(turn.said.clone())?;
        let action = turn.action.clone();
        self.waiting = Waiting::Stepped(turn);
        Ok(ChatEffect::Step(action))
    }

    fn was_stepped(
        &mut self,
        turn: Turn,
        step: Result<EnvStep, Text>,
    ) -> Result<ChatEffect, StopReason> {
        let step = step.map_err(StopReason::Environment)?;
        let (sent, recorded) = self.settings.agent.observation(&turn, &step.observation);
        self.history.push(sent);
        self.turns += 1;
        let is_last = step.done || self.turns >= self.settings.max_num_steps;
        self.recorder.record_observation(recorded, is_last)?;
        self.recorder.note_outcome(step.reward, &step.info);
        if step.done {
            return Err(StopReason::Done);
        }
        if is_last {
            return Err(StopReason::MaxSteps(self.settings.max_num_steps));
        }
        Ok(self.ask())
    }
}
