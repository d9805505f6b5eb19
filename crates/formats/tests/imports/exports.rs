//! What is written in other formats comes back with the same content.

use volary_core::json::{Json, Text};
use volary_core::{AnyMessage, Frame};
use volary_episode::{Episode, Rewards, Score};
use volary_export as export;
use volary_formats::import::{InputFile, import};

use crate::fixture;

const FIXTURES: [&str; 4] = [
    "atif.json",
    "inspect.json",
    "ldp.jsonl",
    "claude-code.jsonl",
];

fn episodes(name: &str) -> Vec<Episode> {
    import(&[fixture(name)]).unwrap().episodes
}

fn back(text: String) -> Vec<Episode> {
    let file = InputFile {
        name: Some("again.json".into()),
        bytes: text.into_bytes(),
    };
    import(&[file]).unwrap().episodes
}

/// What was said: role, text, calls (name and arguments) or the call that is answered.
fn said(episode: &Episode) -> Vec<(&'static str, Text, Vec<String>)> {
    let messages = episode.messages();
    messages
        .map(|message| {
            let calls = match message {
                AnyMessage::Request(request) => {
                    let calls = request.tool_calls.iter();
                    calls.map(|call| format!("{} {}", call.id, call)).collect()
                }
                AnyMessage::Response(response) => {
                    vec![format!("{} {}", response.tool_call_id, response.name)]
                }
                AnyMessage::Plain(_) => Vec::new(),
            };
            let text = message.body().content.clone().unwrap_or_default();
            (message.role().as_str(), text, calls)
        })
        .collect()
}

fn details(episode: &Episode) -> Vec<(Option<Text>, Option<u64>, Option<f64>)> {
    let steps = episode.steps.iter();
    steps
        .map(|step| {
            let output = step.details.usage.and_then(|usage| usage.output);
            (step.details.reasoning.clone(), output, step.details.started)
        })
        .collect()
}

#[test]
fn atif_brings_messages_rewards_and_details_back() {
    for name in FIXTURES {
        for episode in &episodes(name) {
            let again = back(export::atif::to_text(episode, &[]));
            assert_eq!(again.len(), 1, "{name}");
            assert_eq!(said(&again[0]), said(episode), "{name}");
            assert_eq!(details(&again[0]), details(episode), "{name}");
            for (again, step) in again[0].steps.iter().zip(&episode.steps) {
                assert_eq!(again.details.usage, step.details.usage, "{name}");
                assert_eq!(again.details.errors, step.details.errors, "{name}");
            }
            assert_eq!(again[0].id, episode.id);
            assert_eq!(again[0].model, episode.model);
            assert_eq!(again[0].reward(), episode.reward());
            assert_eq!(again[0].tools, episode.tools);
        }
    }
}

#[test]
fn atif_takes_subagents_along() {
    let all = episodes("atif.json");
    let others: Vec<&Episode> = all.iter().collect();
    let again = back(export::atif::to_text(&all[0], &others));
    assert_eq!(again.len(), 2);
    assert_eq!(again[0].links[0].episode, again[1].id);
    assert_eq!(again[0].links[0].step, Some(0));
}

#[test]
fn inspect_brings_messages_and_scores_back() {
    for name in FIXTURES {
        let all = episodes(name);
        let others: Vec<&Episode> = all.iter().collect();
        let again = back(export::inspect::to_text(&others, "made"));
        assert_eq!(again.len(), all.len());
        for (again, episode) in again.iter().zip(&all) {
            assert_eq!(said(again), said(episode), "{name}");
            assert_eq!(again.id, episode.id);
            let known = |episode: &Episode| match episode.rewards {
                Rewards::Unknown => None,
                _ => episode.reward(),
            };
            assert_eq!(known(again), known(episode), "{name}");
        }
    }
}

#[test]
fn ldp_brings_messages_and_rewards_back() {
    for name in FIXTURES {
        let episode = &episodes(name)[0];
        if episode.steps.is_empty() {
            continue;
        }
        let again = back(export::ldp::to_text(episode));
        assert_eq!(said(&again[0]), said(episode), "{name}");
        assert_eq!(again[0].total_reward(), episode.total_reward(), "{name}");
        let frames = |episode: &Episode| -> Vec<_> {
            (0..episode.frames.len())
                .map(|index| episode.frames.get(index).unwrap().state)
                .collect()
        };
        assert_eq!(frames(&again[0]), frames(episode), "{name}");
    }
}

/// Frames whose states grow, shrink, and change within.
fn with_states() -> Episode {
    let states = [
        r#"{"a/b": [1, 2, {"c": "text"}], "log": "line 1\n"}"#,
        r#"{"a/b": [1, 2, {"c": "text"}], "log": "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n", "new": {"~": null}}"#,
        r#"{"a/b": [2, {"c": "other text"}, 7, 8], "new": {"~": [0.5]}}"#,
    ];
    let states = states.map(|text| Json::parse(text).unwrap());
    let mut episode = episodes("ldp.jsonl").remove(0);
    episode.steps.truncate(2);
    episode.frames = states
        .into_iter()
        .map(|state| Frame::new(state, Json::Null))
        .collect();
    episode
}

#[test]
fn inspect_brings_the_states_of_all_steps_back() {
    let episode = with_states();
    assert_eq!(episode.steps.len(), 2);
    let again = back(export::inspect::to_text(&[&episode], "made"));
    for (step, state) in (0..3).map(|step| (step, episode.frames.get(step).unwrap().state)) {
        let found = again[0].frames.get(step).unwrap().state;
        assert_eq!(found.to_python_text().len(), state.to_python_text().len());
        for (key, value) in state.as_object().unwrap().iter() {
            assert_eq!(found.get(key), Some(value), "frame {step}");
        }
    }
}

#[test]
fn inspect_exports_the_reward_next_to_differing_scores() {
    let score = |name: &str, value: f64| Score {
        name: name.into(),
        value: value.into(),
        ..Score::default()
    };
    let mut episode = episodes("ldp.jsonl").remove(0);
    episode.rewards = Rewards::Whole(0.75);
    episode.scores = vec![score("correct", 1.0), score("reward", 0.5)];
    episode.outcome = Some("max_tokens".into());
    let again = back(export::inspect::to_text(&[&episode], "made")).remove(0);
    assert_eq!(again.reward(), Some(0.75));
    assert_eq!(again.scores.len(), 3);
    assert_eq!(again.outcome, episode.outcome);
}

const INTERACTION: &str = r#"{"prompt": "P", "reward": 1.0, "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Wait.\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"id\": 7}}\n</tool_call>"}, {"role": "tool", "name": "find", "content": "found"}, {"role": "assistant", "content": "There."}], "info": {"source": "user"}, "response": "Wait.There.", "loss_mask": [1, 1, 0, 1], "tokens": [9, 1, 5, 6, 7, 8], "status": "truncated", "response_length": 4}"#;

#[test]
fn interactions_of_slime_come_back_as_they_were() {
    let episode = back(INTERACTION.to_owned()).remove(0);
    let written = export::slime::interaction(&episode).unwrap();
    let read = Json::parse(INTERACTION).unwrap();
    for (key, value) in read.as_object().unwrap().iter() {
        assert_eq!(written.get(key), Some(value), "{key}");
    }
    let again = back(export::slime::line(&written)).remove(0);
    assert_eq!(said(&again), said(&episode));
    assert_eq!(again.raw, episode.raw);
    assert_eq!(again.tokens, episode.tokens);
}

#[test]
fn samples_of_slime_have_streams_and_an_index() {
    let text = r#"{"index": 3, "prompt": "Q", "response": "A<|im_end|>", "tokens": [1, 2, 3], "response_length": 2, "loss_mask": [1, 0], "rollout_log_probs": [-0.5, 0.0], "reward": 0.5, "status": "completed", "metadata": {"a": 1}}"#;
    let episode = back(text.to_owned()).remove(0);
    let written = export::slime::sample(&episode).unwrap();
    let read = Json::parse(text).unwrap();
    for (key, value) in read.as_object().unwrap().iter() {
        // The mark at the end of a turn is no part of the message.
        let expected = if key.as_ref() == "response" {
            Json::from("A")
        } else {
            value.clone()
        };
        assert_eq!(written.get(key), Some(&expected), "{key}");
    }
    assert_eq!(written.get("group_index"), Some(&Json::from(3)));
}

#[test]
fn an_episode_without_tokens_is_not_a_sample() {
    let episode = &episodes("atif.json")[0];
    let error = export::slime::sample(episode).unwrap_err();
    assert_eq!(error, export::slime::SlimeError::NoTokens);
    let damaged = INTERACTION.replace("[9, 1, 5, 6, 7, 8]", "[9]");
    let damaged = back(damaged).remove(0);
    let error = export::slime::interaction(&damaged).unwrap_err();
    assert!(error.to_string().contains("only 1"), "{error}");
}

#[test]
fn results_of_tau_bench_come_back() {
    let text = r####"[{"task_id": 4, "reward": 1.0, "info": {"reward_info": {"reward": 1.0}}, "traj": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"id\": 7}"}}]}, {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "found"}, {"role": "assistant", "content": "Bye"}, {"role": "user", "content": "###STOP###"}], "trial": 2}]"####;
    let episode = back(text.to_owned()).remove(0);
    let written = export::tau_bench::to_text(&[&episode]);
    let read = Json::parse(&written).unwrap();
    let [row] = read.as_list().unwrap() else {
        panic!("{written}");
    };
    assert_eq!(row.get("task_id"), Some(&Json::from(4)));
    assert_eq!(row.get("trial"), Some(&Json::from(2)));
    assert_eq!(row.get("reward").and_then(Json::as_f64), Some(1.0));
    assert_eq!(row.get("info").unwrap().as_object().unwrap().len(), 1);
    let again = back(written).remove(0);
    assert_eq!(said(&again), said(&episode));
    // Episodes of one task that name no trial are counted.
    let mut unnamed = episode.clone();
    unnamed.metadata.remove("trial");
    let both = export::tau_bench::to_text(&[&unnamed, &unnamed]);
    let both = Json::parse(&both).unwrap();
    let trials: Vec<i64> = both
        .as_list()
        .unwrap()
        .iter()
        .filter_map(|row| row.get("trial")?.as_i64())
        .collect();
    assert_eq!(trials, [0, 1]);
}
