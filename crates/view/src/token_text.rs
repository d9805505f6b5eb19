//! The displayed form of a token: its text or its id, and the width that it needs in a line.

/// A token in display form.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenText {
    pub text: String,
    /// The width in characters.
    pub width: usize,
    pub is_special: bool,
    /// Whether a line ends after it.
    pub breaks: bool,
}

impl TokenText {
    /// A token whose bytes are known.
    pub fn of_bytes(bytes: &[u8], is_special: bool) -> TokenText {
        TokenText {
            is_special,
            breaks: bytes.ends_with(b"\n"),
            ..TokenText::of_name(visible(bytes))
        }
    }

    /// A token that is shown by a name, such as its id.
    pub fn of_name(text: String) -> TokenText {
        TokenText {
            width: width(&text),
            text,
            is_special: false,
            breaks: false,
        }
    }
}

/// The displayed text of a token: line breaks and tabs are visible, and invalid UTF-8 is shown as hexadecimal bytes.
fn visible(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text
            .replace('\n', "↵")
            .replace('\r', "␍")
            .replace('\t', "⇥")
            .replace(' ', "·"),
        // A part of a character.
        Err(_) => bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
    }
}

/// The width of a text in cells of a fixed-width font. Characters beyond Latin, Greek and Cyrillic may be two cells
/// wide.
fn width(text: &str) -> usize {
    text.chars()
        .map(|letter| match letter {
            '\u{1100}'..='\u{1fff}' | '\u{2e80}'.. => 2,
            _ => 1,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_visible() {
        let shown = TokenText::of_bytes(b" a\n", false);
        assert_eq!((&*shown.text, shown.width), ("·a↵", 3));
        assert!(shown.breaks && !shown.is_special);
        let part = TokenText::of_bytes(&[0xe4, 0xbd], false);
        assert_eq!((&*part.text, part.width), ("\\xe4\\xbd", 8));
        assert_eq!(TokenText::of_name("你好".to_owned()).width, 4);
        let special = TokenText::of_bytes(b"<|im_end|>", true);
        assert!(special.is_special && !special.breaks);
    }
}
