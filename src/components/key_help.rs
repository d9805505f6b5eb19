//! The overlay that lists the keys.

use leptos::prelude::*;

use super::dialog::Dialog;

/// Lists keys and what they do. Several keys for the same are separated by spaces.
#[component]
pub fn KeyHelp(
    /// Whether it is shown.
    open: RwSignal<bool>,
    /// Each key with what it does.
    keys: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    view! {
        <Dialog open title="Keys">
            <dl class="key-list">
                {keys
                    .iter()
                    .map(|(keys, meaning)| {
                        let caps = keys.split(' ').map(|key| view! { <kbd>{key}</kbd> }).collect_view();
                        view! {
                            <div>
                                <dt>{caps}</dt>
                                <dd>{*meaning}</dd>
                            </div>
                        }
                    })
                    .collect_view()}
            </dl>
        </Dialog>
    }
}
