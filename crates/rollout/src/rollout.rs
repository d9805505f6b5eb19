//! The loop of slime's tau-bench agent, as a state machine.
//!
//! [`Rollout::start`] returns the first effect; for each event, [`Rollout::handle`] returns the next one, until it is
//! [`Effect::Finished`]. The caller does the I/O.
//!
//! In each turn the whole history is rendered and sent, the completion is parsed, the action goes to the environment,
//! and both messages are recorded with their tokens. The recording of every exit path equals that of the original.

mod recorder;

use std::rc::Rc;

use volary_core::{Json, Object, Text};
use volary_tokens::tool_parser::{ParseOptions, Parsed};
use volary_tokens::{
    Action, ChatMessage, ChatRole, ChatTemplate, MaskMode, Tokenizer, ToolParser, call_to_action,
    tool_instruction,
};

use crate::environment::{EnvReset, EnvStep};
use crate::result::{InteractionResult, StopReason};
use crate::sglang::{FinishReason, GenerateReply, GenerateRequest, Prompt, SamplingParams};
pub(crate) use recorder::Recorder;

/// The end-of-turn mark of Qwen's templates. A server that strips no special tokens ends its text with it.
pub const END_OF_TURN: &str = "<|im_end|>";

/// Why the tool parser cannot be used with a template.
const NO_SENTENCE: &str = "The chat template does not write the sentence about tools that Qwen's templates have, so the \
                           model is not told how to call them. Choose a template of Qwen";

/// A reply without the end mark, and its tool calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The text of the turn, with the markup of its calls.
    pub said: Text,
    /// The calls, and the text around them.
    pub parsed: Parsed,
}

#[derive(Clone, Debug)]
pub struct RolloutSettings {
    /// The chat template.
    pub template: Rc<ChatTemplate>,
    /// The policy of the domain, which is the system message; `None` for an environment without one.
    pub wiki: Option<Text>,
    /// The tools, in the form of the prompt.
    pub tools: Vec<Json>,
    /// The method that determines tokens and mask.
    pub mode: MaskMode,
    /// The version of the tool parser.
    pub parser: ToolParser,
    /// Whether calls of undeclared tools are sent to the environment.
    pub forward_unknown: bool,
    /// Whether faults that slime's loop ignores end the episode: a prompt without the sentence about tools, a turn
    /// that was cut, and sampled tokens that do not decode to the text.
    pub strict: bool,
    /// Whether the tokenizer differs from the model's. Tokens are then made from the text, never from those that the
    /// server returns, and prompts are sent as text.
    pub is_reconstructed: bool,
    /// Replaces the sentence about tools of Qwen's templates in prompts.
    pub tool_instruction: Text,
    /// The sampling parameters.
    pub sampling_params: SamplingParams,
    /// Whether prompts are sent as tokens. In mode `token_in` these are the recorded ones.
    pub send_ids: bool,
    /// Whether log probabilities are requested and recorded.
    pub return_logprob: bool,
    /// The task; `None` lets the environment choose one.
    pub task_index: Option<i64>,
    /// The maximum number of turns.
    pub max_num_steps: usize,
}

impl RolloutSettings {
    /// The default settings with a template.
    pub fn new(template: Rc<ChatTemplate>) -> Self {
        RolloutSettings {
            template,
            wiki: None,
            tools: Vec::new(),
            mode: MaskMode::Fixed,
            parser: ToolParser::default(),
            forward_unknown: false,
            strict: false,
            is_reconstructed: false,
            tool_instruction: tool_instruction::INSTRUCTION.into(),
            sampling_params: SamplingParams::default(),
            send_ids: false,
            return_logprob: false,
            task_index: None,
            max_num_steps: 30,
        }
    }

    /// The names of the declared tools. A tool without a name cannot be called and is skipped.
    fn tool_names(&self) -> Vec<Text> {
        let names = self.tools.iter().filter_map(|tool| {
            let name = tool.get("function").unwrap_or(tool).get("name")?;
            name.as_text().cloned()
        });
        names.collect()
    }
}

/// The next effect to perform.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Reset the environment to this task.
    Reset(Option<i64>),
    /// Send this to `/generate`.
    Generate(GenerateRequest),
    /// Take this action in the environment.
    Step(Action),
    /// No effect: the episode is over.
    Finished,
}

/// The result of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The result of [`Effect::Reset`].
    Reset(Result<EnvReset, Text>),
    /// The result of [`Effect::Generate`].
    Generated(Result<GenerateReply, GenerateFailure>),
    /// The result of [`Effect::Step`].
    Stepped(Result<EnvStep, Text>),
    /// The user cancels the rollout. Accepted at any time.
    Cancel,
}

/// Why a generation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerateFailure {
    /// The server could not be reached, after all retries.
    Transport(Text),
    /// The reply is malformed.
    Reply(Text),
}

/// The error for an event that is not the result of the last effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The rollout does not wait for this event")]
pub struct UnexpectedEvent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Reset,
    Generated,
    Stepped,
    Nothing,
}

/// An episode of an environment and a model served by `/generate`.
pub struct Rollout {
    settings: RolloutSettings,
    tool_names: Vec<Text>,
    recorder: Recorder,
    waiting: Waiting,
    turns: usize,
    /// The action that the environment is taking.
    action: Option<Action>,
}

impl Rollout {
    /// Starts a rollout, and returns its first effect.
    pub fn start(settings: RolloutSettings, tokenizer: Rc<dyn Tokenizer>) -> (Self, Effect) {
        let mut recorder = Recorder::new(Rc::clone(&settings.template), settings.mode, tokenizer);
        if settings.is_reconstructed {
            recorder.mark_reconstructed();
        }
        let effect = Effect::Reset(settings.task_index);
        let rollout = Rollout {
            tool_names: settings.tool_names(),
            recorder,
            waiting: Waiting::Reset,
            turns: 0,
            action: None,
            settings,
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

    /// Handles an event, and returns the next effect.
    pub fn handle(&mut self, event: Event) -> Result<Effect, UnexpectedEvent> {
        let next = match (self.waiting, event) {
            (Waiting::Nothing, Event::Cancel) => return Ok(Effect::Finished),
            (_, Event::Cancel) => Err(StopReason::Cancelled),
            (Waiting::Reset, Event::Reset(reset)) => self.was_reset(reset),
            (Waiting::Generated, Event::Generated(reply)) => self.was_generated(reply),
            (Waiting::Stepped, Event::Stepped(step)) => self.was_stepped(step),
            _ => return Err(UnexpectedEvent),
        };
        Ok(match next {
            Ok(effect) => effect,
            Err(reason) => {
                self.recorder.stop(reason);
                self.waiting = Waiting::Nothing;
                Effect::Finished
            }
        })
    }

    fn was_reset(&mut self, reset: Result<EnvReset, Text>) -> Result<Effect, StopReason> {
        let reset = reset.map_err(StopReason::Reset)?;
        let wiki = self.settings.wiki.clone();
        self.recorder.begin(
            wiki.map(|wiki| ChatMessage::new(ChatRole::System, wiki)),
            ChatMessage::new(ChatRole::User, reset.observation),
            reset.info,
        );
        let prompt = self.prompt()?;
        self.recorder.set_prompt(prompt)?;
        if self.settings.max_num_steps == 0 {
            return Err(StopReason::NoTurns);
        }
        self.ask()
    }

    /// The rendered history, with the instruction about tools.
    fn prompt(&self) -> Result<String, StopReason> {
        let text = self.recorder.render(&self.settings.tools)?;
        if self.settings.strict
            && !self.settings.tools.is_empty()
            && !text.contains(tool_instruction::SENTENCE)
        {
            return Err(StopReason::Template(NO_SENTENCE.into()));
        }
        Ok(tool_instruction::replace(
            &text,
            &self.settings.tool_instruction,
        ))
    }

    fn ask(&mut self) -> Result<Effect, StopReason> {
        let send_ids = self.settings.send_ids && !self.settings.is_reconstructed;
        let prompt = match (send_ids, self.settings.mode) {
            (false, _) => Prompt::Text(self.prompt()?),
            (true, MaskMode::TokenIn) => Prompt::InputIds(self.result().tokens_and_mask().0),
            (true, MaskMode::Seed | MaskMode::Fixed) => {
                Prompt::InputIds(self.recorder.encode(&self.prompt()?)?)
            }
        };
        self.waiting = Waiting::Generated;
        Ok(Effect::Generate(GenerateRequest {
            prompt,
            sampling_params: self.settings.sampling_params.clone(),
            return_logprob: self.settings.return_logprob,
        }))
    }

    fn was_generated(
        &mut self,
        reply: Result<GenerateReply, GenerateFailure>,
    ) -> Result<Effect, StopReason> {
        let reply = reply.map_err(|failure| match failure {
            GenerateFailure::Transport(reason) => StopReason::Transport(reason),
            GenerateFailure::Reply(reason) => StopReason::Reply(reason),
        })?;
        let completion = self.read(&reply)?;
        if reply.finish_reason == FinishReason::Length {
            self.recorder.note_cut(self.turns);
        }
        self.recorder.note_version(reply.weight_version.clone());
        self.recorder.record_turn(completion.said, &reply)?;
        // A call without a name is accepted only if unknown tools are forwarded; it is not an action.
        let action = call_to_action(&completion.parsed.calls, &completion.parsed.normal_text)
            .map_err(|error| StopReason::Reply(error.to_string().into()))?;
        self.action = Some(action.clone());
        self.waiting = Waiting::Stepped;
        Ok(Effect::Step(action))
    }

    /// Parses a reply without recording it.
    pub fn read(&self, reply: &GenerateReply) -> Result<Completion, StopReason> {
        if let FinishReason::Abort(message) = &reply.finish_reason {
            return Err(StopReason::ServerAbort(message.clone()));
        }
        if self.settings.strict {
            if reply.finish_reason == FinishReason::Length {
                return Err(StopReason::Cut);
            }
            self.recorder.check(reply)?;
        }
        let said: Text = reply
            .text
            .strip_suffix(END_OF_TURN)
            .unwrap_or(&reply.text)
            .into();
        let options = ParseOptions {
            tools: &self.tool_names,
            forward_unknown: self.settings.forward_unknown,
        };
        let parsed = self.settings.parser.parse(&said, &options);
        let parsed = parsed.map_err(|error| StopReason::Parser(error.to_string().into()))?;
        Ok(Completion { said, parsed })
    }

    fn was_stepped(&mut self, step: Result<EnvStep, Text>) -> Result<Effect, StopReason> {
        let step = step.map_err(StopReason::Environment)?;
        let action = self.action.take().unwrap_or_else(|| Action::respond(""));
        let message = if action.is_respond() {
            ChatMessage::new(ChatRole::User, step.observation)
        } else {
            ChatMessage::tool(action.name, step.observation)
        };
        self.turns += 1;
        let is_last = step.done || self.turns >= self.settings.max_num_steps;
        self.recorder.record_observation(message, is_last)?;
        self.recorder.note_outcome(step.reward, &step.info);
        if step.done {
            return Err(StopReason::Done);
        }
        if is_last {
            return Err(StopReason::MaxSteps(self.settings.max_num_steps));
        }
        self.ask()
    }
}

impl std::fmt::Debug for Rollout {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Rollout")
            .field("settings", &self.settings)
            .field("waiting", &self.waiting)
            .field("result", self.result())
            .finish()
    }
}

/// Merges objects; later values replace earlier ones, key by key.
pub(crate) fn merge(info: &mut Object, newer: &Object) {
    for (key, value) in newer.iter() {
        info.insert(key.clone(), value.clone());
    }
}
