//! The map as a table: which act follows which, for the keyboard and for screen readers.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::behaviour::graph::{BehaviourNode, Passing};
use volary_app::behaviour::mapped_graph::MappedGraph;
use volary_browser::element;
use volary_core::quantity::count_text;
use volary_ui::text::inert;
use volary_view::review::behaviour_map::{share_text, success_text};

use super::state::BehaviourState;

/// The maximum number of rows.
const MOST_ROWS: usize = 200;

/// The edges of a graph, the most frequent first.
pub(super) fn edge_table(state: BehaviourState, now: Arc<MappedGraph>) -> AnyView {
    let is_open = RwSignal::new(false);
    let content = move || is_open.get().then(|| table(state, &now));
    view! {
        <details
            class="chart-table"
            on:toggle=move |event| is_open.set(element::is_details_open(&event))
        >
            <summary>{"As a table"}</summary>
            {content}
        </details>
    }
    .into_any()
}

fn table(state: BehaviourState, now: &Arc<MappedGraph>) -> AnyView {
    let mut edges: Vec<(&(BehaviourNode, BehaviourNode), &Passing)> =
        now.graph.edges.iter().collect();
    edges.sort_by(|(name, one), (other_name, other)| {
        let order = other.rows.len().cmp(&one.rows.len());
        order.then_with(|| now.edge_name(**name).cmp(&now.edge_name(**other_name)))
    });
    let all = edges.len();
    let rows = edges.into_iter().take(MOST_ROWS);
    let rows = rows.map(|(nodes, passing)| table_row(state, now, *nodes, passing));
    let rows = rows.collect_view();
    let more = all.checked_sub(MOST_ROWS).filter(|more| *more > 0);
    let more =
        more.map(|more| view! { <p class="faint">{format!("{} more", count_text(more))}</p> });
    view! {
        <table class="behaviour-table">
            <thead>
                <tr>
                    <th scope={"col"}>{"Act"}</th>
                    <th scope={"col"}>{"Followed by"}</th>
                    <th scope={"col"} class="column-number">{"Trajectories"}</th>
                    <th scope={"col"} class="column-number">{"Share"}</th>
                    <th scope={"col"}>{"Success"}</th>
                    <th scope={"col"}>{"Table"}</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        {more}
    }
    .into_any()
}

fn table_row(
    state: BehaviourState,
    now: &Arc<MappedGraph>,
    nodes: (BehaviourNode, BehaviourNode),
    passing: &Passing,
) -> AnyView {
    let (from, to) = (now.name(nodes.0), now.name(nodes.1));
    let name = now.edge_name(nodes);
    let label = format!("Show only {name}");
    let narrow = {
        let now = Arc::clone(now);
        move |_| {
            if let Some(narrowing) = now.passing_edge(nodes) {
                state.inputs.link.narrowed.set(Some(narrowing));
            }
        }
    };
    view! {
        <tr>
            <td dir="auto">{inert(&from)}</td>
            <td dir="auto">{inert(&to)}</td>
            <td class="column-number">{count_text(passing.rows.len())}</td>
            <td class="column-number">{share_text(passing.rows.len(), now.graph.rows)}</td>
            <td>{success_text(passing.succeeded, passing.judged)}</td>
            <td>
                <button type="button" class="quiet small" aria-label=label on:click=narrow>
                    {"Show only these"}
                </button>
            </td>
        </tr>
    }
    .into_any()
}
