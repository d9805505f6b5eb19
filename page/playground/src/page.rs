//! The playground's page: the episode bar above, three panes below.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::policy::PolicyKind;

use super::episode_bar::EpisodeBar;
use super::frame_pane::FramePane;
use super::model;
use super::next_task::NextTask;
use super::parts::{once, once_loaded};
use super::policy_pane::PolicyPane;
use super::setup_pane::SetupPane;
use super::state::{Playground, use_playground};
use super::tools_pane::ToolsPane;
use super::welcome::Welcome;
use volary_ui::{PaneJumps, Transcript};

/// The panes: id and name.
const PANES: &[(&str, &str)] = &[
    ("transcript-pane", "Transcript"),
    ("tools", "Tools"),
    ("setup", "Setup"),
    ("frame-pane", "State"),
    ("settings-pane", "Policy"),
];

#[component]
pub fn PlaygroundPage() -> impl IntoView {
    let playground = use_playground();
    // The driver notifies more often than steps are replaced; the transcript needs replacements only.
    let edition = Memo::new(move |_| playground.edition().get());
    let waits = waits_for_tools(playground);
    // The sidebar has two parts, so that the frame can be placed between them on a phone.
    view! {
        <div class="playground">
            <h1 class="visually-hidden">{"Playground"}</h1>
            <p class="print-title">
                {move || playground.episode().with(|episode| episode.name.to_string())}
            </p>
            <EpisodeBar/>
            <div class="panes">
                <div class="side">
                    <section class="pane setup-pane" id="setup-pane" aria-label="Setup and tools">
                        <SetupPane/>
                        <ToolsPane/>
                    </section>
                    <section
                        class="pane settings-pane"
                        id="settings-pane"
                        aria-label="Who acts"
                        data-waits=move || waits.get().then_some("")
                    >
                        <PolicyPane/>
                    </section>
                </div>
                <section class="pane transcript-pane" id="transcript-pane" aria-label="Episode">
                    <Welcome/>
                    <NextTask/>
                    {once_loaded(playground, |code| code.second_run)}
                    <Transcript
                        episode=playground.episode()
                        edition
                        selected=playground.selected()
                        can_rewind=Signal::derive(move || playground.may_go_back())
                        on_rewind=Callback::new(move |steps| {
                            playground.update(Event::Attempt(EpisodeAttempt::GoBack(steps)))
                        })
                        on_inspect=Callback::new(move |step| {
                            playground.policy().inspected.set(Some(step))
                        })
                        tail=tail(playground)
                    />
                </section>
                <section class="pane frame-pane" id="frame-pane" aria-label="Frame">
                    <FramePane/>
                </section>
            </div>
            <PaneJumps panes=PANES/>
            {once_loaded(playground, |code| code.dialogs)}
            {once(
                move || playground.policy().inspected.with(Option::is_some),
                model::requests_dialog,
            )}
        </div>
    }
}

/// Whether the first tools are still loading. Space is reserved for them above the settings; otherwise the settings
/// would move away from a pointer that is about to press one.
fn waits_for_tools(playground: Playground) -> Memo<bool> {
    let had_tools = Memo::new(move |former: Option<&bool>| {
        former == Some(&true)
            || playground
                .episode()
                .with(|episode| !episode.tools.is_empty())
    });
    Memo::new(move |_| {
        !had_tools.get() && playground.with(|machine| machine.session().is_opening())
    })
}

/// What follows the last step: the streaming response of a model, and before the first step what will be here.
fn tail(playground: Playground) -> AnyView {
    let turn = once(
        move || playground.policy().kind.get() == PolicyKind::Model,
        model::turn_pane,
    );
    let is_untouched = Memo::new(move |_| {
        playground
            .episode()
            .with(|episode| episode.steps.is_empty() && !episode.start.is_empty())
    });
    view! {
        {turn}
        <Show when=move || is_untouched.get()>
            <p class="next-step">
                {"Each step appears here: the tool that was called, what came back, and the reward."}
            </p>
        </Show>
    }
    .into_any()
}
