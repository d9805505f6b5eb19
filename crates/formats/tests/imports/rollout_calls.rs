//! Calls of verifiers' rollouts that are no part of the conversation, or that rewrite its history.

use volary_core::json::Json;
use volary_episode::{Ending, Episode, Relation};
use volary_formats::import::{ImportOutcome, NoteLevel, import};

use crate::trainer_corners::{file, lines, parsed, said};

/// A call: the conversation, its other members, prompt and completion as texts, and their ids.
fn call(id: &str, members: &str, texts: [&str; 2], ids: [&str; 2]) -> String {
    let [asked, answered] = texts;
    let [prompt, completion] = ids;
    let asked: Vec<String> = asked
        .split(' ')
        .enumerate()
        .map(|(index, text)| {
            let role = ["user", "assistant"][index % 2];
            format!(r#"{{"role": "{role}", "content": "{text}"}}"#)
        })
        .collect();
    let asked = asked.join(", ");
    format!(
        r#"{{"trajectory_id": "{id}", "prompt": [{asked}], "completion": [{{"role": "assistant", "content": "{answered}"}}],
            "tokens": {{"prompt_ids": {prompt}, "completion_ids": {completion}}}{members}}}"#
    )
}

fn rollout(completion: &str, calls: &[String]) -> ImportOutcome {
    let calls = calls.join(", ");
    let line = format!(
        r#"{{"example_id": 0, "trajectory_id": "main", "prompt": [{{"role": "user", "content": "q"}}], "completion": {completion}, "reward": 1.0,
            "trajectory": [{calls}]}}"#
    );
    lines("results.jsonl", &[parsed(&line)])
}

/// The texts of an episode, and the tokens of each message that has some, with the number of its step.
fn parts(episode: &Episode) -> (String, Vec<(usize, Vec<u32>)>) {
    let texts = episode
        .messages()
        .map(|message| message.body().content_or_empty().to_string());
    let record = episode.tokens.as_ref().unwrap();
    let ids = record.strip.ids();
    let parts = record.parts.iter();
    let parts = parts.filter(|part| !part.range.is_empty());
    let parts = parts.map(|part| (part.step, ids[part.range.clone()].to_vec()));
    (texts.collect::<Vec<_>>().join(" "), parts.collect())
}

const ANSWER: &str = r#"[{"role": "assistant", "content": "a"}]"#;

#[test]
fn tokens_of_sub_llm_calls_belong_to_branches_of_their_own() {
    let main = call("main", "", ["q", "a"], ["[1]", "[2]"]);
    let flagged = call(
        "main",
        r#", "is_truncated": true, "extras": {"is_sub_llm_call": true, "parent_turn": 0}"#,
        ["s", "t"],
        ["[7]", "[8, 9]"],
    );
    let other = call("b1_0", "", ["s", "t"], ["[7]", "[8, 9]"]);
    for sub in [flagged, other] {
        let outcome = rollout(ANSWER, &[sub.clone(), main.clone()]);
        let [own, branch] = outcome.episodes.as_slice() else {
            panic!("{:?}", outcome.notes);
        };
        let expected = |texts: &str, prompt: &[u32], answer: &[u32]| {
            (
                texts.to_owned(),
                vec![(0, prompt.to_vec()), (1, answer.to_vec())],
            )
        };
        assert_eq!(parts(own), expected("q a", &[1], &[2]));
        assert_eq!(parts(branch), expected("s t", &[7], &[8, 9]));
        assert_eq!(&*branch.id, "results-1-branch-2");
        let link = &branch.links[0];
        assert_eq!((link.relation, &link.episode), (Relation::Parent, &own.id));
        let is_flagged = sub.contains("extras");
        assert_eq!(branch.metadata.contains_key("extras"), is_flagged);
        assert_eq!(
            matches!(branch.ending, Ending::Truncated { .. }),
            is_flagged
        );
        assert!(said(&outcome, NoteLevel::Unreadable).is_empty());
    }
}

#[test]
fn sub_llm_calls_without_messages_are_counted() {
    let main = call("main", "", ["q", "a"], ["[1]", "[2]"]);
    let sub =
        r#"{"trajectory_id": "sub", "tokens": {"prompt_ids": [7], "completion_ids": [8, 9]}}"#;
    let outcome = rollout(ANSWER, &[main, sub.to_owned(), sub.to_owned()]);
    assert_eq!(outcome.episodes.len(), 1);
    assert_eq!(
        said(&outcome, NoteLevel::Unreadable),
        [
            "2 sub-LLM calls with 4 trained tokens are left out: they have no messages, and are no part of the conversation of their rollout."
        ]
    );
}

/// The messages of such a rollout are those of its last call only.
#[test]
fn a_call_after_compaction_starts_a_branch_with_its_own_messages() {
    let calls = [
        call("main", "", ["q", "a"], ["[1]", "[2]"]),
        call("main", "", ["q a b", "c"], ["[1, 2, 3]", "[4]"]),
        call("main", "", ["summary", "d"], ["[5, 6]", "[7]"]),
    ];
    let completion =
        r#"[{"role": "assistant", "content": "d"}, {"role": "user", "content": "end"}]"#;
    let outcome = rollout(completion, &calls);
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    let expected = vec![(0, vec![1]), (1, vec![2]), (1, vec![3]), (2, vec![4])];
    assert_eq!(parts(first), ("q a b c".to_owned(), expected));
    let expected = vec![(0, vec![5, 6]), (1, vec![7])];
    let (texts, tokens) = parts(second);
    assert_eq!(texts, "summary d end");
    assert_eq!(tokens, expected);
    assert_eq!(second.links[0].relation, Relation::Branch);
    let rest: Vec<Option<&Json>> = outcome
        .episodes
        .iter()
        .map(|one| one.raw.get("trajectory"))
        .collect();
    assert_eq!(rest, [None, None]);
    assert!(said(&outcome, NoteLevel::Unreadable).is_empty());
}

/// Examples have numbers of their environment.
#[test]
fn rollouts_of_prime_rl_are_grouped_by_environment_and_example() {
    let rollout = |environment: &str| {
        parsed(&format!(
            r#"{{"example_id": 7, "env_name": "{environment}", "prompt": "q", "completion": "a", "reward": 1.0}}"#
        ))
    };
    let outcome = lines(
        "step_3/train_rollouts.jsonl",
        &["math", "code"].map(rollout),
    );
    let positions = outcome.episodes.iter().map(|episode| {
        let task = episode.task().unwrap();
        let task = format!("{}/{}", task.dataset, task.id);
        let group = episode.metadata.get("group").unwrap().to_display();
        (episode.environment().unwrap().to_string(), task, group)
    });
    let expected =
        ["math", "code"].map(|name| (name.to_owned(), format!("{name}/7"), format!("{name} 7")));
    assert_eq!(positions.collect::<Vec<_>>(), expected);
}

#[test]
fn the_name_of_an_environment_is_that_of_its_run() {
    let trace = r#"{"id": "t", "task": {}, "agent": {"name": "solver"}, "nodes": [{"message": {"role": "user", "content": "q"}}], "rewards": {}}"#;
    for (env, name, id) in [
        (
            r#"{"id": "single+math", "name": "math-easy"}"#,
            "math-easy",
            Some("single+math"),
        ),
        (r#"{"id": "maze", "name": "maze"}"#, "maze", None),
        (r#"{"id": "maze", "name": null}"#, "maze", None),
        (r#""maze""#, "maze", None),
    ] {
        let line = format!(r#"{{"id": "e", "env": {env}, "ok": true, "traces": [{trace}]}}"#);
        let outcome = lines("traces.jsonl", &[parsed(&line)]);
        let episode = &outcome.episodes[0];
        assert_eq!(episode.environment().map(|name| &**name), Some(name));
        let known = episode.metadata.get("environment_id");
        assert_eq!(known.and_then(Json::as_text).map(|id| &**id), id);
    }
}

/// prime-rl wrote a file for each environment of an evaluation in June and July 2026.
#[test]
fn the_name_of_a_file_of_an_evaluation_is_its_environment() {
    let trace = r#"{"id": "t", "task": {}, "agent": {"name": "solver"}, "nodes": [{"message": {"role": "user", "content": "q"}}], "rewards": {}}"#;
    let rollout = r#"{"example_id": 7, "prompt": "q", "completion": "a", "reward": 1.0}"#;
    for line in [trace, rollout] {
        for (name, expected) in [
            ("eval_rollouts_math.jsonl", Some("math")),
            ("train_rollouts.jsonl", None),
        ] {
            let outcome = lines(&format!("run/rollouts/step_6/{name}"), &[parsed(line)]);
            let environment = outcome.episodes[0].environment.as_deref();
            assert_eq!(environment, expected, "{line}");
        }
    }
}

/// Before calls were recorded, nodes had what was known of them.
#[test]
fn nodes_may_have_usage_and_the_reason_of_their_end() {
    let trace = |reason: &str| {
        parsed(&format!(
            r#"{{"id": "t", "task": {{}}, "agent": {{"name": "solver"}}, "ok": true, "stop_condition": "agent_completed", "rewards": {{}}, "nodes": [
                {{"message": {{"role": "user", "content": "q"}}, "sampled": false}},
                {{"parent": 0, "message": {{"role": "assistant", "content": "a"}}, "sampled": true, "finish_reason": "{reason}", "usage": {{"prompt_tokens": 5, "completion_tokens": 2}}}}]}}"#
        ))
    };
    for (reason, is_truncated) in [("length", true), ("stop", false)] {
        let outcome = lines("traces.jsonl", &[trace(reason)]);
        let episode = &outcome.episodes[0];
        assert_eq!(
            matches!(episode.ending, Ending::Truncated { .. }),
            is_truncated
        );
        let usage = episode.usage();
        assert_eq!((usage.input, usage.output), (Some(5), Some(2)));
    }
}

/// Versions until 0.1.3 name the environment `env`.
#[test]
fn the_metadata_of_a_run_of_verifiers_may_name_its_environment_otherwise() {
    let of = |name: &str, text: &str| file(name, text.to_owned());
    let files = [
        of(
            "run/metadata.json",
            r#"{"env": "maze", "model": "m", "num_examples": 1}"#,
        ),
        of(
            "run/results.jsonl",
            r#"{"example_id": 7, "prompt": "q", "completion": "a", "reward": 1.0}"#,
        ),
    ];
    let episode = &import(&files).unwrap().episodes[0];
    assert_eq!(episode.environment.as_deref(), Some("maze"));
    assert_eq!(episode.model.as_deref(), Some("m"));
}
