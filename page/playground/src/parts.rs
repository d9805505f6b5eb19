//! Parts of the page that are drawn once they are needed, or once their code is loaded.

use leptos::prelude::*;

use super::lazy_code::LazyCode;
use super::state::Playground;

/// A part of the page whose code is loaded after the first view.
pub(super) fn once_loaded(
    playground: Playground,
    part: fn(&'static LazyCode) -> fn() -> AnyView,
) -> AnyView {
    (move || playground.lazy_code().map(|code| part(code)())).into_any()
}

/// A part of the page that is built on first use and then stays mounted.
pub(super) fn once(
    wanted: impl Fn() -> bool + Send + Sync + 'static,
    part: fn() -> AnyView,
) -> AnyView {
    let was_wanted = Memo::new(move |former: Option<&bool>| former == Some(&true) || wanted());
    view! { <Show when=move || was_wanted.get()>{part()}</Show> }.into_any()
}
