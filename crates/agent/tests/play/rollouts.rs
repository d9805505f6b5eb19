//! Whole episodes under policies: limits, endings, cancellation.

use std::rc::Rc;

use volary_agent::{Cancel, Limits, Oracle, PolicyError, RandomPolicy, Runner, Scripted, rollout};
use volary_core::json;
use volary_episode::{Ending, Episode, Recipe};

use crate::stages::{parrots, play, recipe, run};

#[test]
fn reaching_the_limit_is_reported_as_truncation() {
    let registry = volary_envs::registry();
    let mut policy = RandomPolicy::new(3);
    let episode = play(&registry, recipe("counter", 0), &mut policy, 4).unwrap();
    let reason = "The limit of 4 steps was reached.";
    assert_eq!(
        episode.ending,
        Ending::Truncated {
            reason: reason.into()
        }
    );
    assert_eq!(episode.steps.len(), 4);
    assert_eq!(episode.policy.as_deref(), Some("random"));
}

#[test]
fn the_oracle_solves_the_calculator() {
    let registry = volary_envs::registry();
    let entry = registry.environment("calculator").unwrap();
    let configuration = json!({ "problem": "What is 6 times 7?", "answer": 42 });
    let recipe = Recipe {
        environment: "calculator".into(),
        configuration: configuration.as_object().unwrap().clone(),
        ..Recipe::default()
    };
    let mut oracle = Oracle::new(entry).unwrap();
    let episode = play(&registry, recipe, &mut oracle, 10).unwrap();
    assert_eq!(episode.ending, Ending::Done);
    assert!(episode.total_reward() > 0.0);
}

#[test]
fn without_an_oracle_there_is_none() {
    let registry = parrots();
    let refused = Oracle::new(&registry.environments[0]).err().unwrap();
    assert!(matches!(refused, PolicyError::Unfit { .. }), "{refused}");
}

#[test]
fn a_script_that_ends_leaves_the_episode_open() {
    let registry = volary_envs::registry();
    let mut script = Scripted::parse(r#"[{"name": "incr"}, {"name": "nonsense"}]"#).unwrap();
    let episode = play(&registry, recipe("counter", 0), &mut script, 10).unwrap();
    assert_eq!(episode.steps.len(), 2);
    assert_eq!(episode.ending, Ending::Open);
}

#[test]
fn a_cancelled_rollout_resumes_identically() {
    let registry = volary_envs::registry();
    let whole = play(
        &registry,
        recipe("counter", 0),
        &mut RandomPolicy::new(5),
        6,
    )
    .unwrap();
    let cut = run(|clock| async {
        let recipe = recipe("counter", 0);
        let opened = Runner::open(&registry, &recipe, Rc::new(clock)).await;
        let (mut runner, opening) = opened.unwrap();
        let mut episode = opening.episode(recipe);
        let cancel = Cancel::default();
        let mut policy = RandomPolicy::new(5);
        let limits = Limits { max_steps: 6 };
        let mut stop_at_two = |episode: &Episode| {
            if episode.steps.len() == 2 {
                cancel.cancel();
            }
        };
        let stop = rollout(
            &mut runner,
            &mut episode,
            &mut policy,
            &limits,
            &cancel,
            &mut stop_at_two,
        );
        let stop = stop.await.unwrap();
        assert_eq!((stop.ending, episode.steps.len()), (Ending::Open, 2));
        let (cancel, mut on_step) = (Cancel::default(), |_: &Episode| {});
        let rest = rollout(
            &mut runner,
            &mut episode,
            &mut policy,
            &limits,
            &cancel,
            &mut on_step,
        );
        rest.await.unwrap();
        episode
    });
    let actions = |episode: &Episode| episode.actions().cloned().collect::<Vec<_>>();
    assert_eq!(actions(&cut), actions(&whole));
    assert_eq!(cut.frames, whole.frames);
}

#[test]
fn a_breakdown_is_how_the_episode_ends() {
    let registry = parrots();
    let mut script =
        Scripted::parse(r#"[[], {"role": "assistant", "content": "panic", "tool_calls": []}, []]"#)
            .unwrap();
    let episode = play(&registry, recipe("parrot", 0), &mut script, 10).unwrap();
    assert_eq!(episode.steps.len(), 1);
    let message = "told to panic".into();
    assert_eq!(episode.ending, Ending::Crashed { message });
}
