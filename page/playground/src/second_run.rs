//! The second run of a Python episode: its actions are replayed in a fresh instance with the same seed. It shows
//! whether the code is deterministic, and whether the last version of the file still behaves the same.
//!
//! An episode that ends is run a second time automatically. Review's **Check** uses the same run.

use std::sync::Arc;

use leptos::prelude::*;
use volary_agent::compare;
use volary_app::playground::replay_check::{CheckProgress, ReplayCheck, ReplayVerdict};
use volary_core::quantity::plural;
use volary_episode::{Episode, Outcome, Recipe};
use volary_view::route::Route;

use super::second_play;
use super::state::{Playground, use_playground};
use volary_app::python::files::{self, CodeState, PythonSource};
use volary_browser::{location, spawn};
use volary_connections::python::stored;
use volary_ui::text::inert;

/// Selects the code of a second run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The code that the episode recorded.
    Recorded,
    /// The last version of the file.
    LastVersion,
}

/// The code of an episode that was played in Python, if the episode contains it.
pub fn python_source(episode: &Episode) -> Option<PythonSource> {
    PythonSource::of_recipe(episode.recipe.as_ref()?).ok()
}

/// Returns whether the user ran this code before, from a file in this browser.
pub fn is_own(source: &PythonSource) -> bool {
    untrack(stored::files).has_run(source)
}

/// Runs a Python episode a second time.
///
/// # Errors
///
/// Returns the reason why there is no result.
pub async fn run(
    playground: Playground,
    episode: Arc<Episode>,
    code: Code,
) -> Result<ReplayVerdict, String> {
    let recipe = episode.recipe.as_ref();
    let recipe = recipe.ok_or("The source does not say how to create its environment.")?;
    let recipe = match code {
        Code::Recorded => recipe.clone(),
        Code::LastVersion => on_last_version(recipe).ok_or("Its file was removed.")?,
    };
    // A step that failed ended the environment, so nothing after it can be compared.
    let observed = episode.steps.iter();
    let observed = observed.take_while(|step| matches!(step.outcome, Outcome::Observed { .. }));
    let actions = observed.map(|step| step.action.clone()).collect();
    let again = second_play::play_aside(playground, recipe, actions).await;
    let again = again.map_err(|reason| reason.to_string())?;
    let steps = plural(again.steps.len(), "step");
    let found = compare(&episode, &again);
    let words = match (&found, code) {
        (None, Code::Recorded) => {
            format!("Deterministic: a second run of {steps} gives the same results.")
        }
        (None, Code::LastVersion) => {
            format!("The last version of the code gives the same results in all {steps}.")
        }
        (Some(found), Code::Recorded) => format!(
            "Not deterministic: step {} differs in a second run with the same seed. {} Undo, links and replays of \
             this episode can differ there.",
            found.step,
            found.description()
        ),
        (Some(found), Code::LastVersion) => format!(
            "The last version of the code differs at step {}. {}",
            found.step,
            found.description()
        ),
    };
    Ok(ReplayVerdict {
        words,
        step: found.map(|found| found.step),
    })
}

fn on_last_version(recipe: &Recipe) -> Option<Recipe> {
    let files = untrack(stored::files);
    let (file, _) = files.of_source(&PythonSource::of_recipe(recipe).ok()?)?;
    Some(files::on_source(recipe, &file.last()?.source))
}

/// The second run of the shown episode: automatic when it ends, and on request if its code changed since.
#[component]
pub(super) fn SecondRun() -> impl IntoView {
    let playground = use_playground();
    let check = RwSignal::new(ReplayCheck::default());
    let start = move |code| {
        let episode = playground.episode().get_untracked();
        let Some(number) = check.try_update(|check| check.begin(episode.id.clone())) else {
            return;
        };
        spawn(async move {
            let found = run(playground, episode, code).await;
            check.try_update(|check| check.end(number, found));
        });
    };
    let source = Memo::new(move |_| playground.episode().with(|episode| python_source(episode)));
    // Only episodes that were played to their end here qualify, not ones that were merely opened: code from elsewhere
    // runs only on request.
    let ended = Memo::new(move |_| {
        source.with(Option::is_some).then_some(())?;
        let is_record = playground.with(|machine| machine.session().is_record());
        let edition = playground.edition().get();
        playground.episode().with(|episode| {
            let is_over = episode.is_over() && !episode.steps.is_empty() && !is_record;
            is_over.then(|| (episode.id.clone(), edition))
        })
    });
    Effect::new(move |_| match ended.get() {
        Some(_) => start(Code::Recorded),
        None => check.update(ReplayCheck::dismiss),
    });
    let code = Memo::new(move |_| {
        source.with(|source| Some(stored::files().code_state(source.as_ref()?)))
    });
    move || {
        let code = code.get()?;
        let progress = check.with(|check| check.progress().clone());
        let is_last = matches!(code, CodeState::Last { .. });
        if progress == CheckProgress::None && is_last {
            return None;
        }
        let (class, words, step) = match progress {
            CheckProgress::None => ("code-check", String::new(), None),
            CheckProgress::Running { .. } => {
                ("code-check", "Running it a second time…".to_owned(), None)
            }
            CheckProgress::Done(ReplayVerdict { words, step: None }) => {
                ("code-check good", words, None)
            }
            CheckProgress::Done(ReplayVerdict { words, step }) => ("code-check bad", words, step),
            CheckProgress::Failed(reason) => {
                let words = format!("A second run was not possible: {reason}");
                ("code-check bad", words, None)
            }
        };
        let go = step.map(|step| {
            view! {
                <button
                    type="button"
                    class="small"
                    on:click=move |_| playground.selected().set(step)
                >
                    {"Go there"}
                </button>
            }
        });
        let on_last = Callback::new(move |()| start(Code::LastVersion));
        Some(view! {
            <div class=class role="status" aria-label="Second run">
                <p dir="auto">{inert(&words)}</p>
                {go}
                {code_note(playground.episode(), on_last)}
            </div>
        })
    }
}

/// A note on how the code of an episode has changed since, with actions to restore it. Returns `None` if the episode
/// has the last version.
pub fn code_note(episode: Signal<Arc<Episode>>, on_last: Callback<()>) -> Option<AnyView> {
    let recipe = episode.with_untracked(|episode| episode.recipe.clone())?;
    let source = PythonSource::of_recipe(&recipe).ok()?;
    let state = stored::files().code_state(&source);
    let words = state.words();
    let (name, label) = match &state {
        CodeState::Last { .. } => return None,
        CodeState::Changed { file, .. } => (file.clone(), "Restore this version"),
        CodeState::Unknown => (String::new(), "Save the code as a file"),
    };
    let can_compare = !name.is_empty();
    let restore = move |_| {
        let name = if name.is_empty() {
            untrack(stored::files).free_name(&name)
        } else {
            name.clone()
        };
        stored::save(&name, &source);
        location::go(&Route::Environments { file: Some(name) }.to_hash());
    };
    let compare = can_compare.then(|| {
        view! {
            <button type="button" class="small" on:click=move |_| on_last.run(())>
                {"Check the last version"}
            </button>
        }
    });
    Some(
        view! {
            <p class="code-state">{inert(&words)}</p>
            <div class="button-row">
                {compare}
                <button type="button" class="small" on:click=restore>
                    {label}
                </button>
            </div>
        }
        .into_any(),
    )
}
