//! Rules out JSON texts that cannot contain the words of a query, before they are parsed.

use memchr::memmem;

use super::query::Query;

/// The letters from the rarest to the most common in English text.
const RAREST: &[u8; 26] = b"zqxjkvbpygfwmucldrhsnioate";
/// Literals that are written in other ways once they are parsed.
const LITERALS: [&str; 6] = ["true", "false", "null", "none", "nan", "infinity"];

/// Rules out JSON texts that cannot contain all words of a query: a part of each word, in ASCII letters that have the
/// same bytes in every spelling of JSON, must occur.
#[derive(Clone, Debug, Default)]
pub struct RawFilter {
    parts: Vec<Part>,
}

/// A part of a word.
#[derive(Clone, Debug)]
struct Part {
    /// Lowercase letters.
    letters: Vec<u8>,
    /// The index of the rarest one.
    rarest: usize,
}

impl RawFilter {
    /// The filter of a query. `None` if nothing can be ruled out.
    pub fn of(query: &Query) -> Option<RawFilter> {
        let parts: Vec<Part> = query.words().filter_map(Part::of).collect();
        (!parts.is_empty()).then_some(RawFilter { parts })
    }

    /// Whether a text may contain all words. If a text does, so does every text that contains it.
    pub fn may_match(&self, json: &[u8]) -> bool {
        self.parts.iter().all(|part| part.is_in(json)) || has_escaped_letters(json)
    }
}

impl Part {
    /// The longest run of letters. `i` and `k` are also what `İ` and the Kelvin sign fold to.
    fn of(word: &str) -> Option<Part> {
        let is_letter = |c: char| c.is_ascii_lowercase() && c != 'i' && c != 'k';
        let runs = word.split(|c| !is_letter(c));
        let longest = runs.max_by_key(|run| run.len())?;
        if longest.is_empty() || LITERALS.iter().any(|literal| literal.contains(longest)) {
            return None;
        }
        let letters = longest.as_bytes().to_vec();
        let rank = |byte: &u8| RAREST.iter().position(|rare| rare == byte);
        let rarest = (0..letters.len()).min_by_key(|at| rank(&letters[*at]))?;
        Some(Part { letters, rarest })
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        let rare = self.letters[self.rarest];
        memchr::memchr2_iter(rare, rare.to_ascii_uppercase(), bytes).any(|at| {
            let found = at
                .checked_sub(self.rarest)
                .and_then(|start| bytes.get(start..start + self.letters.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(&self.letters))
        })
    }
}

/// Whether a letter or digit is written as its number.
fn has_escaped_letters(json: &[u8]) -> bool {
    memmem::find_iter(json, b"\\u00").any(|at| matches!(json.get(at + 4), Some(b'2'..=b'7') | None))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn may_match(query: &str, json: &str) -> bool {
        RawFilter::of(&Query::parse(query)).is_none_or(|filter| filter.may_match(json.as_bytes()))
    }

    #[test]
    fn what_cannot_match_is_ruled_out() {
        for (query, json, expected) in [
            ("sapphire", r#"{"a": "a SAPPHIRE"}"#, true),
            ("sapphire", r#"{"a": "a ruby"}"#, false),
            ("sapphire door", r#"{"a": "a sapphire"}"#, false),
            ("\"sapphire door\"", "{\"a\": \"a sapphire\\n door\"}", true),
            ("sapphire", r#"{"a": "\u0073apphire"}"#, true),
            ("sapphire", r#"{"a": "\u001b[0m"}"#, false),
            ("kelvin", "{\"a\": \"\u{212a}elvin\"}", true),
            ("null", r#"{"a": None}"#, true),
            ("42", r#"{"a": 4.2e1}"#, true),
        ] {
            assert_eq!(may_match(query, json), expected, "{query} in {json}");
        }
    }

    proptest! {
        #[test]
        fn no_match_is_ruled_out(text in "[a-zA-Z İ\u{212a}é\"\\\\\n]{1,40}", from in 0_usize..40, length in 1_usize..8) {
            let word: String = text.chars().skip(from).take(length).collect();
            let word = word.replace('"', " ");
            for json in [serde_json::to_string(&text).unwrap(), serde_json::to_string(&format!("{text:?}")).unwrap()] {
                prop_assert!(may_match(&word, &json), "{word:?} in {json}");
            }
        }
    }
}
