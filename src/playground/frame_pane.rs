//! The state of the selected step: the environment's own view, the frame as a tree, the rewards.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::view::{View, ViewInput};
use volary_core::{AnyMessage, Frame, Json};
use volary_trajectory::{Ending, Episode};

use super::remote_environments::is_abroad;
use super::state::{Playground, use_playground};
use crate::browser::{self, timers};
use crate::components::{CopyButton, FrameTree, FrameView, RewardCurve};
use crate::projection::form::is_write_only;
use crate::projection::tree::StepFrames;

/// A view that is made in less time, in seconds, follows at once.
const CHEAP: f64 = 0.006;
/// How long the selection must rest before a dearer one is made.
const REST: Duration = Duration::from_millis(80);

/// An episode that is looked at, here or elsewhere.
#[derive(Clone, Copy)]
pub struct Shown {
    /// The episode. It grows in place.
    pub episode: RwSignal<Arc<Episode>>,
    /// Counts up whenever steps that were shown are replaced or taken away.
    pub edition: RwSignal<u32>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    /// The row of the frame at which the reader is, as a pointer.
    pub path: RwSignal<String>,
}

/// The state of the playground's selected step.
#[component]
pub(super) fn FramePane() -> impl IntoView {
    let playground = use_playground();
    let shown = Shown {
        episode: playground.episode,
        edition: playground.edition,
        selected: playground.selected,
        path: RwSignal::default(),
    };
    let revealed = RwSignal::new(None);
    let hidden = hidden_members(playground, revealed);
    let reveal = move |_| {
        let id = playground
            .episode
            .with_untracked(|episode| episode.id.clone());
        revealed.set(Some(id));
    };
    let names = move || {
        let names: Vec<String> =
            hidden.with(|hidden| hidden.iter().map(ToString::to_string).collect());
        names.join(", ")
    };
    view! {
        <FrameAndTree playground shown hidden/>
        <Show when=move || hidden.with(|hidden| !hidden.is_empty())>
            <p class="help hidden-members">
                {move || format!("Hidden until the episode is done: {}.", names())}
                <button type="button" class="quiet small" on:click=reveal>
                    {"Reveal"}
                </button>
            </p>
        </Show>
        <RewardCurve episode=shown.episode edition=shown.edition selected=shown.selected/>
    }
}

/// The members of the state that the player does not see yet: those that the configuration marks as `writeOnly`, until
/// the episode is over or they are revealed.
fn hidden_members(playground: Playground, revealed: RwSignal<Option<Text>>) -> Signal<Vec<Text>> {
    let environment = Memo::new(move |_| {
        playground.episode.with(|episode| {
            let recipe = episode.recipe.as_ref();
            recipe.map(|recipe| recipe.environment.clone())
        })
    });
    let marked = Memo::new(move |_| {
        playground.whole.track();
        playground.edition.track();
        let entry = environment.get().and_then(|name| playground.entry(&name));
        let marked = entry.map_or_else(Vec::new, |entry| marked(&(entry.configuration)()));
        let first = playground
            .episode
            .with_untracked(|episode| episode.frames.get(0));
        let is_shown = |name: &Text| {
            let state = first.as_ref().map(|frame| &frame.state);
            state.is_some_and(|state| state.get(name).is_some())
        };
        marked.into_iter().filter(is_shown).collect()
    });
    let is_open = Memo::new(move |_| {
        playground.episode.with(|episode| {
            !episode.is_over() && revealed.with(|id| id.as_ref() != Some(&episode.id))
        })
    });
    Memo::new(move |_| match is_open.get() {
        true => marked.get(),
        false => Vec::new(),
    })
    .into()
}

/// The properties of a schema that are marked as `writeOnly`.
fn marked(schema: &Json) -> Vec<Text> {
    let properties = schema.get("properties").and_then(Json::as_object);
    let properties = properties
        .into_iter()
        .flat_map(|properties| properties.iter());
    properties
        .filter(|(_, property)| is_write_only(property))
        .map(|(name, _)| Text::from(name.to_string()))
        .collect()
}

/// The frame of the selected step. The playground lends what it knows of environments.
#[component]
pub(crate) fn FrameAndTree(
    playground: Playground,
    shown: Shown,
    /// The members of the state that are left out.
    hidden: Signal<Vec<Text>>,
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
            <h2>{"Frame"}</h2>
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

fn why_no_frame(shown: Shown) -> &'static str {
    let (is_empty, is_abroad) = shown
        .episode
        .with(|episode| (episode.frames.is_empty(), is_abroad(episode)));
    match (is_empty, is_abroad) {
        (true, true) => {
            "The server of this episode does not provide frames. Only `volary serve` does."
        }
        (true, false) => "No frames were recorded.",
        (false, _) => "No frame was recorded at this step.",
    }
}

/// The environment's own view. It follows at once while it is cheap to make; in a long episode it
/// may not be, and then it follows when the selection rests, so that moving stays smooth.
fn rich_view(
    playground: Playground,
    shown: Shown,
    selected: Memo<usize>,
    frames: Memo<Option<StepFrames>>,
) -> RwSignal<Option<View>> {
    let view = RwSignal::new(None);
    let messages = StoredValue::new(Messages::default());
    let draw = move || {
        let started = timers::now();
        let step = selected.get_untracked();
        // Frames and views go together: without a frame there is nothing to show.
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
            if changes.get_value() == change {
                cost.set_value(draw());
            }
        });
    });
    view
}

/// All messages of an episode in one row, as views want them, and where each step's end. Grows with
/// the episode, so that a view at the end of a long one costs no copy of all.
#[derive(Default)]
struct Messages {
    edition: u32,
    row: Vec<AnyMessage>,
    ends: Vec<usize>,
}

impl Messages {
    fn follow(&mut self, episode: &Episode, edition: u32) {
        if self.edition != edition || self.ends.is_empty() {
            self.edition = edition;
            self.row.clone_from(&episode.start);
            self.ends.clear();
            self.ends.push(self.row.len());
        }
        for step in episode.steps.iter().skip(self.ends.len() - 1) {
            self.row.push(step.action.clone());
            self.row.extend(step.messages().iter().cloned());
            self.ends.push(self.row.len());
        }
    }

    fn until(&self, step: usize) -> &[AnyMessage] {
        let end = self.ends.get(step).copied().unwrap_or(self.row.len());
        self.row.get(..end).unwrap_or_default()
    }
}

fn view_of(
    playground: Playground,
    episode: &Arc<Episode>,
    edition: u32,
    step: usize,
    frame: &Frame,
    messages: StoredValue<Messages>,
) -> Option<View> {
    let recipe = episode.recipe.as_ref()?;
    let draw = playground.entry(&recipe.environment)?.view?;
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
