//! What a newcomer sees above the first task: what this page is, and the first steps. It shrinks once the person acts,
//! disappears when they finished an episode or dismissed it, and does not come back.
//!
//! Invariant: [`volary_view::welcome`] decides what is shown.

use leptos::prelude::*;
use volary_app::playground::run::Run;
use volary_view::hidden_answer::has_submitted;
use volary_view::welcome::{WelcomeStage, stage};

use super::choices::start_over;
use super::entries;
use super::manual_action;
use super::state::{Playground, use_playground};
use volary_browser::storage::{self, Keep};
use volary_ui::{Glyph, Icon, Mark};

const KEY: &str = "hint-seen";

/// The first lesson.
const LESSON: &str = "#/learn/agent-loop";

#[component]
pub(super) fn Welcome() -> impl IntoView {
    let playground = use_playground();
    let seen = RwSignal::new(storage::get(Keep::Always, KEY).is_some());
    let stage = Memo::new(move |_| {
        let is_running = playground.policy().run.get() != Run::Idle;
        let demonstrates = playground.demonstrates().get();
        playground
            .episode()
            .with(|episode| stage(episode, demonstrates, is_running))
    });
    let dismiss = move |_| {
        storage::set(Keep::Always, KEY, "yes");
        seen.set(true);
    };
    Effect::new(move |_| {
        if stage.get() == WelcomeStage::Finished && !seen.get_untracked() {
            storage::set(Keep::Always, KEY, "yes");
            seen.set(true);
        }
    });
    view! {
        <Show when=move || !seen.get()>
            <aside class=move || stage.get().class() aria-label="First steps">
                <Show when=move || stage.get().is_large()>
                    <Invitation playground stage/>
                </Show>
                <Checklist playground/>
                <button
                    type="button"
                    class="icon-button dismiss"
                    aria-label="Dismiss hint"
                    on:click=dismiss
                >
                    <Icon glyph=Glyph::Close/>
                </button>
            </aside>
        </Show>
    }
}

/// What the page is, and the ways to begin.
#[component]
fn Invitation(playground: Playground, stage: Memo<WelcomeStage>) -> impl IntoView {
    // A demonstration needs a solution.
    let can_watch = move || entries::chosen(playground).is_some_and(|entry| entry.oracle.is_some());
    let watch = move || {
        if stage.get() == WelcomeStage::Invitation {
            let watch = move |_| {
                playground.begin_attempt();
                playground.with_code("The demonstration", move |code| {
                    (code.demonstrate)(playground);
                });
            };
            let button = move || {
                view! {
                    <button type="button" class="bright" on:click=watch>
                        <Icon glyph=Glyph::Play/>
                        {"Watch it solve this"}
                    </button>
                }
            };
            return view! { <Show when=can_watch>{button()}</Show> }.into_any();
        }
        let is_running = stage.get() == WelcomeStage::Watching;
        let begin = move |_| start_over(playground);
        view! {
            <button type="button" class="bright" disabled=is_running on:click=begin>
                {"Now try it yourself"}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="invitation">
            <Mark/>
            <h2>{move || stage.get().title()}</h2>
            <p>{move || stage.get().lead()}</p>
            <div class="button-row">
                {watch}
                <a class="button" href=LESSON>
                    {"Start with lesson 1"}
                </a>
            </div>
        </div>
    }
}

/// The steps of a person who acts.
#[component]
fn Checklist(playground: Playground) -> impl IntoView {
    let acted = Signal::derive(move || {
        playground
            .episode()
            .with(|episode| !episode.steps.is_empty())
    });
    let typed = Signal::derive(move || {
        let gathered = playground
            .manual()
            .composer
            .with(|composer| !composer.calls().is_empty());
        acted.get() || gathered || manual_action::form_is_touched(playground)
    });
    let last = Signal::derive(move || {
        let submits = playground.episode().with(|episode| {
            episode
                .tools
                .iter()
                .any(|tool| &*tool.info.name == "submit_answer")
        });
        if submits {
            "Submit your answer. The reward, a number, says how good it was."
        } else {
            "Continue until the episode is done. The reward is shown above."
        }
    });
    let submitted =
        Signal::derive(move || playground.episode().with(|episode| has_submitted(episode)));
    view! {
        <ol>
            <Item done=typed text="Read the task below, choose a tool and fill in its form."/>
            <Item done=acted text="Press Step and read the result."/>
            <Item done=submitted text=last/>
        </ol>
    }
}

#[component]
fn Item(done: Signal<bool>, #[prop(into)] text: Signal<&'static str>) -> impl IntoView {
    view! {
        <li class=move || if done.get() { "done" } else { "" }>
            <Show when=move || done.get()>
                <Icon glyph=Glyph::Check/>
                <span class="visually-hidden">{"Done: "}</span>
            </Show>
            {text}
        </li>
    }
}
