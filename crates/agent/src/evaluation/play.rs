//! Plays a cell whose policy needs no model, in the worker of its environment.

use std::rc::Rc;

use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_core::{Clock, object};
use volary_episode::{Episode, Recipe};

use super::plan::{Actor, Cell, Plan};
use super::result::{CellResult, Failure, FailureKind, spent_of};
use crate::{
    Cancel, Limits, Oracle, Policy, PolicyError, RandomPolicy, RolloutError, Runner, RunnerError,
    Scripted, Stage, Student, rollout,
};

/// A cell as sent to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The index of the cell in the plan.
    pub cell: usize,
    /// The id of the episode to record.
    pub episode: Text,
    /// The display name of the episode.
    pub name: Text,
    /// The recipe of the environment.
    pub recipe: Recipe,
    /// What chooses the actions.
    pub actor: Actor,
    pub policy_seed: u64,
    /// The maximum number of steps.
    pub max_steps: usize,
    /// The id of the evaluation.
    pub evaluation: Text,
    /// The name of the evaluation.
    pub run: Text,
    /// The number of previous attempts.
    pub attempts: u32,
}

impl Job {
    /// The job of a cell of an evaluation.
    pub fn of(evaluation: &Text, plan: &Plan, cell: Cell, attempts: u32) -> Option<Self> {
        let (task, policy) = (plan.task(cell)?, plan.policy(cell)?);
        let title = match &plan.dataset {
            Some(_) => &task.title,
            None => &task.environment,
        };
        let mut name = title.to_string();
        name.push_str(", ");
        name.push_str(&policy.name);
        if plan.trials > 1 {
            name.push_str(&format!(", trial {}", cell.trial + 1));
        }
        Some(Job {
            cell: cell.number,
            episode: episode_id(evaluation, cell.number),
            name: name.into(),
            recipe: plan.recipe(cell)?,
            actor: policy.actor.clone(),
            policy_seed: plan.policy_seed(cell),
            max_steps: policy.max_steps,
            evaluation: evaluation.clone(),
            run: plan.name.clone(),
            attempts,
        })
    }

    /// Writes the metadata of the job into an episode.
    pub fn label(&self, episode: &mut Episode) {
        episode.id = self.episode.clone();
        episode.name = self.name.clone();
        let labels = object!({
            "run": (self.run.clone()),
            "evaluation": (self.evaluation.clone()),
            "cell": (self.cell as i64)
        });
        for (key, value) in labels {
            episode.metadata.insert(key, value);
        }
    }
}

/// The id of the episode of a cell. It is derived from the cell, so a cell never has two episodes.
pub fn episode_id(evaluation: &str, cell: usize) -> Text {
    format!("{evaluation}-{cell:06}").into()
}

/// Plays a cell in an environment of the registry.
pub async fn play(
    job: &Job,
    registry: &Registry,
    clock: Rc<dyn Clock>,
) -> (CellResult, Option<Episode>) {
    let opened = async {
        let opened = Runner::open(registry, &job.recipe, Rc::clone(&clock)).await;
        let (runner, opening) = opened?;
        Ok((runner, opening.episode(job.recipe.clone())))
    };
    play_on(job, registry, &*clock, &Cancel::default(), opened).await
}

/// Plays a cell in the environment returned by `opened`, with the episode that begins there. Returns an episode
/// whenever the environment could be reset. On cancellation it closes the environment and returns the episode so far.
pub async fn play_on<S: Stage>(
    job: &Job,
    registry: &Registry,
    clock: &dyn Clock,
    cancel: &Cancel,
    opened: impl Future<Output = Result<(S, Episode), RunnerError>>,
) -> (CellResult, Option<Episode>) {
    let attempts = job.attempts + 1;
    let started = clock.now();
    let failed =
        |failure: Failure| CellResult::failed(job.cell, failure, 0.0, Default::default(), attempts);
    let mut policy = match policy(job, registry) {
        Ok(policy) => policy,
        Err(failure) => return (failed(failure), None),
    };
    let (mut stage, mut episode) = match opened.await {
        Ok(opened) => opened,
        Err(error) => return (failed(Failure::of_runner(&error)), None),
    };
    job.label(&mut episode);
    let limits = Limits {
        max_steps: job.max_steps,
    };
    let played = rollout(
        &mut stage,
        &mut episode,
        policy.as_mut(),
        &limits,
        cancel,
        &mut |_| {},
    )
    .await;
    stage.close().await;
    let mut spent = spent_of(&episode, |_| None);
    spent.seconds = clock.since(started).max(0.0);
    episode.seconds = Some(spent.seconds);
    let result = match played {
        Ok(_) => CellResult::finished(job.cell, &episode, spent, attempts),
        Err(error) => {
            let failure = match &error {
                RolloutError::Policy(error) => Failure::of_policy(error),
                RolloutError::Runner(error) => Failure::of_runner(error),
                RolloutError::Frame(error) => Failure {
                    kind: FailureKind::Environment,
                    message: error.to_string().into(),
                },
            };
            let reward = episode.total_reward();
            CellResult::failed(job.cell, failure, reward, spent, attempts)
        }
    };
    (result, Some(episode))
}

fn policy(job: &Job, registry: &Registry) -> Result<Box<dyn Policy>, Failure> {
    let unfit = |reason: String| {
        Failure::of_policy(&PolicyError::Unfit {
            policy: job.actor.as_str().into(),
            reason: reason.into(),
        })
    };
    Ok(match &job.actor {
        Actor::Random => Box::new(RandomPolicy::new(job.policy_seed)),
        Actor::Oracle => {
            let entry = registry
                .environment(&job.recipe.environment)
                .map_err(|error| unfit(error.to_string()))?;
            Box::new(Oracle::new(entry).map_err(|error| Failure::of_policy(&error))?)
        }
        Actor::Student { fault } => {
            let entry = registry
                .environment(&job.recipe.environment)
                .map_err(|error| unfit(error.to_string()))?;
            let oracle = Oracle::new(entry).ok();
            Box::new(match fault {
                Some(fault) => Student::new(*fault, job.policy_seed, oracle),
                None => Student::varied(job.policy_seed, oracle),
            })
        }
        Actor::Scripted { script } => {
            Box::new(Scripted::parse(script).map_err(|error| unfit(error.to_string()))?)
        }
        Actor::Model { .. } => return Err(unfit("models are called from the page.".to_owned())),
    })
}

#[cfg(test)]
mod tests {
    use volary_core::json::{Json, Object};
    use volary_core::virtual_clock::VirtualClock;
    use volary_episode::Ending;

    use super::*;
    use crate::evaluation::{PlannedPolicy, PlannedTask, Status};

    fn plan(environment: &str, configuration: Object, actor: Actor) -> Plan {
        Plan {
            name: "Tests".into(),
            tasks: vec![PlannedTask {
                id: "1".into(),
                title: "1".into(),
                environment: environment.into(),
                configuration,
            }],
            policies: vec![PlannedPolicy {
                name: "It".into(),
                actor,
                max_steps: 4,
            }],
            trials: 3,
            ..Plan::default()
        }
    }

    fn played(plan: &Plan, cell: usize) -> (CellResult, Option<Episode>) {
        let job = Job::of(&"ev".into(), plan, plan.cell(cell).unwrap(), 1).unwrap();
        let clock = VirtualClock::new();
        let registry = volary_envs::registry();
        clock
            .run(play(&job, &registry, Rc::new(clock.clone())))
            .unwrap()
    }

    #[test]
    fn an_episode_knows_where_it_belongs() {
        let plan = plan("dummy", Object::new(), Actor::Random);
        let (result, episode) = played(&plan, 2);
        let episode = episode.unwrap();
        assert_eq!(
            (&*episode.id, &*episode.name),
            ("ev-000002", "dummy, It, trial 3")
        );
        assert_eq!(episode.metadata.get("cell").and_then(Json::as_i64), Some(2));
        assert_eq!(result.reward, episode.total_reward());
        assert_eq!((result.attempts, result.spent.tokens), (2, 0));
        assert_eq!(result.spent.steps as usize, episode.steps.len());
        assert_eq!(played(&plan, 2).0, result);
    }

    #[test]
    fn limits_truncate() {
        let script = r#"[{"name": "print_story", "arguments": {"story": "x"}}]"#;
        let actor = Actor::Scripted {
            script: script.into(),
        };
        let (result, _) = played(
            &plan("dummy", object!({"end_immediately": false}), actor),
            0,
        );
        assert!(result.is_finished(), "{result:?}");
        let (result, episode) = played(&plan("counter", Object::new(), Actor::Random), 0);
        assert!(matches!(episode.unwrap().ending, Ending::Truncated { .. }));
        assert_eq!(
            result.status,
            Status::Finished {
                ending: "truncated".into()
            }
        );
    }

    #[test]
    fn what_does_not_fit_fails_with_its_reason() {
        let kind = |plan: &Plan| match played(plan, 0).0.status {
            Status::Failed(failure) => failure.kind,
            other => panic!("{other:?}"),
        };
        let broken = Actor::Scripted { script: "{".into() };
        assert_eq!(
            kind(&plan("dummy", Object::new(), broken)),
            FailureKind::Policy
        );
        assert_eq!(
            kind(&plan("nowhere", Object::new(), Actor::Random)),
            FailureKind::Environment
        );
        let odd = object!({"end_immediately": "what"});
        assert_eq!(
            kind(&plan("dummy", odd, Actor::Random)),
            FailureKind::Environment
        );
    }
}
