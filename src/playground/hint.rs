//! A newcomer's first minute: three steps, each ticked off as it is done; the hint goes away after the
//! last one, or when it is dismissed, and does not come back.

use leptos::prelude::*;

use super::state::use_playground;
use crate::components::erased::{flag, pressed, shown, watch};
use crate::components::{Glyph, Icon};
use crate::shell::storage::{self, Keep};

const KEY: &str = "hint-seen";

/// The hint.
#[component]
pub fn Hint() -> impl IntoView {
    let playground = use_playground();
    let seen = RwSignal::new(storage::get(Keep::Always, KEY).is_some());
    let dismiss = move || {
        storage::set(Keep::Always, KEY, "yes");
        seen.set(true);
    };
    let steps = Memo::new(move |_| playground.episode.with(|episode| episode.steps.len()));
    let over = Memo::new(move |_| playground.episode.with(|episode| episode.is_over()));
    let typed = Memo::new(move |_| {
        let hands = playground.hands;
        !hands.calls.with(Vec::is_empty) || playground.form_is_touched()
    });
    // Who ended an episode needs no hint any more; it still stands there until the next one.
    let was_over = StoredValue::new(false);
    watch(move || {
        if over.get() {
            storage::set(Keep::Always, KEY, "yes");
            was_over.set_value(true);
        } else if was_over.get_value() {
            seen.set(true);
        }
    });
    let item = move |done: Signal<bool>, words: &'static str| {
        view! {
            <li class:done=done>
                {shown(
                    move || done.get(),
                    || {
                        view! {
                            <Icon glyph=Glyph::Check/>
                            <span class="visually-hidden">"Done: "</span>
                        }
                            .into_any()
                    },
                )}
                {words}
            </li>
        }
    };
    let hint = move || {
        view! {
            <aside class="first-steps" aria-label="First steps">
                <ol>
                    {item(
                        flag(move || typed.get() || steps.get() > 0),
                        "Read the problem below, choose a tool and fill it in.",
                    )}
                    {item(
                        flag(move || steps.get() > 0),
                        "Press Step, and read what the environment answers.",
                    )}
                    {item(
                        flag(move || over.get()),
                        "Submit your answer: the episode is done, and you have its reward.",
                    )}
                </ol>
                <button
                    type="button"
                    class="icon-button"
                    aria-label="Dismiss the hint"
                    on:click=pressed(move |_| dismiss())
                >
                    <Icon glyph=Glyph::Close/>
                </button>
            </aside>
        }
        .into_any()
    };
    shown(move || !seen.get(), hint)
}
