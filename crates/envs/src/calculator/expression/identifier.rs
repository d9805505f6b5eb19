//! Names beyond ASCII: which characters they may have, and which names are the same.

use std::borrow::Cow;

use volary_core::json::text_repr;

/// The first character that a name cannot have there, with its place in bytes.
pub fn stranger(name: &str) -> Option<(usize, char)> {
    name.char_indices().find(|&(index, character)| {
        let fits = match index {
            0 => character == '_' || unicode_ident::is_xid_start(character),
            _ => unicode_ident::is_xid_continue(character),
        };
        !fits
    })
}

/// Whether Python shows a character as it is.
pub fn is_printable(character: char) -> bool {
    text_repr(&character.to_string()).contains(character)
}

/// A name as Python compares it. Python brings names into the normal form NFKC; of that, only the
/// letters and digits that are other forms of ASCII ones are needed to tell what is called, so the
/// tables of the whole are not worth their size.
pub fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(
        name.chars()
            .map(|character| plain_form(character).unwrap_or(character))
            .collect(),
    )
}

/// The ASCII letter, digit or underscore that a full-width or mathematical character stands for.
fn plain_form(character: char) -> Option<char> {
    let code = u32::from(character);
    match code {
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff3f | 0xff41..=0xff5a => {
            char::from_u32(code - 0xfee0)
        }
        // Thirteen alphabets of 26 capital and 26 small letters each.
        0x1d400..=0x1d6a3 => letter((code - 0x1d400) % 52),
        // Five sets of ten digits each.
        0x1d7ce..=0x1d7ff => char::from_digit((code - 0x1d7ce) % 10, 10),
        // Letters of these alphabets that Unicode had before them.
        0x2102 | 0x212d => Some('C'),
        0x210a => Some('g'),
        0x210b..=0x210d => Some('H'),
        0x210e => Some('h'),
        0x2110 | 0x2111 => Some('I'),
        0x2112 => Some('L'),
        0x2113 => Some('l'),
        0x2115 => Some('N'),
        0x2119 => Some('P'),
        0x211a => Some('Q'),
        0x211b..=0x211d => Some('R'),
        0x2124 | 0x2128 => Some('Z'),
        0x212c => Some('B'),
        0x212f => Some('e'),
        0x2130 => Some('E'),
        0x2131 => Some('F'),
        0x2133 => Some('M'),
        0x2134 => Some('o'),
        _ => None,
    }
}

/// The letter at a place in the capital and then the small alphabet.
fn letter(place: u32) -> Option<char> {
    let code = if place < 26 {
        0x41 + place
    } else {
        0x61 + place - 26
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_other_forms_of_ascii() {
        for (name, plain) in [
            ("ａｂｓ", "abs"),
            ("𝐚𝐛𝐬", "abs"),
            ("𝕞𝒶𝓍", "max"),
            ("𝔯ℴ𝓊𝓃𝒹", "round"),
            ("x𝟏", "x1"),
            ("é", "é"),
        ] {
            assert_eq!(fold(name), plain);
        }
    }

    #[test]
    fn finds_what_no_name_can_have() {
        assert_eq!(stranger("é1"), None);
        assert_eq!(stranger("×"), Some((0, '×')));
        assert_eq!(stranger("a²"), Some((1, '²')));
    }
}
