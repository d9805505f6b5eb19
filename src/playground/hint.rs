//! A newcomer's first minute: three steps, each ticked off as it is done; the hint goes away after the
//! last one, or when it is dismissed, and does not come back.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::{AnyMessage, ToolCall};
use volary_trajectory::Episode;

use super::state::use_playground;
use crate::browser::storage::{self, Keep};
use crate::components::erased::{flag, shown, watch, words};
use crate::components::markup::{Child, El, all, button, el};
use crate::components::{Glyph, Icon};

const KEY: &str = "hint-seen";

/// The hint.
pub fn hint() -> AnyView {
    let playground = use_playground();
    let seen = RwSignal::new(storage::get(Keep::Always, KEY).is_some());
    let acted = flag(move || playground.episode.with(|episode| !episode.steps.is_empty()));
    let over = flag(move || playground.episode.with(|episode| episode.is_over()));
    let typed = flag(move || {
        let gathered = playground.hands.calls.with(|calls| !calls.is_empty());
        acted.get() || gathered || playground.form_is_touched()
    });
    let dismiss = move || {
        storage::set(Keep::Always, KEY, "yes");
        seen.set(true);
    };
    let answers = move || {
        playground
            .setup
            .environment
            .with(|name| &**name == "calculator")
    };
    let fell = move || over.get() && answers() && playground.episode.with(is_unanswered);
    let last = words(move || {
        let last = match answers() {
            _ if fell() => "A failed step ended the episode. Press Undo and try again.",
            true => "Submit your answer to finish the episode and see the reward.",
            false => "Continue until the episode is done. The reward is shown above.",
        };
        last.to_owned()
    });
    let won = flag(move || over.get() && !fell());
    // Who ended an episode needs no hint any more; it still stands there until the next one.
    let was_over = StoredValue::new(false);
    watch(move || {
        if won.get() {
            storage::set(Keep::Always, KEY, "yes");
            was_over.set_value(true);
        } else if was_over.get_value() {
            seen.set(true);
        }
    });
    let hint = move || {
        let steps = el("ol")
            .child(item(
                typed,
                "Read the task below, choose a tool and fill in its form.",
            ))
            .child(item(acted, "Press Step and read the environment's answer."))
            .child(item(won, last));
        el("aside")
            .class("first-steps")
            .attr("aria-label", "First steps")
            .child(steps)
            .child(
                button("icon-button")
                    .attr("aria-label", "Dismiss hint")
                    .on_click(dismiss)
                    .child(view! { <Icon glyph=Glyph::Close/> }.into_any()),
            )
            .view()
    };
    shown(move || !seen.get(), hint)
}

/// Whether the last action of a calculator's episode submits no answer.
fn is_unanswered(episode: &Arc<Episode>) -> bool {
    let submits = |call: &ToolCall| &*call.function.name == "submit_answer";
    let last = episode.steps.last().map(|step| &step.action);
    !matches!(last, Some(AnyMessage::Request(request)) if request.tool_calls.iter().any(submits))
}

fn item(done: Signal<bool>, text: impl Child) -> El {
    let mark = shown(
        move || done.get(),
        || {
            all(vec![
                view! { <Icon glyph=Glyph::Check/> }.into_any(),
                el("span").class("visually-hidden").child("Done: ").view(),
            ])
        },
    );
    let class = words(move || if done.get() { "done" } else { "" }.to_owned());
    el("li").class(class).child(mark).child(text)
}
