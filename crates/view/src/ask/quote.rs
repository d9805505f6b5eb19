//! Quotes of an answer for display: the result of the check in words, the address of the passage, and the difference.

use volary_analysis::annotations::Target;
use volary_ask::answer::Evidence;
use volary_ask::{QuoteState, Support};

use crate::passage_link;
use crate::route::{ReviewPlace, Route};

/// The maximum number of words of either text that are compared.
const MOST_WORDS: usize = 400;

/// A piece of a quote that is compared with the words of the trajectory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotePiece {
    pub text: String,
    pub kind: QuotePieceKind,
}

/// Which of the texts has a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotePieceKind {
    Both,
    /// Only the quote of the model.
    Quote,
    /// Only the trajectory.
    Trajectory,
}

/// The result of the check of a quote, in words.
pub fn state_text(evidence: &Evidence) -> String {
    match (evidence.state, evidence.found_in, evidence.message) {
        (QuoteState::Elsewhere, Some(found), Some(named)) => {
            format!("elsewhere: in message {found}, not {named}")
        }
        (QuoteState::Elsewhere, Some(found), None) => format!("elsewhere: in message {found}"),
        (QuoteState::NotFound, _, _) if evidence.from_question => {
            "not found: words of the question".to_owned()
        }
        (state, _, _) => state.as_str().to_owned(),
    }
}

/// The class of a state, for its colour.
pub fn state_class(state: QuoteState) -> &'static str {
    match state {
        QuoteState::Exact => "quote-exact",
        QuoteState::Close => "quote-close",
        QuoteState::Elsewhere => "quote-elsewhere",
        QuoteState::NotFound => "quote-not-found",
    }
}

/// The class of the support of an answer, for its colour.
pub fn support_class(support: Support) -> &'static str {
    match support {
        Support::Supported => "support-good",
        Support::NotNeeded => "support-none",
        Support::Unsupported | Support::Unreadable => "support-bad",
    }
}

/// The passage of a quote in an episode; `None` if it was not found.
pub fn target(evidence: &Evidence) -> Option<Target> {
    let at = evidence.at?;
    let words = evidence.words.as_ref().unwrap_or(&evidence.quote);
    let words = if evidence.words.is_some() {
        &**words
    } else {
        words.trim()
    };
    Some(Target::Passage {
        position: at.text,
        start: at.start,
        end: at.start + words.chars().count(),
        quote: words.into(),
    })
}

/// The address that opens the episode at the quote; at least at its step, if a text there cannot be linked. `None` if the
/// quote was not found.
pub fn hash(episode: &str, evidence: &Evidence) -> Option<String> {
    let target = target(evidence)?;
    let (at, words) = passage_link::write(&target).unzip();
    let place = ReviewPlace {
        episode: Some(episode.to_owned()),
        step: evidence.at.map(|at| at.text.step),
        at,
        words,
        ..ReviewPlace::default()
    };
    Some(Route::Review(place).to_hash())
}

/// How a quote differs from the words of the trajectory, word by word. Long texts are shown one after the other.
pub fn difference(quote: &str, words: &str) -> Vec<QuotePiece> {
    let piece = |text: &str, kind| QuotePiece {
        text: text.to_owned(),
        kind,
    };
    let (one, other) = (pieces(quote), pieces(words));
    if one.len() > MOST_WORDS || other.len() > MOST_WORDS {
        return vec![
            piece(quote, QuotePieceKind::Quote),
            piece(words, QuotePieceKind::Trajectory),
        ];
    }
    // The length of the longest common subsequence from each pair of places on.
    let width = other.len() + 1;
    let mut lengths = vec![0_usize; (one.len() + 1) * width];
    let length = |lengths: &[usize], row: usize, column: usize| {
        lengths
            .get(row * width + column)
            .copied()
            .unwrap_or_default()
    };
    for (row, left) in one.iter().enumerate().rev() {
        for (column, right) in other.iter().enumerate().rev() {
            let longest = if left == right {
                length(&lengths, row + 1, column + 1) + 1
            } else {
                length(&lengths, row + 1, column).max(length(&lengths, row, column + 1))
            };
            if let Some(cell) = lengths.get_mut(row * width + column) {
                *cell = longest;
            }
        }
    }
    let mut found: Vec<QuotePiece> = Vec::new();
    let mut push = |text: &str, kind| match found.last_mut() {
        Some(last) if last.kind == kind => last.text.push_str(text),
        _ => found.push(piece(text, kind)),
    };
    let (mut row, mut column) = (0, 0);
    loop {
        match (one.get(row), other.get(column)) {
            (Some(left), Some(right)) if left == right => {
                push(left, QuotePieceKind::Both);
                (row, column) = (row + 1, column + 1);
            }
            (Some(left), right)
                if right.is_none()
                    || length(&lengths, row + 1, column) >= length(&lengths, row, column + 1) =>
            {
                push(left, QuotePieceKind::Quote);
                row += 1;
            }
            (_, Some(right)) => {
                push(right, QuotePieceKind::Trajectory);
                column += 1;
            }
            (_, None) => return found,
        }
    }
}

/// The words of a text, and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut was_word = None;
    for (index, letter) in text.char_indices() {
        let is_word = letter.is_alphanumeric();
        if was_word.is_some_and(|was| was != is_word || !is_word) && index > start {
            pieces.push(text.get(start..index).unwrap_or_default());
            start = index;
        }
        was_word = Some(is_word);
    }
    pieces.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_ask::quotes::QuotePosition;
    use volary_episode::passages::{TextPart, TextPosition};

    use super::*;

    fn evidence(state: QuoteState) -> Evidence {
        Evidence {
            message: Some(3),
            quote: " say \u{201c}six\u{201d} ".into(),
            state,
            found_in: (state == QuoteState::Elsewhere).then_some(5),
            words: None,
            at: Some(QuotePosition {
                text: TextPosition {
                    step: 2,
                    message: 1,
                    part: TextPart::Content,
                },
                start: 7,
            }),
            from_question: false,
        }
    }

    #[test]
    fn states_are_said_in_words() {
        let text = |state| state_text(&evidence(state));
        assert_eq!(text(QuoteState::Exact), "exact");
        assert_eq!(
            text(QuoteState::Elsewhere),
            "elsewhere: in message 5, not 3"
        );
        let copied = Evidence {
            from_question: true,
            ..evidence(QuoteState::NotFound)
        };
        assert_eq!(state_text(&copied), "not found: words of the question");
    }

    #[test]
    fn a_quote_has_the_address_of_its_passage() {
        let hash = hash("a b", &evidence(QuoteState::Exact)).unwrap();
        assert!(
            hash.starts_with("#/review/a%20b?step=2&at=1-c-7&words=say"),
            "{hash}"
        );
        let Route::Review(place) = Route::parse(&hash) else {
            panic!("{hash}");
        };
        let read = passage_link::read(2, &place.at.unwrap(), &place.words.unwrap());
        assert_eq!(read, target(&evidence(QuoteState::Exact)));
        let missing = Evidence {
            at: None,
            ..evidence(QuoteState::NotFound)
        };
        assert_eq!(super::hash("a", &missing), None);
    }

    #[test]
    fn the_difference_is_that_of_words() {
        let pieces = difference("a refund of $500 was send", "a refund of $500 was sent.");
        let shown: Vec<(&str, QuotePieceKind)> = pieces
            .iter()
            .map(|piece| (&*piece.text, piece.kind))
            .collect();
        assert_eq!(
            shown,
            [
                ("a refund of $500 was ", QuotePieceKind::Both),
                ("send", QuotePieceKind::Quote),
                ("sent.", QuotePieceKind::Trajectory),
            ]
        );
    }

    proptest! {
        /// Without the pieces of the other text, each text is whole.
        #[test]
        fn no_word_is_lost(one in "[ab .]{0,30}", other in "[ab .]{0,30}") {
            let pieces = difference(&one, &other);
            let text = |without: QuotePieceKind| -> String {
                let pieces = pieces.iter().filter(|piece| piece.kind != without);
                pieces.map(|piece| &*piece.text).collect()
            };
            prop_assert_eq!(text(QuotePieceKind::Trajectory), one);
            prop_assert_eq!(text(QuotePieceKind::Quote), other);
        }
    }
}
