//! Which texts a reader expanded, stored outside the elements that show them, which come and go.

use std::collections::HashMap;
use std::hash::Hash;

use leptos::prelude::*;

use super::text::Fold;

/// How much of each text is shown, by place. Lives as long as its owner.
pub(super) struct Folds<Place: Send + Sync + 'static> {
    known: StoredValue<HashMap<Place, RwSignal<Fold>>>,
    owner: StoredValue<Option<Owner>>,
}

// Written by hand: the derives would require the same of the place type.
impl<Place: Send + Sync + 'static> Clone for Folds<Place> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Place: Send + Sync + 'static> Copy for Folds<Place> {}

impl<Place: Eq + Hash + Send + Sync + 'static> Folds<Place> {
    /// All collapsed. The signals belong to the current reactive owner.
    pub(super) fn new() -> Self {
        Folds {
            known: StoredValue::default(),
            owner: StoredValue::new(Owner::current()),
        }
    }

    /// Collapses all.
    pub(super) fn clear(self) {
        self.known.update_value(HashMap::clear);
    }

    /// How much of the text at a place is shown.
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
