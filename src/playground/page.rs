//! The playground as a page: the episode bar above, three panes below.

use leptos::prelude::*;

use super::episode_bar::EpisodeBar;
use super::frame_pane::FramePane;
use super::hint::Hint;
use super::policy_pane::PolicyPane;
use super::setup_pane::{ConfigurationPane, SetupPane};
use super::state::use_playground;
use super::tools_pane::ToolsPane;
use super::transfer_dialogs::{ExportDialog, ShareDialog};
use crate::components::{PaneJumps, Transcript};

/// The playground.
#[component]
pub fn PlaygroundPage() -> impl IntoView {
    let playground = use_playground();
    let may_go_back = Memo::new(move |_| playground.may_go_back());
    // The engine notifies of more than was changed; the transcript is only to hear of changes.
    let edition = Memo::new(move |_| playground.edition.get());
    view! {
        <div class="playground">
            <h1 class="visually-hidden">"Playground"</h1>
            <EpisodeBar/>
            <div class="panes">
                // Two parts, so that on a phone the transcript can stand between them.
                <div class="side">
                    <section class="pane setup-pane" id="setup-pane" aria-label="Set-up and tools">
                        <SetupPane/>
                        <ToolsPane/>
                    </section>
                    <section
                        class="pane settings-pane"
                        id="settings-pane"
                        aria-label="Policy and configuration"
                    >
                        <PolicyPane/>
                        <ConfigurationPane/>
                    </section>
                </div>
                <section class="pane transcript-pane" id="transcript-pane" aria-label="Episode">
                    <Hint/>
                    <Transcript
                        episode=playground.episode
                        edition=edition
                        selected=playground.selected
                        can_rewind=may_go_back
                        on_rewind=Callback::new(move |steps| playground.go_back(steps))
                    />
                </section>
                <FramePane/>
            </div>
            <PaneJumps panes=&[
                ("setup-pane", "Set-up"),
                ("transcript-pane", "Transcript"),
                ("frame-pane", "Frame"),
                ("settings-pane", "Policy"),
            ]/>
            <ExportDialog/>
            <ShareDialog/>
        </div>
    }
}
