//! Text with ANSI escape sequences: colours and weights are applied, and all other sequences (cursor movement, erasing,
//! titles) are removed. An incomplete sequence stays in the text.

use std::ops::Range;

use vte::{Params, Parser, Perform};

/// The longest escape sequence in bytes. Anything longer is shown as text.
const MAX_SEQUENCE: usize = 2_000;

/// The style of a run of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Foreground colour, one of sixteen.
    pub colour: Option<u8>,
    /// Background colour, one of sixteen.
    pub behind: Option<u8>,
    pub bold: bool,
    pub faint: bool,
    pub italic: bool,
    pub underlined: bool,
    /// Struck through.
    pub struck: bool,
    /// Foreground and background swapped.
    pub inverse: bool,
}

/// Whether a text contains terminal escape sequences.
pub fn is_for_terminals(text: &str) -> bool {
    text.contains("\u{1b}[") || text.contains("\u{1b}]")
}

/// The text that a terminal would show, as byte ranges in order.
pub fn stretches(text: &str) -> Vec<(Range<usize>, TextStyle)> {
    let mut found: Vec<(Range<usize>, TextStyle)> = Vec::new();
    let mut look = TextStyle::default();
    let mut from = 0;
    let push =
        |found: &mut Vec<(Range<usize>, TextStyle)>, range: Range<usize>, look: TextStyle| {
            if !range.is_empty() {
                found.push((range, look));
            }
        };
    while let Some(place) = text.get(from..).and_then(|rest| rest.find('\u{1b}')) {
        let escape = from + place;
        let Some((length, sequence)) = sequence(&text.as_bytes()[escape..]) else {
            // Not a sequence: keep the escape character, which is shown by name.
            push(&mut found, from..escape + 1, look);
            from = escape + 1;
            continue;
        };
        push(&mut found, from..escape, look);
        from = escape + length;
        if let Sequence::Look(numbers) = sequence {
            look = changed(look, &numbers);
        }
    }
    push(&mut found, from..text.len(), look);
    found
}

/// The meaning of an escape sequence.
#[derive(Default)]
enum Sequence {
    #[default]
    Incomplete,
    /// Complete except for the backslash that terminates a command string.
    Command,
    /// The escape character does not begin a sequence.
    Text,
    /// Changes the style by these SGR parameters.
    Look(Vec<u16>),
    /// Has no effect here.
    Other,
}

impl Perform for Sequence {
    fn print(&mut self, _: char) {
        *self = Sequence::Text;
    }

    fn execute(&mut self, _: u8) {
        *self = Sequence::Text;
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        *self = if action == 'm' && intermediates.is_empty() && !ignore {
            Sequence::Look(params.iter().flatten().copied().collect())
        } else {
            Sequence::Other
        };
    }

    fn osc_dispatch(&mut self, _: &[&[u8]], bell_terminated: bool) {
        *self = if bell_terminated {
            Sequence::Other
        } else {
            Sequence::Command
        };
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        *self = Sequence::Other;
    }

    fn terminated(&self) -> bool {
        !matches!(self, Sequence::Incomplete | Sequence::Command)
    }
}

/// The sequence at the start of `bytes` with its length; `None` if there is none.
fn sequence(bytes: &[u8]) -> Option<(usize, Sequence)> {
    let bytes = bytes.get(..MAX_SEQUENCE).unwrap_or(bytes);
    let mut sequence = Sequence::default();
    let length = Parser::new().advance_until_terminated(&mut sequence, bytes);
    // Only command strings contain other characters. The parser drops them elsewhere, but a reader should see
    // them.
    let holds_text = matches!(bytes.get(1), Some(b']' | b'P' | b'X' | b'^' | b'_'));
    let is_clean = holds_text || bytes.get(..length).is_some_and(<[u8]>::is_ascii);
    match sequence {
        Sequence::Look(_) | Sequence::Other if is_clean => Some((length, sequence)),
        _ => None,
    }
}

fn changed(mut look: TextStyle, numbers: &[u16]) -> TextStyle {
    let mut rest = numbers.iter().copied();
    while let Some(number) = rest.next() {
        match number {
            0 => look = TextStyle::default(),
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

/// Maps 256-colour and true-colour values to the nearest of sixteen, which are readable in both themes.
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

    fn shown(text: &str) -> Vec<(&str, TextStyle)> {
        let found = stretches(text).into_iter();
        found.map(|(range, look)| (&text[range], look)).collect()
    }

    fn coloured(colour: u8) -> TextStyle {
        TextStyle {
            colour: Some(colour),
            ..TextStyle::default()
        }
    }

    #[test]
    fn colours_and_weights() {
        let plain = TextStyle::default();
        assert_eq!(
            shown("a\u{1b}[31mred\u{1b}[0m\u{1b}[1;92mok\u{1b}[m."),
            [
                ("a", plain),
                ("red", coloured(1)),
                (
                    "ok",
                    TextStyle {
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
    fn terminal_commands_are_removed() {
        let plain = TextStyle::default();
        assert_eq!(
            shown("a\u{1b}[2K\u{1b}[1;1Hb"),
            [("a", plain), ("b", plain)]
        );
        assert_eq!(
            shown("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b"),
            [("a", plain), ("b", plain)]
        );
        // Incomplete and unknown sequences stay visible.
        assert_eq!(shown("a\u{1b}"), [("a\u{1b}", plain)]);
        assert_eq!(shown("\u{1b}[31"), [("\u{1b}", plain), ("[31", plain)]);
        assert_eq!(
            shown("\u{1b}[3é1m\u{1b}[1mb"),
            [
                ("\u{1b}", plain),
                ("[3é1m", plain),
                (
                    "b",
                    TextStyle {
                        bold: true,
                        ..plain
                    }
                )
            ]
        );
        let long = format!("\u{1b}]0;{}", "é".repeat(MAX_SEQUENCE));
        assert_eq!(shown(&long), [("\u{1b}", plain), (&long[1..], plain)]);
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
