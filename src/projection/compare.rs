//! Two episodes beside each other: what a pair of steps says in either, as lines with marks of change.

use volary_core::AnyMessage;
use volary_trace::Episode;
use volary_trace::align::lines::{HunkKind, line_hunks};
use volary_trace::align::{Row, frame_differences};
use volary_trace::diff::{Difference, DifferenceKind, Segment, text_difference};
use volary_trace::passages::{call_text, content};

use super::summary::reward_text;
use super::text::cut_at;
use super::transcript::{observations, step_record};

/// Longer texts are compared up to here: nobody reads on, and the page has to stay quick.
const LONGEST: usize = 60_000;
/// So many equal lines stand around a change; the others are named.
const AROUND: usize = 2;
/// So many differences of the state are named.
const MOST_DIFFERENCES: usize = 60;

/// What differs in one respect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// In which.
    pub title: &'static str,
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// Whether both are the same.
    pub same: bool,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// It stands in both.
    Same(String),
    /// So many equal lines are left out.
    Skipped(usize),
    /// It stands in the left one alone. Then a part of it is marked: the bytes before, in and after it.
    Left(Marked),
    /// It stands in the right one alone.
    Right(Marked),
}

/// A line with a part that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// What stands before the part.
    pub before: String,
    /// The part.
    pub mark: String,
    /// What follows.
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

/// What a pair of steps says, respect by respect. Steps count from 0 in a row; `None` is the start.
pub fn sections(left: &Episode, right: &Episode, row: Option<&Row>) -> Vec<Section> {
    // As people count: 0 is the start.
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
        let lines: Vec<Line> = state.iter().chain(&info).map(difference_line).collect();
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
    let reward = step_record(episode, step).and_then(|record| record.reward());
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

fn lines(left: &str, right: &str) -> Vec<Line> {
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
                    lines.extend(come.iter().map(|line| Line::Same((*line).to_owned())));
                    continue;
                }
                let head = come.iter().take(first);
                lines.extend(head.map(|line| Line::Same((*line).to_owned())));
                lines.push(Line::Skipped(skipped));
                let tail = come.iter().skip(first + skipped);
                lines.extend(tail.map(|line| Line::Same((*line).to_owned())));
            }
            HunkKind::Changed => {
                for (old, new) in gone.iter().zip(come) {
                    let change = text_difference(old, new);
                    let part = |text: &str, range: std::ops::Range<usize>| {
                        text.get(range).unwrap_or_default().to_owned()
                    };
                    lines.push(Line::Left(Marked {
                        before: part(new, change.start.clone()),
                        mark: part(old, change.removed),
                        after: part(new, change.end.clone()),
                    }));
                    lines.push(Line::Right(Marked {
                        before: part(new, change.start),
                        mark: part(new, change.added),
                        after: part(new, change.end),
                    }));
                }
            }
            HunkKind::Added => {
                lines.extend(come.iter().map(|line| Line::Right(Marked::plain(line))));
            }
            HunkKind::Removed => {
                lines.extend(gone.iter().map(|line| Line::Left(Marked::plain(line))));
            }
        }
    }
    lines
}

fn difference_line(difference: &Difference) -> Line {
    let path = path_text(&difference.path);
    match difference.kind {
        DifferenceKind::Added => Line::Right(Marked::plain(&path)),
        DifferenceKind::Removed => Line::Left(Marked::plain(&path)),
        DifferenceKind::Changed => Line::Same(format!("{path} differs")),
    }
}

/// A path as people write it: `messages[2].content`.
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
    match text.is_empty() {
        true => "all of it".to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_trace::align::align_episodes;
    use volary_trace::{Outcome, StepRecord};

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
                Line::Left(marked("left")),
                Line::Right(marked("right"))
            ])
        );
    }

    #[test]
    fn equal_lines_are_left_out() {
        let long = |end: &str| {
            let lines: Vec<String> = (0..50).map(|line| format!("line {line}")).collect();
            format!("{}\n{end}", lines.join("\n"))
        };
        let lines = lines(&long("x"), &long("y"));
        assert_eq!(lines.first(), Some(&Line::Skipped(48)));
        assert_eq!(lines.len(), 5);
    }
}
