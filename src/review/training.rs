//! Training runs: curves over steps, the groups of a step, the samples of a group. The address names the place.
//!
//! - [`head`]: where the reader is, the choice of run and reward. [`run_view`] with its curves in [`card`];
//!   [`step_view`] with [`group_tiles`], [`distribution`] and [`timeline`]; [`group_view`]; [`trail`]: the way back from
//!   an episode.
//!
//! The rows of the library are on the page, so runs are computed here, in time slices, and follow every change of the
//! rows.

mod card;
mod distribution;
mod group_tiles;
mod group_view;
mod head;
mod run_view;
mod step_view;
mod timeline;
pub mod trail;

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::training::catalog::CatalogBuilder;
use volary_trajectory::training::{
    Catalog, Measure, RewardChoice, RunRows, SampleGroup, StepSummary, TrainingRun,
};

use super::comparison::EpisodeComparison;
use super::gradually::{Work, gradually};
use super::selection::Look;
use crate::browser::{element, location, timers};
use crate::projection::text::plural;
use crate::route::TrainingPlace;
use head::Head;

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

#[derive(Debug)]
struct ShownRun {
    id: String,
    title: String,
    run: TrainingRun,
}

/// What is shown of a run.
enum Level<'a> {
    Run,
    Step(usize, &'a StepSummary),
    Group(&'a StepSummary, &'a SampleGroup),
    /// The address names a step or a group that is not in the run.
    Missing(String),
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
            let reward = Memo::new(move |_| place.with(|place| place.as_ref()?.reward.clone()));
            gradually(None, move || -> Work<Option<Arc<ShownRun>>> {
                let (rows, reward) = (rows.get(), reward.get());
                Box::new(move || Some(rows.as_ref().map(|rows| shown(rows, reward.as_deref()))))
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
        let run = self
            .shown
            .with(|shown| shown.as_ref().map(|shown| shown.title.clone()));
        let run = run.unwrap_or_else(|| "Training run".to_owned());
        match (place.step, place.group) {
            (Some(step), Some(group)) => format!("Step {step}, group {group} – {run}"),
            (Some(step), None) => format!("Step {step} – {run}"),
            _ => run,
        }
    }

    /// The place, without the part of its time that is shown: other places have other times.
    fn here(self) -> TrainingPlace {
        let place = self.place.get_untracked().unwrap_or_default();
        TrainingPlace {
            time: None,
            ..place
        }
    }

    /// Opens the next or previous step, or group within its step. Returns `false` if there is none.
    pub fn press(self, key: &str) -> bool {
        let forward = match key {
            "]" => true,
            "[" => false,
            _ => return false,
        };
        let target = self.shown.with_untracked(|shown| {
            let shown = shown.as_ref()?;
            neighbour(&shown.run, &self.here(), forward)
        });
        if let Some(target) = &target {
            location::go(&target.to_hash());
        }
        target.is_some()
    }
}

/// The place before or after another one on its level.
fn neighbour(run: &TrainingRun, here: &TrainingPlace, forward: bool) -> Option<TrainingPlace> {
    let moved = |at: usize| match forward {
        true => at.checked_add(1),
        false => at.checked_sub(1),
    };
    let at = run.place_of(here.step?)?;
    match &here.group {
        None => Some(TrainingPlace {
            step: Some(run.steps.get(moved(at)?)?.step),
            ..here.clone()
        }),
        Some(key) => {
            let groups = &run.steps[at].groups;
            let is_it = |group: &SampleGroup| group_key(group) == *key;
            let next = groups.get(moved(groups.iter().position(is_it)?)?)?;
            Some(TrainingPlace {
                group: Some(group_key(next)),
                ..here.clone()
            })
        }
    }
}

/// The key of a group in addresses.
fn group_key(group: &SampleGroup) -> String {
    group.key.as_deref().unwrap_or_default().to_owned()
}

fn shown(rows: &RunRows, reward: Option<&str>) -> Arc<ShownRun> {
    let choice = reward.map(|name| match name {
        "" => RewardChoice::Whole,
        name => RewardChoice::Part(Text::from(name)),
    });
    Arc::new(ShownRun {
        id: rows.id(),
        title: rows.title(),
        run: TrainingRun::of(&rows.rows, choice),
    })
}

/// What the body shows. Equal if it would look the same, so that a run that is being written moves nothing that a reader
/// of an earlier step looks at.
#[derive(Clone)]
struct RunContent {
    shown: Arc<ShownRun>,
    place: TrainingPlace,
}

impl PartialEq for RunContent {
    fn eq(&self, other: &RunContent) -> bool {
        self.place == other.place
            && (Arc::ptr_eq(&self.shown, &other.shown) || self.is_same_part(other))
    }
}

impl RunContent {
    /// Whether a step or a group is the same in both runs. The curves of a run differ.
    fn is_same_part(&self, other: &RunContent) -> bool {
        let levels = (
            self.shown.level(&self.place),
            other.shown.level(&other.place),
        );
        let (own, run) = (&self.shown.run, &other.shown.run);
        let samples = match &levels {
            (Level::Step(_, one), Level::Step(_, other)) if one == other => &one.samples,
            (Level::Group(_, one), Level::Group(_, other)) if one == other => &one.samples,
            _ => return false,
        };
        let has_same_range = |measure: &Measure| own.range(measure) == run.range(measure);
        self.shown.id == other.shown.id
            && own.choice == run.choice
            && own.measures == run.measures
            && own.steps.first() == run.steps.first()
            && own.measures.iter().all(has_same_range)
            && own.samples_of(samples) == run.samples_of(samples)
    }
}

impl ShownRun {
    fn level(&self, place: &TrainingPlace) -> Level<'_> {
        let Some(number) = place.step else {
            return Level::Run;
        };
        let Some(at) = self.run.place_of(number) else {
            return Level::Missing(format!("This run has no step {number}."));
        };
        let step = &self.run.steps[at];
        match &place.group {
            None => Level::Step(at, step),
            Some(key) => match step.group(key) {
                Some(group) => Level::Group(step, group),
                None => Level::Missing(format!("Step {number} has no group {key}.")),
            },
        }
    }

    /// The reward that counts, for display.
    fn reward_name(&self) -> &str {
        match &self.run.choice {
            RewardChoice::Whole => Measure::Reward.name(),
            RewardChoice::Part(name) => name,
        }
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
