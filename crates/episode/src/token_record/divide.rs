//! Derives the boundaries of messages from the tokens: from the headers of turns, otherwise from the loss mask, of which each
//! run of trained tokens is a turn of the assistant.
//!
//! Headers say more: a turn may be untrained, or trained in part.

use std::ops::Range;

use volary_core::TokenId;

use super::TokenPart;
use crate::episode::Episode;

/// The maximum length of a turn's header, in tokens.
const LONGEST_HEADER: usize = 16;

/// Divides tokens among messages: the prompt belongs to the start, each turn to the assistant, and the tokens between two of
/// them to the observations. The header of a turn, if it equals the one at the end of the prompt, belongs to the turn.
pub(super) fn divide(
    episode: &Episode,
    ids: &[TokenId],
    mask: &[bool],
    prompt: usize,
) -> (Vec<TokenPart>, bool) {
    let mut parts = Vec::new();
    let turns = episode.steps.len();
    let header = ids.get(..prompt).map(header).unwrap_or_default();
    let marks = marks(ids, header);
    let mut from = 0;
    if !episode.start.is_empty() {
        let asked = 0..prompt - header.len();
        let mut messages = messages(&marks, asked, episode.start.len());
        if let Some((_, last)) = messages.last_mut() {
            last.end = prompt;
        }
        let messages = messages.into_iter();
        parts.extend(messages.map(|(message, range)| part(0, message, range)));
        from = prompt;
    }
    let runs = trained_runs(mask, prompt);
    let found = turns_by_headers(ids, mask, prompt, header, &marks);
    let found = if found.len() == turns {
        found
    } else {
        turns_by_runs(ids, &runs, turns, header)
    };
    if turns == 0 || found.len() != turns {
        let last = episode.steps.last();
        match last {
            Some(last) => parts.push(part(turns, last.messages().len(), from..ids.len())),
            None if parts.is_empty() => {}
            // Without steps, all tokens belong to the start.
            None => parts
                .last_mut()
                .into_iter()
                .for_each(|part| part.range.end = ids.len()),
        }
        return (parts, turns == 0 && runs.is_empty());
    }
    for (index, step) in episode.steps.iter().enumerate() {
        let is_last = index + 1 == turns;
        let observations = step.messages().len();
        let end = found[index].end;
        let next = found.get(index + 1).map_or(ids.len(), |next| next.start);
        if observations == 0 {
            // After a turn without observations come its final line break or the header of the next turn.
            let end = if is_last { ids.len() } else { end };
            parts.push(part(index + 1, 0, from..end));
            from = end;
            continue;
        }
        parts.push(part(index + 1, 0, from..end));
        let messages = messages(&marks, end..next, observations).into_iter();
        parts.extend(messages.map(|(message, range)| part(index + 1, message + 1, range)));
        from = next;
    }
    (parts, true)
}

/// The positions of the tokens that begin a message, as the header does.
fn marks(ids: &[TokenId], header: &[TokenId]) -> Vec<usize> {
    let Some(mark) = header.first() else {
        return Vec::new();
    };
    let positions = ids.iter().enumerate().filter(|(_, id)| *id == mark);
    positions.map(|(index, _)| index).collect()
}

/// The marks in a range of tokens.
fn within(marks: &[usize], range: Range<usize>) -> &[usize] {
    let [start, end] = [range.start, range.end].map(|at| marks.partition_point(|mark| *mark < at));
    marks.get(start..end).unwrap_or_default()
}

/// The tokens of messages that follow each other, by their number: from one mark to the next. If there are not as many marks
/// as messages, the last message has all of them.
fn messages(marks: &[usize], range: Range<usize>, count: usize) -> Vec<(usize, Range<usize>)> {
    let mut starts = within(marks, range.clone()).to_vec();
    if starts.len() != count {
        let last = count.saturating_sub(1);
        return vec![(last, range)];
    }
    // What precedes the first mark is its own.
    if let Some(first) = starts.first_mut() {
        *first = range.start;
    }
    let ends = starts.iter().skip(1).copied().chain([range.end]);
    let ranges = starts.iter().zip(ends).map(|(start, end)| *start..end);
    ranges.enumerate().collect()
}

/// The turns that begin with a header; the first one's is in the prompt. A turn ends with its last trained token, otherwise
/// where the next message begins.
fn turns_by_headers(
    ids: &[TokenId],
    mask: &[bool],
    prompt: usize,
    header: &[TokenId],
    marks: &[usize],
) -> Vec<Range<usize>> {
    if header.is_empty() {
        return Vec::new();
    }
    let is_header = |index: &&usize| ids[**index..].starts_with(header);
    let others = within(marks, prompt..ids.len()).iter().filter(is_header);
    let others = others.map(|at| (*at, at + header.len()));
    let starts = std::iter::once((prompt, prompt)).chain(others);
    let turns = starts.map(|(start, content)| {
        let next = within(marks, content..ids.len()).first();
        let limit = next.copied().unwrap_or(ids.len());
        let trained = (content..limit)
            .rev()
            .find(|index| mask.get(*index) == Some(&true));
        start..trained.map_or(limit, |last| last + 1)
    });
    turns.collect()
}

/// The turns that runs of trained tokens are. A single turn may have several runs, or none.
fn turns_by_runs(
    ids: &[TokenId],
    runs: &[Range<usize>],
    turns: usize,
    header: &[TokenId],
) -> Vec<Range<usize>> {
    if turns == 1 {
        let end = runs.last().map_or(ids.len(), |last| last.end);
        let start = runs.first().map_or(0, |first| first.start);
        return std::iter::once(start..end).collect();
    }
    let mut before = 0;
    let turns = runs.iter().map(|run| {
        let between = ids.get(before..run.start).unwrap_or_default();
        before = run.end;
        let has_header = !header.is_empty() && between.ends_with(header);
        let start = if has_header {
            run.start - header.len()
        } else {
            run.start
        };
        start..run.end
    });
    turns.collect()
}

fn part(step: usize, message: usize, range: Range<usize>) -> TokenPart {
    TokenPart {
        step,
        message,
        range,
    }
}

/// The header of a turn at the end of a prompt: from the last occurrence of the mark that begins its messages, which is its
/// first token, or its second one after a token that begins the text.
fn header(prompt: &[TokenId]) -> &[TokenId] {
    let marks = prompt.iter().take(2).enumerate();
    let starts = marks.filter_map(|(index, mark)| {
        let last = prompt.iter().rposition(|id| id == mark)?;
        (last > index).then_some(last)
    });
    let headers = starts.filter_map(|start| prompt.get(start..));
    let mut short = headers.filter(|header| header.len() <= LONGEST_HEADER);
    short.next().unwrap_or_default()
}

fn trained_runs(mask: &[bool], from: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, _) in mask.iter().enumerate().skip(from).filter(|(_, on)| **on) {
        match runs.last_mut() {
            Some(run) if run.end == index => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}
