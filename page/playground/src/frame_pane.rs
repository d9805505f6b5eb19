//! The pane of the selected step's state: the environment's own view, the frame as a tree, and the rewards.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::view::{View, ViewInput};
use volary_core::{Frame, Json};
use volary_episode::{Ending, Episode};
use volary_view::tree::StepFrames;

use super::entries;
use super::hidden_members::HiddenMembers;
use super::remote_environments::is_remote;
use super::state::{Playground, use_playground};
use super::view_messages::ViewMessages;
use volary_browser::{self as browser, timers};
use volary_ui::term::Terms;
use volary_ui::{CopyButton, FrameTree, FrameView, RewardCurve};

/// Threshold in seconds. A view that renders faster than this follows the selection at once.
const CHEAP: f64 = 0.006;
/// Debounce of the selection for views that render more slowly.
const REST: Duration = Duration::from_millis(80);

/// Signals of an episode that is shown here or on another page.
#[derive(Clone, Copy)]
pub struct EpisodeSignals {
    /// The episode; it is modified in place.
    pub episode: Signal<Arc<Episode>>,
    /// Incremented whenever steps that were shown are replaced or removed.
    pub edition: RwSignal<u32>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    /// JSON Pointer to the selected row of the frame's tree.
    pub path: RwSignal<String>,
}

#[component]
pub(super) fn FramePane() -> impl IntoView {
    let playground = use_playground();
    let shown = EpisodeSignals {
        episode: playground.episode(),
        edition: playground.edition(),
        selected: playground.selected(),
        path: RwSignal::default(),
    };
    let hidden = playground.hidden_members().into();
    view! {
        <FrameAndTree playground shown hidden place="frame"/>
        <HiddenMembers/>
        <RewardCurve episode=shown.episode edition=shown.edition selected=shown.selected/>
    }
}

/// The frame of the selected step. The playground's registry supplies the environment's view and schema.
#[component]
pub fn FrameAndTree(
    playground: Playground,
    shown: EpisodeSignals,
    /// Members of the state that are not shown.
    hidden: Signal<Vec<Text>>,
    /// Prefix of the element ids, unique to each use of the component.
    place: &'static str,
) -> impl IntoView {
    let selected = Memo::new(move |_| shown.selected.get());
    let frames = Memo::new(move |former: Option<&Option<StepFrames>>| {
        let (edition, step) = (shown.edition.get(), selected.get());
        shown.episode.with(|episode| {
            let same = former.and_then(Option::as_ref);
            hidden.with(|hidden| {
                let same = same.filter(|former| former.is_of(edition, step, hidden));
                let frames =
                    || Some(StepFrames::of(&episode.frames, edition, step)?.without(hidden));
                same.cloned().or_else(frames)
            })
        })
    });
    let view = rich_view(playground, shown, selected, frames);
    let heading = move || match selected.get() {
        0 => "After the reset".to_owned(),
        step => format!("After step {step}"),
    };
    let copied = move || {
        let dump = frames.with_untracked(|frames| Some(frames.as_ref()?.frame.dump()));
        Json::from(dump.unwrap_or_default()).to_python_text_indented(2)
    };
    view! {
        <div class="pane-head">
            <h2>{"State"}</h2>
            <span class="term">{"frame"}</span>
            <Terms place terms=&["frame"]/>
            <p class="help">{heading}</p>
            <CopyButton text=copied/>
        </div>
        <Show when=move || frames.with(Option::is_some)>
            <FrameView view/>
            <FrameTree frames chosen=shown.path/>
        </Show>
        <Show when=move || frames.with(Option::is_none)>
            <p class="help">{move || why_no_frame(shown)}</p>
        </Show>
    }
}

fn why_no_frame(shown: EpisodeSignals) -> &'static str {
    let (is_empty, is_remote) = shown
        .episode
        .with(|episode| (episode.frames.is_empty(), is_remote(episode)));
    match (is_empty, is_remote) {
        (true, true) => {
            "The server of this episode does not provide frames. Volary's own server does."
        }
        (true, false) => "No frames were recorded.",
        (false, _) => "No frame was recorded at this step.",
    }
}

/// The environment's own view. It follows the selection at once while it is cheap to render. In a long episode it may
/// be expensive; it is then debounced, so that moving the selection stays smooth.
fn rich_view(
    playground: Playground,
    shown: EpisodeSignals,
    selected: Memo<usize>,
    frames: Memo<Option<StepFrames>>,
) -> RwSignal<Option<View>> {
    let view = RwSignal::new(None);
    let messages = StoredValue::new(ViewMessages::default());
    let draw = move || {
        let started = timers::now();
        let step = selected.get_untracked();
        // Frame and view are updated together: without a frame there is nothing to show.
        let drawn = frames.with_untracked(|frames| {
            let frame = &frames.as_ref()?.frame;
            shown.episode.with_untracked(|episode| {
                let edition = shown.edition.get_untracked();
                view_of(playground, episode, edition, step, frame, messages)
            })
        });
        view.set(drawn);
        timers::now() - started
    };
    let cost = StoredValue::new(0.0);
    let changes = StoredValue::new(0u32);
    Effect::new(move |_| {
        selected.track();
        shown.episode.track();
        changes.update_value(|changes| *changes = changes.wrapping_add(1));
        if cost.get_value() < CHEAP {
            cost.set_value(draw());
            return;
        }
        let change = changes.get_value();
        browser::spawn(async move {
            timers::sleep(REST).await;
            // The pane may be gone by then.
            if changes.try_get_value() == Some(change) {
                cost.set_value(draw());
            }
        });
    });
    view
}

fn view_of(
    playground: Playground,
    episode: &Arc<Episode>,
    edition: u32,
    step: usize,
    frame: &Frame,
    messages: StoredValue<ViewMessages>,
) -> Option<View> {
    let recipe = episode.recipe.as_ref()?;
    let draw = entries::entry(playground, &recipe.environment)?.view?;
    let record = step
        .checked_sub(1)
        .and_then(|place| episode.steps.get(place));
    messages.try_update_value(|messages| {
        messages.follow(episode, edition);
        draw(&ViewInput {
            frame,
            messages: messages.until(step),
            reward: record.and_then(|record| record.reward()),
            done: record.is_some_and(|record| record.ending() == Ending::Done),
        })
    })
}
