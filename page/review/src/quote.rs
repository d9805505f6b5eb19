//! The text selected in the transcript, as a passage of the episode.

use volary_analysis::annotations::Target;
use volary_core::json::{Json, Text};
use volary_episode::Episode;
use volary_episode::passages::{TextPosition, passage};
use volary_view::highlight::{held, source_of, words_between};

use volary_browser::text_selection::{Selected, selected};

/// The selected passage; `None` if nothing is selected, or outside the texts of the episode.
pub fn selected_passage(episode: &Episode) -> Option<Target> {
    passage_of(&selected("text-")?, episode)
}

/// The passage of a selection within one text.
fn passage_of(found: &Selected, episode: &Episode) -> Option<Target> {
    let place = held(&found.id)?;
    let text = passage(episode, place)?;
    by_place(found, place, &text).or_else(|| by_words(found, place, &text))
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
    // The words may have quotation marks at their ends.
    let written = written
        .get(1..written.len().saturating_sub(1))
        .unwrap_or_default();
    [words.as_str(), written].into_iter().find_map(|words| {
        let places: Vec<usize> = text.match_indices(words).map(|(byte, _)| byte).collect();
        let byte = places.get(before).or(places.last())?;
        passage_at(place, text.get(..*byte)?.chars().count(), words)
    })
}

fn passage_at(place: TextPosition, start: usize, quote: &str) -> Option<Target> {
    let length = quote.chars().count();
    (length > 0).then(|| Target::Passage {
        position: place,
        start,
        end: start + length,
        quote: Text::from(quote),
    })
}

#[cfg(test)]
mod tests {
    use volary_core::json::Object;
    use volary_core::message::{Body, ToolRequestMessage};
    use volary_core::tool::ToolCall;
    use volary_episode::{Outcome, StepRecord};
    use volary_view::highlight::{Point, RenderedPiece};

    use super::*;

    /// An episode whose only step says something and calls a tool with a text.
    fn episode(says: &str, argument: &str) -> Episode {
        let mut given = Object::default();
        given.insert("note", Json::from(argument));
        let request = ToolRequestMessage {
            body: Body::text(says),
            tool_calls: vec![ToolCall::new("c", "save", given)],
        };
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        Episode {
            steps: vec![StepRecord::new(request.into(), outcome)],
            ..Episode::default()
        }
    }

    fn piece(at: Option<usize>, text: &str) -> RenderedPiece {
        RenderedPiece {
            at,
            text: text.to_owned(),
            is_name: false,
        }
    }

    /// A selection from a place in the first piece to one in the last, in UTF-16 code units.
    fn selection(id: &str, pieces: Vec<RenderedPiece>, start: u32, end: u32) -> Selected {
        Selected {
            id: id.to_owned(),
            start: Point {
                piece: 0,
                offset: start,
            },
            end: Point {
                piece: pieces.len().saturating_sub(1),
                offset: end,
            },
            pieces,
        }
    }

    /// The quote of a selection, which must be where its range says.
    fn quoted(found: &Selected, episode: &Episode) -> Option<String> {
        let target = passage_of(found, episode)?;
        let Target::Passage {
            position,
            start,
            end,
            quote,
        } = &target
        else {
            panic!("{target:?}")
        };
        let text = passage(episode, *position)?;
        let here: String = text.chars().skip(*start).take(end - start).collect();
        assert_eq!(here, **quote);
        Some(here)
    }

    #[test]
    fn a_selection_in_plain_text_is_found_by_its_place() {
        let episode = episode("fee, fee, 😀 fee", "");
        let whole = || vec![piece(Some(0), "fee, fee, 😀 fee")];
        // The last one, after a character of two code units.
        let found = selection("text-1-0-c", whole(), 13, 16);
        assert_eq!(quoted(&found, &episode).as_deref(), Some("fee"));
        let target = passage_of(&found, &episode);
        assert!(
            matches!(target, Some(Target::Passage { start: 12, .. })),
            "{target:?}"
        );
        // Blanks at both ends are left out.
        let found = selection("text-1-0-c", whole(), 4, 10);
        assert_eq!(quoted(&found, &episode).as_deref(), Some("fee,"));
    }

    #[test]
    fn a_selection_over_several_pieces_is_one_passage() {
        // The marks of Markdown are not rendered.
        let episode = episode("a **bold** word", "");
        let pieces = vec![
            piece(Some(0), "a "),
            piece(Some(4), "bold"),
            piece(Some(10), " word"),
        ];
        let found = selection("text-1-0-c", pieces, 0, 5);
        assert_eq!(quoted(&found, &episode).as_deref(), Some("a **bold** word"));
    }

    #[test]
    fn a_selection_in_a_call_is_found_by_its_words() {
        let episode = episode("", "see the fee and the fee");
        let rendered = "see the fee and the fee";
        let found = selection("text-1-0-0", vec![piece(None, rendered)], 20, 23);
        let target = passage_of(&found, &episode).expect("it is there");
        let Target::Passage {
            position, start, ..
        } = target
        else {
            panic!("a passage")
        };
        let text = passage(&episode, position).expect("the call");
        assert_eq!(
            text.match_indices("fee").nth(1).map(|(at, _)| at),
            Some(start)
        );
    }

    #[test]
    fn words_that_json_escapes_are_found() {
        let says = "say \"yes\"\nor no";
        let episode = episode("", says);
        let found = selection("text-1-0-0", vec![piece(None, says)], 4, 12);
        assert_eq!(
            quoted(&found, &episode).as_deref(),
            Some("\\\"yes\\\"\\nor")
        );
        // Marks at both ends are part of the words.
        let found = selection("text-1-0-0", vec![piece(None, says)], 4, 9);
        assert_eq!(quoted(&found, &episode).as_deref(), Some("\\\"yes\\\""));
    }

    #[test]
    fn what_is_no_passage_is_not_quoted() {
        let episode = episode("fee", "");
        let found = |id: &str, text: &str, start, end| {
            passage_of(
                &selection(id, vec![piece(Some(0), text)], start, end),
                &episode,
            )
        };
        assert_eq!(
            found("text-1-0-c", "fee", 1, 1),
            None,
            "nothing is selected"
        );
        assert_eq!(found("text-9-0-c", "fee", 0, 3), None, "no such step");
        assert_eq!(found("label-1", "fee", 0, 3), None, "another element");
        assert_eq!(
            passage_of(&selection("text-1-0-c", Vec::new(), 0, 0), &episode),
            None
        );
        let gone = selection("text-1-0-0", vec![piece(None, "gone")], 0, 4);
        assert_eq!(passage_of(&gone, &episode), None);
    }
}
