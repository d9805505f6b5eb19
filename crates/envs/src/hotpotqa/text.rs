//! Text processing of aviary's HotPotQA environment: normalizes answers, and cleans pages.

use volary_core::Json;
use volary_core::json::alphanumeric::is_alphanumeric;
use volary_core::json::text::is_space;

/// An answer without case, punctuation and articles. Numbers are converted to text.
pub fn normalized(answer: &Json) -> String {
    let Json::Text(text) = answer else {
        return answer.to_display();
    };
    let lower = text.to_lowercase();
    let plain = lower.chars().filter(|one| !one.is_ascii_punctuation());
    let mut out = String::new();
    let mut word = String::new();
    // A word is a run of letters, digits and `_`; articles are words that are replaced by spaces.
    for character in plain.chain([' ']) {
        if is_alphanumeric(character) || character == '_' {
            word.push(character);
            continue;
        }
        match &*word {
            "a" | "an" | "the" => out.push(' '),
            other => out.push_str(other),
        }
        word.clear();
        out.push(character);
    }
    let words: Vec<&str> = out
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// A text with its backslash escapes decoded, like Python's codec `unicode-escape`. A text with a
/// character beyond U+00FF, or with a malformed escape, is unchanged.
pub fn cleaned(text: &str) -> String {
    let latin = text.chars().all(|character| u32::from(character) <= 0xff);
    let unescaped = latin.then(|| unescaped(text)).flatten();
    unescaped.unwrap_or_else(|| text.to_owned())
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        let escaped = rest.next()?;
        let digits = match escaped {
            '\n' => continue,
            '\\' | '\'' | '"' => {
                out.push(escaped);
                continue;
            }
            'a' => {
                out.push('\u{7}');
                continue;
            }
            'b' => {
                out.push('\u{8}');
                continue;
            }
            'f' => {
                out.push('\u{c}');
                continue;
            }
            'n' => {
                out.push('\n');
                continue;
            }
            'r' => {
                out.push('\r');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'v' => {
                out.push('\u{b}');
                continue;
            }
            '0'..='7' => {
                let mut code = escaped.to_digit(8)?;
                let mut after = rest.clone();
                for _ in 0..2 {
                    let Some(digit) = after.next().and_then(|next| next.to_digit(8)) else {
                        break;
                    };
                    code = code * 8 + digit;
                    rest = after.clone();
                }
                out.push(char::from_u32(code)?);
                continue;
            }
            'x' => 2,
            'u' => 4,
            'U' => 8,
            // Character names are not supported.
            'N' => return None,
            other => {
                out.extend(['\\', other]);
                continue;
            }
        };
        let mut code = 0_u32;
        for _ in 0..digits {
            code = code << 4 | rest.next()?.to_digit(16)?;
        }
        out.push(char::from_u32(code)?);
    }
    Some(out)
}

/// The pieces between occurrences of a separator, trimmed and without empty ones.
pub fn pieces<'a>(text: &'a str, separator: &'a str) -> impl Iterator<Item = &'a str> {
    let pieces = text.split(separator).map(volary_core::json::text::strip);
    pieces.filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_whole_words() {
        for (answer, expected) in [
            ("The Theatre, an Atlas", "theatre atlas"),
            ("a_the", "athe"),
            ("the\u{301} x", "\u{301} x"),
            ("naïve the-end", "naïve theend"),
        ] {
            assert_eq!(normalized(&Json::from(answer)), expected);
        }
        assert_eq!(normalized(&Json::from(2.0)), "2.0");
    }

    #[test]
    fn escapes_that_are_malformed_leave_all_as_it_is() {
        for (text, expected) in [
            ("\\x4", "\\x4"),
            ("\\u12", "\\u12"),
            ("\\ud800", "\\ud800"),
            ("\\7\\18\\400", "\u{7}\u{1}8\u{100}"),
            ("é\\t", "é\t"),
            ("→\\t", "→\\t"),
            ("a\\\nb", "ab"),
        ] {
            assert_eq!(cleaned(text), expected);
        }
    }
}
