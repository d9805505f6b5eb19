//! What terminals make of a text: colours and weights, told by escape sequences. The sequences
//! themselves are left out, also those that only a terminal could follow (moving, erasing, titles).

use std::ops::Range;

/// How a stretch of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The colour of the text, one of sixteen.
    pub colour: Option<u8>,
    /// The colour behind it, one of sixteen.
    pub behind: Option<u8>,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub faint: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underlined: bool,
    /// Struck out.
    pub struck: bool,
    /// Text and ground change places.
    pub inverse: bool,
}

/// Whether a text has anything for terminals in it.
pub fn is_for_terminals(text: &str) -> bool {
    text.contains("\u{1b}[") || text.contains("\u{1b}]")
}

/// The stretches of a text that a terminal would show, as ranges of bytes, in order.
pub fn stretches(text: &str) -> Vec<(Range<usize>, Look)> {
    let mut found: Vec<(Range<usize>, Look)> = Vec::new();
    let mut look = Look::default();
    let mut from = 0;
    let push = |found: &mut Vec<(Range<usize>, Look)>, range: Range<usize>, look: Look| {
        if !range.is_empty() {
            found.push((range, look));
        }
    };
    while let Some(place) = text.get(from..).and_then(|rest| rest.find('\u{1b}')) {
        let escape = from + place;
        let Some(sequence) = sequence(text, escape) else {
            // Nothing that a terminal knows: it stays, to be shown by its name.
            push(&mut found, from..escape + 1, look);
            from = escape + 1;
            continue;
        };
        push(&mut found, from..escape, look);
        from = sequence.end;
        if let Some(numbers) = sequence.numbers {
            look = changed(look, &numbers);
        }
    }
    push(&mut found, from..text.len(), look);
    found
}

struct Sequence {
    end: usize,
    /// What a sequence says that sets the look; `None` of any other.
    numbers: Option<Vec<u16>>,
}

/// The sequence that begins with an escape, if it is one.
fn sequence(text: &str, escape: usize) -> Option<Sequence> {
    let bytes = text.as_bytes();
    let after = escape + 2;
    match bytes.get(escape + 1)? {
        b'[' => {
            let rest = bytes.get(after..)?;
            let length = rest.iter().position(|byte| matches!(byte, 0x40..=0x7e))?;
            // Parameters are ASCII between the digits and the signs before the letters.
            let parameters = rest.get(..length)?;
            if length > 64 || !parameters.iter().all(|byte| matches!(byte, 0x20..=0x3f)) {
                return None;
            }
            let numbers = (rest.get(length) == Some(&b'm')).then(|| {
                let parameters = text.get(after..after + length).unwrap_or_default();
                let parts = parameters.split([';', ':']);
                parts.map(|number| number.parse().unwrap_or(0)).collect()
            });
            Some(Sequence {
                end: after + length + 1,
                numbers,
            })
        }
        b']' => {
            // Titles and links: up to a bell, or to an escape and a backslash.
            const LONGEST: usize = 2_000;
            let rest = bytes.get(after..bytes.len().min(after + LONGEST))?;
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
            let ends = after + end;
            let length = match bytes.get(ends) {
                Some(0x07) => 1,
                _ if bytes.get(ends + 1) == Some(&b'\\') => 2,
                _ => return None,
            };
            Some(Sequence {
                end: ends + length,
                numbers: None,
            })
        }
        // Sets of characters: one more byte.
        b'(' | b')' if bytes.get(after).is_some_and(u8::is_ascii) => Some(Sequence {
            end: after + 1,
            numbers: None,
        }),
        b'=' | b'>' | b'7' | b'8' | b'M' => Some(Sequence {
            end: after,
            numbers: None,
        }),
        _ => None,
    }
}

fn changed(mut look: Look, numbers: &[u16]) -> Look {
    let mut rest = numbers.iter().copied();
    while let Some(number) = rest.next() {
        match number {
            0 => look = Look::default(),
            1 => look.bold = true,
            2 => look.faint = true,
            3 => look.italic = true,
            4 => look.underlined = true,
            7 => look.inverse = true,
            9 => look.struck = true,
            22 => (look.bold, look.faint) = (false, false),
            23 => look.italic = false,
            24 => look.underlined = false,
            27 => look.inverse = false,
            29 => look.struck = false,
            // One of eight, or of eight bright ones: below 16 either way.
            30..=37 => look.colour = Some((number - 30) as u8),
            90..=97 => look.colour = Some((number - 90 + 8) as u8),
            40..=47 => look.behind = Some((number - 40) as u8),
            100..=107 => look.behind = Some((number - 100 + 8) as u8),
            38 => look.colour = one_of_many(&mut rest).or(look.colour),
            48 => look.behind = one_of_many(&mut rest).or(look.behind),
            39 => look.colour = None,
            49 => look.behind = None,
            _ => {}
        }
    }
    look
}

/// One of 256 colours or of all, as the nearest of sixteen: these can be read in both themes.
fn one_of_many(rest: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match rest.next()? {
        5 => {
            let number = rest.next()?;
            Some(match number {
                // Below 16, so that it fits.
                0..=15 => number as u8,
                16..=231 => {
                    let cube = number - 16;
                    let level = |part: u16| part * 51;
                    nearest(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
                }
                _ => {
                    let level = (number.min(255) - 232) * 10 + 8;
                    nearest(level, level, level)
                }
            })
        }
        2 => Some(nearest(rest.next()?, rest.next()?, rest.next()?)),
        _ => None,
    }
}

fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    let parts = [red.min(255), green.min(255), blue.min(255)];
    let most = parts.into_iter().max().unwrap_or_default();
    let least = parts.into_iter().min().unwrap_or_default();
    if most - least < 32 {
        return match most {
            0..=63 => 0,
            64..=143 => 8,
            144..=223 => 7,
            _ => 15,
        };
    }
    let middle = (most + least) / 2;
    let bits = parts.into_iter().enumerate();
    let hue: u8 = bits.map(|(bit, part)| u8::from(part > middle) << bit).sum();
    hue + if most > 192 { 8 } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Vec<(&str, Look)> {
        let found = stretches(text).into_iter();
        found.map(|(range, look)| (&text[range], look)).collect()
    }

    fn coloured(colour: u8) -> Look {
        Look {
            colour: Some(colour),
            ..Look::default()
        }
    }

    #[test]
    fn colours_and_weights() {
        let plain = Look::default();
        assert_eq!(
            shown("a\u{1b}[31mred\u{1b}[0m\u{1b}[1;92mok\u{1b}[m."),
            [
                ("a", plain),
                ("red", coloured(1)),
                (
                    "ok",
                    Look {
                        bold: true,
                        ..coloured(10)
                    }
                ),
                (".", plain),
            ]
        );
        assert_eq!(shown("\u{1b}[38;5;196mx"), [("x", coloured(9))]);
        assert_eq!(shown("\u{1b}[38;2;0;0;255mx"), [("x", coloured(12))]);
        assert_eq!(shown("\u{1b}[38;5;240mx"), [("x", coloured(8))]);
    }

    #[test]
    fn what_only_terminals_follow_is_left_out() {
        let plain = Look::default();
        assert_eq!(
            shown("a\u{1b}[2K\u{1b}[1;1Hb"),
            [("a", plain), ("b", plain)]
        );
        assert_eq!(
            shown("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b"),
            [("a", plain), ("b", plain)]
        );
        // Cut off, or nothing that is known: still there.
        assert_eq!(shown("a\u{1b}"), [("a\u{1b}", plain)]);
        assert_eq!(shown("\u{1b}[31"), [("\u{1b}", plain), ("[31", plain)]);
    }

    proptest! {
        #[test]
        fn stretches_are_parts_in_order(text in "(\u{1b}|\\[|\\]|[0-9;m\u{7}é\\\\a-c]){0,40}") {
            let mut end = 0;
            for (range, _) in stretches(&text) {
                prop_assert!(range.start >= end && text.get(range.clone()).is_some());
                end = range.end;
            }
            prop_assert!(end <= text.len());
        }
    }
}
