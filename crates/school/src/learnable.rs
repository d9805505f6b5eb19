//! What makes an environment learnable.
//!
//! The environment itself is the one of the registry, unchanged. A [`Learnable`] adds what a policy over characters needs:
//! a prompt, a grammar that turns characters into tool calls, replies that are short enough, a verdict, and a faulty
//! student from whom the policy learns to speak at all.

use serde::{Deserialize, Serialize};
use volary_core::json::{Object, Text};
use volary_core::random::Random;
use volary_core::{AnyMessage, Step};

use crate::alphabet::Alphabet;
use crate::moves::Move;
use crate::play::Attempt;

/// What a policy did in an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// It answered wrongly, without a tool.
    NoTool,
    /// It called a tool with other arguments than the task needs.
    WrongArguments,
    /// It called the tool rightly, and did something else with the result.
    IgnoredResult,
    /// It wrote something that is no call, or did not come to an end.
    Unfinished,
    /// It solved the task.
    Right,
}

impl Behaviour {
    /// All, in the order in which a policy usually leaves them behind.
    pub const ALL: [Behaviour; 5] = [
        Behaviour::Unfinished,
        Behaviour::NoTool,
        Behaviour::WrongArguments,
        Behaviour::IgnoredResult,
        Behaviour::Right,
    ];

    /// What it is called in charts and lists.
    pub fn label(self) -> &'static str {
        match self {
            Behaviour::NoTool => "no tool",
            Behaviour::WrongArguments => "wrong arguments",
            Behaviour::IgnoredResult => "ignored result",
            Behaviour::Unfinished => "no valid turn",
            Behaviour::Right => "right",
        }
    }

    /// What a sample did that is called so.
    pub fn explanation(self) -> &'static str {
        match self {
            Behaviour::NoTool => "answered without calling a tool",
            Behaviour::WrongArguments => "called the tool with something else than the task",
            Behaviour::IgnoredResult => {
                "called the tool rightly, and answered something else than it returned"
            }
            Behaviour::Unfinished => {
                "wrote text that is neither a call nor an answer, or did not end"
            }
            Behaviour::Right => "called the tool rightly, and answered what it returned",
        }
    }
}

/// How hard the exercises are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difficulty {
    /// What it is trained on.
    #[default]
    Trained,
    /// Beyond it, such as larger numbers.
    Beyond,
}

/// A task: the prompt, and the configuration of the environment that asks it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exercise {
    /// In characters of the alphabet.
    pub prompt: String,
    pub configuration: Object,
}

/// What the characters since the last reply mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// The turn needs more characters.
    Open,
    /// An action: the names and arguments of its calls.
    Calls(Vec<(&'static str, Object)>),
    /// No characters can make it an action.
    Malformed,
}

/// An environment that a policy can learn.
pub trait Learnable {
    /// The name in the registry.
    fn environment(&self) -> &'static str;

    fn alphabet(&self) -> Alphabet;

    /// The largest number of tokens in an episode.
    fn context(&self) -> usize;

    /// Draws a task at random.
    fn exercise(&self, difficulty: Difficulty, random: &mut Random) -> Exercise;

    /// The task of a prompt that somebody wrote; `None` if it is none.
    fn exercise_of(&self, prompt: &str) -> Option<Exercise>;

    /// Reads the characters of a turn so far.
    fn read_turn(&self, turn: &str) -> Turn;

    /// What the policy reads after a step, in characters of the alphabet.
    fn reply(&self, step: &Step) -> String;

    /// What the policy did.
    fn judge(&self, exercise: &Exercise, attempt: &Attempt) -> Behaviour;

    /// The reward of an honest grader, from 0 to 1.
    fn reward(&self, exercise: &Exercise, attempt: &Attempt) -> f64 {
        f64::from(u8::from(self.judge(exercise, attempt) == Behaviour::Right))
    }

    /// The reward of a grader with a leak: it also pays for something that is easier than the task.
    fn leaky_reward(&self, exercise: &Exercise, attempt: &Attempt) -> f64;

    /// Whether a call costs the price of a call. One that only hands in an answer does not.
    fn is_priced(&self, call: &str) -> bool {
        let _ = call;
        true
    }

    /// The faults of the student, with their weights.
    fn faults(&self) -> &'static [(Behaviour, u32)];

    /// The next turn of a student who behaves in a given way.
    fn student(
        &self,
        exercise: &Exercise,
        behaviour: Behaviour,
        attempt: &Attempt,
        random: &mut Random,
    ) -> String;

    /// The number of batches of the warm start.
    fn lessons(&self) -> u32;

    /// What a person may do who plays against the policy.
    fn moves(&self) -> &'static [Move];

    /// Writes an episode that somebody played as the policy would: its task, and its turns. `None` if the policy cannot
    /// write it.
    fn transcribe(
        &self,
        configuration: &Object,
        steps: &[Vec<(Text, Object)>],
    ) -> Option<(Exercise, Vec<String>)>;
}

/// The content of the first reply of a step.
pub(crate) fn first_reply(step: &Step) -> Option<&str> {
    step.messages.iter().find_map(|message| match message {
        AnyMessage::Response(reply) => reply.body.content.as_deref(),
        _ => None,
    })
}
