//! The expansion state of long texts. It is stored outside the elements that show the texts, because those are mounted
//! and unmounted while scrolling.

use std::collections::HashMap;
use std::hash::Hash;

use leptos::prelude::*;

use super::text::Fold;

/// The fold of each text, by place. Dropped with its reactive owner.
pub(super) struct Folds<Place: Send + Sync + 'static> {
    known: StoredValue<HashMap<Place, RwSignal<Fold>>>,
    owner: StoredValue<Option<Owner>>,
}

// Implemented manually: a derive would require `Place: Clone`.
impl<Place: Send + Sync + 'static> Clone for Folds<Place> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Place: Send + Sync + 'static> Copy for Folds<Place> {}

impl<Place: Eq + Hash + Send + Sync + 'static> Folds<Place> {
    /// Everything collapsed. The signals belong to the current reactive owner.
    pub(super) fn new() -> Self {
        Folds {
            known: StoredValue::default(),
            owner: StoredValue::new(Owner::current()),
        }
    }

    pub(super) fn clear(self) {
        self.known.update_value(HashMap::clear);
    }

    /// The fold of the text at a place.
    pub(super) fn of(self, place: Place) -> RwSignal<Fold> {
        let known = self.known.with_value(|folds| folds.get(&place).copied());
        known.unwrap_or_else(|| {
            let fold = match self.owner.get_value() {
                Some(owner) => owner.with(RwSignal::default),
                None => RwSignal::default(),
            };
            self.known
                .update_value(|folds| _ = folds.insert(place, fold));
            fold
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fold_is_the_same_until_all_are_forgotten() {
        Owner::new().with(|| {
            let folds = Folds::<usize>::new();
            folds.of(1).set(Fold::Open(2));
            assert_eq!(folds.of(1).get_untracked(), Fold::Open(2));
            assert_eq!(folds.of(2).get_untracked(), Fold::Preview, "another text");
            folds.clear();
            assert_eq!(folds.of(1).get_untracked(), Fold::Preview);
        });
    }

    /// A row that is scrolled away disposes of its own signals.
    #[test]
    fn a_fold_outlives_the_row_that_asked_for_it_first() {
        Owner::new().with(|| {
            let folds = Folds::<usize>::new();
            let row = Owner::new();
            row.with(|| folds.of(1).set(Fold::Open(0)));
            row.cleanup();
            assert_eq!(folds.of(1).try_get_untracked(), Some(Fold::Open(0)));
        });
    }
}
