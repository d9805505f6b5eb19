//! Maps places in a text to places on the page and back.
//!
//! Rendered text differs from its source: Markdown loses its markup, invisible characters get a name, calls are
//! laid out. Each rendered piece states its offset in the source if it is known ([`RenderedPiece::at`]); otherwise the
//! words are searched for.

use std::ops::Range;

use volary_episode::passages::{TextPart, TextPosition};

/// A piece of rendered text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedPiece {
    /// Its offset in the source text in characters; `None` if unknown.
    pub at: Option<usize>,
    /// The rendered text.
    pub text: String,
    /// Whether it is the visible form of one invisible character.
    pub is_name: bool,
}

/// A position on the page: a piece and an offset in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub piece: usize,
    /// The offset in it.
    pub offset: u32,
}

/// A range to highlight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The text that contains it.
    pub place: TextPosition,
    /// The range of characters.
    pub range: Range<usize>,
    /// The highlighted words.
    pub quote: String,
    /// How many occurrences of the same words precede it in this text. Used if offsets are unknown.
    pub before: usize,
}

impl RenderedPiece {
    /// The number of source characters that the piece covers.
    fn length(&self) -> usize {
        if self.is_name {
            1
        } else {
            self.text.chars().count()
        }
    }
}

/// The id of the element that contains a text; `None` for texts that no transcript shows.
pub fn holder_id(place: TextPosition) -> Option<String> {
    let TextPosition {
        step,
        message,
        part,
    } = place;
    let part = match part {
        TextPart::Content => "c".to_owned(),
        TextPart::Reasoning => "r".to_owned(),
        TextPart::Call(number) => number.to_string(),
        TextPart::Error(number) => format!("e{number}"),
        TextPart::Name | TextPart::Score(_) => return None,
    };
    Some(format!("text-{step}-{message}-{part}"))
}

/// The text that the element with an id contains.
pub fn held(id: &str) -> Option<TextPosition> {
    let mut parts = id.strip_prefix("text-")?.split('-');
    let step = parts.next()?.parse().ok()?;
    let message = parts.next()?.parse().ok()?;
    let part = match parts.next()? {
        "c" => TextPart::Content,
        "r" => TextPart::Reasoning,
        part => match part.strip_prefix('e') {
            Some(number) => TextPart::Error(number.parse().ok()?),
            None => TextPart::Call(part.parse().ok()?),
        },
    };
    parts.next().is_none().then_some(TextPosition {
        step,
        message,
        part,
    })
}

/// The start and end of a range on the page.
pub fn locate(pieces: &[RenderedPiece], spot: &Spot) -> Option<(Point, Point)> {
    if pieces.iter().all(|piece| piece.at.is_some()) {
        return by_place(pieces, &spot.range);
    }
    by_words(pieces, &spot.quote, spot.before)
}

fn by_place(pieces: &[RenderedPiece], range: &Range<usize>) -> Option<(Point, Point)> {
    let ends = |piece: &RenderedPiece| piece.at.unwrap_or_default() + piece.length();
    let within = |number: usize, character: usize| {
        let piece = pieces.get(number)?;
        let characters = character.saturating_sub(piece.at?);
        Some(Point {
            piece: number,
            offset: units(piece, characters),
        })
    };
    // Characters that are not rendered may be at both ends.
    let first = pieces.iter().position(|piece| ends(piece) > range.start)?;
    let last = pieces
        .iter()
        .rposition(|piece| piece.at.is_some_and(|at| at < range.end))?;
    (first <= last).then_some(())?;
    Some((within(first, range.start)?, within(last, range.end)?))
}

/// The number of UTF-16 code units of the first characters of a piece.
fn units(piece: &RenderedPiece, characters: usize) -> u32 {
    let units = |text: &mut dyn Iterator<Item = char>| text.map(|c| c.len_utf16() as u32).sum();
    match piece.is_name {
        true if characters == 0 => 0,
        true => units(&mut piece.text.chars()),
        false => units(&mut piece.text.chars().take(characters)),
    }
}

/// Finds the words, ignoring white space. Of several occurrences, takes the one with the same number before it,
/// or else the last.
fn by_words(pieces: &[RenderedPiece], words: &str, before: usize) -> Option<(Point, Point)> {
    // JSON strings are rendered unescaped.
    let meant = words.replace("\\n", "\n").replace("\\\"", "\"");
    [words, &meant].into_iter().find_map(|words| {
        let wanted: Vec<char> = words
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(folded)
            .collect();
        let (first, rest) = wanted.split_first()?;
        let shown = characters(pieces);
        let mut found = None;
        let mut count = 0;
        for (place, (character, _, _)) in shown.iter().enumerate() {
            let here = character == first
                && shown
                    .get(place + 1..place + wanted.len())
                    .is_some_and(|next| next.iter().map(|(character, _, _)| character).eq(rest));
            if here {
                found = Some((place, place + rest.len()));
                if count == before {
                    break;
                }
                count += 1;
            }
        }
        let (start, end) = found?;
        Some((shown.get(start)?.1, shown.get(end)?.2))
    })
}

/// The place of the first occurrence of words in a text, in characters, ignoring case.
pub fn character_of(text: &str, words: &str) -> Option<usize> {
    let text: Vec<char> = text.chars().map(folded).collect();
    let words: Vec<char> = words.chars().map(folded).collect();
    if words.is_empty() {
        Some(0)
    } else {
        text.windows(words.len()).position(|part| part == words)
    }
}

fn folded(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

/// All visible characters with the positions before and after each.
fn characters(pieces: &[RenderedPiece]) -> Vec<(char, Point, Point)> {
    let mut all = Vec::new();
    for (number, piece) in pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| !piece.is_name)
    {
        let mut offset = 0;
        for character in piece.text.chars() {
            let before = Point {
                piece: number,
                offset,
            };
            // One or two.
            offset += character.len_utf16() as u32;
            let after = Point {
                piece: number,
                offset,
            };
            if !character.is_whitespace() {
                all.push((folded(character), before, after));
            }
        }
    }
    all
}

/// The index of the source character at a position; `None` if offsets are unknown.
pub fn source_of(pieces: &[RenderedPiece], point: Point) -> Option<usize> {
    let piece = pieces.get(point.piece)?;
    let at = piece.at?;
    if piece.is_name {
        return Some(at + usize::from(point.offset > 0));
    }
    let mut units = 0;
    let before = piece.text.chars().take_while(|character| {
        units += character.len_utf16() as u32;
        units <= point.offset
    });
    Some(at + before.count())
}

/// The rendered text between two positions, and how many occurrences of it come before.
pub fn words_between(pieces: &[RenderedPiece], start: Point, end: Point) -> (String, usize) {
    let cut = |piece: &RenderedPiece, units: u32| -> usize {
        let mut counted = 0;
        let characters = piece.text.char_indices();
        let mut places = characters.map(|(byte, character)| {
            let before = counted;
            counted += character.len_utf16() as u32;
            (byte, before)
        });
        places
            .find(|(_, before)| *before >= units)
            .map_or(piece.text.len(), |(byte, _)| byte)
    };
    let mut words = String::new();
    let mut earlier = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        let from = match number.cmp(&start.piece) {
            std::cmp::Ordering::Less => piece.text.len(),
            std::cmp::Ordering::Equal => cut(piece, start.offset),
            std::cmp::Ordering::Greater => 0,
        };
        let to = match number.cmp(&end.piece) {
            std::cmp::Ordering::Less => piece.text.len(),
            std::cmp::Ordering::Equal => cut(piece, end.offset),
            std::cmp::Ordering::Greater => 0,
        };
        earlier.push_str(piece.text.get(..from).unwrap_or_default());
        words.push_str(piece.text.get(from..to.max(from)).unwrap_or_default());
    }
    let words = words.trim().to_owned();
    let before = if words.is_empty() {
        0
    } else {
        earlier.matches(&words).count()
    };
    (words, before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_found_by_characters_whatever_their_case() {
        assert_eq!(character_of("The Fee", "fee"), Some(4));
        assert_eq!(character_of("fee", "fees"), None);
        assert_eq!(character_of("anything", ""), Some(0));
        // In lower case this letter has two characters, and those before it have two bytes.
        assert_eq!(character_of("\u{e4}\u{130}x fee", "FEE"), Some(4));
    }

    fn piece(at: Option<usize>, text: &str) -> RenderedPiece {
        RenderedPiece {
            at,
            text: text.to_owned(),
            is_name: false,
        }
    }

    fn at(piece: usize, offset: u32) -> Point {
        Point { piece, offset }
    }

    #[test]
    fn ids_lead_back_to_places() {
        for part in [TextPart::Content, TextPart::Reasoning, TextPart::Call(3)] {
            let place = TextPosition {
                step: 12,
                message: 4,
                part,
            };
            assert_eq!(holder_id(place).as_deref().and_then(held), Some(place));
        }
        assert_eq!(held("text-1-2"), None);
    }

    #[test]
    fn drawn_markdown_leads_to_its_source_and_back() {
        // "a **bold** é\u{202e}x"
        let name = RenderedPiece {
            at: Some(12),
            text: "RLO".into(),
            is_name: true,
        };
        let pieces = [
            piece(Some(0), "a "),
            piece(Some(4), "bold"),
            piece(Some(10), " é"),
            name,
            piece(Some(13), "x"),
        ];
        let spot = |range: Range<usize>| Spot {
            range,
            ..Spot::default()
        };
        assert_eq!(locate(&pieces, &spot(0..10)), Some((at(0, 0), at(1, 4))));
        assert_eq!(locate(&pieces, &spot(2..6)), Some((at(1, 0), at(1, 2))));
        assert_eq!(locate(&pieces, &spot(12..13)), Some((at(3, 0), at(3, 3))));
        assert_eq!(locate(&pieces, &spot(11..14)), Some((at(2, 1), at(4, 1))));
        assert_eq!(locate(&pieces, &spot(20..21)), None);
        assert_eq!(source_of(&pieces, at(1, 2)), Some(6));
        assert_eq!(source_of(&pieces, at(3, 3)), Some(13));
    }

    #[test]
    fn words_are_found_where_places_are_not_known() {
        let pieces = [
            piece(None, "command"),
            piece(None, "ls\n -l "),
            piece(None, "LS -l"),
        ];
        let spot = |quote: &str, before| Spot {
            quote: quote.into(),
            before,
            ..Spot::default()
        };
        assert_eq!(
            locate(&pieces, &spot("ls -l", 0)),
            Some((at(1, 0), at(1, 6)))
        );
        assert_eq!(
            locate(&pieces, &spot("ls -l", 1)),
            Some((at(2, 0), at(2, 5)))
        );
        assert_eq!(
            locate(&pieces, &spot("ls\\n -l", 0)),
            Some((at(1, 0), at(1, 6)))
        );
        assert_eq!(locate(&pieces, &spot("rm", 0)), None);
    }

    #[test]
    fn selected_words_and_how_often_they_stood_before() {
        let pieces = [piece(Some(0), "one two one"), piece(Some(11), " one")];
        assert_eq!(
            words_between(&pieces, at(0, 8), at(0, 11)),
            ("one".to_owned(), 1)
        );
        assert_eq!(
            words_between(&pieces, at(0, 4), at(1, 4)),
            ("two one one".to_owned(), 0)
        );
        assert_eq!(words_between(&pieces, at(1, 0), at(0, 0)).0, "");
    }

    proptest! {
        #[test]
        fn plain_places_come_back(text in "[a-zé漢\u{1f468}]{1,30}", start in 0usize..30, length in 1usize..30) {
            let count = text.chars().count();
            let range = start.min(count - 1)..(start + length).min(count).max(start.min(count - 1) + 1);
            let pieces = [piece(Some(0), &text)];
            let spot = Spot { range: range.clone(), ..Spot::default() };
            let (from, to) = locate(&pieces, &spot).unwrap();
            prop_assert_eq!(source_of(&pieces, from), Some(range.start));
            prop_assert_eq!(source_of(&pieces, to), Some(range.end));
            let quote: String = text.chars().skip(range.start).take(range.len()).collect();
            prop_assert_eq!(words_between(&pieces, from, to).0, quote);
        }
    }
}
