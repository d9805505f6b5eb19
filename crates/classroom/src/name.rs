//! Names and titles that people type.
//!
//! Invariant: a [`Name`] is one line, without control characters and without white space at its ends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum length of a name, in characters.
pub const LONGEST: usize = 120;

/// A name of a pupil, or a title.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// Makes a name of any text: joins its words with single spaces, and cuts it at [`LONGEST`].
    pub fn new(text: &str) -> Name {
        let plain = text.chars().map(|character| match character {
            // Direction marks could make one name look like another.
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => ' ',
            character if character.is_control() => ' ',
            character => character,
        });
        let plain: String = plain.collect();
        let words: Vec<&str> = plain.split_whitespace().collect();
        let cut: String = words.join(" ").chars().take(LONGEST).collect();
        Name(cut.trim_end().to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name::new(&text)
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_one_line_of_limited_length() {
        for (text, name) in [
            ("  Ada   Lovelace\n", "Ada Lovelace"),
            ("Zoë\u{202e}adA", "Zoë adA"),
            ("\u{61c}Zoë", "Zoë"),
            ("\u{0}", ""),
            ("李 雷", "李 雷"),
        ] {
            assert_eq!(Name::new(text).as_str(), name);
        }
        assert_eq!(
            Name::new(&"é".repeat(500)).as_str().chars().count(),
            LONGEST
        );
    }

    proptest! {
        #[test]
        fn a_name_of_a_name_is_the_same(text in ".{0,200}") {
            let name = Name::new(&text);
            prop_assert_eq!(Name::new(name.as_str()), name);
        }
    }
}
