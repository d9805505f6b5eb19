//! The most common reason of failure in an evaluation: with one common cause, most failures share a message.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use volary_core::json::Text;

use super::result::{CellResult, Status};

/// The most common failure message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainReason {
    /// What failed and why, for people.
    pub message: Text,
    /// The number of failures with this message.
    pub given: usize,
    /// The number of all failures.
    pub failures: usize,
}

impl MainReason {
    /// The most common message among the failed results; on a tie that of the first cell. `None` if nothing failed.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a CellResult>) -> Option<Self> {
        let mut reasons: BTreeMap<&Text, (usize, usize)> = BTreeMap::new();
        let mut failures = 0;
        for result in results {
            if let Status::Failed(failure) = &result.status {
                failures += 1;
                let (given, first) = reasons.entry(&failure.message).or_insert((0, usize::MAX));
                *given += 1;
                *first = result.cell.min(*first);
            }
        }
        let main = reasons
            .into_iter()
            .max_by_key(|(_, (given, first))| (*given, Reverse(*first)));
        main.map(|(message, (given, _))| MainReason {
            message: message.clone(),
            given,
            failures,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::result::{Failure, FailureKind};

    fn failed(cell: usize, message: &str) -> CellResult {
        let failure = Failure {
            kind: FailureKind::Environment,
            message: message.into(),
        };
        CellResult::failed(cell, failure, 0.0, Default::default(), 1)
    }

    #[test]
    fn the_most_frequent_reason_wins_and_of_equals_the_first() {
        assert_eq!(MainReason::of(&[]), None);
        let results = [
            failed(3, "a"),
            failed(2, "b"),
            failed(5, "b"),
            failed(1, "c"),
        ];
        let main = |results: &[CellResult]| {
            MainReason::of(results)
                .map(|main| (main.message.to_string(), main.given, main.failures))
        };
        assert_eq!(main(&results), Some(("b".to_owned(), 2, 4)));
        assert_eq!(main(&results[..2]), Some(("b".to_owned(), 1, 2)));
    }
}
