//! The same recipe and actions reproduce the same episode, in every environment.

use std::rc::Rc;

use volary_agent::draw::draw_object;
use volary_agent::{Check, RandomPolicy, Runner, RunnerError, check};
use volary_core::random::Random;
use volary_episode::{Episode, Recipe, native, share};

use crate::stages::{play, recipe, run};

/// Episodes of every environment, with random configurations.
fn episodes() -> Vec<Episode> {
    let registry = volary_envs::registry();
    let mut episodes = Vec::new();
    for entry in &registry.environments {
        let before = episodes.len();
        for seed in 0..16 {
            let schema = (entry.configuration)();
            let recipe = Recipe {
                configuration: draw_object(&schema, &mut Random::new(seed)),
                ..recipe(entry.name, seed)
            };
            match play(&registry, recipe, &mut RandomPolicy::new(seed), 20) {
                Ok(episode) => episodes.push(episode),
                // A schema does not state every requirement of a configuration, and some environments need a model.
                Err(RunnerError::Make(_) | RunnerError::Reset { .. }) => {}
                Err(error) => unreachable!("{error}"),
            }
        }
        assert!(episodes.len() >= before + 4, "{} was played", entry.name);
    }
    episodes
}

fn checked(episode: &Episode) -> Check {
    let registry = volary_envs::registry();
    run(|clock| async move { check(&registry, episode, Rc::new(clock)).await.unwrap() })
}

#[test]
fn random_episodes_replay_to_what_was_recorded() {
    for episode in episodes() {
        let steps = episode.steps.len();
        assert_eq!(
            checked(&episode),
            Check::Same { steps },
            "{:?}",
            episode.recipe
        );
    }
}

#[test]
fn shared_and_saved_episodes_replay() {
    let registry = volary_envs::registry();
    for episode in episodes().iter().step_by(5) {
        let text = native::to_text(episode);
        let saved = native::read(&text).unwrap().episodes.remove(0);
        assert_eq!(
            checked(&saved),
            Check::Same {
                steps: episode.steps.len()
            }
        );

        let recipe = episode.recipe.as_ref().unwrap();
        let link = share::encode(recipe, episode.actions()).unwrap();
        let shared = share::decode(&link).unwrap();
        let reopened = run(|clock| async {
            let opened = Runner::open(&registry, &shared.recipe, Rc::new(clock)).await;
            let (mut runner, opening) = opened.unwrap();
            let mut reopened = opening.episode(shared.recipe.clone());
            for action in &shared.actions {
                let stepped = runner.step(action.clone()).await.unwrap();
                reopened.record(stepped.record, stepped.frame).unwrap();
            }
            reopened
        });
        assert_eq!(reopened.frames, episode.frames);
    }
}
