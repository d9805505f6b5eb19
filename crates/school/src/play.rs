//! An environment of the registry, driven by turns of a policy.

use std::rc::Rc;

use volary_core::environment::Setting;
use volary_core::json::{Object, Text};
use volary_core::message::{Body, Message, ToolRequestMessage};
use volary_core::registry::RegistryError;
use volary_core::tool::ToolCall;
use volary_core::virtual_clock::{Stalled, VirtualClock};
use volary_core::{AnyMessage, Environment, EnvironmentError, Reset, Role, Step, object};
use volary_episode::episode::call_id;
use volary_policy::TapeError;

use crate::learnable::{Exercise, Learnable};

/// Why the school cannot play an episode.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchoolError {
    #[error("The environment `{name}` could not be made for {prompt}: {source}")]
    Make {
        name: &'static str,
        prompt: String,
        source: RegistryError,
    },
    #[error("The environment `{name}` failed: {source}")]
    Environment {
        name: &'static str,
        source: EnvironmentError,
    },
    #[error("The environment `{name}` waits for something outside of the school: {source}")]
    Waits { name: &'static str, source: Stalled },
    #[error("`{character}` in {text} is not a character of this environment's policy.")]
    Character { character: char, text: String },
    #[error("The policy cannot read this: {0}")]
    Sequence(#[from] TapeError),
}

/// An episode so far, or a whole one.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The first observations and the tools.
    pub reset: Reset,
    pub turns: Vec<PlayedTurn>,
    pub ending: AttemptEnding,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnding {
    /// It goes on.
    Open,
    /// The environment ended it.
    Done,
    /// A turn was no action.
    Malformed,
    /// The context was full.
    TooLong,
}

/// A turn of the policy, and what followed.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedTurn {
    /// What the policy wrote.
    pub text: String,
    pub calls: Vec<(&'static str, Object)>,
    /// What the environment got: calls, or a message for a turn that was no action.
    pub action: AnyMessage,
    pub step: Step,
    /// What the policy read; empty if the episode ended.
    pub reply: String,
}

impl Attempt {
    /// Whether the environment ended it.
    pub fn is_done(&self) -> bool {
        self.ending == AttemptEnding::Done
    }

    /// The sum of the environment's rewards.
    pub fn reward(&self) -> f64 {
        self.turns.iter().map(|turn| turn.step.reward).sum()
    }
}

/// An environment that is being played.
pub struct Play<'a> {
    learnable: &'a dyn Learnable,
    environment: Box<dyn Environment>,
    clock: Rc<VirtualClock>,
    attempt: Attempt,
}

impl<'a> Play<'a> {
    /// Makes and resets the environment of an exercise.
    ///
    /// # Errors
    ///
    /// If the registry refuses the configuration, or the environment fails.
    pub fn start(
        learnable: &'a dyn Learnable,
        exercise: &Exercise,
        seed: u64,
    ) -> Result<Self, SchoolError> {
        let name = learnable.environment();
        let clock = Rc::new(VirtualClock::new());
        let setting = Setting {
            seed,
            clock: Rc::<VirtualClock>::clone(&clock),
            outside: Rc::new(volary_core::outside::Closed),
        };
        let make = || {
            let registry = volary_envs::registry();
            let entry = registry.environment(name)?;
            (entry.make)(&exercise.configuration, &setting)
        };
        let mut environment = make().map_err(|source| SchoolError::Make {
            name,
            prompt: exercise.prompt.clone(),
            source,
        })?;
        let reset = clock.run(environment.reset());
        let reset = reset.map_err(|source| SchoolError::Waits { name, source })?;
        let reset = reset.map_err(|source| SchoolError::Environment { name, source })?;
        Ok(Play {
            learnable,
            environment,
            clock,
            attempt: Attempt {
                reset,
                turns: Vec::new(),
                ending: AttemptEnding::Open,
            },
        })
    }

    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    pub fn into_attempt(self) -> Attempt {
        self.attempt
    }

    /// Sends calls to the environment; the reply is then in the last turn, unless the episode ended.
    ///
    /// # Errors
    ///
    /// If the environment fails.
    pub fn act(
        &mut self,
        text: &str,
        calls: Vec<(&'static str, Object)>,
    ) -> Result<(), SchoolError> {
        let action = self.action(text, &calls);
        let step = self.step(action.clone().into())?;
        self.take(text.to_owned(), calls, action.into(), step);
        Ok(())
    }

    fn take(
        &mut self,
        text: String,
        calls: Vec<(&'static str, Object)>,
        action: AnyMessage,
        step: Step,
    ) {
        if step.done {
            self.attempt.ending = AttemptEnding::Done;
        } else if step.truncated {
            self.attempt.ending = AttemptEnding::TooLong;
        }
        self.attempt.turns.push(PlayedTurn {
            text,
            calls,
            action,
            reply: self.learnable.reply(&step),
            step,
        });
    }

    /// Sends a recorded action, whatever calls it has.
    ///
    /// # Errors
    ///
    /// If the environment fails.
    pub fn replay(&mut self, action: AnyMessage) -> Result<(), SchoolError> {
        let step = self.step(action.clone())?;
        self.take(String::new(), Vec::new(), action, step);
        Ok(())
    }

    /// Ends the episode with a turn that is no action.
    ///
    /// # Errors
    ///
    /// If the environment fails.
    pub fn stop_malformed(&mut self, text: &str) -> Result<(), SchoolError> {
        self.stop(text, AttemptEnding::Malformed)
    }

    /// Ends the episode because the context is full, perhaps within a turn.
    ///
    /// # Errors
    ///
    /// If the environment fails.
    pub fn stop_too_long(&mut self, text: &str) -> Result<(), SchoolError> {
        self.stop(text, AttemptEnding::TooLong)
    }

    /// The environment gets the text as a message without calls, so that playing the recording again gives the same.
    fn stop(&mut self, text: &str, ending: AttemptEnding) -> Result<(), SchoolError> {
        self.attempt.ending = ending;
        if text.is_empty() {
            return Ok(());
        }
        let action = AnyMessage::from(Message::new(Role::Assistant, Text::from(text)));
        let step = self.step(action.clone())?;
        self.attempt.turns.push(PlayedTurn {
            text: text.to_owned(),
            calls: Vec::new(),
            action,
            step,
            reply: String::new(),
        });
        Ok(())
    }

    fn step(&mut self, action: AnyMessage) -> Result<Step, SchoolError> {
        let name = self.learnable.environment();
        let step = self.clock.run(self.environment.step(action));
        let step = step.map_err(|source| SchoolError::Waits { name, source })?;
        step.map_err(|source| SchoolError::Environment { name, source })
    }

    fn action(&self, text: &str, calls: &[(&'static str, Object)]) -> ToolRequestMessage {
        let step = self.attempt.turns.len() + 1;
        let calls = calls.iter().enumerate();
        ToolRequestMessage {
            body: Body {
                // What was sampled, for readers of tokens.
                info: Some(object!({"text": text})),
                ..Body::default()
            },
            tool_calls: calls
                .map(|(index, (name, arguments))| {
                    ToolCall::new(call_id(step, index), Text::from(*name), arguments.clone())
                })
                .collect(),
        }
    }
}
