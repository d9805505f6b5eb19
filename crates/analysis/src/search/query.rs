//! Search queries: words, all of which must occur, and phrases in double quotes.

use super::casefold::fold;
use super::trigram::{TrigramFilter, trigrams};
use memchr::memmem::Finder;

/// A query: an episode matches if it contains every term.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Sorted by decreasing number of trigrams.
    pub(super) terms: Vec<Term>,
    /// All words together as a phrase, if there are several terms.
    pub(super) phrase: Option<Term>,
}

/// A word, or a phrase: words separated by any white space.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// Folded; not empty.
    words: Vec<String>,
    /// The index of the longest word, which is scanned for.
    longest: usize,
    finder: Finder<'static>,
    trigrams: Vec<usize>,
}

impl Query {
    /// Parses a query as typed by the user. An unclosed quote extends to the end. Every text is a valid query.
    pub fn parse(text: &str) -> Query {
        let mut terms: Vec<Term> = Vec::new();
        for (index, part) in text.split('"').enumerate() {
            if index % 2 == 1 {
                terms.extend(Term::of(part.split_whitespace()));
            } else {
                terms.extend(part.split_whitespace().filter_map(|word| Term::of([word])));
            }
        }
        let words = terms.iter().flat_map(|term| &term.words);
        let phrase = match terms.len() {
            0 | 1 => None,
            _ => Term::of(words.map(String::as_str)),
        };
        // Rare terms rule out documents soonest; long ones are rare.
        terms.sort_by_key(|term| std::cmp::Reverse(term.trigrams.len()));
        Query { terms, phrase }
    }

    /// Whether it has no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The folded words of all terms.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.terms.iter().flat_map(|term| &term.words);
        words.map(String::as_str)
    }

    pub(super) fn may_match(&self, filter: &TrigramFilter) -> bool {
        self.terms
            .iter()
            .all(|term| filter.may_have(&term.trigrams))
    }
}

impl Term {
    fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Term> {
        // The null character separates the texts of a document.
        let folded = |word: &str| {
            word.chars()
                .filter(|c| *c != '\0')
                .map(fold)
                .collect::<String>()
        };
        let words: Vec<String> = words
            .into_iter()
            .map(folded)
            .filter(|word| !word.is_empty())
            .collect();
        let longest = (0..words.len()).max_by_key(|index| words[*index].len())?;
        Some(Term {
            longest,
            finder: Finder::new(words[longest].as_bytes()).into_owned(),
            trigrams: words.iter().flat_map(|word| trigrams(word)).collect(),
            words,
        })
    }

    /// The occurrences in a folded text: byte ranges in ascending order, without overlap.
    pub fn ranges<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let rest = text.as_bytes().get(from..)?;
                let at = from + self.finder.find(rest)?;
                let end = at + self.words[self.longest].len();
                match self.around(text, at, end) {
                    Some(range) => {
                        from = range.end;
                        return Some(range);
                    }
                    None => from = at + text[at..].chars().next().map_or(1, char::len_utf8),
                }
            }
        })
    }

    /// The range of the whole term around an occurrence of its longest word; `None` if the other words do not match.
    fn around(&self, text: &str, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
        let mut before = &text[..start];
        for word in self.words[..self.longest].iter().rev() {
            let trimmed = before.trim_end();
            if trimmed.len() == before.len() {
                return None;
            }
            before = trimmed.strip_suffix(word.as_str())?;
        }
        let mut after = &text[end..];
        for word in &self.words[self.longest + 1..] {
            let trimmed = after.trim_start();
            if trimmed.len() == after.len() {
                return None;
            }
            after = trimmed.strip_prefix(word.as_str())?;
        }
        Some(before.len()..text.len() - after.len())
    }
}
