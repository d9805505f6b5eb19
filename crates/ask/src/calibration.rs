//! A sample that a person labels before all rows are asked, and how far the model agrees.

use std::collections::BTreeMap;

use volary_analysis::annotations::agreement::{Agreement, cohen};
use volary_core::random::Random;

/// Draws `count` rows, from each group in proportion to its size and from each at least one if there is room. `groups` names
/// the group of each row. The same seed draws the same rows. Returned in ascending order.
pub fn sample<T: Ord>(groups: &[T], count: usize, seed: u64) -> Vec<usize> {
    let mut members: BTreeMap<&T, Vec<usize>> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate() {
        members.entry(group).or_default().push(row);
    }
    let mut random = Random::new(seed).fork("calibration");
    let mut members: Vec<Vec<usize>> = members.into_values().collect();
    members.iter_mut().for_each(|rows| random.shuffle(rows));
    let count = count.min(groups.len());
    let mut drawn: Vec<usize> = vec![0; members.len()];
    for _ in 0..count {
        // The group that is furthest below its share; of equal ones, the larger, then the first.
        let next = (0..members.len())
            .filter(|group| drawn[*group] < members[*group].len())
            .max_by(|one, other| {
                let want = |group: usize| {
                    let share = members[group].len() as f64 / groups.len() as f64;
                    let is_new: usize = usize::from(drawn[group] == 0);
                    (is_new, share * count as f64 - drawn[group] as f64)
                };
                let (one_want, other_want) = (want(*one), want(*other));
                one_want
                    .0
                    .cmp(&other_want.0)
                    .then(one_want.1.total_cmp(&other_want.1))
                    .then(other.cmp(one))
            });
        match next {
            Some(group) => drawn[group] += 1,
            None => break,
        }
    }
    let rows = members.iter().zip(&drawn);
    let mut rows: Vec<usize> = rows
        .flat_map(|(rows, count)| rows.iter().take(*count).copied())
        .collect();
    rows.sort_unstable();
    rows
}

/// The agreement of a person and a model on the rows that both labelled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    pub agreement: Agreement,
    /// The rows on which they differ: the row, the person's label and the model's.
    pub differing: Vec<(usize, String, String)>,
}

/// Compares labels, keyed by row.
pub fn compare(person: &BTreeMap<usize, String>, model: &BTreeMap<usize, String>) -> Calibration {
    let both: Vec<(usize, &str, &str)> = person
        .iter()
        .filter_map(|(row, label)| Some((*row, label.trim(), model.get(row)?.trim())))
        .collect();
    let differing = both.iter().filter(|(_, one, other)| one != other);
    Calibration {
        agreement: cohen(both.iter().map(|(_, one, other)| (*one, *other))),
        differing: differing
            .map(|(row, one, other)| (*row, (*one).to_owned(), (*other).to_owned()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_all_groups_in_proportion() {
        let groups: Vec<&str> = (0..100)
            .map(|row| match row {
                0..=79 => "a",
                80..=97 => "b",
                _ => "c",
            })
            .collect();
        let rows = sample(&groups, 20, 7);
        let of = |group| rows.iter().filter(|row| groups[**row] == group).count();
        assert_eq!(rows.len(), 20);
        assert_eq!((of("a"), of("b"), of("c")), (16, 3, 1));
        assert_eq!(rows, sample(&groups, 20, 7));
        assert_ne!(rows, sample(&groups, 20, 8));
        assert_eq!(sample(&groups, 500, 1).len(), 100);
        assert_eq!(sample(&groups, 2, 1).len(), 2);
        assert!(sample::<u8>(&[], 5, 1).is_empty());
    }

    #[test]
    fn agreement_is_beyond_chance() {
        let labels = |text: &str| -> BTreeMap<usize, String> {
            text.chars().map(String::from).enumerate().collect()
        };
        let result = compare(&labels("yyyynnnn"), &labels("yyynnnnny"));
        assert_eq!(result.agreement.items, 8);
        assert_eq!(result.agreement.observed, Some(0.875));
        assert_eq!(result.agreement.kappa, Some(0.75));
        assert_eq!(result.differing, [(3, "y".to_owned(), "n".to_owned())]);
    }
}
