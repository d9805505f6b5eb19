//! The result of an episode, gathered from the places where sources record it: reward, scores, expected values, the
//! answer or patch of the agent, and the last error.
//!
//! Invariants: nothing is guessed. Expected and given values are texts of the source, under the source's names; a text
//! counts as a patch only if it has the lines of a unified diff.

use volary_core::AnyMessage;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Outcome, StepRecord};
use volary_episode::passages::{TextPart, TextPosition};

use crate::annotations::Target;
use crate::table::groups::SUCCESS;
use crate::timeline;

/// How an episode ended and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpisodeResult {
    /// Whether the episode failed; `None` if it is unknown.
    pub failed: Option<bool>,
    /// Expected values: the source's name, and the text.
    pub expected: Vec<(String, Text)>,
    /// Answers of the agent as a scorer recorded them: the source's name, and the text.
    pub given: Vec<(String, Text)>,
    /// Patches in the data: the source's name, and the unified diff.
    pub patches: Vec<(String, Text)>,
    /// The last error, if there is one.
    pub last_error: Option<LastError>,
    /// The step that best explains a failure: that of the last error, otherwise of the last negative reward, otherwise
    /// the last step.
    pub step: usize,
}

/// The last error of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastError {
    /// The step, from 1; `None` for an error of the whole episode.
    pub step: Option<usize>,
    /// The error message of the source.
    pub message: Text,
    /// The position of the message in the step.
    pub place: Option<TextPosition>,
}

impl LastError {
    /// The most informative line: the last one of a Python traceback, otherwise the first one. As a passage of the
    /// episode, so that it can be shown in place.
    pub fn line(&self) -> Option<Target> {
        let place = self.place?;
        let is_traceback = self.message.contains("Traceback (most recent call last)");
        let mut lines = self.message.lines().filter(|line| !line.trim().is_empty());
        let line = if is_traceback {
            lines.next_back()?
        } else {
            lines.next()?
        };
        let line = line.trim();
        // A line is a slice of the message, so its start is within it.
        let start = line.as_ptr() as usize - self.message.as_ptr() as usize;
        let start = self.message.get(..start)?.chars().count();
        let quote: String = line.chars().take(LONGEST_LINE).collect();
        Some(Target::Passage {
            place,
            start,
            end: start + quote.chars().count(),
            quote: quote.into(),
        })
    }
}

/// The maximum length of a quoted line, in characters; longer ones are truncated.
const LONGEST_LINE: usize = 300;

/// The names under which sources record expected values.
const EXPECTED: [&str; 12] = [
    "target",
    "gts",
    "expected",
    "expected_answer",
    "expected_output",
    "ground_truth",
    "gold",
    "gold_answer",
    "reference",
    "reference_answer",
    "correct_answer",
    "answer",
];
/// The maximum depth at which data is searched.
const DEEPEST: usize = 4;
/// The maximum number of texts of each kind.
const MOST: usize = 8;

impl EpisodeResult {
    /// Gathers the result of an episode.
    pub fn of(episode: &Episode) -> EpisodeResult {
        let mut result = EpisodeResult {
            failed: failed(episode),
            last_error: last_error(episode),
            ..EpisodeResult::default()
        };
        result.step = result.telling_step(episode);
        let recipe = episode.recipe.as_ref().map(|recipe| &recipe.configuration);
        for data in [&episode.metadata, &episode.raw].into_iter().chain(recipe) {
            result.gather(data, &mut Vec::new());
        }
        for score in &episode.scores {
            for name in ["answer", "submission"] {
                if let Some(text) = score.extras.get(name).and_then(text_of) {
                    push(&mut result.given, score.name.to_string(), text);
                }
            }
            if let Some(text) = score.extras.get("target").and_then(text_of) {
                push(&mut result.expected, score.name.to_string(), text);
            }
        }
        result
    }

    /// Whether there is nothing to show besides the reward.
    pub fn is_empty(&self, episode: &Episode) -> bool {
        episode.scores.is_empty()
            && self.expected.is_empty()
            && self.given.is_empty()
            && self.patches.is_empty()
            && self.last_error.is_none()
    }

    fn telling_step(&self, episode: &Episode) -> usize {
        let last = episode.steps.len();
        if let Some(step) = self.last_error.as_ref().and_then(|error| error.step) {
            return step;
        }
        let bars = timeline::bars(episode);
        let loss = bars
            .iter()
            .rfind(|bar| bar.kind == timeline::StepKind::Loss);
        loss.map_or(last, |bar| bar.step)
    }

    fn gather(&mut self, object: &Object, path: &mut Vec<String>) {
        for (key, value) in object.iter() {
            path.push(key.to_string());
            match value {
                Json::Object(inner) if path.len() < DEEPEST => self.gather(inner, path),
                Json::Text(text) if is_patch(text) => {
                    push(&mut self.patches, path.join("."), Text::clone(text));
                }
                value if EXPECTED.contains(&&**key) => {
                    if let Some(text) = text_of(value) {
                        push(&mut self.expected, path.join("."), text);
                    }
                }
                _ => {}
            }
            path.pop();
        }
    }
}

/// Whether an episode failed: by its reward, otherwise by its ending.
fn failed(episode: &Episode) -> Option<bool> {
    match (episode.reward(), &episode.ending) {
        (_, Ending::Crashed { .. }) => Some(true),
        // A played episode that is open has no result yet. Recordings often lack the ending.
        (Some(_), Ending::Open) if episode.source.is_none() => None,
        (Some(reward), _) => Some(reward < SUCCESS),
        (None, _) => episode.outcome.as_deref().and_then(outcome_failed),
    }
}

/// Whether a source's term for the outcome means failure; `None` if it means neither.
pub fn outcome_failed(outcome: &str) -> Option<bool> {
    match outcome {
        "success" | "resolved" | "passed" | "correct" => Some(false),
        "crashed" | "error" | "failed" | "failure" | "unresolved" | "incorrect" => Some(true),
        _ => None,
    }
}

fn last_error(episode: &Episode) -> Option<LastError> {
    if let Some(message) = episode.errors.last() {
        return Some(LastError {
            step: None,
            message: Text::clone(message),
            place: None,
        });
    }
    let mut steps = episode.steps.iter().enumerate().rev();
    steps.find_map(|(index, step)| {
        let (message, at, part) = error_of(step)?;
        Some(LastError {
            step: Some(index + 1),
            message,
            place: part.map(|part| TextPosition {
                step: index + 1,
                message: at,
                part,
            }),
        })
    })
}

/// The error of a step, and the position of its text: message and part.
fn error_of(step: &StepRecord) -> Option<(Text, usize, Option<TextPart>)> {
    if !timeline::fails(step) {
        return None;
    }
    let failure = match &step.outcome {
        Outcome::Failed { message } => Some(message),
        Outcome::Observed { .. } => None,
    };
    let errors = step.details.errors.iter().map(|error| &error.message);
    let errors = failure.into_iter().chain(errors).enumerate();
    if let Some((index, message)) = errors.last() {
        return Some((Text::clone(message), 0, Some(TextPart::Error(index))));
    }
    let mut messages = step.messages().iter().enumerate().rev();
    let failed = messages.find_map(|(index, message)| match message {
        AnyMessage::Response(response) if timeline::is_failed_call(message) => {
            let content = response.body.content.as_deref()?;
            Some((content.into(), index + 1, Some(TextPart::Content)))
        }
        _ => None,
    });
    Some(failed.unwrap_or_else(|| ("A tool call could not be read.".into(), 0, None)))
}

fn push(list: &mut Vec<(String, Text)>, name: String, text: Text) {
    let is_known = list.iter().any(|(_, known)| *known == text);
    if !is_known && !text.trim().is_empty() && list.len() < MOST {
        list.push((name, text));
    }
}

fn text_of(value: &Json) -> Option<Text> {
    match value {
        Json::Null | Json::Object(_) => None,
        Json::Text(text) => Some(Text::clone(text)),
        value => Some(value.to_compact_text().into()),
    }
}

/// Whether a text is a unified diff.
pub fn is_patch(text: &str) -> bool {
    let has = |start: &str| text.lines().any(|line| line.starts_with(start));
    has("@@ ") && has("--- ") && has("+++ ")
}

/// The kind of a line in a unified diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchLine {
    /// A header line with file names or metadata.
    Head,
    /// The header of a hunk.
    Passage,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A context line.
    Same,
}

impl PatchLine {
    /// The lines of a unified diff with their kinds.
    pub fn of(patch: &str) -> impl Iterator<Item = (PatchLine, &str)> {
        let mut is_head = true;
        patch.lines().map(move |line| {
            // Within a hunk, `--- ` is a removed line that starts with dashes, unless a new file follows.
            is_head = match line {
                line if line.starts_with("diff ") || line.starts_with("Index: ") => true,
                line if line.starts_with("@@") => false,
                _ => is_head,
            };
            let kind = match line.as_bytes().first() {
                Some(b'@') if line.starts_with("@@") => PatchLine::Passage,
                _ if is_head => PatchLine::Head,
                Some(b'+') => PatchLine::Added,
                Some(b'-') => PatchLine::Removed,
                _ => PatchLine::Same,
            };
            (kind, line)
        })
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, object};
    use volary_episode::episode::{Rewards, Score, StepDetails, StepError};

    use super::*;

    const PATCH: &str =
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+new\n";

    fn step(errors: &[&str]) -> StepRecord {
        let errors = errors.iter().map(|message| StepError {
            call: None,
            message: (*message).into(),
        });
        let observed = Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord {
            details: StepDetails {
                errors: errors.collect(),
                ..StepDetails::default()
            },
            ..StepRecord::new(Message::new(Role::Assistant, "I act.").into(), observed)
        }
    }

    #[test]
    fn a_failure_with_all_that_is_known_of_it() {
        let episode = Episode {
            steps: vec![step(&["first"]), step(&["second", "third"]), step(&[])],
            rewards: Rewards::Whole(0.0),
            ending: Ending::Done,
            scores: vec![Score {
                name: "match".into(),
                value: "I".into(),
                explanation: None,
                extras: object!({"answer": "41"}),
            }],
            metadata: object!({"target": "42", "info": {"submission": PATCH, "answer": "42"}}),
            ..Episode::default()
        };
        let result = EpisodeResult::of(&episode);
        assert_eq!(result.failed, Some(true));
        assert_eq!(result.expected, [("target".to_owned(), "42".into())]);
        assert_eq!(result.given, [("match".to_owned(), "41".into())]);
        assert_eq!(
            result.patches,
            [("info.submission".to_owned(), PATCH.into())]
        );
        let error = result
            .last_error
            .as_ref()
            .map(|error| (error.step, &*error.message));
        assert_eq!((error, result.step), (Some((Some(2), "third")), 2));
        assert!(!result.is_empty(&episode));
        let line = result
            .last_error
            .as_ref()
            .and_then(LastError::line)
            .unwrap();
        assert_eq!(line.locate(&episode), Some(0..5));
    }

    #[test]
    fn the_line_of_a_traceback_is_its_last() {
        let error =
            "Traceback (most recent call last):\n  File \"é.py\", line 1\nValueError: no é\n";
        let episode = Episode {
            steps: vec![step(&["first", error])],
            ..Episode::default()
        };
        let last = EpisodeResult::of(&episode).last_error.unwrap();
        let line = last.line().unwrap();
        let Target::Passage { quote, place, .. } = &line else {
            panic!("{line:?}");
        };
        assert_eq!(
            (&**quote, place.part),
            ("ValueError: no é", TextPart::Error(1))
        );
        let found = line.locate(&episode).unwrap();
        assert_eq!(found.len(), quote.chars().count());
    }

    #[test]
    fn without_an_error_the_last_step_tells_most() {
        let episode = Episode {
            steps: vec![step(&[]), step(&[])],
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        let result = EpisodeResult::of(&episode);
        assert_eq!((result.failed, result.step), (None, 2));
        assert!(result.is_empty(&episode));
        let whole = Episode {
            errors: vec!["no disk".into()],
            outcome: Some("error".into()),
            ..episode
        };
        let result = EpisodeResult::of(&whole);
        assert_eq!((result.failed, result.step), (Some(true), 2));
        assert_eq!(result.last_error.unwrap().step, None);
    }

    #[test]
    fn lines_of_a_patch() {
        use PatchLine::{Added, Head, Passage, Removed, Same};
        let kinds: Vec<PatchLine> = PatchLine::of(PATCH).map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [Head, Head, Head, Passage, Same, Removed, Added]);
        assert!(is_patch(PATCH));
        assert!(!is_patch("--- a list\n+++ of signs"));
    }
}
