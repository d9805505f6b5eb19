//! Identifiers with non-ASCII characters: valid characters, and normalization.

use std::borrow::Cow;

use volary_core::json::text_repr;

/// The first character that is invalid at its position in an identifier, with its byte offset.
pub fn stranger(name: &str) -> Option<(usize, char)> {
    name.char_indices().find(|&(index, character)| {
        let fits = match index {
            0 => character == '_' || unicode_ident::is_xid_start(character),
            _ => unicode_ident::is_xid_continue(character),
        };
        // An unprintable character may be a letter that was added to Unicode after Python's version.
        !(fits && (character.is_ascii() || is_printable(character)))
    })
}

/// Whether a character is printable in Python.
pub fn is_printable(character: char) -> bool {
    text_repr(&character.to_string()).contains(character)
}

/// An identifier as Python compares it. Python normalizes identifiers to NFKC; to identify the called
/// function, only the characters that normalize to ASCII ones are needed, so the full tables
/// are not worth their size.
pub fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let mut folded = String::with_capacity(name.len());
    for character in name.chars() {
        match listed_form(character) {
            Some(plain) => folded.push_str(plain),
            None => folded.push(regular_form(character).unwrap_or(character)),
        }
    }
    Cow::Owned(folded)
}

/// The ASCII letter, digit or underscore that a character of a regular range normalizes to.
fn regular_form(character: char) -> Option<char> {
    let code = u32::from(character);
    match code {
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff3f | 0xff41..=0xff5a => {
            char::from_u32(code - 0xfee0)
        }
        // Thirteen alphabets of 26 capital and 26 small letters each.
        0x1d400..=0x1d6a3 => letter((code - 0x1d400) % 52),
        // Five sets of ten digits each.
        0x1d7ce..=0x1d7ff => char::from_digit((code - 0x1d7ce) % 10, 10),
        0x1fbf0..=0x1fbf9 => char::from_digit(code - 0x1fbf0, 10),
        _ => None,
    }
}

/// The ASCII letters that another character normalizes to: superscripts and subscripts, numerals,
/// ligatures, letters of the mathematical alphabets that Unicode encoded before them.
fn listed_form(character: char) -> Option<&'static str> {
    if character.is_ascii() {
        return None;
    }
    let entry = FORMS.iter().find(|entry| entry.contains(character))?;
    entry.split(|other: char| !other.is_ascii()).next()
}

/// Pairs of ASCII letters and the characters that normalize to them.
#[rustfmt::skip]
const FORMS: [&str; 86] = [
    "_\u{fe33}\u{fe34}\u{fe4d}\u{fe4e}\u{fe4f}", "A\u{1d2c}", "a\u{aa}\u{1d43}\u{2090}", "B\u{1d2e}\u{212c}",
    "b\u{1d47}", "C\u{2102}\u{212d}\u{216d}\u{a7f2}", "c\u{1d9c}\u{217d}", "D\u{1d30}\u{2145}\u{216e}",
    "d\u{1d48}\u{2146}\u{217e}", "E\u{1d31}\u{2130}", "e\u{1d49}\u{2091}\u{212f}\u{2147}",
    "F\u{2131}\u{a7f3}", "f\u{1da0}", "G\u{1d33}", "g\u{1d4d}\u{210a}", "H\u{1d34}\u{210b}\u{210c}\u{210d}",
    "h\u{2b0}\u{2095}\u{210e}", "I\u{1d35}\u{2110}\u{2111}\u{2160}",
    "i\u{1d62}\u{2071}\u{2139}\u{2148}\u{2170}", "J\u{1d36}", "j\u{2b2}\u{2149}\u{2c7c}", "K\u{1d37}\u{212a}",
    "k\u{1d4f}\u{2096}", "L\u{1d38}\u{2112}\u{216c}", "l\u{2e1}\u{2097}\u{2113}\u{217c}",
    "M\u{1d39}\u{2133}\u{216f}", "m\u{1d50}\u{2098}\u{217f}", "N\u{1d3a}\u{2115}", "n\u{207f}\u{2099}",
    "O\u{1d3c}", "o\u{ba}\u{1d52}\u{2092}\u{2134}", "P\u{1d3e}\u{2119}", "p\u{1d56}\u{209a}",
    "Q\u{211a}\u{a7f4}", "q\u{107a5}", "R\u{1d3f}\u{211b}\u{211c}\u{211d}", "r\u{2b3}\u{1d63}",
    "s\u{17f}\u{2e2}\u{209b}", "T\u{1d40}", "t\u{1d57}\u{209c}", "U\u{1d41}", "u\u{1d58}\u{1d64}",
    "V\u{2164}\u{2c7d}", "v\u{1d5b}\u{1d65}\u{2174}", "W\u{1d42}", "w\u{2b7}", "X\u{2169}",
    "x\u{2e3}\u{2093}\u{2179}", "y\u{2b8}", "Z\u{2124}\u{2128}", "z\u{1dbb}", "DZ\u{1f1}", "Dz\u{1f2}",
    "dz\u{1f3}", "ff\u{fb00}", "fi\u{fb01}", "fl\u{fb02}", "II\u{2161}", "ii\u{2171}", "IJ\u{132}",
    "ij\u{133}", "IV\u{2163}", "iv\u{2173}", "IX\u{2168}", "ix\u{2178}", "LJ\u{1c7}", "Lj\u{1c8}",
    "lj\u{1c9}", "NJ\u{1ca}", "Nj\u{1cb}", "nj\u{1cc}", "st\u{fb05}\u{fb06}", "VI\u{2165}", "vi\u{2175}",
    "XI\u{216a}", "xi\u{217a}", "ffi\u{fb03}", "ffl\u{fb04}", "III\u{2162}", "iii\u{2172}", "VII\u{2166}",
    "vii\u{2176}", "XII\u{216b}", "xii\u{217b}", "VIII\u{2167}", "viii\u{2177}",
];

/// The letter at an index of the concatenated capital and small alphabets.
fn letter(index: u32) -> Option<char> {
    let code = if index < 26 {
        0x41 + index
    } else {
        0x61 + index - 26
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
            ("ſuᵐ", "sum"),
            ("rªnd", "rand"),
            ("ﬁnd", "find"),
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
        assert_eq!(stranger("\u{88f}"), Some((0, '\u{88f}')));
    }
}
