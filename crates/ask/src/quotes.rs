//! Checks whether a quote occurs in the message that it names.
//!
//! The steps, from strict to lenient: verbatim; with other white space; after folding of case, typography and escapes; with
//! an edit distance of at most a tenth of the quote's length. The first two are *exact*, the others are *close*, and the
//! words of the transcript are returned so that the difference can be shown.
//!
//! Invariants:
//! - A quote is exact only if its characters, apart from the length of white space, are in one text of that message, and
//!   the quote does not begin or end within a word: "I can" is not an exact quote of "I cannot".
//! - Markers are not searched, and no match spans two texts.
//! - The time for a quote is linear in the texts at most: most messages are excluded by the sequences of five bytes that
//!   they lack. All indices are built on first use.
//!
//! - `fold`: folded texts with the offsets of their origin. `grams`: the filter. `distance`: approximate search.

mod distance;
mod fold;
mod grams;

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use volary_episode::passages::TextPosition;

use crate::position::PositionFields;
use crate::render::{Rendered, RenderedMessage};
use fold::{Folded, same_but_white_space};
use grams::Grams;

/// The share of a quote that may be edited: one in this number of bytes.
const EDITS: usize = 10;
/// The length in bytes of the folded quote below which nothing but an exact or folded match counts.
const SHORTEST_APPROXIMATE: usize = 10;
/// The length in bytes above which no approximate match is searched. Quotes should have at most 200 characters.
const LONGEST_APPROXIMATE: usize = 2_000;

/// Whether a quote holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteState {
    /// The words are in the message, apart from white space.
    Exact,
    /// Similar words are in the message.
    Close,
    /// The words, or similar ones, are in another message.
    Elsewhere,
    NotFound,
}

impl QuoteState {
    /// All states, from the best to the worst.
    pub const ALL: [QuoteState; 4] = [
        QuoteState::Exact,
        QuoteState::Close,
        QuoteState::Elsewhere,
        QuoteState::NotFound,
    ];

    /// The name for display.
    pub const fn as_str(self) -> &'static str {
        match self {
            QuoteState::Exact => "exact",
            QuoteState::Close => "close",
            QuoteState::Elsewhere => "elsewhere",
            QuoteState::NotFound => "not found",
        }
    }

    /// Whether the quote supports an answer.
    pub const fn holds(self) -> bool {
        matches!(self, QuoteState::Exact | QuoteState::Close)
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteCheck {
    pub state: QuoteState,
    /// Where the words are.
    pub found: Option<QuoteMatch>,
}

/// Where the words of a quote are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteMatch {
    pub message: usize,
    /// The index of the passage in the rendered message.
    pub passage: usize,
    /// The range in the text of the rendered message.
    pub range: Range<usize>,
    /// The words of the transcript, if they differ from the quote.
    pub words: Option<String>,
    pub at: QuotePosition,
}

/// Where words are in an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotePosition {
    /// The text of the episode.
    #[serde(with = "PositionFields")]
    pub text: TextPosition,
    /// The index of the first character. If the rendered text was cut or masked before it, the words are further away.
    pub start: usize,
}

/// The texts of a rendered trajectory, prepared for many quotes.
pub struct QuoteIndex<'a> {
    messages: Vec<Vec<Passage<'a>>>,
}

struct Passage<'a> {
    position: TextPosition,
    text: &'a str,
    /// The offset in the message's text.
    offset: usize,
    folded: OnceCell<Folded>,
    grams: OnceCell<Grams>,
}

/// A match within a passage.
struct Hit {
    range: Range<usize>,
    is_exact: bool,
}

/// A prepared quote.
struct Needle<'q> {
    quote: &'q str,
    folded: Vec<u8>,
}

impl<'a> QuoteIndex<'a> {
    /// Prepares a trajectory. Nothing is computed before it is needed.
    pub fn of(rendered: &'a Rendered) -> Self {
        let messages = rendered.messages.iter();
        QuoteIndex {
            messages: messages.map(passages).collect(),
        }
    }

    /// Checks a quote that names a message.
    pub fn check(&self, message: Option<usize>, quote: &str) -> QuoteCheck {
        let needle = Needle::of(quote);
        if needle.folded.is_empty() {
            return QuoteCheck {
                state: QuoteState::NotFound,
                found: None,
            };
        }
        let named = message.filter(|message| *message < self.messages.len());
        if let Some(message) = named
            && let Some((hit, passage)) = self.find_in(message, &needle)
        {
            let state = if hit.is_exact {
                QuoteState::Exact
            } else {
                QuoteState::Close
            };
            return self.found(state, message, passage, hit, &needle);
        }
        match self.find_elsewhere(named, &needle) {
            Some((message, passage, hit)) => {
                self.found(QuoteState::Elsewhere, message, passage, hit, &needle)
            }
            None => QuoteCheck {
                state: QuoteState::NotFound,
                found: None,
            },
        }
    }

    /// The best match in a message, and the index of its passage.
    fn find_in(&self, message: usize, needle: &Needle<'_>) -> Option<(Hit, usize)> {
        let passages = self.messages.get(message)?.iter().enumerate();
        let mut folded = None;
        for (index, passage) in passages.clone() {
            match passage.equal(needle) {
                Some(hit) if hit.is_exact => return Some((hit, index)),
                Some(hit) if folded.is_none() => folded = Some((hit, index)),
                _ => {}
            }
        }
        folded.or_else(|| {
            let similar = passages.filter_map(|(index, passage)| {
                let (distance, hit) = passage.similar(needle)?;
                Some((distance, hit, index))
            });
            let best = similar.min_by_key(|(distance, _, _)| *distance)?;
            Some((best.1, best.2))
        })
    }

    /// The best match in the other messages, the nearest one first.
    fn find_elsewhere(
        &self,
        named: Option<usize>,
        needle: &Needle<'_>,
    ) -> Option<(usize, usize, Hit)> {
        let mut order: Vec<usize> = (0..self.messages.len())
            .filter(|message| Some(*message) != named)
            .collect();
        order.sort_by_key(|message| named.map_or(0, |named| named.abs_diff(*message)));
        let passages = || {
            order.iter().flat_map(|message| {
                let passages = self.messages.get(*message).into_iter().flatten();
                passages
                    .enumerate()
                    .map(|(index, passage)| (*message, index, passage))
            })
        };
        let mut folded = None;
        for (message, index, passage) in passages() {
            match passage.equal(needle) {
                Some(hit) if hit.is_exact => return Some((message, index, hit)),
                Some(hit) if folded.is_none() => folded = Some((message, index, hit)),
                _ => {}
            }
        }
        folded.or_else(|| {
            let similar = passages().filter_map(|(message, index, passage)| {
                let (distance, hit) = passage.similar(needle)?;
                Some((distance, (message, index, hit)))
            });
            let best = similar.min_by_key(|(distance, _)| *distance)?;
            Some(best.1)
        })
    }

    fn found(
        &self,
        state: QuoteState,
        message: usize,
        index: usize,
        hit: Hit,
        needle: &Needle<'_>,
    ) -> QuoteCheck {
        let passage = self.messages.get(message).and_then(|all| all.get(index));
        let text = passage.map_or("", |passage| passage.text);
        let offset = passage.map_or(0, |passage| passage.offset);
        let words = text.get(hit.range.clone()).unwrap_or_default();
        let before = text.get(..hit.range.start).unwrap_or_default();
        QuoteCheck {
            state,
            found: Some(QuoteMatch {
                message,
                passage: index,
                range: hit.range.start + offset..hit.range.end + offset,
                words: (words != needle.quote).then(|| words.to_owned()),
                at: QuotePosition {
                    text: passage.map(|passage| passage.position).unwrap_or_default(),
                    start: before.chars().count(),
                },
            }),
        }
    }
}

fn passages(message: &RenderedMessage) -> Vec<Passage<'_>> {
    let passages = message.passages.iter();
    let passages = passages.map(|passage| Passage {
        position: passage.position,
        text: message.text.get(passage.range.clone()).unwrap_or_default(),
        offset: passage.range.start,
        folded: OnceCell::new(),
        grams: OnceCell::new(),
    });
    passages.collect()
}

impl<'q> Needle<'q> {
    fn of(quote: &'q str) -> Self {
        let quote = quote.trim();
        Needle {
            quote,
            folded: Folded::of(quote).trimmed().to_vec(),
        }
    }

    /// The largest edit distance of a close quote.
    fn edits(&self) -> usize {
        self.folded.len() / EDITS
    }
}

impl Passage<'_> {
    fn folded(&self) -> &Folded {
        self.folded.get_or_init(|| Folded::of(self.text))
    }

    /// The first exact match, otherwise the first match after folding.
    fn equal(&self, needle: &Needle<'_>) -> Option<Hit> {
        let verbatim = memmem::find_iter(self.text.as_bytes(), needle.quote.as_bytes());
        let mut verbatim = verbatim.map(|start| start..start + needle.quote.len());
        if let Some(range) = verbatim.find(|range| is_whole(self.text, range)) {
            return Some(Hit {
                range,
                is_exact: true,
            });
        }
        let mut first = None;
        for start in memmem::find_iter(self.folded().bytes(), &needle.folded) {
            let range = self
                .folded()
                .origin(start..start + needle.folded.len(), self.text);
            let words = self.text.get(range.clone()).unwrap_or_default();
            if is_whole(self.text, &range) && same_but_white_space(words, needle.quote) {
                return Some(Hit {
                    range,
                    is_exact: true,
                });
            }
            first.get_or_insert(range);
        }
        first.map(|range| Hit {
            range: whole(self.text, range),
            is_exact: false,
        })
    }

    /// The match with the smallest edit distance, if it is small enough.
    fn similar(&self, needle: &Needle<'_>) -> Option<(usize, Hit)> {
        let length = needle.folded.len();
        if !(SHORTEST_APPROXIMATE..=LONGEST_APPROXIMATE).contains(&length) {
            return None;
        }
        let edits = needle.edits();
        let grams = self.grams.get_or_init(|| Grams::of(self.folded().bytes()));
        if !grams.may_hold(&needle.folded, edits) {
            return None;
        }
        let (distance, range) = distance::find(&needle.folded, self.folded().bytes(), edits)?;
        let range = self.folded().origin(range, self.text);
        let hit = Hit {
            range: whole(self.text, range),
            is_exact: false,
        };
        Some((distance, hit))
    }
}

/// Whether a character is part of a word in a script that separates words.
fn is_word(character: char) -> bool {
    character < '\u{2e80}' && character.is_alphanumeric()
}

/// Whether a range neither begins nor ends within a word.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let before = text
        .get(..range.start)
        .and_then(|text| text.chars().next_back());
    let after = text.get(range.end..).and_then(|text| text.chars().next());
    let inner = text.get(range.clone()).unwrap_or_default();
    let cuts = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(is_word) && inner.is_some_and(is_word)
    };
    !cuts(before, inner.chars().next()) && !cuts(after, inner.chars().next_back())
}

/// A range extended to whole words.
fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let length = |letters: &mut dyn Iterator<Item = char>| -> usize {
        letters
            .take_while(|letter| is_word(*letter))
            .map(char::len_utf8)
            .sum()
    };
    let mut extended = range.clone();
    if inner.chars().next().is_some_and(is_word) {
        let before = text.get(..range.start).unwrap_or_default();
        extended.start -= length(&mut before.chars().rev());
    }
    if inner.chars().next_back().is_some_and(is_word) {
        let after = text.get(range.end..).unwrap_or_default();
        extended.end += length(&mut after.chars());
    }
    extended
}

#[cfg(test)]
mod tests;
