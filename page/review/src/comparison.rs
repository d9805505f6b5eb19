//! The state of a comparison as signals: both episodes, their alignment, and the selected row.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::align::{AlignedRow, Alignment, align_episodes};
use volary_core::quantity::{count_text, plural};
use volary_episode::Episode;

use volary_ui::keyed::key_of;

/// A comparison of two episodes.
#[derive(Clone, Copy)]
pub struct EpisodeComparison {
    /// The left and the right episode.
    pub pair: RwSignal<Option<(Arc<Episode>, Arc<Episode>)>>,
    /// Whether the right episode is the playground's, which may grow.
    pub live: RwSignal<bool>,
    /// The selected row: 0 is the start; rows of the alignment count from 1.
    pub selected: RwSignal<usize>,
    /// The alignment of the steps.
    pub(super) alignment: Memo<Option<Arc<Alignment>>>,
}

impl EpisodeComparison {
    /// An empty comparison.
    pub fn new() -> EpisodeComparison {
        let pair = RwSignal::new(None::<(Arc<Episode>, Arc<Episode>)>);
        EpisodeComparison {
            pair,
            live: RwSignal::new(false),
            selected: RwSignal::new(0),
            alignment: Memo::new(move |_| {
                pair.with(|pair| {
                    let (left, right) = pair.as_ref()?;
                    Some(Arc::new(align_episodes(left, right)))
                })
            }),
        }
    }

    /// Compares two episodes and selects the first difference.
    pub fn show(self, left: Arc<Episode>, right: Arc<Episode>, live: bool) {
        self.live.set(live);
        self.pair.set(Some((left, right)));
        let first = self
            .alignment
            .with_untracked(|alignment| alignment.as_ref()?.first_divergence);
        self.selected.set(first.unwrap_or_default());
    }

    /// Updates the right episode after it grew. The selected steps stay selected, although their row may move.
    pub fn go_on(self, right: Arc<Episode>) {
        let selected = self.selected.get_untracked();
        let looked_at = untrack(|| self.identity(selected));
        self.pair.update(|pair| {
            if let Some((_, other)) = pair {
                *other = right;
            }
        });
        let rows = untrack(|| self.rows());
        let mut places = std::iter::once(selected).chain(0..=rows);
        let now = untrack(|| places.find(|number| self.identity(*number) == looked_at));
        let now = now.unwrap_or(selected.min(rows));
        if now != selected {
            self.selected.set(now);
        }
    }

    /// The number of rows of the alignment, without the start.
    pub(super) fn rows(self) -> usize {
        self.alignment.with(|alignment| {
            alignment
                .as_ref()
                .map_or(0, |alignment| alignment.rows.len())
        })
    }

    /// The identity of the steps in a row, whose number may change as the right episode grows.
    pub(super) fn identity(self, number: usize) -> u64 {
        self.alignment.with(|alignment| {
            let rows = alignment.as_ref().map(|alignment| &*alignment.rows);
            key_of(who(rows.unwrap_or_default(), number))
        })
    }

    /// Handles a key. Returns `false` if it has no function here.
    pub fn press(self, key: &str) -> bool {
        let (selected, last) = (self.selected.get_untracked(), untrack(|| self.rows()));
        match key {
            "j" => self.selected.set((selected + 1).min(last)),
            "k" => self.selected.set(selected.saturating_sub(1)),
            "g" => self.selected.set(0),
            "G" => self.selected.set(last),
            "n" => return self.go_to_difference(true),
            "N" => return self.go_to_difference(false),
            _ => return false,
        }
        true
    }

    /// Selects the next or previous row that differs. Returns `false` if there is none.
    pub(super) fn go_to_difference(self, forward: bool) -> bool {
        let from = self.selected.get_untracked();
        let found = self.alignment.with_untracked(|alignment| {
            let alignment = alignment.as_ref()?;
            let differs = |number: &usize| !is_same_row(alignment, *number);
            if forward {
                (from + 1..=alignment.rows.len()).find(differs)
            } else {
                (0..from).rev().find(differs)
            }
        });
        match found {
            Some(row) => {
                self.selected.set(row);
                true
            }
            None => false,
        }
    }
}

impl Default for EpisodeComparison {
    fn default() -> Self {
        EpisodeComparison::new()
    }
}

/// Whether both sides of a row are equal. Row 0 is the start; a row that does not exist differs in nothing.
pub(super) fn is_same_row(alignment: &Alignment, number: usize) -> bool {
    match number.checked_sub(1) {
        None => alignment.start.observations,
        Some(place) => alignment.rows.get(place).is_none_or(is_same),
    }
}

fn is_same(row: &AlignedRow) -> bool {
    row.left.is_some()
        && row.right.is_some()
        && row.likeness.action
        && row.likeness.observations
        && row.likeness.reward
}

/// Where both episodes differ first, and how many of their steps differ.
pub(super) fn verdict_text(alignment: &Alignment) -> String {
    let rows = alignment.rows.len();
    let differing = alignment.rows.iter().filter(|row| !is_same(row)).count();
    match alignment.first_divergence {
        None => format!("Both are identical: {}.", plural(rows, "step")),
        Some(0) => "First difference: start.".to_owned(),
        Some(row) => format!(
            "First difference: step {}; {} of {} differ.",
            count_text(row),
            count_text(differing),
            plural(rows, "step")
        ),
    }
}

/// The identity of a row: its left step, or a right step without a counterpart.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Who {
    Start,
    Left(usize),
    Right(usize),
    /// There is no such row.
    Nobody(usize),
}

fn who(rows: &[AlignedRow], number: usize) -> Who {
    let Some(place) = number.checked_sub(1) else {
        return Who::Start;
    };
    match rows.get(place).map(|row| (row.left, row.right)) {
        Some((Some(step), _)) => Who::Left(step),
        Some((None, Some(step))) => Who::Right(step),
        _ => Who::Nobody(number),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    /// An episode whose steps have these messages.
    fn episode(says: &[&str]) -> Arc<Episode> {
        let step = |says: &&str| {
            let outcome = Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(Message::new(Role::Assistant, *says).into(), outcome)
        };
        Arc::new(Episode {
            steps: says.iter().map(step).collect(),
            ..Episode::default()
        })
    }

    #[test]
    fn the_selected_pair_stays_when_its_row_moves() {
        let owner = Owner::new();
        owner.with(|| {
            let comparison = EpisodeComparison::new();
            let left = episode(&["a", "b", "c", "d"]);
            comparison.show(left, episode(&["a"]), true);
            comparison.selected.set(3);
            let looked_at = comparison.identity(3);
            // Insert two steps that the left episode lacks before the ones that both have.
            comparison.go_on(episode(&["a", "x", "y", "b", "c"]));
            let selected = comparison.selected.get();
            assert!(selected > 3, "{selected}");
            assert_eq!(comparison.identity(selected), looked_at);
            comparison.selected.set(0);
            comparison.go_on(episode(&["z", "a", "b"]));
            assert_eq!(comparison.selected.get(), 0, "the start stays the start");
        });
    }

    #[test]
    fn a_step_is_in_one_row() {
        let owner = Owner::new();
        owner.with(|| {
            let comparison = EpisodeComparison::new();
            comparison.show(episode(&["a", "b"]), episode(&["x", "b", "y"]), true);
            let rows = comparison.rows();
            let mut all: Vec<u64> = (0..rows + 3).map(|row| comparison.identity(row)).collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), rows + 3);
        });
    }

    #[test]
    fn the_verdict_names_the_first_difference() {
        let verdict = |left: &[&str], right: &[&str]| {
            verdict_text(&align_episodes(&episode(left), &episode(right)))
        };
        assert_eq!(
            verdict(&["a", "b"], &["a", "b"]),
            "Both are identical: 2 steps."
        );
        assert_eq!(verdict(&[], &[]), "Both are identical: 0 steps.");
        assert_eq!(
            verdict(&["a", "b", "c"], &["a", "x", "c"]),
            "First difference: step 2; 1 of 3 steps differ."
        );
        assert_eq!(
            verdict(&["a", "b"], &["a"]),
            "First difference: step 2; 1 of 2 steps differ."
        );
        assert_eq!(
            verdict(&["a"], &["x"]).split(';').next(),
            Some("First difference: step 1")
        );
        let mut other = Episode::clone(&episode(&["a"]));
        other.start = vec![Message::new(Role::User, "hello").into()];
        let alignment = align_episodes(&episode(&["a"]), &other);
        assert_eq!(verdict_text(&alignment), "First difference: start.");
    }

    #[test]
    fn keys_move_through_rows_and_differences() {
        let owner = Owner::new();
        owner.with(|| {
            let comparison = EpisodeComparison::new();
            let press = |key| (comparison.press(key), comparison.selected.get_untracked());
            assert_eq!(press("j"), (true, 0), "there are no rows");
            assert_eq!(press("n"), (false, 0));
            let left = episode(&["a", "b", "c", "d"]);
            comparison.show(left, episode(&["a", "x", "c", "y"]), false);
            assert_eq!(
                comparison.selected.get_untracked(),
                2,
                "the first difference"
            );
            assert_eq!(press("N"), (false, 2));
            assert_eq!(press("n"), (true, 4));
            assert_eq!(press("n"), (false, 4));
            assert_eq!(press("N"), (true, 2));
            assert_eq!(press("G"), (true, 4));
            assert_eq!(press("j"), (true, 4));
            assert_eq!(press("g"), (true, 0));
            assert_eq!(press("k"), (true, 0));
            assert_eq!(press("j"), (true, 1));
            assert_eq!(press("x"), (false, 1));
        });
    }

    #[test]
    fn a_difference_of_the_starts_is_one_to_go_to() {
        let owner = Owner::new();
        owner.with(|| {
            let comparison = EpisodeComparison::new();
            let mut other = Episode::clone(&episode(&["a", "x"]));
            other.start = vec![Message::new(Role::User, "hello").into()];
            comparison.show(episode(&["a", "b"]), Arc::new(other), false);
            let at = || comparison.selected.get_untracked();
            assert_eq!(at(), 0, "the first difference");
            assert!(comparison.go_to_difference(true));
            assert_eq!(at(), 2);
            assert!(comparison.go_to_difference(false));
            assert_eq!(at(), 0);
            assert!(!comparison.go_to_difference(false));
        });
    }

    #[test]
    fn equal_episodes_are_shown_from_their_start() {
        let owner = Owner::new();
        owner.with(|| {
            let comparison = EpisodeComparison::new();
            comparison.selected.set(7);
            comparison.show(episode(&["a"]), episode(&["a"]), false);
            assert_eq!(comparison.selected.get_untracked(), 0);
            assert!(!comparison.go_to_difference(true));
            // The playground's episode was reset.
            comparison.selected.set(1);
            comparison.go_on(episode(&[]));
            assert!(comparison.selected.get_untracked() <= comparison.rows());
        });
    }
}
