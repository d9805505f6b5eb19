//! Comparison of two episodes: both sides of a pair of steps, as lines with change marks.

use std::ops::Range;

use volary_analysis::align::lines::{HunkKind, line_hunks};
use volary_analysis::align::{AlignedRow, frame_differences};
use volary_core::AnyMessage;
use volary_core::json::Json;
use volary_episode::diff::{Difference, Segment, text_difference};
use volary_episode::passages::{call_text, content};
use volary_episode::{Episode, Rewards};

use super::summary::reward_text;
use super::text::cut_at;
use super::transcript::{observations, step_record};

/// Longer texts are compared only up to this length, to keep the page responsive.
const LONGEST: usize = 60_000;
/// Equal lines shown around a change; further ones are counted.
const AROUND: usize = 2;
/// The bytes shown of a value in the state.
const LONGEST_VALUE: usize = 400;
/// The number of state differences listed.
const MOST_DIFFERENCES: usize = 60;

/// One compared aspect of a pair of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name of the aspect.
    pub title: &'static str,
    /// The lines, in order.
    pub lines: Vec<ComparedLine>,
    /// Whether both sides are equal.
    pub same: bool,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedLine {
    /// Present on both sides.
    Same(String),
    /// The number of equal lines that are not shown.
    Skipped(usize),
    /// Present only on the left. The differing part is marked.
    Left(Marked),
    /// Present only on the right.
    Right(Marked),
}

/// A line with a part that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    pub before: String,
    pub mark: String,
    pub after: String,
}

impl Marked {
    fn plain(text: &str) -> Marked {
        Marked {
            before: text.to_owned(),
            ..Marked::default()
        }
    }
}

/// Compares a pair of steps aspect by aspect. Steps count from 0; `None` is the start.
pub fn sections(left: &Episode, right: &Episode, row: Option<&AlignedRow>) -> Vec<Section> {
    // For display, 0 is the start.
    let number = |step: Option<usize>| step.map(|step| step + 1);
    let (one, other) = match row {
        None => (Some(0), Some(0)),
        Some(row) => (number(row.left), number(row.right)),
    };
    let both = |of: fn(&Episode, usize) -> String| {
        let text = |episode, step: Option<usize>| step.map(|step| of(episode, step));
        (
            text(left, one).unwrap_or_default(),
            text(right, other).unwrap_or_default(),
        )
    };
    let mut sections = Vec::new();
    for (title, of) in [
        ("Action", action_text as fn(&Episode, usize) -> String),
        ("Observations", observations_text),
        ("Reward", reward_line),
    ] {
        let (left, right) = both(of);
        if !left.is_empty() || !right.is_empty() {
            sections.push(section(title, &left, &right));
        }
    }
    if let (Some(one), Some(other)) = (one, other)
        && let Some((state, info)) =
            frame_differences((left, one), (right, other), MOST_DIFFERENCES)
    {
        let lines: Vec<ComparedLine> = (state.iter().chain(&info))
            .flat_map(difference_lines)
            .collect();
        sections.push(Section {
            title: "State",
            same: lines.is_empty(),
            lines,
        });
    }
    sections
}

fn action_text(episode: &Episode, step: usize) -> String {
    match step_record(episode, step).map(|record| &record.action) {
        Some(AnyMessage::Request(request)) => {
            let said = content(&request.body).into_owned();
            let calls = request.tool_calls.iter().map(call_text);
            let said = Some(said).filter(|said| !said.is_empty());
            said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
        Some(action) => content(action.body()).into_owned(),
        None => String::new(),
    }
}

fn observations_text(episode: &Episode, step: usize) -> String {
    let said = observations(episode, step)
        .iter()
        .map(|message| content(message.body()).into_owned());
    said.collect::<Vec<_>>().join("\n")
}

fn reward_line(episode: &Episode, step: usize) -> String {
    // Without rewards of steps, each step would seem to have the reward 0.
    let has_rewards = episode.rewards == Rewards::Steps;
    let step = step_record(episode, step).filter(|_| has_rewards);
    let reward = step.and_then(|record| record.reward());
    reward.map(reward_text).unwrap_or_default()
}

fn section(title: &'static str, left: &str, right: &str) -> Section {
    let short = |text: &str| {
        text.get(..cut_at(text, LONGEST))
            .unwrap_or_default()
            .to_owned()
    };
    Section {
        title,
        same: left == right,
        lines: lines(&short(left), &short(right)),
    }
}

fn lines(left: &str, right: &str) -> Vec<ComparedLine> {
    let old: Vec<&str> = left.split('\n').collect();
    let new: Vec<&str> = right.split('\n').collect();
    let hunks = line_hunks(left, right);
    let mut lines = Vec::new();
    for (place, hunk) in hunks.iter().enumerate() {
        let gone = old.get(hunk.old.clone()).unwrap_or_default();
        let come = new.get(hunk.new.clone()).unwrap_or_default();
        match hunk.kind {
            HunkKind::Same => {
                let first = if place == 0 { 0 } else { AROUND };
                let last = if place + 1 == hunks.len() { 0 } else { AROUND };
                let all = hunks.len() == 1;
                let skipped = come.len().saturating_sub(first + last);
                if all || skipped < 3 {
                    lines.extend(
                        come.iter()
                            .map(|line| ComparedLine::Same((*line).to_owned())),
                    );
                    continue;
                }
                let head = come.iter().take(first);
                lines.extend(head.map(|line| ComparedLine::Same((*line).to_owned())));
                lines.push(ComparedLine::Skipped(skipped));
                let tail = come.iter().skip(first + skipped);
                lines.extend(tail.map(|line| ComparedLine::Same((*line).to_owned())));
            }
            HunkKind::Changed => {
                let pairs = gone.iter().zip(come);
                lines.extend(pairs.flat_map(|(old, new)| changed(old, new)));
            }
            HunkKind::Added => {
                lines.extend(
                    come.iter()
                        .map(|line| ComparedLine::Right(Marked::plain(line))),
                );
            }
            HunkKind::Removed => {
                lines.extend(
                    gone.iter()
                        .map(|line| ComparedLine::Left(Marked::plain(line))),
                );
            }
        }
    }
    lines
}

/// Two lines that replace each other, with the differing part marked.
fn changed(old: &str, new: &str) -> [ComparedLine; 2] {
    let change = text_difference(old, new);
    let part = |text: &str, range: Range<usize>| text.get(range).unwrap_or_default().to_owned();
    let marked = |mark: String| Marked {
        before: part(new, change.start.clone()),
        mark,
        after: part(new, change.end.clone()),
    };
    [
        ComparedLine::Left(marked(part(old, change.removed.clone()))),
        ComparedLine::Right(marked(part(new, change.added.clone()))),
    ]
}

/// The path and both values of a state difference.
fn difference_lines(difference: &Difference) -> Vec<ComparedLine> {
    let path = path_text(&difference.path);
    let line = |value: &Json| {
        let text = value.to_compact_text();
        let shown = text.get(..cut_at(&text, LONGEST_VALUE)).unwrap_or_default();
        let more = if shown.len() < text.len() { "…" } else { "" };
        format!("{path}: {shown}{more}")
    };
    match (&difference.old, &difference.new) {
        (Some(old), Some(new)) => changed(&line(old), &line(new)).into(),
        (Some(old), None) => vec![ComparedLine::Left(Marked::plain(&line(old)))],
        (None, new) => {
            let new = new.as_ref().map(line);
            vec![ComparedLine::Right(Marked::plain(&new.unwrap_or(path)))]
        }
    }
}

/// A path in the usual notation: `messages[2].content`.
pub fn path_text(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    if text.is_empty() {
        "all of it".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use volary_analysis::align::align_episodes;
    use volary_core::Frame;
    use volary_core::message::{Message, Role};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    fn episode(words: &[(&str, &str)]) -> Episode {
        let steps = words.iter().map(|(said, seen)| {
            StepRecord::new(
                Message::new(Role::Assistant, *said).into(),
                Outcome::Observed {
                    messages: vec![Message::user(*seen).into()],
                    reward: 0.0,
                    done: false,
                    truncated: false,
                },
            )
        });
        Episode {
            start: vec![Message::user("Begin.").into()],
            steps: steps.collect(),
            ..Episode::default()
        }
    }

    #[test]
    fn says_what_differs() {
        let left = episode(&[("a", "one"), ("look left now", "two")]);
        let right = episode(&[("a", "one"), ("look right now", "two")]);
        let alignment = align_episodes(&left, &right);
        assert_eq!(alignment.first_divergence, Some(2));
        let sections = sections(&left, &right, alignment.rows.get(1));
        let same: Vec<_> = sections.iter().map(|of| (of.title, of.same)).collect();
        assert_eq!(
            same,
            [("Action", false), ("Observations", true), ("Reward", true)]
        );
        let marked = |mark: &str| Marked {
            before: "look ".into(),
            mark: mark.into(),
            after: " now".into(),
        };
        let action = sections.first().map(|of| of.lines.clone());
        assert_eq!(
            action,
            Some(vec![
                ComparedLine::Left(marked("left")),
                ComparedLine::Right(marked("right"))
            ])
        );
    }

    #[test]
    fn states_are_compared_by_value() {
        let with = |state: Json| Episode {
            frames: [Frame::new(state, Json::Null)].into_iter().collect(),
            ..episode(&[])
        };
        let left = with(Json::parse(r#"{"box": "red", "key": 1}"#).unwrap());
        let right = with(Json::parse(r#"{"box": "reed", "door": [true]}"#).unwrap());
        let sections = sections(&left, &right, None);
        let state = sections.iter().find(|section| section.title == "State");
        let marked = |mark: &str| Marked {
            before: "box: \"".into(),
            mark: mark.into(),
            after: "\"".into(),
        };
        assert_eq!(
            state.unwrap().lines,
            [
                ComparedLine::Left(marked("red")),
                ComparedLine::Right(marked("reed")),
                ComparedLine::Right(Marked::plain("door: [true]")),
                ComparedLine::Left(Marked::plain("key: 1")),
            ]
        );
    }

    #[test]
    fn unrelated_lines_are_not_compared_with_each_other() {
        let old = "I look for the file first.\nbash {\"command\": \"ls\"}";
        let new = "bash {\"command\": \"ls src\"}";
        let [said, left, right] = &lines(old, new)[..] else {
            panic!("three lines");
        };
        let plain = Marked::plain("I look for the file first.");
        assert_eq!(*said, ComparedLine::Left(plain));
        let marked = |mark: &str| Marked {
            before: "bash {\"command\": \"ls".into(),
            mark: mark.into(),
            after: "\"}".into(),
        };
        assert_eq!(*left, ComparedLine::Left(marked("")));
        assert_eq!(*right, ComparedLine::Right(marked(" src")));
    }

    #[test]
    fn equal_lines_are_left_out() {
        let long = |end: &str| {
            let lines: Vec<String> = (0..50).map(|line| format!("line {line}")).collect();
            format!("{}\n{end}", lines.join("\n"))
        };
        let lines = lines(&long("x"), &long("y"));
        assert_eq!(lines.first(), Some(&ComparedLine::Skipped(48)));
        assert_eq!(lines.len(), 5);
    }
}
