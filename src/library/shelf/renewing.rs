//! Another worker for one that grew: its memory never shrinks, and what it read for a person who reads one episode is
//! on the page by then. Who looks through the table has the same worker all the time: it has all texts at hand.

use std::time::Duration;

use leptos::prelude::*;

use super::{Shelf, State};
use crate::library::protocol::Request;
use crate::shell::timers;

/// So long nothing may have been asked.
const REST: Duration = Duration::from_millis(800);

impl Shelf {
    /// The table is shown, or no longer.
    pub fn look_through(self, is_shown: bool) {
        self.state
            .update_value(|state| state.looks_through = is_shown);
        if is_shown {
            self.flush();
        }
        self.settle();
        self.renew_later();
    }

    /// Has all texts ready for a search, if one is to be expected.
    pub(super) fn settle(self) {
        if self.state.with_value(|state| state.looks_through) {
            let number = self.next();
            self.ask(&Request::Settle { number });
        }
    }

    /// Something was done; if nothing else is wanted for a while, another worker may take over.
    pub(super) fn renew_later(self) {
        let Some(sent) = self.sent_at_rest() else {
            return;
        };
        crate::shell::spawn(async move {
            timers::sleep(REST).await;
            if self.sent_at_rest() == Some(sent) {
                let number = self.next();
                self.ask(&Request::Retire { number });
                self.state
                    .update_value(|state| state.retiring = Some(state.sent));
            }
        });
    }

    /// Another worker takes over, unless something was asked since.
    pub(super) fn renew(self) {
        let asked_at = self.state.try_update_value(|state| state.retiring.take());
        let Some(sent) = asked_at.flatten() else {
            return;
        };
        if self.sent_at_rest() != Some(sent) {
            return;
        }
        let former = self.state.try_update_value(|state| state.link.take());
        // It is its own handler that runs here, so it goes a little later.
        crate::shell::spawn(async move { drop(former) });
        self.list();
    }

    /// How much was asked so far; `None` while something is wanted of the worker, or is there alone.
    fn sent_at_rest(self) -> Option<u64> {
        let is_reading = self
            .readings
            .with_untracked(|readings| !readings.is_empty());
        self.state
            .with_value(|state| (!is_reading && state.is_at_rest()).then_some(state.sent))
    }
}

impl State {
    fn is_at_rest(&self) -> bool {
        let is_wanted = !self.opening.is_empty()
            || !self.checking.is_empty()
            || !self.awaited.is_empty()
            || self.finding.is_some();
        self.link.is_some() && !is_wanted && !self.is_unkept && !self.looks_through
    }
}
