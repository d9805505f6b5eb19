//! Training runs: curves over steps, the groups of a step, the samples of a group. The address names the place.
//!
//! - [`head`]: where the reader is, the choice of run and reward. [`run_view`] with its curves in [`card`],
//!   [`steps_table`] with `step_rows`, and [`task_table`]; [`step_view`] with [`group_tiles`], [`distribution`] and [`timeline`]; [`group_view`]; [`trail`]: the way back from
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
mod step_view;
mod steps_table;
mod task_table;
mod timeline;
pub mod trail;

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use volary_analysis::training::catalog::CatalogBuilder;
use volary_analysis::training::{Catalog, RunRows};
use volary_core::quantity::plural;
use volary_view::route::{ReviewPlace, TrainingLook, TrainingPlace};

use super::comparison::EpisodeComparison;
use super::gradually::{Work, gradually};
use super::selection::Look;
use head::Head;
use volary_browser::{element, location, timers};
use volary_view::review::training::shown_run::{Level, RunContent, ShownRun, tab_title};

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
    /// How the pages are looked at. An address that says nothing about it keeps it, so that links need not repeat it.
    kept: RwSignal<TrainingLook>,
    /// The part of the time that is shown at the place.
    time: RwSignal<Option<String>>,
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
        let (kept, time) = (
            RwSignal::new(TrainingLook::default()),
            RwSignal::new(None::<String>),
        );
        Effect::new(move |former: Option<Option<TrainingPlace>>| {
            let place = place.get();
            if let Some(place) = place.clone() {
                let former = former.flatten().unwrap_or_default();
                let has_same_rewards = former.run == place.run && former.reward == place.reward;
                kept.update(|kept| {
                    // Other rewards may have another scale.
                    kept.solved = kept.solved.take().filter(|_| has_same_rewards);
                    *kept = place.look.or(std::mem::take(kept));
                });
                time.set(place.time);
            }
            place
        });
        let rows_of = move |id: fn(&TrainingPlace) -> Option<&String>| {
            Memo::new(move |_| {
                let id = place.with(|place| id(place.as_ref()?).cloned())?;
                catalog.with(|catalog| match &*id {
                    "" => catalog.first().cloned(),
                    id => catalog.run(id).cloned(),
                })
            })
        };
        let rows = rows_of(|place| Some(&place.run));
        // A second run is compared by the reward of the first.
        let reward = Memo::new(move |_| {
            let run = rows.with(|rows| Some(rows.as_ref()?.id()))?;
            place.with(|place| kept_reward::reward(place.as_ref()?, &run))
        });
        let computed = move |rows: Memo<Option<RunRows>>| {
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
            shown: computed(rows),
            beside: computed(rows_of(|place| place.with.as_ref())),
            head: RwSignal::new(None),
            pair: EpisodeComparison::new(),
            kept,
            time,
        }
    }

    /// The place for the address, with what was chosen since; empty if the address names no run.
    pub fn written(self) -> String {
        let (look, time) = (self.kept.get(), self.time.get());
        self.place.with(|place| {
            let place = place.as_ref().map(|place| TrainingPlace {
                look,
                time,
                ..place.clone()
            });
            place.map_or(String::new(), |place| place.to_query())
        })
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

    /// The place without how it is looked at, for links to others: the look is kept, and other places have other times.
    fn here(self) -> TrainingPlace {
        let place = self.place.get_untracked().unwrap_or_default();
        place.without_look()
    }

    /// The neighbours in its group of the episode that is open at a place; `None` if it was not opened from a group.
    fn neighbours(self, place: &ReviewPlace) -> Option<(Option<String>, Option<String>)> {
        let episode = place.episode.as_ref()?;
        let here = self.place.get()?;
        let shown = self.shown.get()?;
        let trail = shown.trail(&here, &opened(episode, place));
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

/// The ids of the episode that is open at a place, and of those beside it.
fn opened<'a>(episode: &'a str, place: &'a ReviewPlace) -> Vec<&'a str> {
    let beside = place.beside.iter().map(String::as_str);
    std::iter::once(episode).chain(beside).collect()
}

/// The page of training runs.
#[component]
pub(super) fn TrainingPage(training: Training) -> impl IntoView {
    let drawn = Memo::new(move |_| {
        let shown = training.shown.get()?;
        // What is drawn follows the look by itself.
        let place = training.place.get().unwrap_or_default().without_look();
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
