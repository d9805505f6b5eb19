//! What a newcomer sees above the first task: what this page is, and the first steps. It shrinks once the person acts,
//! disappears when they finished an episode or dismissed it, and does not come back.
//!
//! Invariants: [`volary_view::welcome`] decides what is shown. One button begins the demonstration and then hands over, so
//! that it keeps the focus while its name changes; the focus moves on only from there.

use leptos::prelude::*;
use volary_app::playground::run::Run;
use volary_view::hidden_answer::has_submitted;
use volary_view::welcome::{WelcomeStage, stage};

use super::choices::start_over;
use super::entries;
use super::manual_action;
use super::next_action::focus_next_action;
use super::state::{Playground, use_playground};
use volary_browser::storage::{self, Keep};
use volary_browser::{element, spawn, timers};
use volary_ui::{Glyph, Icon, Mark};

const KEY: &str = "hint-seen";

/// The first lesson.
const LESSON: &str = "#/learn/agent-loop";

/// The id of the button that begins a demonstration and hands over after it.
const ACTION: &str = "first-action";

/// The stage of the shown episode.
fn current_stage(playground: Playground) -> WelcomeStage {
    let is_running = playground.policy().run.get() != Run::Idle;
    let demonstrates = playground.demonstrates().get();
    playground
        .episode()
        .with(|episode| stage(episode, demonstrates, is_running))
}

/// Whether the guide has the action that comes next: no other button is as prominent then.
pub(super) fn leads(playground: Playground) -> bool {
    playground.guides().get() && current_stage(playground).leads()
}

#[component]
pub(super) fn Welcome() -> impl IntoView {
    let playground = use_playground();
    let guides = playground.guides();
    guides.set(storage::get(Keep::Always, KEY).is_none());
    let stage = Memo::new(move |_| current_stage(playground));
    let leave = move || {
        storage::set(Keep::Always, KEY, "yes");
        guides.set(false);
    };
    Effect::new(move |_| {
        if stage.get() == WelcomeStage::Finished && guides.get_untracked() {
            leave();
        }
    });
    view! {
        <Show when=move || guides.get()>
            <aside class=move || stage.get().class() aria-label="First steps">
                <Show when=move || stage.get().is_large()>
                    <Invitation playground stage/>
                </Show>
                <Checklist playground/>
                <button
                    type="button"
                    class="icon-button dismiss"
                    aria-label="Dismiss hint"
                    on:click=move |_| leave()
                >
                    <Icon glyph=Glyph::Close/>
                </button>
            </aside>
        </Show>
    }
}

/// Begins the task again for the person, who acts in the first field. The focus is theirs if they moved it meanwhile.
fn try_it(playground: Playground) {
    start_over(playground);
    spawn(async move {
        playground.settled().await;
        // The panes are drawn in the next frame at the latest.
        timers::next_frame(|| {
            timers::next_frame(|| {
                if element::is_focus_free(ACTION) {
                    focus_next_action();
                }
            });
        });
    });
}

/// What the page is, and the ways to begin.
#[component]
fn Invitation(playground: Playground, stage: Memo<WelcomeStage>) -> impl IntoView {
    // A demonstration needs a solution.
    let can_watch = move || entries::chosen(playground).is_some_and(|entry| entry.oracle.is_some());
    let is_invited = move || stage.get() == WelcomeStage::Invitation;
    let act = move |_| match stage.get_untracked() {
        WelcomeStage::Watched => try_it(playground),
        WelcomeStage::Watching => {}
        _ => {
            playground.begin_attempt();
            playground.with_code("The demonstration", move |code| {
                (code.demonstrate)(playground);
            });
        }
    };
    // While the agent acts, it is marked as disabled and does nothing; a disabled button would lose the focus.
    let action = move || {
        view! {
            <button
                type="button"
                id=ACTION
                class="bright"
                aria-disabled=move || (stage.get() == WelcomeStage::Watching).to_string()
                on:click=act
            >
                <Show when=is_invited>
                    <Icon glyph=Glyph::Play/>
                </Show>
                {move || stage.get().action()}
            </button>
        }
    };
    view! {
        <div class="invitation">
            <Mark/>
            <h2>{move || stage.get().title()}</h2>
            <p>{move || stage.get().lead()}</p>
            <div class="button-row">
                <Show when=move || !is_invited() || can_watch()>{action()}</Show>
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
