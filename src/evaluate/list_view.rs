//! The evaluations that are kept.

use leptos::prelude::*;

use super::state::Evaluations;
use crate::components::erased::dynamic;
use crate::components::markup::{El, button, el, nothing};
use crate::components::text::inert_in;
use crate::projection::text::{count_text, plural};
use crate::records::evaluations::Head;
use crate::route::Route;

/// The list; nothing while there is none.
pub fn list_view(evaluations: Evaluations) -> AnyView {
    dynamic(move || {
        let heads = evaluations.heads.get();
        if heads.is_empty() {
            return nothing();
        }
        let rows = heads.iter().map(|head| row(evaluations, head));
        let list = rows.fold(el("ul").class("evaluation-list"), El::child);
        el("section")
            .class("card")
            .attr("aria-label", "Former evaluations")
            .child(el("h2").child("Former evaluations"))
            .child(list)
            .view()
    })
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
    let id = head.id.to_string();
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
                .on_click(move || evaluations.delete(id.clone()))
                .child("Delete"),
        )
}
