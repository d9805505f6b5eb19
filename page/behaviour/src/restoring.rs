//! Narrows the table to what the address names: clusters and the map are computed again, because they are not stored.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::narrowing::Narrowing;
use volary_app::behaviour::mapped_graph::MappedGraph;
use volary_app::behaviour::work::BehaviourWork;
use volary_app::behaviour::{Behaviour, BehaviourEvent, RowNarrowing};
use volary_app::notice::Notice;

use super::state::BehaviourState;

/// How far the search for the rows is.
enum Restoring {
    Working,
    Found(RowNarrowing),
    /// The reason, for the user.
    Lost(String),
    Stopped,
}

/// Follows what the address wants.
pub(super) fn follow(state: BehaviourState) {
    let link = state.inputs.link;
    // What is being computed.
    let begun = RwSignal::new(None::<Narrowing>);
    Effect::new(move |_| {
        let wanted = link.wanted.get();
        let is_ready =
            state.inputs.is_settled.get() && state.inputs.shown.with(|rows| !rows.is_empty());
        if wanted.is_none() {
            begun.set(None);
        } else if is_ready && begun.with_untracked(|begun| *begun != wanted) {
            untrack(|| begin(state, wanted.as_ref()));
            begun.set(wanted);
        }
    });
    Effect::new(move |_| {
        let Some(wanted) = begun.get() else { return };
        match state.state.with(|behaviour| progress(behaviour, &wanted)) {
            Restoring::Working => return,
            Restoring::Found(narrowing) => link.narrowed.set(Some(narrowing)),
            Restoring::Lost(why) => state.inputs.client.notice.set(Some(Notice::new(
                "The table is not narrowed as the address says.",
                why,
                "Choose a cluster, an act or an arrow under Behaviour.",
            ))),
            Restoring::Stopped => {}
        }
        link.wanted.set(None);
    });
}

fn begin(state: BehaviourState, wanted: Option<&Narrowing>) {
    match wanted {
        None => {}
        Some(Narrowing::Cluster { are_failures, .. }) => state.find_clusters(*are_failures),
        Some(Narrowing::Act { .. } | Narrowing::Edge { .. }) => {
            let rows = state.inputs.shown.with_untracked(|rows| rows.to_vec());
            state.update(BehaviourEvent::DrawMap(rows));
        }
    }
}

fn progress(behaviour: &Behaviour, wanted: &Narrowing) -> Restoring {
    match wanted {
        Narrowing::Cluster { typical, .. } => found(
            &behaviour.clusters,
            |clusters| clusters.narrowing_with(typical),
            "No cluster of these trajectories has the one that the address names.",
        ),
        Narrowing::Act { .. } | Narrowing::Edge { .. } => found(
            &behaviour.map,
            |rows| MappedGraph::named(rows, wanted),
            "No trajectory passes the act or the arrow that the address names.",
        ),
    }
}

fn found<T>(
    work: &BehaviourWork<T>,
    find: impl FnOnce(&Arc<T>) -> Option<RowNarrowing>,
    unknown: &str,
) -> Restoring {
    match work {
        BehaviourWork::Nothing => Restoring::Stopped,
        BehaviourWork::Running { .. } => Restoring::Working,
        BehaviourWork::Failed(why) => Restoring::Lost(why.clone()),
        BehaviourWork::Ready(result) => match find(result) {
            Some(narrowing) => Restoring::Found(narrowing),
            None => Restoring::Lost(unknown.to_owned()),
        },
    }
}
