//! The stored evaluations.

use leptos::prelude::*;

use super::state::Evaluations;
use crate::components::erased::{dynamic, shown};
use crate::components::markup::{El, button, el, key_of, keyed, nothing};
use crate::components::text::inert_in;
use crate::projection::text::{count_text, plural};
use crate::route::Route;
use crate::storage::evaluations::Head;

/// The list; nothing if it is empty. Rows are keyed by evaluation, so that a focused button never comes to
/// delete another one.
pub fn list_view(evaluations: Evaluations) -> AnyView {
    let heads = evaluations.heads;
    let keys = move || heads.with(|heads| heads.iter().map(|head| key_of(&head.id)).collect());
    let draw = move |key| {
        let head = Memo::new(move |_| {
            heads.with(|heads| {
                let mut heads = heads.iter();
                heads.find(|head| key_of(&head.id) == key).cloned()
            })
        });
        dynamic(move || match head.get() {
            Some(head) => row(evaluations, &head).view(),
            None => nothing(),
        })
    };
    shown(
        move || heads.with(|heads| !heads.is_empty()),
        move || {
            el("section")
                .class("card")
                .attr("aria-label", "Previous evaluations")
                .child(el("h2").child("Previous evaluations"))
                .child(el("ul").class("evaluation-list").child(keyed(keys, draw)))
                .view()
        },
    )
}

fn row(evaluations: Evaluations, head: &Head) -> El {
    let address = Route::Evaluate {
        evaluation: Some(head.id.to_string()),
    };
    let done = head.finished + head.failed;
    let mut words = format!("{} of {}", count_text(done), plural(head.total, "episode"));
    if head.failed > 0 {
        words.push_str(&format!(", {} failed", count_text(head.failed)));
    }
    let (id, name) = (head.id.to_string(), head.name.to_string());
    el("li")
        .child(
            el("a")
                .attr("href", address.to_hash())
                .child(inert_in("span", "", &head.name)),
        )
        .child(el("span").class("faint").child(words))
        .child(
            button("quiet small")
                .attr("aria-label", format!("Delete {}", head.name))
                .on_click(move || evaluations.ask_to_delete(id.clone(), name.clone()))
                .child("Delete"),
        )
}
