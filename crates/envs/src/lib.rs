//! Built-in environments and task datasets, and the registry of them.
//!
//! What always holds: an environment is deterministic. Configuration, seed and actions give the
//! same observations and frames everywhere (times in infos aside).
//!
//! Where to start: [`counter`] is the smallest environment; [`registry`] is where a new one is
//! named.

pub mod blocks;
pub mod calculator;
pub mod calls;
pub mod cast;
pub mod counter;
pub mod datasets;
pub mod dummy;
pub mod faults;
pub mod hands;
pub mod jsonl;
pub mod settings;
pub mod slow;
pub mod tool_environment;

use volary_core::registry::Registry;

/// All that there is, in the order of display.
pub fn registry() -> Registry {
    Registry {
        environments: vec![
            calculator::ENTRY,
            dummy::ENTRY,
            counter::ENTRY,
            hands::ENTRY,
            slow::ENTRY,
            faults::ENTRY,
        ],
        datasets: vec![
            datasets::word_problems::ENTRY,
            datasets::gsm8k::ENTRY,
            datasets::dummy::ENTRY,
        ],
    }
}
