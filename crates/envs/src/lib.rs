//! Built-in environments and task datasets, and the registry of them.
//!
//! Invariant: an environment is deterministic. Configuration, seed and actions give the
//! same observations and frames everywhere (times in infos aside).
//!
//! Where to start: [`counter`] is the smallest environment; [`registry`] is where a new one is
//! named.

pub mod answers;
pub mod blocks;
pub mod calculator;
pub mod calls;
pub mod cast;
pub mod counter;
pub mod datasets;
pub mod dummy;
pub mod faults;
pub mod hands;
pub mod hotpotqa;
pub mod jsonl;
pub mod library_desk;
pub mod settings;
pub mod slow;
pub mod tau;
pub mod tool_environment;

use volary_core::registry::{EnvironmentEntry, Registry};
use volary_core::view::{View, ViewInput};

/// The environments, in the order of display.
const ENVIRONMENTS: [EnvironmentEntry; 8] = [
    calculator::ENTRY,
    dummy::ENTRY,
    counter::ENTRY,
    hands::ENTRY,
    library_desk::ENTRY,
    hotpotqa::ENTRY,
    slow::ENTRY,
    faults::ENTRY,
];

/// All that there is, in the order of display.
pub fn registry() -> Registry {
    Registry {
        environments: ENVIRONMENTS.to_vec(),
        datasets: vec![
            datasets::word_problems::ENTRY,
            datasets::gsm8k::ENTRY,
            datasets::dummy::ENTRY,
            library_desk::DATASET,
            hotpotqa::dataset::TWO_HOP,
            hotpotqa::dataset::HOTPOTQA,
        ],
    }
}

/// The same, and the environments of tau-bench, which get their data from outside. A program that brings such data
/// ([`Outside::data`](volary_core::outside::Outside::data)) offers them.
pub fn registry_with_tau_bench() -> Registry {
    let mut registry = registry();
    let originals = tau::checkout::Original::ALL.map(tau::original::entry);
    registry.environments.extend(originals);
    registry
}

/// What can be said of an environment without any of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// One line that says what it is.
    pub summary: &'static str,
    /// Whether there is an oracle for it.
    pub oracle: bool,
}

/// A card of each environment, in the order of display. They lead to no code, so a page can have them
/// before it has the environments.
pub const CARDS: [Card; ENVIRONMENTS.len()] = {
    const NONE: Card = Card {
        name: "",
        summary: "",
        oracle: false,
    };
    let mut cards = [NONE; ENVIRONMENTS.len()];
    let mut place = 0;
    while place < cards.len() {
        let entry = &ENVIRONMENTS[place];
        cards[place] = Card {
            name: entry.name,
            summary: entry.summary,
            oracle: entry.oracle.is_some(),
        };
        place += 1;
    }
    cards
};

/// The rich view of the first environment, which is the one that a page shows first.
pub const FIRST_VIEW: fn(&ViewInput<'_>) -> View = calculator::view;
