//! Asks for confirmation before an evaluation and its episodes are deleted, which cannot be undone.

use leptos::prelude::*;

use super::state::Evaluations;
use crate::components::dialog::dialog;
use crate::components::erased::dynamic;
use crate::components::markup::{all, button, el, nothing};
use crate::components::text::inert_in;
use crate::playground::controls::buttons;
use crate::projection::text::plural;

/// An evaluation to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The number of stored episodes that it made.
    pub episodes: usize,
}

/// The dialog; it is shown while `evaluations.is_asking` is set.
pub(super) fn delete_dialog(evaluations: Evaluations) -> AnyView {
    let open = evaluations.is_asking;
    let content = dynamic(move || {
        let Some(Doomed { id, name, episodes }) = evaluations.doomed.get() else {
            return nothing();
        };
        let delete = move || {
            open.set(false);
            evaluations.delete(id.clone());
        };
        let question = format!(
            "This deletes the evaluation and its {} from this browser. Imported trajectories are \
             kept.",
            plural(episodes, "episode")
        );
        all(vec![
            inert_in("p", "", &name).view(),
            el("p").child(question).view(),
            buttons([
                button("").on_click(move || open.set(false)).child("Cancel"),
                button("danger").on_click(delete).child("Delete"),
            ])
            .view(),
        ])
    });
    dialog(open, "Delete evaluation".to_owned(), content)
}
