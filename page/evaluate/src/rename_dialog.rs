//! The dialog that renames an evaluation.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::state::Evaluations;
use volary_ui::Dialog;
use volary_ui::field::Field;

#[component]
pub(super) fn RenameDialog(
    evaluations: Evaluations,
    /// The id and the current name of the evaluation. The dialog is open while this is `Some`.
    renamed: RwSignal<Option<(String, String)>>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let name = RwSignal::new(String::new());
    Effect::new(move |_| {
        if let Some((_, known)) = renamed.get() {
            name.set(known);
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() && renamed.with_untracked(Option::is_some) {
            renamed.set(None);
        }
    });
    let is_empty = move || name.with(|name| name.trim().is_empty());
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        let wanted = name.get_untracked().trim().to_owned();
        let known = renamed.get_untracked().filter(|_| !wanted.is_empty());
        if let Some((id, former)) = known {
            open.set(false);
            if wanted != former {
                evaluations.rename(id, wanted);
            }
        }
    };
    view! {
        <Dialog open title="Rename evaluation">
            <form class="rename-form" on:submit=submitted>
                <Field id="evaluation-name" label="Name">
                    <input
                        id="evaluation-name"
                        autocomplete="off"
                        maxlength="200"
                        bind:value=name
                    />
                </Field>
                <div class="button-row">
                    <button type="submit" class="primary" disabled=is_empty>
                        {"Rename"}
                    </button>
                    <button type="button" on:click=move |_| open.set(false)>
                        {"Cancel"}
                    </button>
                </div>
            </form>
        </Dialog>
    }
}
