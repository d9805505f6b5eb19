//! Derives the boundaries of messages from the loss mask: each run of trained tokens is a turn of the assistant.

use std::ops::Range;

use volary_core::TokenId;

use super::TokenPart;
use crate::episode::Episode;

/// The maximum length of a turn's header, in tokens.
const LONGEST_HEADER: usize = 16;

/// Divides tokens among messages: the prompt belongs to the last message of the start, each trained run to a turn of
/// the assistant, and the tokens between two of them to the observations. The header of a turn, if it equals the one at
/// the end of the prompt, belongs to the turn.
pub(super) fn divide(
    episode: &Episode,
    ids: &[TokenId],
    mask: &[bool],
    prompt: usize,
) -> (Vec<TokenPart>, bool) {
    let mut parts = Vec::new();
    let turns = episode.steps.len();
    let mut from = 0;
    if let Some(message) = episode.start.len().checked_sub(1) {
        parts.push(part(0, message, 0..prompt));
        from = prompt;
    }
    let runs = trained_runs(mask, prompt);
    if turns == 0 || runs.len() != turns && turns != 1 {
        let last = episode.steps.last();
        match last {
            Some(last) => parts.push(part(turns, last.messages().len(), from..ids.len())),
            None if parts.is_empty() => {}
            // Without steps, all tokens belong to the start.
            None => parts.iter_mut().for_each(|part| part.range.end = ids.len()),
        }
        return (parts, turns == 0 && runs.is_empty());
    }
    let header = ids.get(..prompt).map(header).unwrap_or_default();
    for (place, step) in episode.steps.iter().enumerate() {
        let is_last = place + 1 == turns;
        let observations = step.messages().len();
        // A single turn may have several runs, or none.
        let end = match (runs.get(place), runs.last()) {
            (_, Some(last)) if is_last => last.end,
            (Some(run), _) => run.end,
            _ => ids.len(),
        };
        let next = match runs.get(place + 1).filter(|_| !is_last) {
            Some(next) => ids
                .get(end..next.start)
                .filter(|between| !header.is_empty() && between.ends_with(header))
                .map_or(next.start, |_| next.start - header.len()),
            None => ids.len(),
        };
        if observations == 0 {
            // After a turn without observations come its final line break or the header of the next turn.
            let end = if is_last { ids.len() } else { end };
            parts.push(part(place + 1, 0, from..end));
            from = end;
            continue;
        }
        parts.push(part(place + 1, 0, from..end));
        parts.push(part(place + 1, observations, end..next));
        from = next;
    }
    (parts, true)
}

fn part(step: usize, message: usize, range: Range<usize>) -> TokenPart {
    TokenPart {
        step,
        message,
        range,
    }
}

/// The header of a turn at the end of a prompt: from the last occurrence of the prompt's first token.
fn header(prompt: &[TokenId]) -> &[TokenId] {
    let Some(first) = prompt.first() else {
        return &[];
    };
    let start = prompt.iter().rposition(|id| id == first).unwrap_or(0);
    let header = prompt.get(start..).unwrap_or_default();
    match start > 0 && header.len() <= LONGEST_HEADER {
        true => header,
        false => &[],
    }
}

fn trained_runs(mask: &[bool], from: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (place, _) in mask.iter().enumerate().skip(from).filter(|(_, on)| **on) {
        match runs.last_mut() {
            Some(run) if run.end == place => run.end += 1,
            _ => runs.push(place..place + 1),
        }
    }
    runs
}
