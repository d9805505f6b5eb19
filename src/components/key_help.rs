//! The overlay that lists the keyboard shortcuts.

use leptos::prelude::*;

use super::dialog::Dialog;
use crate::later::Later;

type View = fn(RwSignal<bool>, &'static [(&'static str, &'static str)]) -> AnyView;

/// [`KeyHelp`], once its code is loaded.
pub static KEY_HELP: Later<View> = Later::new();

pub(crate) fn install() {
    KEY_HELP.set(|open, keys| view! { <KeyHelp open keys/> }.into_any());
}

/// Lists keys and what they do. A key that works in one place only names it after ` in ` or ` on `.
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
        <Dialog open title="Keys">
            <dl class="key-list">{rows.collect_view()}</dl>
        </Dialog>
    }
}
