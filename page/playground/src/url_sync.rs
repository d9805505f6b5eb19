//! Synchronizes the playground with the URL: opening the URL restores the same episode, policy and selected step.
//!
//! Invariants: the URL is written only while nothing is being opened and nothing waits for consent; reading one makes
//! nothing run on a server or in Python without consent (`consent.rs`).

use std::time::Duration;
use volary_app::playground::policy::PolicyKind;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::address::{self, EpisodeStart};
use volary_app::playground::consent::{Author, Reach, RequestDecision, judge};
use volary_app::playground::tasks;
use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_view::form::Form;
use volary_view::route::{PlaygroundPlace, Route};

use super::entries;
use super::episode_address::{AddressContext, AddressedEpisode, task_address};
use super::known_environments;
use super::opening_record;
use super::policy_settings;
use super::shown_place;
use super::state::Playground;
use volary_browser::{location, timers};

/// Debounce of writing the state into the URL: browsers throttle frequent changes.
const REST: Duration = Duration::from_millis(400);

/// Follows the URL: opens the episode and selects the step that it names. An invalid URL leads to the playground, which
/// reports the problem.
pub fn follow(playground: Playground, route: Route) {
    match route {
        Route::Playground(place) => go_to(playground, place),
        // Another page is shown; the playground keeps its state.
        Route::Evaluate { .. }
        | Route::Review(_)
        | Route::Settings
        | Route::Learn { .. }
        | Route::Class { .. }
        | Route::Template { .. }
        | Route::Environments { .. } => {}
        Route::Unknown { path } => {
            go_to(playground, PlaygroundPlace::default());
            let path: String = path.chars().take(60).collect();
            playground.alert(Notice::new(
                format!("Page \"{path}\" not found."),
                "This address does not exist.",
                "You can continue here in the playground.",
            ));
        }
    }
}

/// Opens a place.
fn go_to(playground: Playground, place: PlaygroundPlace) {
    let is_there = playground.edition().get_untracked() > 0 || playground.is_opening();
    if is_there && playground.place().with_untracked(|shown| *shown == place) {
        // Something on the page opened it and then changed the address.
        return;
    }
    let is_first_task = place.is_plain()
        && place.policy.is_none()
        && place
            .environment
            .as_deref()
            .is_none_or(|name| name == volary_envs::CARDS[0].name);
    if is_first_task
        && playground.edition().get_untracked() == 0
        && !playground.can_play_untracked()
    {
        playground.place().set(place.clone());
        if opening_record::begin_known(playground) {
            return;
        }
    }
    playground.play_with(move |code| (code.follow)(playground, place));
}

/// Opens what an address names. An episode in a link, and an environment that is no part of the page, need more code.
pub(super) fn follow_place(playground: Playground, place: PlaygroundPlace) {
    let needs_code = place.episode.is_some()
        || place.stored.is_some()
        || place.url.is_some()
        || place
            .environment
            .as_deref()
            .is_some_and(|name| entries::entry(playground, name).is_none());
    if needs_code {
        playground.with_code("The episode of the address", move |_| {
            follow_named(playground, &place);
        });
    } else {
        follow_named(playground, &place);
    }
}

fn follow_named(playground: Playground, place: &PlaygroundPlace) {
    playground.begin_attempt();
    // A file or a server may just have been added.
    untrack(|| known_environments::report_known(playground));
    let is_first = playground.edition().get_untracked() == 0 && !playground.is_opening();
    let named = playground
        .place()
        .with_untracked(|shown| AddressedEpisode::of(place, shown, is_first));
    playground.place().set(place.clone());
    follow_policy(playground, place);
    if let AddressedEpisode::Shown { step } = named {
        if let Some(step) = step {
            playground.selected().set(step.min(playground.last_step()));
        }
        return;
    }
    leave_code(playground);
    let step = place.step;
    playground.update(Event::Navigate { step });
    let environment = place.environment.as_deref();
    match named {
        AddressedEpisode::Shown { .. } => {}
        AddressedEpisode::Code { url } => {
            playground.with_code("The file of Python code", move |code| {
                (code.open_code)(playground, &url);
            });
        }
        AddressedEpisode::Link { text } => {
            let environment = place.environment.clone();
            playground.with_code("The episode of the link", move |code| {
                (code.open_link)(playground, &text, environment.as_deref());
            });
        }
        AddressedEpisode::Stored { id } => {
            let id = id.into();
            playground.update(Event::OpenStored { id });
        }
        AddressedEpisode::Task { id, seed } => match environment {
            Some(name) if judge_address(playground, name) == RequestDecision::Ask => {
                let name = name.to_owned();
                playground.with_code("The server of the address", move |code| {
                    (code.connected.plan_task)(playground, &name);
                });
            }
            _ => playground.update(Event::BeginTask {
                environment: environment.map(Text::from),
                id: id.map(Text::from),
                seed,
            }),
        },
    }
}

/// Selects the policy that the URL names. An unknown name leaves the policy unchanged.
fn follow_policy(playground: Playground, place: &PlaygroundPlace) {
    let wanted = place.policy.as_deref().and_then(PolicyKind::of_address);
    let wanted = wanted.filter(|kind| *kind != playground.policy().kind.get_untracked());
    if let Some(kind) = wanted {
        policy_settings::choose_policy(playground, kind);
    }
}

/// Drops the file of Python code that the address named, if there is one.
fn leave_code(playground: Playground) {
    if let Some(code) = playground.lazy_code_untracked() {
        (code.leave_code)(playground);
    }
}

/// Chooses an environment and opens its first task.
fn begin(playground: Playground, environment: Option<&str>) {
    let environment = environment.map(Text::from);
    playground.update(Event::Begin(environment));
}

/// Says that the stored episode of the address is not here, and opens its environment instead.
pub(super) fn say_not_stored(playground: Playground) {
    let environment = playground
        .place()
        .with_untracked(|place| place.environment.clone());
    begin(playground, environment.as_deref());
    playground.alert(Notice::new(
        "The episode of this address could not be opened.",
        "It was stored in the browser that made the address, and is not in this one.",
        "Ask for the episode as a file.",
    ));
}

/// Navigates to an environment because the user chose it.
pub fn go_to_environment(playground: Playground, name: &str) {
    playground.begin_attempt();
    // The environment may be that of a file that was just run.
    untrack(|| known_environments::report_known(playground));
    // The user keeps the seed; an address without one is that of seed 0.
    let seed = playground
        .setup()
        .seed
        .with_untracked(|seed| tasks::read_seed(seed));
    let place = PlaygroundPlace {
        environment: Some(name.to_owned()),
        seed: seed.ok().filter(|seed| *seed != 0),
        ..PlaygroundPlace::default()
    };
    // The environment is opened now, so that what the user does next comes after it; the navigation then finds it open.
    leave_code(playground);
    playground.update(Event::Navigate { step: None });
    playground.place().set(place.clone());
    location::go(&place.to_hash());
    begin(playground, Some(name));
}

/// Returns how much this page trusts and knows an environment.
fn reach(playground: Playground, environment: &str) -> Reach {
    playground.with_untracked(|machine| machine.known().reach(environment))
}

/// Decides how to handle an environment that the URL names.
fn judge_address(playground: Playground, environment: &str) -> RequestDecision {
    judge(Author::Content, reach(playground, environment))
}

/// Writes the state into the URL, debounced by `REST`.
pub fn write_address(playground: Playground) {
    let soon = StoredValue::new_local(None);
    let is_opening = Memo::new(move |_| playground.with(|machine| machine.session().is_opening()));
    Effect::new(move |_| {
        playground.selected().track();
        playground.edition().track();
        playground.episode().track();
        playground.policy().kind.track();
        is_opening.track();
        soon.set_value(Some(timers::alarm(REST, move || write_now(playground))));
    });
}

/// The selected step in the form that the URL uses. Without a step, the URL selects the last one.
pub(super) fn step_in_address(playground: Playground) -> Option<usize> {
    address::step_in_address(
        playground.selected().get_untracked(),
        playground.last_step(),
    )
}

pub(super) fn write_now(playground: Playground) {
    if !may_write(playground) {
        return;
    }
    let task = with_context(playground, |context| {
        playground.episode().with_untracked(|episode| {
            task_address(episode, context, |recipe| start_of(playground, recipe))
        })
    });
    match task {
        Some(place) => write(playground, place),
        None => playground.with_code("The address", move |code| {
            // Something else may have been opened meanwhile.
            if may_write(playground) {
                write(playground, (code.address)(playground, start_of));
            }
        }),
    }
}

fn may_write(playground: Playground) -> bool {
    let is_reading = playground.with_untracked(|machine| machine.is_reading());
    let is_code_pending = || {
        let code = playground.lazy_code_untracked();
        code.is_some_and(|code| (code.is_code_pending)(playground))
    };
    let is_shown =
        playground.planned().with_untracked(Option::is_none) && !is_reading && !is_code_pending();
    let has_begun = playground.edition().get_untracked() > 0;
    is_shown && has_begun && !playground.is_opening()
}

fn write(playground: Playground, place: PlaygroundPlace) {
    if playground.place().with_untracked(|shown| *shown != place) {
        shown_place::set_place(playground, place);
    }
}

/// Calls a function with what the address of the shown episode depends on.
pub(super) fn with_context<T>(
    playground: Playground,
    read: impl FnOnce(AddressContext<'_>) -> T,
) -> T {
    let shown = playground.place().get_untracked();
    let chosen = playground.setup().environment.get_untracked();
    read(AddressContext {
        shown: &shown,
        chosen: &chosen,
        is_record: playground.with_untracked(|machine| machine.session().is_record()),
        policy: playground.policy().kind.get_untracked(),
        selected: playground.selected().get_untracked(),
    })
}

/// The start that opens a recipe, if a URL can name it.
fn start_of(playground: Playground, recipe: &Recipe) -> Option<EpisodeStart> {
    let environment = &recipe.environment;
    let default = || {
        let entry = untrack(|| entries::entry(playground, environment))?;
        let filled = Form::new((entry.configuration)()).filled();
        filled.as_object().cloned()
    };
    playground.setup().sources.with_untracked(|sources| {
        address::start_of(recipe, reach(playground, environment), sources, default)
    })
}

/// The start that opens a recipe in every browser: it names a task of this page, or its defaults.
pub(super) fn named_task(playground: Playground, recipe: &Recipe) -> Option<EpisodeStart> {
    let is_of_page = untrack(|| entries::entry(playground, &recipe.environment)).is_some();
    start_of(playground, recipe).filter(|_| is_of_page)
}

/// Shows a stored episode, from any page.
pub fn visit(playground: Playground, episode: Episode) {
    let environment = episode.environment().map(|name| name.to_string());
    let place = PlaygroundPlace {
        environment,
        stored: Some(episode.id.to_string()),
        ..PlaygroundPlace::default()
    };
    leave_code(playground);
    playground.show(episode);
    playground.update(Event::SelectOnceShown(None));
    playground.selected().set(0);
    // Set the place before the URL changes: the navigation must not open anything else.
    playground.place().set(place.clone());
    location::go(&place.to_hash());
}
