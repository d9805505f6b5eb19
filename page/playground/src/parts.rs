//! Parts of the page that are drawn once they are needed, or once their code is loaded.

use leptos::prelude::*;
use volary_ui::later::LaterView;

use super::state::Playground;

/// A part of the page whose code is loaded with the rest of the playground.
pub(super) fn once_whole(playground: Playground, part: &'static LaterView) -> AnyView {
    // One closure for all such parts; otherwise the compiler generates one for each.
    (move || {
        playground.whole().track();
        part.get().map(|view| view())
    })
    .into_any()
}

/// A part of the page that is built on first use and then stays mounted.
pub(super) fn once(
    wanted: impl Fn() -> bool + Send + Sync + 'static,
    part: fn() -> AnyView,
) -> AnyView {
    let was_wanted = Memo::new(move |former: Option<&bool>| former == Some(&true) || wanted());
    view! { <Show when=move || was_wanted.get()>{part()}</Show> }.into_any()
}
