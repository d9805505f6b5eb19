//! The overlay that lists the keys.

use leptos::prelude::*;

use super::dialog::Dialog;

/// Lists keys and what they do. Where a key works only in some place, that stands after ` in ` or
/// ` on `.
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
                        let place = [" in ", " on "].iter().find_map(|word| keys.find(word));
                        let (key, place) = keys.split_at(place.unwrap_or(keys.len()));
                        view! {
                            <div>
                                <dt><kbd>{key}</kbd>{place}</dt>
                                <dd>{*meaning}</dd>
                            </div>
                        }
                    })
                    .collect_view()}
            </dl>
        </Dialog>
    }
    .into_any()
}
