//! Training runs: curves over steps, the groups of a step, the samples of a group. The address names the place.
//!
//! - [`head`]: where the reader is, the choice of run and reward. [`run_view`] with its curves in [`card`];
//!   [`step_view`] with [`group_tiles`], [`distribution`] and [`timeline`]; [`group_view`]; [`trail`]: the way back from
//!   an episode. `kept_reward`: the reward that was chosen for a run. `shown_run`: what the address names of a run, and its neighbours;
//!   `texts`: what is said about it.
//!
//! The rows of the library are on the page, so runs are computed here, in time slices, and follow every change of the
//! rows.

mod card;
mod distribution;
mod group_tiles;
mod group_view;
mod head;
mod kept_reward;
mod run_view;
mod shown_run;
mod step_view;
mod texts;
mod timeline;
pub mod trail;

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use volary_trajectory::training::Catalog;
use volary_trajectory::training::catalog::CatalogBuilder;

use super::comparison::EpisodeComparison;
use super::gradually::{Work, gradually};
use super::selection::Look;
use crate::browser::{element, location, timers};
use crate::projection::text::plural;
use crate::route::{ReviewPlace, TrainingPlace};
use head::Head;
use shown_run::{Level, RunContent, ShownRun, tab_title};

/// The number of rows looked at per slice.
const LOOKED_AT: usize = 512;

/// The state of the training runs.
#[derive(Clone, Copy)]
pub struct Training {
    pub(super) look: Look,
    /// The place that the address names; `None` if it names no run.
    place: Memo<Option<TrainingPlace>>,
    catalog: RwSignal<Arc<Catalog>>,
    /// The shown run, and the one that it is compared with.
    shown: RwSignal<Option<Arc<ShownRun>>>,
    beside: RwSignal<Option<Arc<ShownRun>>>,
    /// The index of the step that the reader points at.
    head: RwSignal<Option<usize>>,
    /// The best and the worst sample of the shown group.
    pair: EpisodeComparison,
    /// Whether the tasks over steps are unfolded.
    tasks_open: RwSignal<bool>,
}

impl Training {
    /// The runs among the rows of the table, at the place of an address.
    pub fn new(look: Look, training: Memo<String>) -> Training {
        let place = Memo::new(move |_| training.with(|query| TrainingPlace::read(query)));
        let catalog = gradually(Arc::default(), move || -> Work<Arc<Catalog>> {
            let (rows, mut seen) = (look.rows.get(), 0);
            // A folder that `volary view` shows has its name as the title.
            let folder = look.client.site.get();
            let mut builder = Some(CatalogBuilder::default().within(folder));
            Box::new(move || {
                let next = rows.iter().skip(seen).take(LOOKED_AT);
                next.for_each(|row| builder.iter_mut().for_each(|builder| builder.add(row)));
                seen += LOOKED_AT;
                let done = builder.take_if(|_| seen >= rows.len())?;
                Some(Arc::new(done.done()))
            })
        });
        let computed = move |id: fn(&TrainingPlace) -> Option<&String>| {
            let rows = Memo::new(move |_| {
                let id = place.with(|place| id(place.as_ref()?).cloned())?;
                catalog.with(|catalog| match &*id {
                    "" => catalog.first().cloned(),
                    id => catalog.run(id).cloned(),
                })
            });
            let reward = Memo::new(move |_| {
                let run = rows.with(|rows| Some(rows.as_ref()?.id()))?;
                place.with(|place| kept_reward::reward(place.as_ref()?, &run))
            });
            gradually(None, move || -> Work<Option<Arc<ShownRun>>> {
                let (rows, reward) = (rows.get(), reward.get());
                Box::new(move || {
                    let rows = rows.as_ref();
                    let shown = rows.map(|rows| ShownRun::of(rows, reward.as_deref()));
                    Some(shown.map(Arc::new))
                })
            })
        };
        Training {
            look,
            place,
            catalog,
            shown: computed(|place| Some(&place.run)),
            beside: computed(|place| place.with.as_ref()),
            head: RwSignal::new(None),
            pair: EpisodeComparison::new(),
            tasks_open: RwSignal::new(false),
        }
    }

    /// The hash of the run to show first; `None` if no row has a step.
    pub fn first(self) -> Option<String> {
        self.catalog.with(|catalog| {
            let place = TrainingPlace {
                run: catalog.first()?.id(),
                ..TrainingPlace::default()
            };
            Some(place.to_hash())
        })
    }

    /// The name of what is shown, for the title of the tab.
    pub fn title(self) -> String {
        let place = self.place.get().unwrap_or_default();
        self.shown.with(|shown| {
            let run = shown.as_ref().map(|shown| &*shown.title);
            tab_title(&place, run)
        })
    }

    /// The place, without the part of its time that is shown: other places have other times.
    fn here(self) -> TrainingPlace {
        let place = self.place.get_untracked().unwrap_or_default();
        TrainingPlace {
            time: None,
            ..place
        }
    }

    /// The neighbours in its group of the episode that is open at a place; `None` if it was not opened from a group.
    fn neighbours(self, place: &ReviewPlace) -> Option<(Option<String>, Option<String>)> {
        let episode = place.episode.as_ref()?;
        let here = self.place.get()?;
        let shown = self.shown.get()?;
        let trail = shown.trail(&here, episode, !place.beside.is_empty());
        trail.here.is_some().then_some((trail.before, trail.after))
    }

    /// Whether the episode that is open at a place was opened from its group.
    pub fn shows_sample(self, place: &ReviewPlace) -> bool {
        self.neighbours(place).is_some()
    }

    /// Opens the next or previous sample of the group. Returns `false` if the episode was not opened from a group.
    pub fn press_at_sample(self, key: &str, place: &ReviewPlace) -> bool {
        let Some((before, after)) = untrack(|| self.neighbours(place)) else {
            return false;
        };
        let target = match key {
            "]" => after,
            "[" => before,
            _ => return false,
        };
        if let Some(target) = target {
            location::go(&target);
        }
        true
    }

    /// Opens the next or previous step, or group within its step. Returns `false` if there is none.
    pub fn press(self, key: &str) -> bool {
        let forward = match key {
            "]" => true,
            "[" => false,
            _ => return false,
        };
        let target = self
            .shown
            .with_untracked(|shown| shown.as_ref()?.neighbour(&self.here(), forward));
        if let Some(target) = &target {
            location::go(&target.to_hash());
        }
        target.is_some()
    }
}

/// The page of training runs.
#[component]
pub(super) fn TrainingPage(training: Training) -> impl IntoView {
    let drawn = Memo::new(move |_| {
        let shown = training.shown.get()?;
        let mut place = training.place.get().unwrap_or_default();
        // The axis itself shows another part of the time.
        place.time = None;
        Some(RunContent { shown, place })
    });
    let level = move || {
        let Some(RunContent { shown, place }) = drawn.get() else {
            return absent(training);
        };
        keep_focus();
        match shown.level(&place) {
            Level::Run => run_view::view(training, &shown),
            Level::Step(at, step) => step_view::view(training, &shown, at, step),
            Level::Group(step, group) => group_view::view(training, &shown, step, group),
            Level::Missing(reason) => missing(&reason, &place),
        }
    };
    // Another place starts at its top, where the keyboard goes on as well.
    let body = NodeRef::<Div>::new();
    let key = Memo::new(move |_| {
        training.place.with(|place| {
            let place = place.as_ref()?;
            Some((place.run.clone(), place.step, place.group.clone()))
        })
    });
    Effect::watch(
        move || key.get(),
        move |key, _, _| {
            if let (Some(body), Some(_)) = (body.get_untracked(), key) {
                element::set_scroll_top(&body, 0.0);
                element::focus(&body);
            }
        },
        false,
    );
    view! {
        <section class="training" aria-label="Training run">
            <Head training/>
            <div class="training-body" tabindex="-1" node_ref=body>
                {level}
            </div>
        </section>
    }
}

/// Focuses the curve that has the focus now once it is drawn again with more steps.
fn keep_focus() {
    if let Some(id) = element::focused_id().filter(|id| id.starts_with(card::CURVE)) {
        timers::next_frame(move || {
            if element::focused_id().is_none() {
                element::focus_id(&id);
            }
        });
    }
}

/// What is said while rows are listed, and if there is no such run.
fn absent(training: Training) -> AnyView {
    let client = training.look.client;
    let is_busy = move || !client.is_listed.get() || client.readings.with(|all| !all.is_empty());
    let words =
        move || {
            match (is_busy(), training.catalog.with(|catalog| catalog.runs.len())) {
        (true, _) => "Opening…".to_owned(),
        (false, 0) => {
            "No trajectory has a training step. Import the files of a trainer to see its run here."
                .to_owned()
        }
        (false, runs) => format!(
            "This run is not in the library, which has {}.",
            plural(runs, "run")
        ),
    }
        };
    view! {
        <div class="empty-state" role="status">
            <p>{words}</p>
            <a class="button" href="#/review">
                {"All trajectories"}
            </a>
        </div>
    }
    .into_any()
}

fn missing(reason: &str, place: &TrainingPlace) -> AnyView {
    let run = TrainingPlace {
        step: None,
        group: None,
        ..place.clone()
    };
    view! {
        <div class="empty-state" role="alert">
            <p dir="auto">{reason.to_owned()}</p>
            <a class="button" href=run.to_hash()>
                {"All steps"}
            </a>
        </div>
    }
    .into_any()
}
