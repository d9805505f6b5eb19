//! The playground as a page: the episode bar above, three panes below.

use leptos::prelude::*;

use super::episode_bar::episode_bar;
use super::frame_pane::frame_pane;
use super::hint::hint;
use super::policy_pane::policy_pane;
use super::setup_pane::{configuration_pane, setup_pane};
use super::state::use_playground;
use super::tools_pane::tools_pane;
use super::transfer_dialogs::{export_dialog, share_dialog};
use crate::components::erased::flag;
use crate::components::markup::{El, el};
use crate::components::{PaneJumps, Transcript};

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
            on_rewind=Callback::new(move |steps| playground.go_back(steps))
        />
    };
    let jumps = view! {
        <PaneJumps panes=&[
            ("setup-pane", "Set-up"),
            ("transcript-pane", "Transcript"),
            ("frame-pane", "Frame"),
            ("settings-pane", "Policy"),
        ]/>
    };
    // Two parts, so that on a phone the transcript can stand between them.
    let side = el("div")
        .class("side")
        .child(
            pane("setup-pane", "Set-up and tools")
                .child(setup_pane())
                .child(tools_pane()),
        )
        .child(
            pane("settings-pane", "Policy and configuration")
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
        .child(episode_bar())
        .child(panes)
        .child(jumps.into_any())
        .child(export_dialog())
        .child(share_dialog())
}

fn pane(id: &'static str, name: &'static str) -> El {
    el("section")
        .class(format!("pane {id}"))
        .attr("id", id)
        .attr("aria-label", name)
}
