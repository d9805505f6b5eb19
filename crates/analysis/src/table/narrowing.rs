//! What narrows a table to rows of similar behaviour, as an address names it: a cluster, an act of the map, or an arrow.
//!
//! Invariant: it names what is found again after a reload, not what was computed: clusters by a trajectory in them, acts by
//! their names.

use volary_core::json::Text;

/// What the rows of a narrowed table have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Narrowing {
    /// They are in one cluster.
    Cluster {
        /// Whether clusters are those of failures; otherwise those of all rows.
        are_failures: bool,
        /// The id of the typical trajectory of the cluster.
        typical: Text,
    },
    /// They pass an act.
    Act {
        act: ActName,
        /// The training step of the rows; `None` for all.
        step: Option<i64>,
    },
    /// They pass an act directly after another.
    Edge {
        from: ActName,
        to: ActName,
        step: Option<i64>,
    },
}

/// A node of the map, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActName {
    Start,
    Act(Text),
    End,
}
