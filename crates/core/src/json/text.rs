//! Python's character classes: white space, stripping, decimal digits of any script.

/// The zeros of all runs of ten decimal digits in Unicode 14 (category Nd).
static ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Whether Python counts the character as white space: Unicode's, and U+001C to U+001F.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// The text without white space at both ends, like `str.strip`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The value of a decimal digit of any script.
pub fn decimal_digit(character: char) -> Option<u8> {
    let code = u32::from(character);
    let index = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    let value = code - ZEROS.get(index)?;
    u8::try_from(value).ok().filter(|value| *value < 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_what_python_strips() {
        assert_eq!(strip("\u{1c}\u{3000} a b\u{a0}\n"), "a b");
        assert_eq!(strip("\u{200b}a"), "\u{200b}a");
    }

    #[test]
    fn digits_of_any_script() {
        assert_eq!(decimal_digit('7'), Some(7));
        assert_eq!(decimal_digit('٣'), Some(3));
        assert_eq!(decimal_digit('𝟗'), Some(9));
        for none in ['a', '/', ':', '²', '½', '\u{66a}', '\0'] {
            assert_eq!(decimal_digit(none), None, "{none:?}");
        }
    }
}
