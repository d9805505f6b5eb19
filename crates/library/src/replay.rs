//! Replays an episode in its environment. Lazy code: it reaches all environments.

use std::rc::Rc;

use volary_agent::check::{Check, check_with};
use volary_core::Clock;
use volary_core::outside::Outside;
use volary_episode::Episode;

use crate::error::LibraryError;

/// The result as text, and the first step that differs; or why the episode cannot be replayed.
pub type Replayed = Result<(String, Option<u64>), LibraryError>;

/// Replays an episode. `outside` answers what its environment asks for.
pub async fn replay(episode: Episode, clock: Rc<dyn Clock>, outside: Rc<dyn Outside>) -> Replayed {
    let registry = volary_envs::registry_with_tau_bench();
    let known = episode.recipe.as_ref().is_some_and(|recipe| {
        let mut names = registry.available();
        names.any(|name| *name == *recipe.environment)
    });
    if !known {
        return Err(LibraryError::UnknownEnvironment);
    }
    let check = check_with(&registry, &episode, clock, outside).await;
    let check = check.map_err(|error| LibraryError::NotReplayed {
        why: error.to_string().into(),
    });
    match check? {
        Check::Same { steps } => Ok((
            format!("Replayed: all {steps} steps match the recording."),
            None,
        )),
        Check::NoRecipe => Err(LibraryError::NoRecipe),
        Check::Differs(found) => Ok((
            format!(
                "Replayed: step {} differs. {}",
                found.step,
                found.description()
            ),
            Some(found.step as u64),
        )),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use volary_agent::evaluation::play::play;
    use volary_agent::evaluation::{Actor, Job, Plan, PlannedPolicy, PlannedTask};
    use volary_core::virtual_clock::VirtualClock;
    use volary_episode::Outcome;

    use super::*;
    use crate::service::tests::{file, read, service};

    /// An episode of the dummy environment.
    fn played() -> Episode {
        let plan = Plan {
            tasks: vec![PlannedTask {
                id: "1".into(),
                title: "One".into(),
                environment: "dummy".into(),
                configuration: Default::default(),
            }],
            policies: vec![PlannedPolicy {
                name: "Oracle".into(),
                actor: Actor::Oracle,
                max_steps: 3,
            }],
            trials: 1,
            ..Plan::default()
        };
        let job = Job::of(&"e".into(), &plan, plan.cell(0).unwrap(), 0).unwrap();
        let clock = Rc::new(VirtualClock::new());
        let played = play(&job, &volary_envs::registry(), clock).now_or_never();
        played.unwrap().1.unwrap()
    }

    /// Imports an episode and replays it.
    fn replayed(episode: &Episode) -> Replayed {
        let service = service();
        read(&service, &[file("a.jsonl", std::slice::from_ref(episode))]);
        service.replayed(&episode.id).now_or_never().unwrap()
    }

    #[test]
    fn an_episode_that_was_played_here_matches() {
        let episode = played();
        let steps = episode.steps.len();
        assert!(steps > 0);
        let summary = format!("Replayed: all {steps} steps match the recording.");
        assert_eq!(replayed(&episode), Ok((summary, None)));
    }

    #[test]
    fn the_step_that_differs_is_named() {
        let mut episode = played();
        let last = episode.steps.len();
        let Outcome::Observed { reward, .. } = &mut episode.steps[last - 1].outcome else {
            panic!("the oracle makes no mistakes");
        };
        *reward += 1.0;
        let (summary, step) = replayed(&episode).unwrap();
        assert_eq!(step, Some(last as u64), "{summary}");
        assert!(summary.starts_with(&format!("Replayed: step {last} differs.")));
    }

    #[test]
    fn an_episode_that_cannot_be_replayed_says_why() {
        let mut elsewhere = played();
        if let Some(recipe) = &mut elsewhere.recipe {
            recipe.environment = "nowhere".into();
        }
        let mut unknown = played();
        unknown.recipe = None;
        for episode in [elsewhere, unknown] {
            let error = replayed(&episode).unwrap_err();
            assert_eq!(error, LibraryError::UnknownEnvironment);
        }
        let gone = service().replayed(&"x".into()).now_or_never().unwrap();
        assert_eq!(gone, Err(LibraryError::UnknownEpisode));
    }
}
