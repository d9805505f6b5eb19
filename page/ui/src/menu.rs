//! A menu below its name: a `details` element that closes when the person presses elsewhere or Escape.

use leptos::html;
use leptos::prelude::*;
use volary_browser::element;
use volary_browser::open_menu::OpenMenu;

#[component]
pub fn Menu(
    /// What the menu is for, on the button that opens it.
    name: &'static str,
    class: &'static str,
    /// Whether it is open, for content that is drawn only then.
    is_open: RwSignal<bool>,
    children: Children,
) -> impl IntoView {
    let menu = NodeRef::<html::Details>::new();
    // Dropped with the page, and when the menu closes.
    let opened = StoredValue::new_local(None::<OpenMenu>);
    Effect::new(move |_| {
        let menu = menu.get().filter(|_| is_open.get());
        opened.set_value(menu.and_then(|menu| OpenMenu::watch(&menu)));
    });
    view! {
        <details
            node_ref=menu
            class=class
            on:toggle=move |event| is_open.set(element::is_details_open(&event))
        >
            <summary>{name}</summary>
            {children()}
        </details>
    }
}
