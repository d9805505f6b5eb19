//! Which episode an address names, and which address names the shown episode. Pure.
//!
//! Invariant: the address that is written leads back to the same task, seed, actions and step.

use volary_app::playground::address::{EpisodeStart, encoded_steps, last_step, step_in_address};
use volary_app::playground::linked_code::ENVIRONMENT;
use volary_app::playground::policy::PolicyKind;
use volary_episode::{Episode, Recipe};
use volary_view::route::PlaygroundPlace;

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressedEpisode {
    /// The episode that is shown already, at this step if the address names one.
    Shown { step: Option<usize> },
    /// A file of Python code.
    Code { url: String },
    /// The actions of a link.
    Link { text: String },
    /// An episode that is stored in this browser.
    Stored { id: String },
    /// A new episode.
    Task { id: Option<String>, seed: u64 },
}

impl AddressedEpisode {
    /// Reads an address while another one is shown. `is_first` says that no episode is shown or being opened yet.
    pub fn of(place: &PlaygroundPlace, shown: &PlaygroundPlace, is_first: bool) -> Self {
        if !is_first && shown.has_episode_of(place) {
            return AddressedEpisode::Shown { step: place.step };
        }
        if place.environment.as_deref() == Some(ENVIRONMENT)
            && let Some(url) = &place.url
        {
            return AddressedEpisode::Code { url: url.clone() };
        }
        match (&place.episode, &place.stored) {
            (Some(text), _) => AddressedEpisode::Link { text: text.clone() },
            (None, Some(id)) => AddressedEpisode::Stored { id: id.clone() },
            (None, None) => AddressedEpisode::Task {
                id: place.task.clone(),
                // The address of the seed 0 does not name it.
                seed: place.seed.unwrap_or_default(),
            },
        }
    }
}

/// What the address of the shown episode depends on, besides the episode.
#[derive(Clone, Copy, Debug)]
pub struct AddressContext<'a> {
    /// The place of the current address.
    pub shown: &'a PlaygroundPlace,
    /// The environment that is chosen in the setup; empty if there is none.
    pub chosen: &'a str,
    /// Whether the episode is a record without an environment.
    pub is_record: bool,
    pub policy: PolicyKind,
    pub selected: usize,
}

/// The address of the shown episode, policy and step. `start_of` names the task of a recipe if an address can, and
/// `stored_id` is the id under which the episode is stored.
pub fn address(
    episode: &Episode,
    context: AddressContext<'_>,
    start_of: impl FnOnce(&Recipe) -> Option<EpisodeStart>,
    stored_id: impl FnOnce() -> Option<String>,
) -> PlaygroundPlace {
    let place = place_of_episode(episode, context, start_of, stored_id);
    // An address without the steps cannot select one of them.
    let leads_to_steps = place.episode.is_some() || place.stored.is_some();
    PlaygroundPlace {
        policy: context.policy.in_address(),
        step: step_in_address(context.selected, last_step(episode)).filter(|_| leads_to_steps),
        ..place
    }
}

/// The address of an episode without steps that a task names, and the policy. It needs no encoder.
pub fn task_address(
    episode: &Episode,
    context: AddressContext<'_>,
    start_of: impl FnOnce(&Recipe) -> Option<EpisodeStart>,
) -> Option<PlaygroundPlace> {
    let is_kept = context.shown.stored.is_some() && context.is_record;
    let recipe = episode.recipe.as_ref().filter(|_| !is_kept)?;
    Some(PlaygroundPlace {
        policy: context.policy.in_address(),
        ..task_place(episode, recipe, start_of)?
    })
}

/// The place of the task of an episode without steps, if a task names it.
fn task_place(
    episode: &Episode,
    recipe: &Recipe,
    start_of: impl FnOnce(&Recipe) -> Option<EpisodeStart>,
) -> Option<PlaygroundPlace> {
    let start = start_of(recipe).filter(|_| episode.steps.is_empty())?;
    Some(PlaygroundPlace {
        environment: Some(start.environment),
        task: start.task,
        seed: start.seed,
        ..PlaygroundPlace::default()
    })
}

/// The place of an episode: its task if no step was taken; otherwise the episode, encoded or by its stored id.
fn place_of_episode(
    episode: &Episode,
    context: AddressContext<'_>,
    start_of: impl FnOnce(&Recipe) -> Option<EpisodeStart>,
    stored_id: impl FnOnce() -> Option<String>,
) -> PlaygroundPlace {
    let chosen = Some(context.chosen).filter(|name| !name.is_empty());
    let environment = episode.environment().map(|name| name.to_string());
    let place = PlaygroundPlace {
        environment: environment.or(chosen.map(str::to_owned)),
        ..PlaygroundPlace::default()
    };
    // A record from the library keeps its place until a step is taken.
    if context.shown.stored.is_some() && context.is_record {
        return PlaygroundPlace {
            stored: context.shown.stored.clone(),
            ..place
        };
    }
    let Some(recipe) = &episode.recipe else {
        return place;
    };
    if let Some(place) = task_place(episode, recipe, start_of) {
        return place;
    }
    let encoded = encoded_steps(recipe, episode);
    let stored = match encoded {
        Some(_) => None,
        None => stored_id(),
    };
    PlaygroundPlace {
        episode: encoded,
        stored,
        ..place
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::{AnyMessage, ToolCall, ToolRequestMessage, object};
    use volary_episode::{Outcome, StepRecord, share};
    use volary_view::route::Route;

    use super::*;

    fn place(change: impl FnOnce(&mut PlaygroundPlace)) -> PlaygroundPlace {
        let mut place = PlaygroundPlace {
            environment: Some("counter".to_owned()),
            ..PlaygroundPlace::default()
        };
        change(&mut place);
        place
    }

    fn parsed(hash: &str) -> PlaygroundPlace {
        match Route::parse(hash) {
            Route::Playground(place) => place,
            other => panic!("{other:?} is no place of the playground"),
        }
    }

    fn named(hash: &str) -> AddressedEpisode {
        AddressedEpisode::of(&parsed(hash), &PlaygroundPlace::default(), true)
    }

    #[test]
    fn an_address_names_one_episode_even_if_it_says_more() {
        let link = AddressedEpisode::Link {
            text: "abc".to_owned(),
        };
        assert_eq!(named("#/run/counter?e=abc"), link);
        assert_eq!(named("#/run/counter?task=2&id=x&e=abc"), link);
        let stored = AddressedEpisode::Stored { id: "x".to_owned() };
        assert_eq!(named("#/run/counter?task=2&id=x"), stored);
        let code = named("#/run/python?url=https://a.example/e.py&id=x");
        let url = "https://a.example/e.py".to_owned();
        assert_eq!(code, AddressedEpisode::Code { url });
        // Only the environment of linked files has an address of a file.
        assert!(matches!(
            named("#/run/counter?url=https://a.example/e.py"),
            AddressedEpisode::Task { .. }
        ));
    }

    #[test]
    fn an_address_without_a_seed_is_that_of_seed_0() {
        let task = |id: Option<&str>, seed| AddressedEpisode::Task {
            id: id.map(str::to_owned),
            seed,
        };
        assert_eq!(named("#/run/counter"), task(None, 0));
        assert_eq!(named("#/"), task(None, 0));
        assert_eq!(named("#/run/counter?seed=7&task=3"), task(Some("3"), 7));
        assert_eq!(named("#/run/counter?seed=-7"), task(None, 0));
    }

    #[test]
    fn the_shown_episode_is_not_opened_again() {
        let shown = place(|place| place.episode = Some("abc".to_owned()));
        let other_step = PlaygroundPlace {
            step: Some(2),
            policy: Some("model".to_owned()),
            ..shown.clone()
        };
        let seen = AddressedEpisode::of(&other_step, &shown, false);
        assert_eq!(seen, AddressedEpisode::Shown { step: Some(2) });
        // Nothing is shown on a fresh page, whatever its address.
        let seen = AddressedEpisode::of(&other_step, &shown, true);
        assert!(matches!(seen, AddressedEpisode::Link { .. }));
        for changed in [
            place(|place| place.episode = Some("abd".to_owned())),
            place(|place| place.seed = Some(1)),
            place(|place| place.stored = Some("abc".to_owned())),
        ] {
            let seen = AddressedEpisode::of(&changed, &shown, false);
            assert!(
                !matches!(seen, AddressedEpisode::Shown { .. }),
                "{changed:?}"
            );
        }
    }

    fn episode(steps: usize) -> Episode {
        let step = |number: usize| StepRecord {
            action: ToolRequestMessage {
                tool_calls: vec![ToolCall::new("id", "f", object!({"n": (number as i64)}))],
                ..ToolRequestMessage::default()
            }
            .into(),
            outcome: Outcome::Failed { message: "".into() },
            seconds: None,
            details: Default::default(),
            extras: Default::default(),
        };
        Episode {
            recipe: Some(Recipe {
                environment: "counter".into(),
                seed: 7,
                ..Recipe::default()
            }),
            steps: (0..steps).map(step).collect(),
            ..Episode::default()
        }
    }

    /// The address of an episode at a step that is stored as `kept` and was opened from `shown`.
    fn written(
        episode: &Episode,
        shown: &PlaygroundPlace,
        is_record: bool,
        selected: usize,
    ) -> PlaygroundPlace {
        let context = AddressContext {
            shown,
            chosen: "chosen",
            is_record,
            policy: PolicyKind::Random,
            selected,
        };
        let start_of = |recipe: &Recipe| {
            Some(EpisodeStart {
                environment: recipe.environment.to_string(),
                task: Some("3".to_owned()),
                seed: Some(recipe.seed),
            })
        };
        let whole = address(episode, context, start_of, || Some("kept".to_owned()));
        // What needs no encoder is the same address.
        match task_address(episode, context, start_of) {
            Some(task) => assert_eq!(task, whole),
            None => assert!(is_record || episode.recipe.is_none() || !episode.steps.is_empty()),
        }
        whole
    }

    #[test]
    fn a_fresh_episode_has_the_address_of_its_task() {
        let written = written(&episode(0), &PlaygroundPlace::default(), false, 0);
        let expected = place(|place| {
            place.task = Some("3".to_owned());
            place.seed = Some(7);
            place.policy = PolicyKind::Random.in_address();
        });
        assert_eq!(written, expected);
    }

    #[test]
    fn a_fresh_episode_that_no_task_names_is_encoded() {
        let context = AddressContext {
            shown: &PlaygroundPlace::default(),
            chosen: "",
            is_record: false,
            policy: PolicyKind::Manual,
            selected: 0,
        };
        let written = address(&episode(0), context, |_| None, || None);
        let shared = share::decode(&written.episode.unwrap_or_default()).expect("an episode");
        assert_eq!(shared.recipe.seed, 7);
        assert!(shared.actions.is_empty());
    }

    #[test]
    fn a_record_of_the_library_keeps_its_place_until_it_is_played() {
        let shown = place(|place| place.stored = Some("record".to_owned()));
        let record = written(&episode(2), &shown, true, 1);
        assert_eq!(record.stored.as_deref(), Some("record"));
        assert_eq!((record.episode, record.step), (None, Some(1)));
        let played = written(&episode(3), &shown, false, 3);
        assert_eq!(played.stored, None);
        assert!(played.episode.is_some());
    }

    #[test]
    fn an_episode_that_is_too_long_for_an_address_is_named_by_its_stored_id() {
        let long = written(&episode(501), &PlaygroundPlace::default(), false, 4);
        assert_eq!(long.stored.as_deref(), Some("kept"));
        assert_eq!((long.episode, long.step), (None, Some(4)));
    }

    #[test]
    fn a_recording_that_cannot_be_replayed_has_the_address_of_its_environment() {
        let recording = Episode {
            recipe: None,
            ..episode(2)
        };
        let written = written(&recording, &PlaygroundPlace::default(), true, 1);
        assert_eq!(written.environment.as_deref(), Some("chosen"));
        assert_eq!(
            (written.episode, written.stored, written.step),
            (None, None, None)
        );
    }

    proptest! {
        /// A reload restores the actions and the step.
        #[test]
        fn the_address_leads_back_to_the_episode(steps in 1..12usize, selected in 0..12usize) {
            let episode = episode(steps);
            let selected = selected.min(steps);
            let written = written(&episode, &PlaygroundPlace::default(), false, selected);
            let place = parsed(&written.to_hash());
            prop_assert_eq!(place.step.unwrap_or(steps), selected);
            let AddressedEpisode::Link { text } =
                AddressedEpisode::of(&place, &PlaygroundPlace::default(), true)
            else {
                panic!("the address has no actions")
            };
            let shared = share::decode(&text).expect("an episode");
            let actions: Vec<AnyMessage> = episode.actions().cloned().collect();
            prop_assert_eq!(Some(shared.recipe), episode.recipe);
            prop_assert_eq!(shared.actions, actions);
            // While it is shown, its own address opens nothing.
            let again = AddressedEpisode::of(&place, &written, false);
            prop_assert_eq!(again, AddressedEpisode::Shown { step: written.step });
        }
    }
}
