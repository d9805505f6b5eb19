//! The button in the heading of a column by which a table can be sorted.

use leptos::prelude::*;
use volary_analysis::table::order::Direction;

use super::text::inert;

/// The button, with an arrow if the table is sorted by its column.
#[component]
pub fn SortButton(
    name: String,
    /// The order of the table, if it is sorted by this column.
    direction: Signal<Option<Direction>>,
    sort: Callback<()>,
) -> impl IntoView {
    let mark = move || match direction.get() {
        None => "",
        Some(Direction::Ascending) => " ↑",
        Some(Direction::Descending) => " ↓",
    };
    view! {
        <button type="button" class="quiet column-sort" on:click=move |_| sort.run(())>
            <span dir="auto">{inert(&name)}</span>
            <span aria-hidden="true">{mark}</span>
        </button>
    }
}

/// The value of `aria-sort` of the heading.
pub fn aria_sort(direction: Option<Direction>) -> Option<&'static str> {
    Some(match direction? {
        Direction::Ascending => "ascending",
        Direction::Descending => "descending",
    })
}
