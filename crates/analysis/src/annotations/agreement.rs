//! Inter-annotator agreement beyond chance: Cohen's kappa.

use std::collections::BTreeMap;

use super::{Annotations, Target};

/// The compared part of the annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judgement {
    #[default]
    Verdict,
    Label,
}

/// The agreement of two annotators.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// The number of items that both judged.
    pub items: usize,
    /// The share of items on which they agree; `None` without items.
    pub observed: Option<f64>,
    /// The share expected by chance, if each judged at random with their own frequencies.
    pub expected: Option<f64>,
    /// Cohen's kappa: 1 is full agreement, 0 is chance level, negative is below chance. `None` where it is undefined:
    /// no item was judged by both, or both always gave the same single judgement, so that chance agreement is complete
    /// as well.
    pub kappa: Option<f64>,
}

/// The agreement of two annotators on the items that both judged. Items match by episode, step, text or part of the
/// state; the marked character range of a text is ignored. If an annotator judged an item several times, the last
/// judgement counts.
pub fn agreement(notes: &Annotations, one: &str, other: &str, by: Judgement) -> Agreement {
    let (one, other) = (judgements(notes, one, by), judgements(notes, other, by));
    let both = one
        .iter()
        .filter_map(|(thing, first)| Some((first, other.get(thing)?)));
    cohen(both)
}

/// The agreement of pairs of judgements.
pub fn cohen<T: Ord>(pairs: impl IntoIterator<Item = (T, T)>) -> Agreement {
    let mut counts: BTreeMap<T, (usize, usize)> = BTreeMap::new();
    let (mut items, mut agreed) = (0_usize, 0_usize);
    for (one, other) in pairs {
        items += 1;
        agreed += usize::from(one == other);
        counts.entry(one).or_default().0 += 1;
        counts.entry(other).or_default().1 += 1;
    }
    if items == 0 {
        return Agreement::default();
    }
    // Computed in integers, so that an undefined kappa is detected exactly: kappa = (n a - s) / (n² - s).
    let chance: u128 = counts
        .values()
        .map(|(one, other)| *one as u128 * *other as u128)
        .sum();
    let square = (items as u128).pow(2);
    let share = |part: u128, whole: u128| part as f64 / whole as f64;
    let above = (items as u128 * agreed as u128) as f64 - chance as f64;
    Agreement {
        items,
        observed: Some(share(agreed as u128, items as u128)),
        expected: Some(share(chance, square)),
        kappa: (square != chance).then(|| above / (square - chance) as f64),
    }
}

/// The judgements of an annotator, keyed by item.
fn judgements(
    notes: &Annotations,
    author: &str,
    by: Judgement,
) -> BTreeMap<(String, String), String> {
    let mut found: Vec<_> = notes
        .iter()
        .filter(|note| &*note.author == author)
        .collect();
    // At equal times the note with the higher id counts, so that the result is deterministic.
    found.sort_by(|one, other| one.changed.total_cmp(&other.changed));
    let judged = found.into_iter().filter_map(|note| {
        let judgement = match by {
            Judgement::Verdict => note.verdict?.as_str().to_owned(),
            Judgement::Label => note.label.as_deref()?.trim().to_owned(),
        };
        Some(((note.episode.to_string(), thing(&note.target)), judgement))
    });
    judged.collect()
}

fn thing(target: &Target) -> String {
    match target {
        Target::Passage { position, .. } => format!("passage {position:?}"),
        other => format!("{other:?}"),
    }
}
