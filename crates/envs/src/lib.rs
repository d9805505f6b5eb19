//! Built-in environments and task datasets, and the registry of them.
//!
//! Invariant: an environment is deterministic. The same configuration, seed and actions reproduce the
//! same observations and frames everywhere (except for times in infos).
//!
//! Where to start: [`counter`] is the smallest environment; [`registry`] is where a new one is
//! registered.

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

use volary_core::registry::{DatasetEntry, EnvironmentEntry, Registry, RegistryError};

/// The environments, in display order.
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

/// Those without large texts.
const SMALL: [EnvironmentEntry; 6] = [
    calculator::ENTRY,
    dummy::ENTRY,
    counter::ENTRY,
    hands::ENTRY,
    slow::ENTRY,
    faults::ENTRY,
];

/// The task datasets, in display order.
const DATASETS: [DatasetEntry; 7] = [
    datasets::word_problems::ENTRY,
    datasets::gsm8k::ENTRY,
    datasets::dummy::ENTRY,
    library_desk::DATASET,
    hotpotqa::dataset::TWO_HOP,
    hotpotqa::dataset::HOTPOTQA,
    slow::DATASET,
];

/// All environments and datasets, in display order.
pub fn registry() -> Registry {
    Registry {
        environments: ENVIRONMENTS.to_vec(),
        datasets: DATASETS.to_vec(),
    }
}

/// The environments without large texts, in display order, and no datasets: what a first visit plays, so their code is
/// loaded soon.
pub fn small_registry() -> Registry {
    Registry {
        environments: SMALL.to_vec(),
        datasets: Vec::new(),
    }
}

/// Like [`registry`], with the environments of tau-bench, whose data come from outside. Programs that provide such data
/// ([`Outside::data`](volary_core::outside::Outside::data)) use it.
pub fn registry_with_tau_bench() -> Registry {
    let mut registry = registry();
    let originals = tau::checkout::Original::ALL.map(tau::original::entry);
    registry.environments.extend(originals);
    registry
}

/// Like [`registry`], for a program that leaves playing to another one: configurations, tasks, views and oracles. The
/// code of the environments is not linked, and making one fails.
pub fn described_registry() -> Registry {
    Registry {
        environments: DESCRIBED.to_vec(),
        datasets: DESCRIBED_DATASETS.to_vec(),
    }
}

/// Like [`described_registry`], with the environments of tau-bench.
pub fn described_registry_with_tau_bench() -> Registry {
    let mut registry = described_registry();
    registry.environments.extend(DESCRIBED_ORIGINALS);
    registry
}

// Made at compile time, so that nothing refers to the functions that are left out.
const DESCRIBED: [EnvironmentEntry; ENVIRONMENTS.len()] = described(ENVIRONMENTS);

const DESCRIBED_ORIGINALS: [EnvironmentEntry; 2] = described([
    tau::original::entry(tau::checkout::Original::ALL[0]),
    tau::original::entry(tau::checkout::Original::ALL[1]),
]);

const DESCRIBED_DATASETS: [DatasetEntry; DATASETS.len()] = {
    let mut entries = DATASETS;
    let mut number = 0;
    while number < entries.len() {
        entries[number].make = |_, _| Err(RegistryError::Described);
        number += 1;
    }
    entries
};

const fn described<const COUNT: usize>(
    mut entries: [EnvironmentEntry; COUNT],
) -> [EnvironmentEntry; COUNT] {
    let mut number = 0;
    while number < COUNT {
        entries[number].make = |_, _| Err(RegistryError::Described);
        number += 1;
    }
    entries
}

/// The metadata of an environment, without a reference to its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// Whether it has an oracle.
    pub oracle: bool,
}

/// The cards of all environments, in display order. They do not refer to code, so a page can show them
/// before it loads the environments.
pub const CARDS: [Card; ENVIRONMENTS.len()] = {
    const NONE: Card = Card {
        name: "",
        summary: "",
        oracle: false,
    };
    let mut cards = [NONE; ENVIRONMENTS.len()];
    let mut index = 0;
    while index < cards.len() {
        let entry = &ENVIRONMENTS[index];
        cards[index] = Card {
            name: entry.name,
            summary: entry.summary,
            oracle: entry.oracle.is_some(),
        };
        index += 1;
    }
    cards
};
