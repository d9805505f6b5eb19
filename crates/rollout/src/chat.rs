//! The same loop over any chat model.
//!
//! Such a model gives no tokens, so they are reconstructed from the text with the chosen template and tokenizer, and
//! marked as such: the model saw others. The agents are those of tau-bench.

mod agent;

use std::rc::Rc;

use volary_core::{Json, Text};
use volary_tokens::{ChatMessage, ChatRole, ChatTemplate, MaskMode, Tokenizer};

use crate::environment::{EnvReset, EnvStep};
use crate::result::{InteractionResult, StopReason};
use crate::rollout::{Recorder, UnexpectedEvent};
pub use agent::ChatAgent;
use agent::Turn;

/// How a rollout with a chat model is done.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// The agent.
    pub agent: ChatAgent,
    /// The policy of the domain.
    pub wiki: Text,
    /// The tools, in OpenAI's form.
    pub tools: Vec<Json>,
    /// The chat template that tokens are reconstructed with.
    pub template: Rc<ChatTemplate>,
    /// How tokens and mask are found.
    pub mode: MaskMode,
    /// The task, or one of the environment's choice.
    pub task_index: Option<i64>,
    /// The most turns.
    pub max_num_steps: usize,
}

/// What a chat model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The messages, in OpenAI's form.
    pub messages: Vec<Json>,
    /// The tools that it may call; none for agents that call tools in text.
    pub tools: Vec<Json>,
}

/// A tool call of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatCall {
    /// The provider's id.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// JSON text, if all is well.
    pub arguments: Text,
}

/// What a chat model answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatReply {
    /// What it says.
    pub content: Option<Text>,
    /// What it calls.
    pub calls: Vec<ChatCall>,
    /// Whether it was cut because it ran out of tokens.
    pub is_cut: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEffect {
    /// Reset the environment to this task.
    Reset(Option<i64>),
    /// Ask the model.
    Ask(ChatRequest),
    /// Take this action in the environment.
    Step(volary_tokens::Action),
    /// Nothing: the episode is over.
    Finished,
}

/// What came of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// Of [`ChatEffect::Reset`].
    Reset(Result<EnvReset, Text>),
    /// Of [`ChatEffect::Ask`]. An error is one after all tries.
    Answered(Result<ChatReply, Text>),
    /// Of [`ChatEffect::Step`].
    Stepped(Result<EnvStep, Text>),
    /// The user wants it to stop. It comes at any time.
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
    /// The conversation as the model sees it.
    history: Vec<Json>,
    waiting: Waiting,
    turns: usize,
}

impl ChatRollout {
    /// A rollout, and its first effect.
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

    /// What is recorded so far.
    pub fn result(&self) -> &InteractionResult {
        self.recorder.result()
    }

    /// What was recorded.
    pub fn into_result(self) -> InteractionResult {
        self.recorder.into_result()
    }

    /// The conversation as the model sees it, in OpenAI's form.
    pub fn history(&self) -> &[Json] {
        &self.history
    }

    /// Takes an event, and says what to do next.
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

    /// The tools that the model is offered as such.
    fn offered(&self) -> &[Json] {
        match self.settings.agent.calls_in_text() {
            true => &[],
            false => &self.settings.tools,
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
