//! A part of the page that keeps its state while another is shown.

use leptos::prelude::*;

/// A part of the page that is built when it is first wanted, and hidden when it is not.
#[component]
pub fn Kept(
    /// Whether it is shown.
    #[prop(into)]
    is_wanted: Signal<bool>,
    /// The part.
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
