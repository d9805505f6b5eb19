//! Asks for confirmation before an evaluation and its episodes are deleted, which cannot be undone.

use leptos::prelude::*;
use volary_core::quantity::plural;

use super::state::Evaluations;
use volary_ui::Dialog;
use volary_ui::text::inert;

/// An evaluation that the user asked to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    pub id: String,
    pub name: String,
    /// The number of stored episodes of the evaluation.
    pub episodes: usize,
}

/// The dialog. It is open while `evaluations.is_asking` is set.
#[component]
pub(super) fn DeleteDialog(evaluations: Evaluations) -> impl IntoView {
    let open = evaluations.is_asking;
    let content = move || {
        let Doomed { id, name, episodes } = evaluations.doomed.get()?;
        let delete = move |_| {
            open.set(false);
            evaluations.delete(id.clone());
        };
        let question = format!(
            "This deletes the evaluation and its {} from this browser. Imported trajectories are \
             kept.",
            plural(episodes, "episode")
        );
        Some(view! {
            <p dir="auto">{inert(&name)}</p>
            <p>{question}</p>
            <div class="button-row">
                <button type="button" on:click=move |_| open.set(false)>
                    {"Cancel"}
                </button>
                <button type="button" class="danger" on:click=delete>
                    {"Delete"}
                </button>
            </div>
        })
    };
    view! { <Dialog open title="Delete evaluation">{content}</Dialog> }
}
