//! The state of the selected step: the environment's own view, the frame as a tree, the rewards.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::view::{View, ViewInput};
use volary_core::{AnyMessage, Frame};
use volary_trace::{Ending, Episode};

use super::state::{Playground, use_playground};
use crate::components::erased::{shown, words};
use crate::components::{EmptyState, FrameTree, FrameView, RewardCurve};

/// The state of the selected step.
#[component]
pub fn FramePane() -> impl IntoView {
    let playground = use_playground();
    let selected = Memo::new(move |_| playground.selected.get());
    let frame_at = move |step: usize| playground.episode.with(|episode| episode.frames.get(step));
    let frame = Memo::new(move |_| frame_at(selected.get()));
    let previous = Memo::new(move |_| selected.get().checked_sub(1).and_then(frame_at));
    let messages = StoredValue::new(Messages::default());
    let view = Memo::new(move |_| {
        let step = selected.get();
        // Frames and views go together: without a frame there is nothing to show.
        let frame = frame.get()?;
        playground
            .episode
            .with(|episode| view_of(playground, episode, step, &frame, messages))
    });
    let heading = move || match selected.get() {
        0 => "After the reset".to_owned(),
        step => format!("After step {step}"),
    };
    view! {
        <section class="pane frame-pane" id="frame-pane" aria-label="Frame">
            <div class="pane-head">
                <h2>"Frame"</h2>
                <p class="help">{words(heading)}</p>
            </div>
            {shown(
                move || frame.with(Option::is_some),
                move || {
                    view! {
                        <FrameView view=view/>
                        <FrameTree
                            frame=Signal::derive(move || frame.get().unwrap_or_default())
                            previous=previous
                        />
                    }
                        .into_any()
                },
            )}
            {shown(
                move || frame.with(Option::is_none),
                || {
                    view! {
                        <EmptyState title="No frame here">
                            "No frame was recorded at this step."
                        </EmptyState>
                    }
                        .into_any()
                },
            )}
            <RewardCurve episode=playground.episode selected=playground.selected/>
        </section>
    }
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
    step: usize,
    frame: &Frame,
    messages: StoredValue<Messages>,
) -> Option<View> {
    let recipe = episode.recipe.as_ref()?;
    let draw = playground.entry(&recipe.environment)?.view?;
    let record = step
        .checked_sub(1)
        .and_then(|place| episode.steps.get(place));
    let edition = playground.edition.get_untracked();
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
