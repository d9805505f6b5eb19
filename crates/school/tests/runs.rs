//! Runs from the shipped warm starts: they are deterministic, can be continued, learn, and become ordinary trajectories.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;

use volary_analysis::table::Row;
use volary_analysis::training::advantage::AdvantageRule;
use volary_analysis::training::{Catalog, TrainingRun};
use volary_core::json::Json;
use volary_episode::episode::{Ending, Outcome};
use volary_episode::token_record::StreamKind;
use volary_policy::{Network, Weights};
use volary_school::episodes::episodes;
use volary_school::inspect::{answer, examine, token_log_probs};
use volary_school::warm_start::WarmStart;
use volary_school::{Behaviour, Difficulty, Knobs, Preset, Run, RunError, learnable, shipped};

fn weights() -> Weights {
    shipped("calculator").unwrap()
}

fn run(knobs: Knobs) -> Run {
    Run::new(knobs, weights()).unwrap()
}

/// A quick run: four prompts an update.
fn small() -> Knobs {
    Knobs {
        prompts: 4,
        ..Knobs::default()
    }
}

fn hash(run: &Run) -> String {
    format!("{:016x}", run.network().weights().hash())
}

#[test]
fn the_warm_starts_are_far_from_solving_their_tasks() {
    let most = [("calculator", 0.15), ("counter", 0.25), ("hands", 0.25)];
    for (name, most) in most {
        let learnable = learnable(name).unwrap();
        let network = Network::new(shipped(name).unwrap());
        let exam = examine(&*learnable, &network, Difficulty::Trained, 400, 1.0, 5).unwrap();
        assert!(
            (0.01..=most).contains(&exam.success),
            "{name}: {}",
            exam.success
        );
    }
}

/// The hash is that of one machine and must be that of all: a link promises the same curve everywhere.
#[test]
fn three_updates_give_these_weights_on_every_platform() {
    let mut run = run(Knobs {
        kl: 0.05,
        updates_per_batch: 2,
        ..small()
    });
    for _ in 0..3 {
        run.update().unwrap();
    }
    assert_eq!(hash(&run), "bbfb29f11d61342b");
}

#[test]
fn the_warm_start_is_the_same_on_every_platform() {
    let course = learnable("calculator").unwrap();
    let mut warm_start = WarmStart::new(&*course, 1).unwrap();
    for _ in 0..2 {
        warm_start.step().unwrap();
    }
    let hash = warm_start.network().weights().hash();
    assert_eq!(format!("{hash:016x}"), "c9b5e4c813ab7e7d");
}

#[test]
fn a_run_that_was_continued_equals_one_that_was_not_stopped() {
    let mut whole = run(small());
    let mut checkpoint = Vec::new();
    for update in 0..4 {
        if update == 2 {
            checkpoint = whole.checkpoint();
        }
        whole.update().unwrap();
    }
    let mut continued = Run::resume(&checkpoint, weights()).unwrap();
    assert_eq!(continued.updates(), 2);
    for _ in 0..2 {
        continued.update().unwrap();
    }
    assert_eq!(continued.checkpoint(), whole.checkpoint());
}

#[test]
fn the_seed_changes_the_run() {
    let [one, other] = [1, 2].map(|seed| {
        let mut run = run(Knobs { seed, ..small() });
        run.update().unwrap().metrics.weights
    });
    assert_ne!(one, other);
}

#[test]
fn damaged_checkpoints_are_refused_with_a_reason() {
    let bytes = run(small()).checkpoint();
    let refuse = |bytes: &[u8]| Run::resume(bytes, weights()).err().unwrap().to_string();
    assert!(refuse(b"{}").contains("VOLS"));
    assert!(refuse(&bytes[..7]).contains("cut off"));
    assert!(refuse(&bytes[..bytes.len() - 3]).contains("bytes instead of"));
    let mut newer = bytes.clone();
    newer[4] = 9;
    assert!(refuse(&newer).contains("newer version"));
    let other = Run::resume(&bytes, shipped("hands").unwrap());
    assert!(matches!(other.err(), Some(RunError::Shape { .. })));
}

#[test]
fn weights_that_are_no_numbers_stop_the_run_at_the_last_good_ones() {
    let mut weights = weights();
    for value in weights.values_mut().iter_mut().skip(2000) {
        *value *= 1e30;
    }
    let mut run = Run::new(small(), weights).unwrap();
    let before = hash(&run);
    let error = run.update().unwrap_err();
    assert!(
        matches!(error, RunError::NotFinite { update: 0, .. }),
        "{error}"
    );
    assert_eq!((run.updates(), hash(&run)), (0, before));
}

#[test]
fn it_learns_to_call_the_tool() {
    let mut run = run(Knobs::default());
    let mut successes = Vec::new();
    let mut without_tool = Vec::new();
    for _ in 0..45 {
        let metrics = run.update().unwrap().metrics;
        successes.push(metrics.success);
        without_tool.push(metrics.without_tool);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!(mean(&successes[..3]) < 0.2, "{successes:?}");
    assert!(mean(&successes[40..]) > 0.4, "{successes:?}");
    assert!(mean(&without_tool[40..]) < 0.1, "{without_tool:?}");
}

#[test]
fn a_leaky_grader_is_exploited() {
    let mut knobs = Knobs::default();
    Preset::LeakyGrader.plant(&mut knobs);
    let mut run = run(knobs);
    for _ in 0..30 {
        run.update().unwrap();
    }
    let last = run.update().unwrap().metrics;
    assert!(last.reward > 0.85 && last.success < 0.4, "{last:?}");
}

#[test]
fn what_a_planted_failure_does_is_in_the_figures_of_an_update() {
    let after = |preset: Preset| {
        let mut knobs = small();
        preset.plant(&mut knobs);
        run(knobs).update().unwrap()
    };
    let plain = run(small()).update().unwrap();
    let unmasked = after(Preset::MaskOff);
    assert!(unmasked.metrics.trained_tokens > plain.metrics.trained_tokens);
    let mut knobs = small();
    Preset::MaskOff.plant(&mut knobs);
    let course = learnable("calculator").unwrap();
    let recorded = &episodes(&*course, &knobs, &unmasked)[0];
    let (record, rollout) = (recorded.tokens.as_ref().unwrap(), &unmasked.rollouts[0]);
    assert_eq!(
        record.strip.trained(),
        rollout.tokens.len() - rollout.prompt
    );
    let pairs = after(Preset::GroupsOfTwo);
    assert_eq!(pairs.metrics.samples, plain.metrics.samples);
    assert!(pairs.metrics.dead_groups > plain.metrics.dead_groups);
    let cold = after(Preset::ColdSampling);
    assert!(cold.metrics.entropy < plain.metrics.entropy);
    let raw = after(Preset::NoBaseline);
    assert!(raw.rollouts.iter().all(|rollout| rollout.advantage >= 0.0));
}

#[test]
fn several_updates_with_one_batch_clip_and_the_divergence_is_measured() {
    let mut run = run(Knobs {
        updates_per_batch: 4,
        kl: 0.01,
        ..Knobs::default()
    });
    run.update().unwrap();
    let metrics = run.update().unwrap().metrics;
    assert!(metrics.clipped > 0.0, "{metrics:?}");
    assert!(metrics.divergence.unwrap() > 1e-4, "{metrics:?}");
}

#[test]
fn one_update_makes_good_samples_more_likely_than_bad_ones() {
    let mut run = run(Knobs::default());
    let batch = run.update().unwrap().rollouts;
    let lively = batch
        .iter()
        .find(|rollout| rollout.advantage > 0.0)
        .unwrap();
    let record = run.explain(lively.group).unwrap();
    assert_eq!(record.samples.len(), 8);
    let change = |sample: usize| -> f32 {
        let mask = &record.samples[sample].mask;
        let tokens = (0..mask.len()).filter(|token| mask[*token]);
        tokens
            .map(|token| record.after[sample][token] - record.before[sample][token])
            .sum()
    };
    let mean = |is_good: bool| {
        let is_chosen = |sample: &usize| (record.samples[*sample].advantage > 0.0) == is_good;
        let chosen: Vec<f32> = (0..8).filter(is_chosen).map(change).collect();
        chosen.iter().sum::<f32>() / chosen.len() as f32
    };
    assert!(mean(true) > mean(false));
    // What the sampler noted is what the network computes.
    let sample = &record.samples[0];
    let at = sample
        .mask
        .iter()
        .position(|is_sampled| *is_sampled)
        .unwrap();
    assert_eq!(record.before[0][at], sample.log_probs[at]);
    assert!(matches!(
        run.explain(99),
        Err(RunError::NoGroup { group: 99 })
    ));
}

#[test]
fn samples_are_ordinary_trajectories_of_a_training_run() {
    let mut run = run(Knobs::default());
    let update = run.update().unwrap();
    let all = episodes(run.learnable(), run.knobs(), &update);
    assert_eq!(all.len(), 128);
    for (episode, rollout) in all.iter().zip(&update.rollouts) {
        let record = episode.tokens.as_ref().unwrap();
        assert!(record.is_divided && record.misfits.is_empty());
        assert_eq!(record.strip.trained(), rollout.sampled());
        assert!(record.stream_of(StreamKind::Sampler).is_some());
        let covered: usize = record.parts.iter().map(|part| part.range.len()).sum();
        assert_eq!(covered, record.strip.len());
        assert_eq!(episode.reward(), Some(rollout.reward.total()));
        assert_ne!(episode.ending, Ending::Open);
    }
    let is_solved = |rollout: &volary_school::Rollout| {
        rollout.behaviour == Behaviour::Right && rollout.attempt.turns.len() == 2
    };
    let episode = &all[update.rollouts.iter().position(is_solved).unwrap()];
    let last = &episode.steps[1].outcome;
    assert!(matches!(last, Outcome::Observed { done: true, reward, .. } if *reward == 1.0));
    assert_eq!(&*episode.recipe.as_ref().unwrap().environment, "calculator");
    let sample = volary_export::slime::sample(episode).unwrap();
    assert!(
        sample
            .get("rollout_log_probs")
            .and_then(Json::as_list)
            .is_some()
    );
    let rows: Vec<Arc<Row>> = all
        .iter()
        .map(|episode| Arc::new(Row::of(episode, Vec::new())))
        .collect();
    assert_eq!(Catalog::of(&rows).runs.len(), 1);
    let training = TrainingRun::of(&rows, None);
    let step = &training.steps[0];
    assert_eq!((step.step, step.group_count()), (0, 16));
    let lively = step
        .groups
        .iter()
        .find(|group| !group.is_uniform())
        .unwrap();
    let (rule, left_out) = AdvantageRule::of(&training, lively);
    let expected = AdvantageRule::Standardized {
        is_of_samples: true,
    };
    assert_eq!((rule, left_out), (expected, 0));
}

#[test]
fn a_policy_answers_one_prompt_and_weighs_a_text() {
    let learnable = learnable("calculator").unwrap();
    let network = Network::new(weights());
    let exercise = learnable.exercise_of("12+34").unwrap();
    let greedy = || {
        answer(&*learnable, &network, &exercise, 0.0, 1)
            .unwrap()
            .unwrap()
    };
    assert_eq!(greedy(), greedy());
    let log_probs = token_log_probs(&*learnable, &network, "?12+34=c12+34)", 1.0).unwrap();
    assert_eq!(log_probs.len(), 14);
    assert!(
        log_probs[1..]
            .iter()
            .all(|value| value.is_finite() && *value <= 0.0)
    );
    let error = token_log_probs(&*learnable, &network, "?12/3=", 1.0).unwrap_err();
    assert!(error.to_string().contains("`/`"), "{error}");
}
