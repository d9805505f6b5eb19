//! A sample as a row of characters.

use leptos::prelude::*;
use volary_view::school::sample_strip::{Cell, Role};

/// The class that colours a character.
pub(super) fn cell_class(role: Role) -> &'static str {
    match role {
        Role::Prompt => "cell prompt",
        Role::Reply => "cell reply",
        Role::Sampled(0) => "cell sure-0",
        Role::Sampled(1) => "cell sure-1",
        Role::Sampled(2) => "cell sure-2",
        Role::Sampled(3) => "cell sure-3",
        Role::Sampled(_) => "cell sure-4",
        Role::Changed(-2) => "cell down-2",
        Role::Changed(-1) => "cell down-1",
        Role::Changed(1) => "cell up-1",
        Role::Changed(2) => "cell up-2",
        Role::Changed(_) => "cell same",
    }
}

/// Draws characters. Screen readers read the text as a whole.
pub(super) fn strip(cells: Vec<Cell>) -> AnyView {
    let text: String = cells.iter().map(|cell| cell.character).collect();
    let cells = cells.into_iter().map(|cell| {
        view! {
            <span class=cell_class(cell.role) title=cell.tip>
                {cell.character}
            </span>
        }
    });
    view! {
        <span class="school-strip">
            <span class="visually-hidden">{text}</span>
            <span aria-hidden="true">{cells.collect_view()}</span>
        </span>
    }
    .into_any()
}
