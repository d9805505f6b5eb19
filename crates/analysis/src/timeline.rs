//! Overview of an episode: a bar for each step, curves of rewards and tokens, an outline, and the marked steps for
//! navigation.
//!
//! Invariants: the shares of all bars add up to one; steps are numbered from 1, as frames are.

use volary_core::json::Json;
use volary_core::message::Role;
use volary_core::tool::call::INVALID;
use volary_core::{AnyMessage, ToolCall};
use volary_episode::episode::{Episode, Outcome, Rewards, StepRecord, Usage};
use volary_episode::inline_reasoning;
use volary_episode::passages::content;

/// The kind of a step, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// A message without calls.
    Speech,
    /// A message with tool calls.
    Calls,
    /// A step with an error.
    Error,
    /// A step with a positive reward.
    Reward,
    /// A step with a negative reward.
    Loss,
}

/// The bar of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The step, from 1.
    pub step: usize,
    pub kind: StepKind,
    /// The duration, if known.
    pub seconds: Option<f64>,
    /// The start as a fraction of the whole, from 0 to 1.
    pub start: f64,
    /// The width as a fraction of the whole.
    pub share: f64,
}

/// The bars of all steps, sized by duration. A step with unknown duration is as long as the median of the known ones;
/// if none is known, all are equal.
pub fn bars(episode: &Episode) -> Vec<Bar> {
    let durations = durations(episode);
    let mut known: Vec<f64> = durations.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    let middle = known
        .get(known.len() / 2)
        .copied()
        .filter(|middle| *middle > 0.0);
    let usual = middle.unwrap_or(1.0);
    // If every duration is 0, bars of that size would be invisible.
    let measured = known.last().is_some_and(|longest| *longest > 0.0);
    let length = |seconds: &Option<f64>| match seconds {
        Some(seconds) if measured => *seconds,
        _ => usual,
    };
    let whole: f64 = durations.iter().map(length).sum();
    let mut start = 0.0;
    let steps = episode.steps.iter().zip(&durations).enumerate();
    let bar = |(index, (step, seconds)): (usize, (&StepRecord, &Option<f64>))| {
        let share = length(seconds) / whole;
        let bar = Bar {
            step: index + 1,
            kind: kind(episode, index, step),
            seconds: *seconds,
            start,
            share,
        };
        start += share;
        bar
    };
    steps.map(bar).collect()
}

/// The duration of each step, in seconds: as recorded, otherwise the time until the next step started.
pub fn durations(episode: &Episode) -> Vec<Option<f64>> {
    let starts = episode
        .steps
        .iter()
        .skip(1)
        .map(|step| step.details.started);
    let nexts = starts.chain(std::iter::once(None));
    let until = |(step, next): (&StepRecord, Option<f64>)| {
        let until_next = || Some(next? - step.details.started?);
        // A duration is unknown if the clock was set back.
        let usable = |seconds: &f64| seconds.is_finite() && *seconds >= 0.0;
        step.seconds
            .filter(usable)
            .or_else(|| until_next().filter(usable))
    };
    episode.steps.iter().zip(nexts).map(until).collect()
}

/// A value for each step, and its running sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The values by step; `None` if unknown.
    pub values: Vec<Option<f64>>,
    /// The running sums, including each step.
    pub sums: Vec<f64>,
}

impl Curve {
    /// Whether no value is known.
    pub fn is_unknown(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }

    fn of(values: impl Iterator<Item = Option<f64>>) -> Curve {
        let mut curve = Curve::default();
        let mut sum = 0.0;
        for value in values {
            sum += value.unwrap_or(0.0);
            curve.values.push(value);
            curve.sums.push(sum);
        }
        curve
    }
}

/// The rewards. The reward of a whole episode is shown at the last step.
pub fn rewards(episode: &Episode) -> Curve {
    let last = episode.steps.len().saturating_sub(1);
    let steps = episode.steps.iter().enumerate();
    Curve::of(steps.map(|(index, step)| match episode.rewards {
        Rewards::Steps => step.reward(),
        Rewards::Whole(reward) => (index == last).then_some(reward),
        Rewards::Unknown => None,
    }))
}

/// A quantity of each step's usage: `usage(episode, |usage| usage.cost)`.
pub fn usage(episode: &Episode, read: impl Fn(&Usage) -> Option<f64>) -> Curve {
    let steps = episode.steps.iter();
    Curve::of(steps.map(|step| step.details.usage.as_ref().and_then(&read)))
}

/// Input plus output tokens of each step.
pub fn tokens(episode: &Episode) -> Curve {
    usage(episode, |usage| match (usage.input, usage.output) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0) as f64 + output.unwrap_or(0) as f64),
    })
}

/// The steps with an error or a reward, in order.
pub fn marks(episode: &Episode) -> Vec<usize> {
    let steps = episode.steps.iter().enumerate();
    let marked = steps.filter(|(index, step)| fails(step) || is_rewarded(episode, *index, step));
    marked.map(|(index, _)| index + 1).collect()
}

/// The number of steps with an error, plus errors of the whole episode.
pub fn errors(episode: &Episode) -> usize {
    episode.steps.iter().filter(|step| fails(step)).count() + episode.errors.len()
}

/// The next mark after a step.
pub fn next_mark(marks: &[usize], step: usize) -> Option<usize> {
    marks
        .get(marks.partition_point(|mark| *mark <= step))
        .copied()
}

/// The last mark before a step.
pub fn previous_mark(marks: &[usize], step: usize) -> Option<usize> {
    let before = marks.partition_point(|mark| *mark < step);
    before
        .checked_sub(1)
        .and_then(|index| marks.get(index))
        .copied()
}

/// A line of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    /// The step, from 1.
    pub step: usize,
    pub kind: StepKind,
    /// The called tools with what they were called for, or the first line of the message.
    pub title: String,
}

/// The outline of all steps, with lines of at most `width` characters.
pub fn outline(episode: &Episode, width: usize) -> Vec<OutlineEntry> {
    let entries = 1..=episode.steps.len();
    entries
        .filter_map(|step| entry(episode, step, width))
        .collect()
}

/// The outline of a step, counted from 1, with at most `width` characters; `None` if there is no such step.
pub fn entry(episode: &Episode, step: usize, width: usize) -> Option<OutlineEntry> {
    let index = step.checked_sub(1)?;
    let record = episode.steps.get(index)?;
    Some(OutlineEntry {
        step,
        kind: kind(episode, index, record),
        title: title(&record.action, width),
    })
}

/// The first line that is not blank, truncated to `width` characters. Of a model's message, the first after its reasoning.
pub fn first_line(message: &AnyMessage, width: usize) -> String {
    let text = content(message.body());
    match message.role() {
        Role::Assistant => cut(inline_reasoning::said(&text), width),
        _ => cut(&text, width),
    }
}

fn title(action: &AnyMessage, width: usize) -> String {
    match action {
        AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
            cut(&calls_title(&request.tool_calls, width), width)
        }
        other => first_line(other, width),
    }
}

/// The calls of an action: each tool with what its calls are about. `width` bounds what is read of each.
fn calls_title(calls: &[ToolCall], width: usize) -> String {
    let mut titles: Vec<String> = Vec::new();
    let mut left = calls;
    while let Some(first) = left.first() {
        // Consecutive calls of the same tool have its name once, with their count.
        let name = &*first.function.name;
        let same = left.iter().take_while(|call| *call.function.name == *name);
        let (same, rest) = left.split_at(same.count());
        left = rest;
        let subjects = same.iter().filter_map(|call| subject(call, width));
        let subjects: Vec<String> = subjects.collect();
        let count = match same.len() {
            1 => String::new(),
            count => format!(" ×{count}"),
        };
        titles.push(match subjects.as_slice() {
            [] => format!("{name}{count}"),
            subjects => format!("{name}{count}: {}", subjects.join("; ")),
        });
        if titles.len() > MOST_TITLES {
            break;
        }
    }
    titles.join(", ")
}

/// The maximum number of tools in a title.
const MOST_TITLES: usize = 40;

/// The end of a long path: its file says more than its first folders.
fn path_end(text: String) -> String {
    const SHORT: usize = 24;
    let is_path = text.starts_with('/') && !text.contains([' ', '…']);
    if !is_path || text.len() <= SHORT {
        return text;
    }
    let mut parts = text.rsplit('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(folder), Some(_)) if !file.is_empty() => format!("…/{folder}/{file}"),
        _ => text,
    }
}

/// The parameters that say what a call is about, the most informative first.
const SUBJECTS: [&str; 19] = [
    "command",
    "cmd",
    "file_path",
    "filepath",
    "path",
    "filename",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "code",
    "expression",
    "keystrokes",
    "description",
    "prompt",
    "message",
    "text",
    "input",
    "shown",
];

/// The maximum number of arguments that stand for a call without any of [`SUBJECTS`].
const MOST_ARGUMENTS: usize = 3;

/// What a call is about: the command, the path, the query; otherwise its first arguments.
fn subject(call: &ToolCall, width: usize) -> Option<String> {
    let arguments = &call.function.arguments;
    let known = SUBJECTS.iter().filter_map(|name| arguments.get(name));
    // An editor has its command in one parameter and the file in another.
    let known: Vec<String> = known
        .filter_map(|value| subject_text(value, width))
        .take(2)
        .collect();
    match known.as_slice() {
        [] => {
            // A single argument is clear without its name, and of several the texts are.
            let is_only = arguments.len() == 1;
            let clear = arguments
                .values()
                .filter(|value| is_only || value.as_text().is_some());
            let texts = clear.filter_map(|value| subject_text(value, width));
            let texts: Vec<String> = texts.take(MOST_ARGUMENTS).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        [command, path] if !command.contains(' ') && path.contains('/') => {
            Some(format!("{command} {path}"))
        }
        [first, ..] => Some(first.clone()),
    }
}

/// A value on one line, without the shell that runs it: `["bash", "-lc", "ls"]` is `ls`. Of a list of objects, the first one.
fn subject_text(value: &Json, width: usize) -> Option<String> {
    let text = match value {
        Json::Text(text) => path_end(cut(text, width)),
        Json::Integer(_) | Json::Float(_) | Json::Bool(_) => value.to_display(),
        Json::List(list)
            if list
                .first()
                .is_some_and(|first| first.as_object().is_some()) =>
        {
            let first = list.first()?;
            let known = SUBJECTS.iter().find_map(|name| first.get(name)?.as_text());
            path_end(cut(known?, width))
        }
        Json::List(list) => {
            let texts = list.iter().take(width.max(3));
            let texts: Option<Vec<&str>> = texts
                .map(|part| part.as_text().map(|text| &**text))
                .collect();
            match texts?.as_slice() {
                [_, flag, command] if matches!(*flag, "-c" | "-lc") => cut(command, width),
                parts => cut(&parts.join(" "), width),
            }
        }
        Json::Null | Json::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The first line that is not blank, with the following ones while it only opens something: `{`, `python -c "`.
fn cut(said: &str, width: usize) -> String {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = lines.next().unwrap_or_default().to_owned();
    while only_opens(&line) && line.len() < width {
        let Some(next) = lines.next() else { break };
        line.push(' ');
        line.push_str(next);
    }
    match line.char_indices().nth(width) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// Whether a line ends where a text, a list or a block begins, and therefore does not say what it is about.
fn only_opens(line: &str) -> bool {
    let opens = |quote: char| line.ends_with(quote) && line.matches(quote).count() % 2 == 1;
    line.ends_with(['{', '[', '(', '\\']) || opens('"') || opens('\'')
}

fn kind(episode: &Episode, index: usize, step: &StepRecord) -> StepKind {
    match &step.action {
        _ if fails(step) => StepKind::Error,
        _ if reward_of(episode, index, step) < 0.0 => StepKind::Loss,
        _ if is_rewarded(episode, index, step) => StepKind::Reward,
        AnyMessage::Request(request) if !request.tool_calls.is_empty() => StepKind::Calls,
        _ => StepKind::Speech,
    }
}

pub(crate) fn fails(step: &StepRecord) -> bool {
    let unreadable = match &step.action {
        AnyMessage::Request(request) => request
            .tool_calls
            .iter()
            .any(|call| &*call.function.name == INVALID),
        _ => false,
    };
    unreadable
        || matches!(step.outcome, Outcome::Failed { .. })
        || !step.details.errors.is_empty()
        || step.messages().iter().any(is_failed_call)
}

/// Whether a message reports a failed call: in the wording of aviary's environments for calls that could not be run, as a
/// text that begins with "Error: ", or as a JSON object with an `error`.
pub(crate) fn is_failed_call(message: &AnyMessage) -> bool {
    let AnyMessage::Response(response) = message else {
        return false;
    };
    response.body.content.as_deref().is_some_and(|text| {
        let starts = [
            "Encountered exception during tool call: ",
            "Invalid tool call: ",
            "Error using calculator: ",
            "Error: ",
        ];
        starts.iter().any(|start| text.starts_with(start)) || has_error_member(text)
    })
}

/// Whether a text is a JSON object whose member `error` says something.
fn has_error_member(text: &str) -> bool {
    /// Longer objects are data, and would take long to read for each row of a table.
    const LONGEST: usize = 1 << 14;
    let may_have =
        text.len() <= LONGEST && text.trim_start().starts_with('{') && text.contains("\"error\"");
    may_have
        && Json::parse(text).is_ok_and(|value| {
            let error = value.get("error");
            error.is_some_and(|error| match error {
                Json::Null | Json::Bool(false) => false,
                Json::Text(text) => !text.is_empty(),
                Json::Object(members) => !members.is_empty(),
                Json::List(items) => !items.is_empty(),
                _ => true,
            })
        })
}

fn is_rewarded(episode: &Episode, index: usize, step: &StepRecord) -> bool {
    reward_of(episode, index, step) != 0.0
}

/// The reward of a step. The reward of a whole episode belongs to its last step.
fn reward_of(episode: &Episode, index: usize, step: &StepRecord) -> f64 {
    match episode.rewards {
        Rewards::Steps => step.reward().unwrap_or(0.0),
        Rewards::Whole(reward) if index + 1 == episode.steps.len() => reward,
        Rewards::Whole(_) | Rewards::Unknown => 0.0,
    }
}

#[cfg(test)]
mod tests;
