//! The playground as a page: the episode bar above, three panes below.

use leptos::prelude::*;

use super::episode_bar::episode_bar;
use super::frame_pane::frame_pane;
use super::hint::hint;
use super::intents::Intent;
use super::model;
use super::policy_pane::policy_pane;
use super::policy_settings::PolicyKind;
use super::setup_pane::{configuration_pane, setup_pane};
use super::state::{Playground, use_playground};
use super::tools_pane::tools_pane;
use crate::components::erased::{flag, maybe_words, shown, words};
use crate::components::markup::{El, el};
use crate::components::{PaneJumps, Transcript};
use volary_app::playground::session::Session;

/// The playground.
pub fn playground_page() -> El {
    let playground = use_playground();
    // The engine notifies of more than was changed; the transcript is only to hear of changes.
    let edition = Memo::new(move |_| playground.edition.get());
    let transcript = view! {
        <Transcript
            episode=playground.episode
            edition=edition
            selected=playground.selected
            can_rewind=flag(move || playground.may_go_back())
            on_rewind=Callback::new(move |steps| playground.intend(Intent::GoBack(steps)))
            on_inspect=Callback::new(move |step| playground.drive.inspected.set(Some(step)))
            tail=tail(playground)
        />
    };
    let jumps = view! {
        <PaneJumps panes=&[
            ("transcript-pane", "Transcript"),
            ("tools", "Tools"),
            ("setup", "Setup"),
            ("frame-pane", "Frame"),
            ("settings-pane", "Policy"),
        ]/>
    };
    let waits = waits_for_tools(playground);
    // Two parts, so that on a phone the frame can stand between them.
    let side = el("div")
        .class("side")
        .child(
            pane("setup-pane", "Setup and tools")
                .child(setup_pane())
                .child(tools_pane()),
        )
        .child(
            pane("settings-pane", "Policy and configuration")
                .attr(
                    "data-waits",
                    maybe_words(move || waits.get().then(String::new)),
                )
                .child(policy_pane())
                .child(configuration_pane()),
        );
    let panes = el("div")
        .class("panes")
        .child(side)
        .child(
            pane("transcript-pane", "Episode")
                .child(hint())
                .child(transcript.into_any()),
        )
        .child(pane("frame-pane", "Frame").child(frame_pane()));
    el("div")
        .class("playground")
        .child(el("h1").class("visually-hidden").child("Playground"))
        .child(el("p").class("print-title").child(words(move || {
            playground.episode.with(|episode| episode.name.to_string())
        })))
        .child(episode_bar())
        .child(panes)
        .child(jumps.into_any())
        .child(playground.dialogs())
        .child(once(
            move || playground.drive.inspected.with(Option::is_some),
            model::requests_dialog,
        ))
}

/// Whether the first tools are still to come. They take room above the settings, which would move away under the
/// pointer of whoever is about to press one.
fn waits_for_tools(playground: Playground) -> Memo<bool> {
    let had_tools = Memo::new(move |former: Option<&bool>| {
        former == Some(&true) || playground.episode.with(|episode| !episode.tools.is_empty())
    });
    Memo::new(move |_| !had_tools.get() && playground.session.with(Session::is_opening))
}

/// What a model is saying stands after the last step.
fn tail(playground: Playground) -> AnyView {
    once(
        move || playground.drive.kind.get() == PolicyKind::Model,
        model::turn_pane,
    )
}

/// A part of the page that is there from when it is first wanted.
fn once(wanted: impl Fn() -> bool + Send + Sync + 'static, part: fn() -> AnyView) -> AnyView {
    let was_wanted = Memo::new(move |former: Option<&bool>| former == Some(&true) || wanted());
    shown(move || was_wanted.get(), part)
}

fn pane(id: &'static str, name: &'static str) -> El {
    el("section")
        .class(format!("pane {id}"))
        .attr("id", id)
        .attr("aria-label", name)
}
