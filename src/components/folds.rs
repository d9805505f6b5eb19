//! What readers unfolded, remembered beyond the elements that show it, which come and go.

use std::collections::HashMap;
use std::hash::Hash;

use leptos::prelude::*;

use super::text::Fold;

/// How much of each text is shown, by its place. Lives as long as whatever made it.
pub(super) struct Folds<Place: Send + Sync + 'static> {
    known: StoredValue<HashMap<Place, RwSignal<Fold>>>,
    owner: StoredValue<Option<Owner>>,
}

// By hand: derived, they would ask the same of a place.
impl<Place: Send + Sync + 'static> Clone for Folds<Place> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Place: Send + Sync + 'static> Copy for Folds<Place> {}

impl<Place: Eq + Hash + Send + Sync + 'static> Folds<Place> {
    /// All are folded. The signals belong to whatever is being made now.
    pub(super) fn new() -> Self {
        Folds {
            known: StoredValue::default(),
            owner: StoredValue::new(Owner::current()),
        }
    }

    /// All are folded again.
    pub(super) fn clear(self) {
        self.known.update_value(HashMap::clear);
    }

    /// How much is shown of the text at a place.
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
