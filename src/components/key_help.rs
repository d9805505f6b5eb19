//! The dialog that lists keyboard shortcuts.

use leptos::prelude::*;

use super::dialog::Dialog;
use crate::later::Later;

type View = fn(RwSignal<bool>, &'static [(&'static str, &'static str)]) -> AnyView;

/// [`KeyHelp`], for callers that cannot wait for its code.
pub static KEY_HELP: Later<View> = Later::new();

pub(crate) fn install() {
    KEY_HELP.set(|open, keys| view! { <KeyHelp open keys/> }.into_any());
}

/// Lists shortcuts. The part of a key after ` in ` or ` on ` says where it works.
#[component]
pub fn KeyHelp(
    /// Whether it is shown.
    open: RwSignal<bool>,
    /// Each key with what it does.
    keys: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let rows = keys.iter().map(|(keys, meaning)| {
        let place = [" in ", " on "].iter().find_map(|word| keys.find(word));
        let (key, place) = keys.split_at(place.unwrap_or(keys.len()));
        view! {
            <div>
                <dt>
                    <kbd>{key}</kbd>
                    {place}
                </dt>
                <dd>{*meaning}</dd>
            </div>
        }
    });
    view! {
        <Dialog open title="Keyboard shortcuts">
            <dl class="key-list">{rows.collect_view()}</dl>
        </Dialog>
    }
}
