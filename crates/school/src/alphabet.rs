//! Characters as tokens.

/// The characters of a policy; a token is the index of its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alphabet(&'static str);

/// The first visible character of ASCII.
const FIRST_VISIBLE: u8 = b'!';

impl Alphabet {
    /// Different visible ASCII characters.
    pub const fn new(characters: &'static str) -> Self {
        Alphabet(characters)
    }

    pub fn len(self) -> usize {
        self.0.len()
    }

    /// All characters.
    pub fn characters(self) -> &'static str {
        self.0
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The token of a character.
    pub fn token(self, character: char) -> Option<u8> {
        let index = self.0.find(character)?;
        u8::try_from(index).ok()
    }

    /// The tokens of a text; the first character without one is the error.
    pub fn tokens(self, text: &str) -> Result<Vec<u8>, char> {
        let characters = text.chars();
        characters
            .map(|character| self.token(character).ok_or(character))
            .collect()
    }

    /// The character of a token.
    pub fn character(self, token: u8) -> char {
        let byte = self.0.as_bytes().get(usize::from(token));
        byte.map_or('\u{fffd}', |byte| char::from(*byte))
    }

    pub fn text(self, tokens: &[u8]) -> String {
        tokens.iter().map(|token| self.character(*token)).collect()
    }

    /// The token's id in recorded trajectories: that of the character in the vocabularies of GPT-2, Llama 3 and Qwen, which
    /// begin with the visible characters of ASCII. Their tokenizers therefore decode the trajectories.
    pub fn recorded_id(self, token: u8) -> u32 {
        let byte = self.0.as_bytes().get(usize::from(token));
        byte.map_or(0, |byte| u32::from(byte.saturating_sub(FIRST_VISIBLE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_tokens_and_back() {
        let alphabet = Alphabet::new("01!?");
        assert_eq!(alphabet.tokens("?10!"), Ok(vec![3, 1, 0, 2]));
        assert_eq!(alphabet.text(&[3, 1, 0, 2]), "?10!");
        assert_eq!(alphabet.tokens("?2"), Err('2'));
        // `!` is 0 and `0` is 15 in GPT-2's vocabulary.
        assert_eq!([2, 0].map(|token| alphabet.recorded_id(token)), [0, 15]);
    }
}
