//! The data model of lessons.

use std::fmt;

use volary_agent::Fault;
use volary_app::playground::tasks::{self, TaskSource};
use volary_core::json::Object;
use volary_core::registry::Registry;
use volary_core::{AnyMessage, ToolRequestMessage};
use volary_episode::{Recipe, call_id};

use crate::goal::Goal;
use crate::school_block::SchoolBlock;

/// A parsed lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// One line, shown above the lesson and in lists.
    pub title: String,
    /// One sentence about what is learned.
    pub summary: String,
    /// The duration in minutes.
    pub minutes: u32,
    /// In reading order.
    pub pieces: Vec<Piece>,
}

/// A piece of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// The heading of a section.
    Heading {
        /// 2 for a section, 3 for a part of one.
        level: usize,
        /// Plain text, without markup.
        text: String,
    },
    /// Markdown without headings and lesson blocks.
    Prose(String),
    /// An episode to read, or a task to play.
    Play(Box<Play>),
    /// A goal to reach.
    Check(Check),
    /// A hint, shown on request. Markdown.
    Hint(String),
    /// A multiple-choice question.
    Question(Question),
    /// Tokens, and whether each is trained on.
    Tokens(Vec<(bool, String)>),
    /// A task on the page of the school.
    School(SchoolBlock),
}

/// An episode or a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    /// The name by which checks refer to it.
    pub id: String,
    /// The heading above it.
    pub title: String,
    /// The name of a built-in environment.
    pub environment: String,
    /// The id of a task of the environment.
    pub task: Option<String>,
    /// The configuration, if there is no task.
    pub configuration: Object,
    /// The seed of the environment.
    pub seed: u64,
    /// The initial recording.
    pub recording: Recording,
    /// Whether the reader may act.
    pub is_playable: bool,
    /// Actions that meet the checks of a task.
    pub solution: Vec<ToolRequestMessage>,
    /// The line of the block.
    pub line: usize,
}

/// The recorded episode before the reader acts.
#[derive(Clone, Debug, PartialEq)]
pub enum Recording {
    /// These actions; empty for a task that starts from scratch.
    Actions(Vec<ToolRequestMessage>),
    /// The actions of a scripted student.
    Student {
        /// The fault that it makes.
        fault: Fault,
        /// The seed of its choices.
        seed: u64,
        /// The number of steps after which the episode is truncated.
        steps: usize,
    },
}

/// A goal to reach in an episode or a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its number within the lesson, from 1.
    pub number: usize,
    /// The id of the episode, the task, or the task of the school.
    pub of: String,
    /// The text of the instruction.
    pub text: String,
    pub goal: Goal,
    /// Feedback after it is met. Markdown, may be empty.
    pub afterwards: String,
    /// The line of the block.
    pub line: usize,
}

/// A multiple-choice question.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its number among all checks of the lesson, from 1.
    pub number: usize,
    /// The text of the question.
    pub text: String,
    /// The answers, and whether each is right. Exactly one is.
    pub answers: Vec<(bool, String)>,
    /// Feedback after it is answered. Markdown, may be empty.
    pub afterwards: String,
}

/// An error in a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The error and the fix.
    pub message: String,
}

impl Problem {
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Problem {
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl Lesson {
    /// The episodes and tasks.
    pub fn plays(&self) -> impl Iterator<Item = &Play> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Play(play) => Some(&**play),
            _ => None,
        })
    }

    /// The tasks on the page of the school.
    pub fn school_blocks(&self) -> impl Iterator<Item = &SchoolBlock> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::School(block) => Some(block),
            _ => None,
        })
    }

    /// The checks, without the questions.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Check(check) => Some(check),
            _ => None,
        })
    }

    /// The number of checks and questions.
    pub fn goals(&self) -> usize {
        let pieces = self.pieces.iter();
        pieces
            .filter(|piece| matches!(piece, Piece::Check(_) | Piece::Question(_)))
            .count()
    }
}

impl Play {
    /// The recipe of its environment.
    pub fn recipe(&self, registry: &Registry, sources: &[TaskSource]) -> Result<Recipe, Problem> {
        let fault = |message: String| Problem::new(self.line, message);
        if registry.environment(&self.environment).is_err() {
            let known: Vec<_> = registry.available().collect();
            return Err(fault(format!(
                "unknown environment \"{}\"; available: {}",
                self.environment,
                known.join(", ")
            )));
        }
        let Some(id) = &self.task else {
            return Ok(Recipe {
                environment: self.environment.as_str().into(),
                configuration: self.configuration.clone(),
                seed: self.seed,
                task: None,
            });
        };
        let place = tasks::find(sources, Some(&self.environment), id);
        let found = place.and_then(|place| {
            let task = tasks::at(sources, place)?;
            Some(tasks::recipe(sources.get(place.source)?, task, self.seed))
        });
        found.ok_or_else(|| {
            fault(format!(
                "{} has no task \"{id}\"; the list of tasks in the playground shows their ids",
                self.environment
            ))
        })
    }

    /// The recorded actions; empty if a student acts.
    pub fn recorded(&self) -> Vec<AnyMessage> {
        match &self.recording {
            Recording::Actions(actions) => actions.iter().cloned().map(AnyMessage::from).collect(),
            Recording::Student { .. } => Vec::new(),
        }
    }

    /// The recorded actions followed by those of the solution.
    pub fn solved(&self) -> Vec<AnyMessage> {
        let recorded = self.recorded();
        let before = recorded.len();
        let solution = self.solution.iter().cloned().enumerate();
        let solution = solution.map(|(step, mut action)| {
            for (place, call) in action.tool_calls.iter_mut().enumerate() {
                call.id = call_id(before + step, place);
            }
            AnyMessage::from(action)
        });
        recorded.into_iter().chain(solution).collect()
    }
}
