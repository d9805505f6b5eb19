//! The stored evaluations.

use leptos::prelude::*;

use super::state::Evaluations;
use crate::components::keyed::{key_of, keyed};
use crate::components::text::inert;
use crate::projection::text::{count_text, plural};
use crate::route::Route;
use crate::storage::evaluations::Head;

/// The list; nothing if it is empty. Rows are keyed by evaluation, so that a focused button never comes to
/// delete another one.
#[component]
pub(super) fn PreviousEvaluations(evaluations: Evaluations) -> impl IntoView {
    let heads = evaluations.heads;
    let keys = move || heads.with(|heads| heads.iter().map(|head| key_of(&head.id)).collect());
    let draw = move |key| {
        let head = Memo::new(move |_| {
            heads.with(|heads| {
                let mut heads = heads.iter();
                heads.find(|head| key_of(&head.id) == key).cloned()
            })
        });
        (move || head.get().map(|head| row(evaluations, &head))).into_any()
    };
    view! {
        <Show when=move || heads.with(|heads| !heads.is_empty())>
            <section class="card" aria-label="Previous evaluations">
                <h2>{"Previous evaluations"}</h2>
                <ul class="evaluation-list">{keyed(keys, draw)}</ul>
            </section>
        </Show>
    }
}

fn row(evaluations: Evaluations, head: &Head) -> impl IntoView + use<> {
    let address = Route::Evaluate {
        evaluation: Some(head.id.to_string()),
    };
    let done = head.finished + head.failed;
    let mut words = format!("{} of {}", count_text(done), plural(head.total, "episode"));
    if head.failed > 0 {
        words.push_str(&format!(", {} failed", count_text(head.failed)));
    }
    let (id, name) = (head.id.to_string(), head.name.to_string());
    view! {
        <li>
            <a href=address.to_hash()>
                <span dir="auto">{inert(&head.name)}</span>
            </a>
            <span class="faint">{words}</span>
            <button
                type="button"
                class="quiet small"
                aria-label=format!("Delete {}", head.name)
                on:click=move |_| evaluations.ask_to_delete(id.clone(), name.clone())
            >
                {"Delete"}
            </button>
        </li>
    }
}
