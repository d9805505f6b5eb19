//! Runners: opening, stepping, replaying, checking a record.

use std::rc::Rc;

use futures_util::FutureExt;
use volary_agent::{Check, Runner, RunnerError, check, compare};
use volary_core::json::Json;
use volary_episode::{Ending, Episode, Outcome};

use crate::stages::{parrots, recipe, run, say};

#[test]
fn steps_are_recorded_with_their_frames() {
    let episode = said(&["one", "fail", "done"]);
    assert_eq!(episode.frames.len(), 4);
    let last = episode.frames.last().unwrap().state.to_python_text();
    assert_eq!(last, r#"["one", "fail", "done"]"#);
    assert_eq!(
        episode.steps[1].outcome,
        Outcome::Failed {
            message: "told to fail".into()
        }
    );
    assert_eq!(episode.total_reward(), 1.0);
    assert_eq!(episode.ending, Ending::Done);
    assert_eq!(episode.messages().count(), 1 + 2 + 1 + 2);
    assert_eq!(episode.messages_until(1).count(), 3);
}

#[test]
fn an_episode_goes_back_and_on() {
    let mut episode = said(&["one", "two", "truncate"]);
    assert!(matches!(episode.ending, Ending::Truncated { .. }));
    episode.rewind(1);
    assert_eq!((episode.steps.len(), episode.frames.len()), (1, 2));
    assert_eq!(episode.ending, Ending::Open);
    assert_eq!(
        episode.frames.last().unwrap().state,
        Json::from(vec!["one"])
    );
}

#[test]
fn a_panic_ends_the_environment_and_nothing_else() {
    run(|clock| async {
        let registry = parrots();
        let (mut runner, _) = Runner::open(&registry, &recipe("parrot", 0), Rc::new(clock))
            .await
            .unwrap();
        let crashed = Err(RunnerError::Crashed {
            message: "told to panic".into(),
        });
        assert_eq!(runner.step(say("panic")).await, crashed);
        assert_eq!(runner.step(say("more")).await, crashed);
        assert_eq!(runner.close().await, Ok(()));
        assert_eq!(runner.step(say("more")).await, Err(RunnerError::Closed));
    });
}

#[test]
fn an_environment_that_is_lost_is_not_stepped_again() {
    run(|clock| async {
        let registry = parrots();
        let (mut runner, _) = Runner::open(&registry, &recipe("parrot", 0), Rc::new(clock))
            .await
            .unwrap();
        let lost = Err(RunnerError::Crashed {
            message: "told to get lost".into(),
        });
        assert_eq!(runner.step(say("lose")).await, lost);
        assert_eq!(runner.step(say("one")).await, lost);
    });
}

#[test]
fn a_step_that_was_broken_off_is_known() {
    run(|clock| async {
        let registry = parrots();
        let (mut runner, _) = Runner::open(&registry, &recipe("parrot", 0), Rc::new(clock))
            .await
            .unwrap();
        assert!(runner.step(say("hang")).now_or_never().is_none());
        assert_eq!(runner.step(say("one")).await, Err(RunnerError::BrokenOff));
    });
}

#[test]
fn an_unknown_environment_is_refused() {
    let refused = run(|clock| async {
        let opened = Runner::open(&parrots(), &recipe("owl", 0), Rc::new(clock)).await;
        opened.err().unwrap()
    });
    assert_eq!(refused.to_string(), "Unknown environment name: owl");
}

#[test]
fn a_changed_recording_is_found_out() {
    let checked = |episode: &Episode| {
        let episode = episode.clone();
        run(|clock| async move { check(&parrots(), &episode, Rc::new(clock)).await.unwrap() })
    };
    let episode = said(&["one", "fail", "two"]);
    assert_eq!(checked(&episode), Check::Same { steps: 3 });

    let mut other = episode.clone();
    if let Outcome::Observed { reward, .. } = &mut other.steps[2].outcome {
        *reward = 7.0;
    }
    let Check::Differs(divergence) = checked(&other) else {
        panic!("a difference");
    };
    assert_eq!((divergence.step, &*divergence.what), (3, "reward"));
    assert_eq!(
        (divergence.recorded, divergence.now),
        (7.0.into(), 0.5.into())
    );

    other = episode.clone();
    other.recipe = None;
    assert_eq!(checked(&other), Check::NoRecipe);
}

#[test]
fn two_runs_are_compared_as_far_as_both_go() {
    let episode = said(&["one", "fail", "two"]);
    assert_eq!(compare(&episode, &said(&["one", "fail"])), None);
    assert_eq!(compare(&episode, &episode), None);
    let found = compare(&episode, &said(&["one", "two", "two"])).unwrap();
    assert_eq!((found.step, &*found.what), (2, "failure"));
    assert_eq!(
        found.description(),
        r#"failure was "told to fail" and is now null."#
    );

    let mut other = episode.clone();
    other.start.clear();
    assert_eq!(compare(&episode, &other).unwrap().step, 0);
}

/// An episode with these messages.
fn said(texts: &[&str]) -> Episode {
    run(|clock| async move {
        let recipe = recipe("parrot", 0);
        let opened = Runner::open(&parrots(), &recipe, Rc::new(clock)).await;
        let (mut runner, opening) = opened.unwrap();
        let mut episode = opening.episode(recipe);
        for text in texts {
            let stepped = runner.step(say(text)).await.unwrap();
            episode.record(stepped.record, stepped.frame).unwrap();
        }
        episode
    })
}
