//! A streaming model response at the end of the transcript. It is marked as streaming. Screen readers announce its
//! state, not every word.

use leptos::prelude::*;
use volary_core::quantity::{count_text, large_count_text};
use volary_view::turn::{Stage, StreamingTurn, stage_text};

use super::growing_text::growing_text;
use super::icon::{Glyph, Icon};
use super::keyed::keyed;
use super::text::{inert, inert_name};

/// Callbacks of the turn's buttons.
#[derive(Clone, Copy)]
pub struct TurnActions {
    /// Shows the requests.
    pub inspect: Callback<()>,
    pub stop: Callback<()>,
    /// Retries the request.
    pub again: Callback<()>,
    /// Removes the turn.
    pub dismiss: Callback<()>,
}

/// The current turn, if any.
#[component]
pub fn TurnView(
    turn: RwSignal<Option<StreamingTurn>>,
    /// The page's clock in seconds, which ticks while the turn waits.
    clock: Signal<f64>,
    actions: TurnActions,
) -> impl IntoView {
    // A retry starts over.
    let head =
        Memo::new(move |_| turn.with(|turn| Some((turn.as_ref()?.step, turn.as_ref()?.attempts))));
    move || {
        let (step, _) = head.get()?;
        Some(view! {
            <section
                class="step turn"
                aria-label=format!("Step {step}, streaming")
                aria-live="off"
            >
                <TurnHead turn step/>
                <Show when=move || look(turn, |turn| !turn.says_nothing())>
                    <ol class="messages">
                        <Message turn/>
                    </ol>
                </Show>
                <StageLine turn clock stop=actions.stop/>
                {notes(turn)}
                <Outcome turn actions/>
            </section>
        })
    }
}

/// Reads the turn; the default value for no turn is never shown.
fn look<T: Default>(
    turn: RwSignal<Option<StreamingTurn>>,
    look: impl FnOnce(&StreamingTurn) -> T,
) -> T {
    turn.with(|turn| turn.as_ref().map(look).unwrap_or_default())
}

#[component]
fn TurnHead(turn: RwSignal<Option<StreamingTurn>>, step: usize) -> impl IntoView {
    let facts = move || {
        look(turn, |turn| match turn.usage {
            Some(usage) if usage.completion > 0 => {
                let count = large_count_text(usage.completion);
                format!("{} · {count} tokens out", turn.model)
            }
            _ => turn.model.clone(),
        })
    };
    view! {
        <div class="step-head">
            <span class="step-name">{"Step"}</span>
            <span class="step-number">{count_text(step)}</span>
            <span class="badge">{"streaming"}</span>
            <span class="step-facts">
                <span class="faint turn-model">{facts}</span>
            </span>
        </div>
    }
}

#[component]
fn Message(turn: RwSignal<Option<StreamingTurn>>) -> impl IntoView {
    let rest = |text: &str, shown: usize| text.get(shown..).unwrap_or_default().to_owned();
    let thinking = move || {
        growing_text("text thinking", Some("Thinking"), move |shown| {
            look(turn, |turn| rest(&turn.thinking, shown))
        })
    };
    let text = move || {
        growing_text("text", None, move |shown| {
            look(turn, |turn| rest(&turn.text, shown))
        })
    };
    let count = Memo::new(move |_| look(turn, |turn| turn.calls.len()));
    let keys = move || (0..count.get() as u64).collect();
    let draw = move |place: u64| {
        let place = usize::try_from(place).unwrap_or_default();
        view! { <Call turn place/> }.into_any()
    };
    view! {
        <li class="message assistant partial">
            <div class="message-head">
                <span class="speaker">{"assistant"}</span>
            </div>
            <Show when=move || look(turn, |turn| !turn.thinking.is_empty())>{thinking()}</Show>
            <div class="message-body">
                <Show when=move || look(turn, |turn| !turn.text.is_empty())>{text()}</Show>
            </div>
            {keyed(keys, draw)}
        </li>
    }
}

/// A call whose arguments are still streaming, as plain text.
#[component]
fn Call(turn: RwSignal<Option<StreamingTurn>>, place: usize) -> impl IntoView {
    let name = Memo::new(move |_| {
        look(turn, |turn| {
            let call = turn.calls.get(place);
            call.map(|call| call.name.clone()).unwrap_or_default()
        })
    });
    let name = move || match name.get().as_str() {
        "" => "…".into_any(),
        name => inert_name(name),
    };
    let arguments = growing_text("text json partial-arguments", None, move |shown| {
        look(turn, |turn| {
            let call = turn.calls.get(place);
            let rest = call.and_then(|call| call.arguments.get(shown..));
            rest.unwrap_or_default().to_owned()
        })
    });
    view! {
        <div class="call partial">
            <span class="tool-name">{name}</span>
            {arguments}
        </div>
    }
}

#[component]
fn StageLine(
    turn: RwSignal<Option<StreamingTurn>>,
    clock: Signal<f64>,
    stop: Callback<()>,
) -> impl IntoView {
    let line = move || look(turn, |turn| stage_text(turn, clock.get()));
    let why = move || {
        look(turn, |turn| match &turn.stage {
            Stage::Waiting { why, .. } => why.clone(),
            _ => String::new(),
        })
    };
    // Stop is offered here as well, so that it is in view however the turn was started.
    view! {
        <Show when=move || look(turn, StreamingTurn::is_going)>
            <div class="turn-going">
                <p class="turn-stage" role="status" aria-label="Model">
                    <span class="pulse" aria-hidden={"true"}></span>
                    <span class="turn-words">{line}</span>
                    <span class="turn-why">{why}</span>
                </p>
                <button type="button" class="small" on:click=move |_| stop.run(())>
                    {"Stop request"}
                </button>
            </div>
        </Show>
    }
}

fn notes(turn: RwSignal<Option<StreamingTurn>>) -> impl IntoView {
    let notes = Memo::new(move |_| look(turn, |turn| turn.notes.clone()));
    move || {
        let notes = notes.get().into_iter();
        let notes = notes.map(|note| {
            view! {
                <p class="turn-note" dir="auto">
                    {inert(&note)}
                </p>
            }
        });
        notes.collect_view()
    }
}

/// The remains of a turn that failed or was stopped.
#[component]
fn Outcome(turn: RwSignal<Option<StreamingTurn>>, actions: TurnActions) -> impl IntoView {
    let stage = Memo::new(move |_| look(turn, |turn| Some(turn.stage.clone())));
    move || {
        let words = match stage.get()? {
            Stage::Failed(notice) => view! {
                <div class="turn-failed">
                    <Icon glyph=Glyph::Warning/>
                    <div>
                        <p class="alert-what" dir="auto">{inert(&notice.what)}</p>
                        <p class="alert-why" dir="auto">{inert(&notice.why)}</p>
                        <p class="alert-advice" dir="auto">{inert(&notice.advice)}</p>
                    </div>
                </div>
            }
            .into_any(),
            Stage::Stopped => {
                view! { <p class="turn-stopped">"Request stopped. No action was taken."</p> }
                    .into_any()
            }
            _ => return None,
        };
        let press = |label: &'static str, action: Callback<()>| {
            view! {
                <button type="button" class="small" on:click=move |_| action.run(())>
                    {label}
                </button>
            }
        };
        let sent = look(turn, |turn| !turn.exchanges.is_empty());
        Some(view! {
            <div class="turn-end">
                {words}
                <div class="button-row">
                    {press("Ask again", actions.again)}
                    {sent.then(|| press("Request", actions.inspect))}
                    {press("Clear", actions.dismiss)}
                </div>
            </div>
        })
    }
}
