//! Untrusted text made safe to display.
//!
//! Texts come from tools, models and files. They are shown as text, never as markup, and in bounded slices: a long
//! text is folded to a preview, and a very long one is shown in parts. Invisible characters that change the reading of
//! a text (controls, zero-width marks, direction overrides, tags) are shown by name.

use std::borrow::Cow;
use std::ops::Range;

/// A text up to this many bytes is never folded.
const SHORT_BYTES: usize = 2_400;
/// A text up to this many lines is never folded.
const SHORT_LINES: usize = 40;
/// The maximum size of the preview of a folded text.
const PREVIEW_BYTES: usize = 1_600;
/// The maximum number of lines of that preview.
const PREVIEW_LINES: usize = 24;
/// A text up to this many bytes is shown whole once unfolded; a longer one in parts of this size.
pub const PART_BYTES: usize = 64_000;

/// The largest character boundary up to an offset.
pub fn cut_at(text: &str, place: usize) -> usize {
    text.floor_char_boundary(place)
}

/// The end of the preview of a text, if it is long enough to be folded.
pub fn preview_end(text: &str) -> Option<usize> {
    let looked_at = text.get(..cut_at(text, SHORT_BYTES)).unwrap_or_default();
    let long = looked_at.len() < text.len();
    let lines = looked_at.bytes().filter(|byte| *byte == b'\n').count();
    if !long && lines < SHORT_LINES {
        return None;
    }
    let by_lines = looked_at
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n')
        .nth(PREVIEW_LINES - 1)
        .map(|(place, _)| place);
    let by_bytes = cut_at(text, PREVIEW_BYTES);
    Some(by_lines.map_or(by_bytes, |place| place.min(by_bytes)))
}

/// The number of parts that a text is split into.
pub fn part_count(text: &str) -> usize {
    text.len().div_ceil(PART_BYTES).max(1)
}

/// The range of a part. All parts together are the text.
pub fn part(text: &str, number: usize) -> Range<usize> {
    let start = cut_at(text, number.saturating_mul(PART_BYTES));
    let end = cut_at(text, (number.saturating_add(1)).saturating_mul(PART_BYTES));
    start..end
}

/// The part with a character, if the text is folded and its preview ends before that character.
pub fn part_of_character(text: &str, character: usize) -> Option<usize> {
    let byte = text
        .char_indices()
        .nth(character)
        .map_or(text.len(), |(byte, _)| byte);
    preview_end(text).filter(|end| byte >= *end)?;
    let number = byte / PART_BYTES;
    // A character across the boundary of two parts is in the second.
    let is_in_next = part(text, number).end <= byte && byte < text.len();
    Some(number + usize::from(is_in_next))
}

/// A piece of a displayed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece<'a> {
    /// Visible text.
    Plain(&'a str),
    /// An invisible character.
    Hidden {
        /// A short name shown in its place, such as `RLO`.
        mark: Cow<'static, str>,
        /// Its description.
        meaning: Cow<'static, str>,
    },
}

/// Splits a text into pieces. A text without invisible characters is one piece.
pub fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut plain_from = 0;
    // The lead bytes of invisible characters: ASCII controls, C2 (C1 controls, soft hyphen), D8 (Arabic mark),
    // E1, E2, EF and F3.
    let suspicious =
        |byte: u8| byte < 0x20 || matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe1 | 0xe2 | 0xef | 0xf3);
    let mut from = 0;
    while let Some(found) = text
        .as_bytes()
        .get(from..)
        .and_then(|rest| rest.iter().position(|byte| suspicious(*byte)))
    {
        let place = from + found;
        let Some(character) = text.get(place..).and_then(|rest| rest.chars().next()) else {
            break;
        };
        from = place + character.len_utf8();
        if let Some((mark, meaning)) = hidden(text, place, character) {
            push_plain(&mut pieces, text, plain_from..place);
            pieces.push(TextPiece::Hidden { mark, meaning });
            plain_from = from;
        }
    }
    push_plain(&mut pieces, text, plain_from..text.len());
    pieces
}

fn push_plain<'a>(pieces: &mut Vec<TextPiece<'a>>, text: &'a str, range: Range<usize>) {
    if let Some(plain) = text.get(range)
        && !plain.is_empty()
    {
        pieces.push(TextPiece::Plain(plain));
    }
}

type Named = (Cow<'static, str>, Cow<'static, str>);

/// The short name and description of an invisible character.
fn hidden(text: &str, place: usize, character: char) -> Option<Named> {
    let named = |mark: &'static str, meaning: &'static str| Some((mark.into(), meaning.into()));
    match character {
        '\n' | '\t' => None,
        '\r' => match text.as_bytes().get(place + 1) {
            Some(b'\n') => None,
            _ => named("CR", "carriage return"),
        },
        '\0' => named("NUL", "null character"),
        '\u{8}' => named("BS", "backspace"),
        '\u{1b}' => named("ESC", "escape"),
        '\u{ad}' => named("SHY", "soft hyphen"),
        '\u{61c}' => named("ALM", "Arabic letter mark"),
        '\u{180e}' => named("MVS", "Mongolian vowel separator"),
        '\u{200b}' => named("ZWSP", "zero-width space"),
        '\u{200c}' | '\u{200d}' if joins(text, place, character) => None,
        '\u{200c}' => named("ZWNJ", "zero-width non-joiner"),
        '\u{200d}' => named("ZWJ", "zero-width joiner"),
        '\u{200e}' => named("LRM", "left-to-right mark"),
        '\u{200f}' => named("RLM", "right-to-left mark"),
        '\u{2028}' => named("LS", "line separator"),
        '\u{2029}' => named("PS", "paragraph separator"),
        '\u{202a}' => named("LRE", "left-to-right embedding"),
        '\u{202b}' => named("RLE", "right-to-left embedding"),
        '\u{202c}' => named("PDF", "pop directional formatting"),
        '\u{202d}' => named("LRO", "left-to-right override"),
        '\u{202e}' => named("RLO", "right-to-left override"),
        '\u{2060}' => named("WJ", "word joiner"),
        '\u{2066}' => named("LRI", "left-to-right isolate"),
        '\u{2067}' => named("RLI", "right-to-left isolate"),
        '\u{2068}' => named("FSI", "first strong isolate"),
        '\u{2069}' => named("PDI", "pop directional isolate"),
        '\u{feff}' => named("BOM", "byte order mark"),
        '\u{e0020}'..='\u{e007e}' => {
            let shown = char::from_u32(u32::from(character) - 0xe0000).unwrap_or(' ');
            Some((
                format!("TAG {shown}").into(),
                format!("invisible tag character for {shown}").into(),
            ))
        }
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => unnamed(character, "control character"),
        '\u{2061}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => {
            unnamed(character, "invisible character")
        }
        _ => None,
    }
}

/// An invisible character without a usual short name.
fn unnamed(character: char, meaning: &'static str) -> Option<Named> {
    Some((
        format!("U+{:04X}", u32::from(character)).into(),
        meaning.into(),
    ))
}

/// Whether a joiner is required by the script: between characters beyond ASCII, as in Persian, Indic scripts
/// and joined emoji.
fn joins(text: &str, place: usize, character: char) -> bool {
    let before = text.get(..place).and_then(|text| text.chars().next_back());
    let after = text
        .get(place + character.len_utf8()..)
        .and_then(|text| text.chars().next());
    let writing = |neighbour: Option<char>| {
        neighbour.is_some_and(|neighbour| {
            neighbour > '\u{7f}' && !matches!(neighbour, '\u{200b}'..='\u{200f}' | '\u{2060}')
        })
    };
    writing(before) && writing(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_in_the_preview_needs_no_part() {
        assert_eq!(part_of_character("short", 3), None);
        let long = "a".repeat(SHORT_BYTES + 1);
        assert_eq!(part_of_character(&long, PREVIEW_BYTES - 1), None);
        assert_eq!(part_of_character(&long, PREVIEW_BYTES), Some(0));
        assert_eq!(part_of_character(&long, usize::MAX), Some(0), "the end");
    }

    #[test]
    fn the_part_of_a_character_shows_it() {
        // Characters of two bytes lie across the boundaries of parts.
        let text = format!("a{}", "é".repeat(PART_BYTES));
        for character in [
            PART_BYTES / 2 - 1,
            PART_BYTES / 2,
            PART_BYTES / 2 + 1,
            PART_BYTES,
        ] {
            let number = part_of_character(&text, character).expect("it is folded");
            let (byte, _) = text.char_indices().nth(character).expect("it exists");
            let shown = part(&text, number);
            assert!(shown.contains(&byte), "{byte} in {shown:?}");
        }
    }

    #[test]
    fn only_long_texts_are_folded() {
        assert_eq!(preview_end(&"a".repeat(SHORT_BYTES)), None);
        assert_eq!(
            preview_end(&"a".repeat(SHORT_BYTES + 1)),
            Some(PREVIEW_BYTES)
        );
        assert_eq!(preview_end(&"a\n".repeat(SHORT_LINES - 1)), None);
        let lines = "a\n".repeat(SHORT_LINES);
        assert_eq!(preview_end(&lines), Some(2 * PREVIEW_LINES - 1));
    }

    #[test]
    fn invisible_characters_are_named() {
        let marks = |text: &str| -> Vec<String> {
            pieces(text)
                .into_iter()
                .map(|piece| match piece {
                    TextPiece::Plain(text) => text.to_owned(),
                    TextPiece::Hidden { mark, .. } => format!("<{mark}>"),
                })
                .collect()
        };
        assert_eq!(marks("plain\r\n\ttext"), ["plain\r\n\ttext"]);
        assert_eq!(marks("a\u{202e}b\u{0}"), ["a", "<RLO>", "b", "<NUL>"]);
        assert_eq!(marks("\u{e0041}\u{85}"), ["<TAG A>", "<U+0085>"]);
        assert_eq!(marks("a\u{200d}b"), ["a", "<ZWJ>", "b"]);
        let family = "\u{1f468}\u{200d}\u{1f469}";
        assert_eq!(marks(family), [family]);
        assert_eq!(marks("é € 漢"), ["é € 漢"]);
        assert!(pieces("").is_empty());
    }

    proptest! {
        #[test]
        fn pieces_keep_the_plain_text(text in "[a-z\\u{200b}\\u{202e}é漢\\r\\n\u{1f468}]{0,40}") {
            let shown: String = pieces(&text)
                .into_iter()
                .filter_map(|piece| match piece {
                    TextPiece::Plain(text) => Some(text),
                    TextPiece::Hidden { .. } => None,
                })
                .collect();
            let expected: String = text
                .char_indices()
                .filter(|(place, character)| hidden(&text, *place, *character).is_none())
                .map(|(_, character)| character)
                .collect();
            prop_assert_eq!(shown, expected);
        }

        #[test]
        fn parts_make_up_the_text(character in prop::sample::select(vec!["a", "é", "漢", "\u{1f468}"]), count in 0usize..80_000) {
            let text = character.repeat(count);
            let whole: String = (0..part_count(&text))
                .filter_map(|number| text.get(part(&text, number)))
                .collect();
            prop_assert!(whole == text);
        }

        #[test]
        fn a_preview_is_a_cut(text in "[aé漢\n]{0,4000}") {
            if let Some(end) = preview_end(&text) {
                prop_assert!(text.get(..end).is_some());
                prop_assert!(end < text.len());
            }
        }
    }
}
