//! The words by which groups of texts differ: TF-IDF, over the last errors of episodes, say.

use std::collections::{BTreeMap, BTreeSet};

/// The words of a text that count: of three letters or more, in small letters, without those that are mostly digits.
fn words(text: &str) -> BTreeSet<String> {
    const COMMON: [&str; 14] = [
        "the", "and", "for", "with", "that", "this", "was", "are", "not", "from", "you", "has",
        "have", "but",
    ];
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words = words.filter(|word| (3..=40).contains(&word.len()));
    let words =
        words.filter(|word| word.chars().filter(char::is_ascii_digit).count() * 2 < word.len());
    let words = words.map(str::to_lowercase);
    words
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect()
}

/// For each group of texts, up to `most` words that are frequent in it and rare elsewhere, the most distinctive first.
pub fn distinctive_words(groups: &[Vec<&str>], most: usize) -> Vec<Vec<String>> {
    let mut counts: Vec<BTreeMap<String, usize>> = Vec::new();
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    let total: usize = groups.iter().map(Vec::len).sum();
    for texts in groups {
        let mut own: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            for word in words(text) {
                *all.entry(word.clone()).or_default() += 1;
                *own.entry(word).or_default() += 1;
            }
        }
        counts.push(own);
    }
    let groups = groups.iter().zip(counts);
    let distinctive = groups.map(|(texts, own)| {
        let mut scored: Vec<(f64, String)> = own
            .into_iter()
            .map(|(word, count)| {
                let everywhere = all.get(&word).copied().unwrap_or(count);
                let share = count as f64 / texts.len() as f64;
                let rarity = (total as f64 / everywhere as f64).ln_1p();
                // A word that is in all texts distinguishes none.
                let score = if everywhere == total {
                    0.0
                } else {
                    share * rarity
                };
                (score, word)
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        scored
            .into_iter()
            .take(most)
            .map(|(_, word)| word)
            .collect()
    });
    distinctive.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_named_by_what_others_lack() {
        let groups = vec![
            vec![
                "Error: the gift card balance is not enough",
                "Error: gift card 4242 empty",
            ],
            vec!["Error: flight HAT030 not available", "Error: flight full"],
        ];
        let words = distinctive_words(&groups, 2);
        assert_eq!(words, [["card", "gift"], ["flight", "available"]]);
        assert!(distinctive_words(&[], 3).is_empty());
    }
}
