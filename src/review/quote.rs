//! The words that a person selected in the transcript, as a passage of the episode.

use volary_core::json::{Json, Text};
use volary_trace::Episode;
use volary_trace::annotations::Target;
use volary_trace::passages::{Place, passage};

use crate::browser::passages::{Selected, selected};
use crate::projection::marks::{held, source_of, words_between};

/// The selected words as a passage; `None` if none are selected, or not in a text of the episode.
pub fn selected_passage(episode: &Episode) -> Option<Target> {
    let found = selected("text-")?;
    let place = held(&found.id)?;
    let text = passage(episode, place)?;
    by_place(&found, place, &text).or_else(|| by_words(&found, place, &text))
}

/// Where the page knows which characters stand where.
fn by_place(found: &Selected, place: Place, text: &str) -> Option<Target> {
    if found.pieces.iter().any(|piece| piece.at.is_none()) {
        return None;
    }
    let start = source_of(&found.pieces, found.start)?;
    let end = source_of(&found.pieces, found.end)?;
    let quote: String = text
        .chars()
        .skip(start)
        .take(end.checked_sub(start)?)
        .collect();
    let trimmed = quote.trim_start();
    let start = start + (quote.chars().count() - trimmed.chars().count());
    passage_at(place, start, trimmed.trim_end())
}

/// Where the text is laid out: the words are looked for in it, as they are or as JSON writes them.
fn by_words(found: &Selected, place: Place, text: &str) -> Option<Target> {
    let (words, before) = words_between(&found.pieces, found.start, found.end);
    if words.is_empty() {
        return None;
    }
    let written = Json::from(words.as_str()).to_compact_text();
    let written = written.trim_matches('"');
    [words.as_str(), written].into_iter().find_map(|words| {
        let places: Vec<usize> = text.match_indices(words).map(|(byte, _)| byte).collect();
        let byte = places.get(before).or(places.last())?;
        passage_at(place, text.get(..*byte)?.chars().count(), words)
    })
}

fn passage_at(place: Place, start: usize, quote: &str) -> Option<Target> {
    let length = quote.chars().count();
    (length > 0).then(|| Target::Passage {
        place,
        start,
        end: start + length,
        quote: Text::from(quote),
    })
}
