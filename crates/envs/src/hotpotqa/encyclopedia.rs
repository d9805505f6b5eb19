//! A small built-in encyclopedia, for use without a network.
//!
//! An article is found by its title or an alias, ignoring case; otherwise a search returns the titles of articles
//! with the same words.

use std::sync::LazyLock;

use volary_core::json::Text;

use super::page::Page;
use crate::answers::case_folded;

/// The maximum number of titles in the result of a search.
const TITLES: usize = 10;

/// Articles: `# title | alias`, then one paragraph per line.
const SOURCE: &str = include_str!("../../data/encyclopedia.txt");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Article {
    /// Its title, then its aliases.
    pub names: Vec<&'static str>,
    pub paragraphs: Vec<&'static str>,
}

static ARTICLES: LazyLock<Vec<Article>> = LazyLock::new(|| {
    let articles = SOURCE.split("\n\n").filter_map(|article| {
        let mut lines = article.lines();
        let names = lines.next()?.strip_prefix("# ")?;
        Some(Article {
            names: names.split('|').map(str::trim).collect(),
            paragraphs: lines.collect(),
        })
    });
    articles.collect()
});

/// All articles.
pub fn articles() -> &'static [Article] {
    &ARTICLES
}

/// The result of a search for an entity.
pub fn search(entity: &str) -> Page {
    let wanted = words(entity);
    let named = |article: &&Article| article.names.iter().any(|name| words(name) == wanted);
    if let Some(article) = ARTICLES.iter().find(named) {
        return Page::Texts(article.paragraphs.iter().map(|&text| text.into()).collect());
    }
    let mut rated: Vec<(usize, &Article)> = ARTICLES
        .iter()
        .map(|article| (article.rating(&wanted), article))
        .filter(|(rating, _)| *rating > 0)
        .collect();
    // The sort is stable: articles with equal ratings keep their order.
    rated.sort_by_key(|(rating, _)| std::cmp::Reverse(*rating));
    let best = rated.iter().take(TITLES);
    Page::Similar(best.filter_map(|(_, article)| article.title()).collect())
}

impl Article {
    fn title(&self) -> Option<Text> {
        self.names.first().map(|&title| title.into())
    }

    /// The relevance for words: those in its names count more than those in its text.
    fn rating(&self, wanted: &[String]) -> usize {
        let holds = |texts: &[&str]| {
            let held: Vec<String> = texts.iter().flat_map(|text| words(text)).collect();
            wanted.iter().filter(|word| held.contains(word)).count()
        };
        4 * holds(&self.names) + holds(&self.paragraphs)
    }
}

/// Stop words, which occur in too many articles.
const COMMON: [&str; 12] = [
    "a", "an", "and", "at", "by", "in", "is", "of", "on", "the", "to", "was",
];

fn words(text: &str) -> Vec<String> {
    let folded = case_folded(text);
    let words = folded.split(|one: char| !one.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && !COMMON.contains(word));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_found_by_any_name() {
        assert!(articles().len() >= 60);
        for article in articles() {
            for name in &article.names {
                let texts = article.paragraphs.iter().map(|&text| text.into()).collect();
                assert_eq!(search(&name.to_uppercase()), Page::Texts(texts), "{name}");
            }
            let long = |text: &&&str| text.split(' ').count() > 2;
            assert!(
                article.paragraphs.iter().all(|text| long(&text)),
                "{:?}",
                article.names
            );
        }
    }

    #[test]
    fn other_searches_give_titles() {
        let Page::Similar(titles) = search("composer of the Brandenburg Concertos") else {
            unreachable!("there is no article of that name");
        };
        assert_eq!(
            titles.first().map(|title| &**title),
            Some("Brandenburg Concertos")
        );
        assert!(
            titles
                .iter()
                .any(|title| &**title == "Johann Sebastian Bach")
        );
        assert_eq!(search("[quux]"), Page::Similar(Vec::new()));
    }
}
