//! Looking for words in one episode.

use leptos::prelude::*;

use super::Shelf;
use crate::library::findings::Finding;
use crate::library::protocol::{Number, Request};

/// What is wanted of findings.
pub(super) type Found = Box<dyn FnOnce(Vec<Finding>)>;

impl Shelf {
    /// Looks for words in an episode; `found` hears where they stand, unless others are looked for by then.
    pub fn find(self, id: &str, words: &str, found: impl FnOnce(Vec<Finding>) + 'static) {
        let number = self.next();
        let found: Found = Box::new(found);
        self.state
            .update_value(|state| state.finding = Some((number, found)));
        self.ask(&Request::Find {
            number,
            id: id.into(),
            words: words.into(),
        });
    }

    pub(super) fn take_places(self, number: Number, places: Vec<Finding>) {
        let wanted = self.state.try_update_value(|state| {
            let is_it = state
                .finding
                .as_ref()
                .is_some_and(|(known, _)| *known == number);
            state.finding.take_if(|_| is_it)
        });
        if let Some((_, found)) = wanted.flatten() {
            found(places);
        }
    }
}
