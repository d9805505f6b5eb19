//! An episode as an outline: one line per step.

use volary_analysis::timeline::{StepKind, entry, first_line};
use volary_episode::{Episode, StepRecord};

use super::transcript::step_record;

/// The maximum length of a line in characters.
const LONGEST: usize = 80;

/// The title of a step in which nothing was said.
const NO_TEXT: &str = "(no text)";

#[derive(Clone, Debug, PartialEq)]
pub struct OutlineLine {
    /// The kind of step; `None` for the reset.
    pub kind: Option<StepKind>,
    /// A summary of the action.
    pub title: String,
    /// The reward, unless it is zero.
    pub reward: Option<f64>,
}

/// The CSS class and the name of a kind of step.
pub fn class_and_name(kind: Option<StepKind>) -> (&'static str, &'static str) {
    match kind {
        None => ("start", "start"),
        Some(StepKind::Speech) => ("said", "message"),
        Some(StepKind::Calls) => ("called", "tool call"),
        Some(StepKind::Error) => ("failed", "error"),
        Some(StepKind::Reward) => ("gained", "reward"),
        Some(StepKind::Loss) => ("lost", "negative reward"),
    }
}

/// The line of a step; 0 is the reset.
pub fn line(episode: &Episode, step: usize) -> OutlineLine {
    let reward = step_record(episode, step).and_then(StepRecord::reward);
    match entry(episode, step, LONGEST) {
        Some(entry) => OutlineLine {
            kind: Some(entry.kind),
            title: if entry.title.is_empty() {
                NO_TEXT.to_owned()
            } else {
                entry.title
            },
            reward: reward.filter(|reward| *reward != 0.0),
        },
        None => {
            let mut words = episode.start.iter();
            let words = words.rfind(|message| !first_line(message, LONGEST).is_empty());
            OutlineLine {
                kind: None,
                title: words
                    .map(|message| first_line(message, LONGEST))
                    .unwrap_or_default(),
                reward: None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_episode::Outcome;

    use super::*;

    #[test]
    fn lines_describe_the_actions() {
        let step = StepRecord::new(
            Message::new(Role::Assistant, "\n  I think so.\nReally.").into(),
            Outcome::Observed {
                messages: Vec::new(),
                reward: 1.0,
                done: false,
                truncated: false,
            },
        );
        let episode = Episode {
            start: vec![
                Message::user("What is 6 times 7?").into(),
                Message::user(" \n").into(),
            ],
            steps: vec![step],
            ..Episode::default()
        };
        assert_eq!(line(&episode, 0).title, "What is 6 times 7?");
        assert_eq!(line(&episode, 0).kind, None);
        assert_eq!(line(&episode, 1).title, "I think so.");
        assert_eq!(line(&episode, 1).reward, Some(1.0));
        assert_eq!(line(&episode, 1).kind, Some(StepKind::Reward));
        let mut silent = episode;
        silent.steps[0].action = Message::new(Role::Assistant, " ").into();
        assert_eq!(line(&silent, 1).title, "(no text)");
    }
}
