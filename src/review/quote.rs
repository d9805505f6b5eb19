//! The text selected in the transcript, as a passage of the episode.

use volary_core::json::{Json, Text};
use volary_trajectory::Episode;
use volary_trajectory::annotations::Target;
use volary_trajectory::passages::{TextPosition, passage};

use crate::browser::text_selection::{Selected, selected};
use crate::projection::highlight::{held, source_of, words_between};

/// The selected passage; `None` if nothing is selected, or outside the texts of the episode.
pub fn selected_passage(episode: &Episode) -> Option<Target> {
    let found = selected("text-")?;
    let place = held(&found.id)?;
    let text = passage(episode, place)?;
    by_place(&found, place, &text).or_else(|| by_words(&found, place, &text))
}

/// For texts whose rendered pieces have known offsets.
fn by_place(found: &Selected, place: TextPosition, text: &str) -> Option<Target> {
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

/// For reformatted texts: searches for the selected words, verbatim or JSON-escaped.
fn by_words(found: &Selected, place: TextPosition, text: &str) -> Option<Target> {
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

fn passage_at(place: TextPosition, start: usize, quote: &str) -> Option<Target> {
    let length = quote.chars().count();
    (length > 0).then(|| Target::Passage {
        place,
        start,
        end: start + length,
        quote: Text::from(quote),
    })
}
