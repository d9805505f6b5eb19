//! Files of earlier and later versions of trainers, which say elsewhere where a rollout belongs.

use volary_core::json;
use volary_core::json::Json;
use volary_episode::Episode;
use volary_formats::import::{ImportOutcome, import};

use crate::trainer_corners::{file, lines, rewards, roles};

/// The step, whether it is an evaluation, and the environment of each episode.
fn positions(outcome: &ImportOutcome) -> Vec<(Option<i64>, bool, Option<&str>)> {
    let position = |episode: &'_ Episode| {
        let step = episode.metadata.get("step")?;
        step.to_display().parse().ok()
    };
    let is_evaluation = |episode: &Episode| episode.metadata.get("split") == Some(&"eval".into());
    let episodes = outcome.episodes.iter();
    episodes
        .map(|episode| {
            let environment = episode.environment.as_deref();
            (position(episode), is_evaluation(episode), environment)
        })
        .collect()
}

fn trace(id: &str, more: Json) -> Json {
    let mut trace = json!({
        "id": id,
        "task": {"data": {"idx": 1}},
        "nodes": [
            {"parent": null, "message": {"role": "user", "content": "Hi"}, "sampled": false},
            {"parent": 0, "message": {"role": "assistant", "content": "Hello."}, "sampled": true},
        ],
    });
    if let (Json::Object(trace), Json::Object(more)) = (&mut trace, more) {
        trace.extend(more);
    }
    trace
}

#[test]
fn traces_of_prime_rl_name_their_position_in_several_ways() {
    let august = trace(
        "a",
        json!({"run": {"type": "eval", "id": "run-1", "step": 7}, "info": {"env_name": "desk"}}),
    );
    let outcome = lines("rollouts/step_7/eval/effective/traces.jsonl", &[august]);
    assert_eq!(positions(&outcome), [(Some(7), true, Some("desk"))]);

    let july = |kind: &str, eval_step: Json| {
        trace(
            kind,
            json!({
                "kind": kind, "env_name": "desk", "group_id": "g", "policy_version": 4, "eval_step": eval_step,
            }),
        )
    };
    let outcome = lines(
        "rollouts/step_8/train/all/traces.jsonl",
        &[july("train", Json::Null), july("eval", 7.into())],
    );
    assert_eq!(
        positions(&outcome),
        [
            (Some(8), false, Some("desk")),
            (Some(7), true, Some("desk"))
        ]
    );
    let metadata = &outcome.episodes[0].metadata;
    assert_eq!(metadata.get("group"), Some(&"g".into()));
    assert_eq!(metadata.get("weight_versions"), Some(&json!([4])));

    let outcome = lines(
        "rollouts/step_5/train_rollouts.jsonl",
        &[trace("c", json!({}))],
    );
    assert_eq!(positions(&outcome), [(Some(5), false, None)]);
}

#[test]
fn the_path_of_an_older_rollout_names_its_step() {
    let rollout = json!({
        "example_id": 0, "prompt": "Hi", "completion": "Hello.", "reward": 1.0, "metrics": {"exact": 1.0},
    });
    for (path, is_evaluation) in [
        ("run/rollouts/step_3/train_rollouts.jsonl", false),
        ("run/rollouts/step_3/eval_rollouts.jsonl", true),
    ] {
        let outcome = lines(path, std::slice::from_ref(&rollout));
        assert_eq!(
            positions(&outcome),
            [(Some(3), is_evaluation, None)],
            "{path}"
        );
    }
}

#[test]
fn a_step_is_no_metric() {
    let row =
        json!({"prompt": "Hi", "completion": "Hello.", "reward": 1.0, "exact": 0.5, "step": 3});
    let outcome = lines("rows.jsonl", &[row]);
    let episode = &outcome.episodes[0];
    let scores: Vec<&str> = episode.scores.iter().map(|score| &*score.name).collect();
    assert_eq!(scores, ["exact"]);
    assert_eq!(episode.metadata.get("step"), Some(&3.into()));
}

#[test]
fn distillation_of_trl_has_no_rewards() {
    let row = json!({"step": 10, "prompt": "What is 2 + 2?", "completion": "4"});
    let outcome = lines("completions_00010.parquet", &[row.clone(), row]);
    assert_eq!(rewards(&outcome), [None, None]);
    assert_eq!(positions(&outcome)[0].0, Some(10));
    assert_eq!(roles(&outcome.episodes[0]), ["user", "assistant"]);
    assert_eq!(&*outcome.episodes[0].id, "completions_00010-1");
}

#[test]
fn a_step_of_trl_may_be_text() {
    let row = json!({
        "step": "10", "prompt": "Hi", "completion": "Hello.", "accuracy_reward": 0.5, "advantage": 0.0,
    });
    let outcome = lines("completions.jsonl", &[row]);
    let source = outcome.episodes[0].source.as_ref().unwrap();
    assert_eq!(&*source.format, "trl");
    assert_eq!(rewards(&outcome), [Some(0.5)]);
    assert_eq!(positions(&outcome)[0].0, Some(10));
}

#[test]
fn a_token_export_may_have_rewards_and_its_own_step() {
    let sequence = |rewards: &[f64]| {
        json!({
            "schema_version": 1, "step": 12, "export_step": 3, "run_id": "run-1", "rank": 0,
            "token_ids": [5, 6, 7], "loss_mask": [false, true, true], "rewards": (rewards.to_vec()),
        })
    };
    let all = [sequence(&[0.5, 0.5, 0.5]), sequence(&[0.5, 0.5, 0.25])];
    let outcome = lines("token_exports/step_3/rank_0.jsonl", &all);
    assert_eq!(rewards(&outcome), [Some(0.5), None]);
    assert_eq!(positions(&outcome)[0].0, Some(3));
    let metadata = &outcome.episodes[0].metadata;
    assert_eq!(metadata.get("trainer_step"), Some(&12.into()));
    assert_eq!(metadata.get("run"), Some(&"run-1".into()));
}

#[test]
fn one_conversation_in_two_forms_is_read_once() {
    let row = json!({
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}],
        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}],
        "system": "",
    });
    let outcome = lines("train.parquet", &[row]);
    assert_eq!(roles(&outcome.episodes[0]), ["user", "assistant"]);
    assert!(outcome.episodes[0].raw.contains_key("conversations"));
}

#[test]
fn named_rewards_of_a_conversation_are_scores() {
    let row = json!({
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}],
        "reward": {"exact": 1.0, "style": 0.5},
    });
    let outcome = lines("train.jsonl", &[row]);
    assert_eq!(rewards(&outcome), [None]);
    let scores: Vec<&str> = outcome.episodes[0]
        .scores
        .iter()
        .map(|score| &*score.name)
        .collect();
    assert_eq!(scores, ["exact", "style"]);
}

#[test]
fn images_of_a_data_set_are_in_its_messages() {
    let png = json!({"bytes": "iVBORw0KGgoAAAANSUhEUg==", "path": null});
    let url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==";
    let ask = |block: Json| {
        json!([
            {"role": "user", "content": [block, {"type": "text", "text": "What is it?"}]},
            {"role": "assistant", "content": "A dot."},
        ])
    };
    let rows = [
        json!({"messages": (ask(json!({"type": "image", "image": (png.clone())})))}),
        json!({"messages": (ask(json!({"type": "image"}))), "images": [(png.clone())]}),
        json!({"messages": (ask(json!({"type": "image"}))), "images": [(png.clone()), (png.clone())]}),
    ];
    let text: String = rows
        .iter()
        .map(|row| format!("{}\n", row.to_compact_text()))
        .collect();
    let outcome = import(&[file("train.parquet", text)]).unwrap();
    let has_image = |episode: &Episode| {
        let content = episode.start[0].body().content.as_deref();
        content.is_some_and(|content| content.contains(url))
    };
    let found: Vec<bool> = outcome.episodes.iter().map(has_image).collect();
    assert_eq!(found, [true, true, false]);
    assert!(outcome.episodes[2].raw.contains_key("images"));
}
