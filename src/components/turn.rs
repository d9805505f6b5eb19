//! A streaming model response at the end of the transcript. It is marked as streaming; screen readers hear its
//! state, not every word.

use leptos::prelude::*;

use super::erased::{dynamic, shown, words};
use super::growing_text::growing_text;
use super::icon::{Glyph, icon};
use super::markup::{El, all, button, el, keyed, nothing};
use super::text::{inert_in, inert_name};
use crate::projection::text::{count_text, large_count_text};
use crate::projection::turn::{Stage, Turn, stage_text};

/// The actions on a turn.
#[derive(Clone, Copy)]
pub struct TurnActions {
    /// Shows the requests.
    pub inspect: Callback<()>,
    /// Stops the request.
    pub stop: Callback<()>,
    /// Retries.
    pub again: Callback<()>,
    /// Removes the turn.
    pub dismiss: Callback<()>,
}

/// Renders the turn, if there is one. `clock` returns the page's clock and ticks while the turn waits.
pub fn turn_view(
    turn: RwSignal<Option<Turn>>,
    clock: Signal<f64>,
    actions: TurnActions,
) -> AnyView {
    // Another attempt starts over.
    let head =
        Memo::new(move |_| turn.with(|turn| Some((turn.as_ref()?.step, turn.as_ref()?.tries))));
    dynamic(move || match head.get() {
        None => nothing(),
        Some((step, _)) => el("section")
            .class("step turn")
            .attr("aria-label", format!("Step {step}, streaming"))
            .attr("aria-live", "off")
            .child(turn_head(turn, step))
            .child(shown(
                move || look(turn, |turn| !turn.says_nothing()),
                move || el("ol").class("messages").child(message(turn)).view(),
            ))
            .child(stage(turn, clock, actions.stop))
            .child(notes(turn))
            .child(outcome(turn, actions))
            .view(),
    })
}

/// Reads the turn; the fallback for no turn is never shown.
fn look<T: Default>(turn: RwSignal<Option<Turn>>, look: impl FnOnce(&Turn) -> T) -> T {
    turn.with(|turn| turn.as_ref().map(look).unwrap_or_default())
}

fn turn_head(turn: RwSignal<Option<Turn>>, step: usize) -> El {
    let facts = words(move || {
        look(turn, |turn| match turn.usage {
            Some(usage) if usage.completion > 0 => {
                let count = large_count_text(usage.completion);
                format!("{} · {count} tokens out", turn.model)
            }
            _ => turn.model.clone(),
        })
    });
    el("div")
        .class("step-head")
        .child(el("span").class("step-name").child("Step"))
        .child(el("span").class("step-number").child(count_text(step)))
        .child(el("span").class("badge").child("streaming"))
        .child(
            el("span")
                .class("step-facts")
                .child(el("span").class("faint turn-model").child(facts)),
        )
}

fn message(turn: RwSignal<Option<Turn>>) -> El {
    let rest = |text: &str, shown: usize| text.get(shown..).unwrap_or_default().to_owned();
    let thinking = shown(
        move || look(turn, |turn| !turn.thinking.is_empty()),
        move || {
            growing_text("text thinking", Some("Thinking"), move |shown| {
                look(turn, |turn| rest(&turn.thinking, shown))
            })
        },
    );
    let text = shown(
        move || look(turn, |turn| !turn.text.is_empty()),
        move || {
            growing_text("text", None, move |shown| {
                look(turn, |turn| rest(&turn.text, shown))
            })
        },
    );
    let count = Memo::new(move |_| look(turn, |turn| turn.calls.len()));
    let calls = keyed(
        move || (0..count.get() as u64).collect(),
        move |place| call(turn, place as usize),
    );
    el("li")
        .class("message assistant partial")
        .child(
            el("div")
                .class("message-head")
                .child(el("span").class("speaker").child("assistant")),
        )
        .child(thinking)
        .child(el("div").class("message-body").child(text))
        .child(calls)
}

/// A call whose arguments are still streaming, as plain text.
fn call(turn: RwSignal<Option<Turn>>, place: usize) -> AnyView {
    let name = Memo::new(move |_| {
        look(turn, |turn| {
            let call = turn.calls.get(place);
            call.map(|call| call.name.clone()).unwrap_or_default()
        })
    });
    let arguments = growing_text("text json partial-arguments", None, move |shown| {
        look(turn, |turn| {
            let call = turn.calls.get(place);
            let rest = call.and_then(|call| call.arguments.get(shown..));
            rest.unwrap_or_default().to_owned()
        })
    });
    el("div")
        .class("call partial")
        .child(
            el("span")
                .class("tool-name")
                .child(dynamic(move || match name.get().as_str() {
                    "" => "…".into_any(),
                    name => inert_name(name),
                })),
        )
        .child(arguments)
        .view()
}

fn stage(turn: RwSignal<Option<Turn>>, clock: Signal<f64>, stop: Callback<()>) -> AnyView {
    let going = move || look(turn, Turn::is_going);
    shown(going, move || {
        let line = words(move || look(turn, |turn| stage_text(turn, clock.get())));
        let why = words(move || {
            look(turn, |turn| match &turn.stage {
                Stage::Waiting { why, .. } => why.clone(),
                _ => String::new(),
            })
        });
        let status = el("p")
            .class("turn-stage")
            .attr("role", "status")
            .attr("aria-label", "Model")
            .child(el("span").class("pulse").attr("aria-hidden", "true"))
            .child(el("span").class("turn-words").child(line))
            .child(el("span").class("turn-why").child(why));
        // In view, however the turn was started.
        let stop = button("small")
            .on_click(move || stop.run(()))
            .child("Stop request");
        el("div")
            .class("turn-going")
            .child(status)
            .child(stop)
            .view()
    })
}

fn notes(turn: RwSignal<Option<Turn>>) -> AnyView {
    let notes = Memo::new(move |_| look(turn, |turn| turn.notes.clone()));
    dynamic(move || {
        let notes = notes.get().into_iter();
        all(notes
            .map(|note| inert_in("p", "turn-note", &note).view())
            .collect())
    })
}

/// What remains of a turn that failed or was stopped.
fn outcome(turn: RwSignal<Option<Turn>>, actions: TurnActions) -> AnyView {
    let stage = Memo::new(move |_| look(turn, |turn| Some(turn.stage.clone())));
    dynamic(move || {
        let words = match stage.get() {
            Some(Stage::Failed(notice)) => el("div")
                .class("turn-failed")
                .child(icon(Glyph::Warning))
                .child(
                    el("div")
                        .child(inert_in("p", "alert-what", &notice.what))
                        .child(inert_in("p", "alert-why", &notice.why))
                        .child(inert_in("p", "alert-advice", &notice.advice)),
                ),
            Some(Stage::Stopped) => el("p")
                .class("turn-stopped")
                .child("Request stopped. No action was taken."),
            _ => return nothing(),
        };
        let press = |label: &'static str, action: Callback<()>| {
            button("small")
                .on_click(move || action.run(()))
                .child(label)
        };
        let sent = look(turn, |turn| !turn.exchanges.is_empty());
        let buttons = el("div")
            .class("button-row")
            .child(press("Ask again", actions.again))
            .child(sent.then(|| press("Request", actions.inspect)))
            .child(press("Clear", actions.dismiss));
        el("div")
            .class("turn-end")
            .child(words)
            .child(buttons)
            .view()
    })
}
