//! A part of the page that stays mounted, with its state, while another part is shown.

use leptos::prelude::*;

/// A part of the page that is built on first use and then hidden instead of removed.
#[component]
pub fn KeepAlive(
    /// Whether the part is shown.
    #[prop(into)]
    is_wanted: Signal<bool>,
    children: ChildrenFn,
) -> impl IntoView {
    let was_wanted = Memo::new(move |former: Option<&bool>| {
        former.is_some_and(|former| *former) || is_wanted.get()
    });
    view! {
        <div class="page" hidden=move || !is_wanted.get()>
            <Show when=move || was_wanted.get()>{children()}</Show>
        </div>
    }
}
