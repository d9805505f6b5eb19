//! Conversations and tokens of rLLM's steps that do not continue those of the step before.

use volary_core::json::Json;
use volary_episode::{Episode, Relation};
use volary_formats::import::{ImportOutcome, NoteLevel, import};

use crate::tools::told;
use crate::trainer_corners::{file, roles, said};

/// The outcome of an episode whose only trajectory has these steps and the reward 1.
fn read(steps: &str) -> ImportOutcome {
    let episode = format!(
        r#"{{"episode_id": "task:0", "termination_reason": "env_done", "trajectories": [{{"uid": "u", "name": "solver", "reward": 1.0, "steps": {steps}}}]}}"#
    );
    let outcome = import(&[file("episode.json", episode)]).unwrap();
    assert_eq!(said(&outcome, NoteLevel::Unreadable), Vec::<&str>::new());
    outcome
}

fn only(steps: &str) -> Episode {
    let mut outcome = read(steps);
    assert_eq!(outcome.episodes.len(), 1);
    outcome.episodes.remove(0)
}

fn start(episode: &Episode) -> Vec<String> {
    let texts = episode.start.iter();
    texts
        .map(|message| message.body().content_or_empty().to_string())
        .collect()
}

fn reasoning(episode: &Episode) -> Vec<&str> {
    let steps = episode.steps.iter();
    steps
        .map(|step| step.details.reasoning.as_deref().unwrap_or_default())
        .collect()
}

/// The start and the rest of each branch of these steps.
fn branches(steps: &str) -> Vec<(String, String)> {
    let episodes = read(steps).episodes.into_iter();
    let branches = episodes.enumerate().map(|(number, episode)| {
        assert_eq!(episode.reward(), Some(1.0));
        assert_eq!(&*episode.id, ["u", "u-branch-2"][number]);
        (start(&episode).join(" "), told(&episode))
    });
    branches.collect()
}

fn branch(start: &str, told: &str) -> (String, String) {
    (start.to_owned(), told.to_owned())
}

/// Each step saw only its own messages.
#[test]
fn conversations_that_begin_again_are_branches() {
    let steps = r#"[{"reward": 0.25, "chat_completions": [{"role": "user", "content": "Part 1"}, {"role": "assistant", "content": "One."}]},
            {"reward": 0.75, "chat_completions": [{"role": "user", "content": "Part 2"}, {"role": "assistant", "content": "Two."}]},
            {"reward": 0.0, "chat_completions": [{"role": "user", "content": "Part 2"}, {"role": "assistant", "content": "Two."}, {"role": "user", "content": "More"}, {"role": "assistant", "content": "Three."}]}]"#;
    assert_eq!(
        branches(steps),
        [
            branch("Part 1", "assistant:One."),
            branch("Part 2", "assistant:Two. | user:More | assistant:Three."),
        ]
    );
}

#[test]
fn shortened_histories_are_branches() {
    let steps = r#"[{"chat_completions": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}]},
            {"chat_completions": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}, {"role": "user", "content": "B?"}, {"role": "assistant", "content": "B."}]},
            {"chat_completions": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "B?"}, {"role": "assistant", "content": "B."}, {"role": "user", "content": "C?"}, {"role": "assistant", "content": "B."}]}]"#;
    assert_eq!(
        branches(steps),
        [
            branch("Be brief. A?", "assistant:A. | user:B? | assistant:B."),
            branch("Be brief. B? B. C?", "assistant:B."),
        ]
    );
}

/// Agents without a memory may see and say the same twice; others note the finished conversation in each step.
#[test]
fn equal_conversations_are_branches_or_that_of_all_steps() {
    let again = r#"{"chat_completions": [{"role": "user", "content": "A wall."}, {"role": "assistant", "content": "Up."}]}"#;
    let twice = branches(&format!("[{again}, {again}]"));
    assert_eq!(twice, [(); 2].map(|()| branch("A wall.", "assistant:Up.")));
    let step = |thought: &str| {
        format!(
            r#"{{"thought": "{thought}", "chat_completions": [{{"role": "user", "content": "A?"}}, {{"role": "assistant", "content": "A."}}, {{"role": "user", "content": "B?"}}, {{"role": "assistant", "content": "B."}}]}}"#
        )
    };
    let episode = only(&format!("[{}, {}]", step("First."), step("Then.")));
    assert_eq!(told(&episode), "assistant:A. | user:B? | assistant:B.");
    assert_eq!(reasoning(&episode), ["First.", "Then."]);
}

#[test]
fn reasoning_is_that_of_the_step_in_which_it_was_said() {
    let steps = |first: &str, second: &str| {
        format!(
            r#"[{{"thought": "A thought.", "chat_completions": [{{"role": "user", "content": "A?"}}, {{"role": "assistant", {first}}}]}},
                {{"thought": "", "chat_completions": [{{"role": "user", "content": "A?"}}, {{"role": "assistant", "content": "A."}}, {{"role": "user", "content": "B?"}}, {{"role": "assistant", {second}}}]}}]"#
        )
    };
    for (first, expected) in [
        (r#""content": "A.", "reasoning": "Hm.""#, "Hm."),
        (r#""content": "A.""#, "A thought."),
    ] {
        let episode = only(&steps(first, r#""content": "B.", "reasoning": "Now B.""#));
        assert_eq!(told(&episode), "assistant:A. | user:B? | assistant:B.");
        assert_eq!(reasoning(&episode), [expected, "Now B."]);
    }
    // Templates drop it from the texts of earlier turns.
    let episode = only(&steps(
        r#""content": "<think>A thought.</think>\nA.""#,
        r#""content": "B.""#,
    ));
    assert_eq!(
        told(&episode),
        "assistant:<think>A thought.</think>\nA. | user:B? | assistant:B."
    );
}

#[test]
fn steps_without_a_conversation_continue_the_one_before() {
    let first = r#"{"chat_completions": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}]}"#;
    let second = r#"{"observation": "B?", "model_response": "B.", "chat_completions": []}"#;
    let third = r#"{"chat_completions": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}, {"role": "user", "content": "B?"}, {"role": "assistant", "content": "B."}, {"role": "user", "content": "C?"}, {"role": "assistant", "content": "C."}]}"#;
    let episode = only(&format!("[{first}, {second}]"));
    assert_eq!(told(&episode), "assistant:A. | user:B? | assistant:B.");
    let episode = only(&format!("[{first}, {second}, {third}]"));
    assert_eq!(
        told(&episode),
        "assistant:A. | user:B? | assistant:B. | user:C? | assistant:C."
    );
}

#[test]
fn prompts_that_continue_no_tokens_start_branches() {
    let outcome = read(
        r#"[{"prompt_ids": [1, 2], "response_ids": [3, 4], "logprobs": [-0.25, -0.5], "weight_version": 3, "chat_completions": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "A.", "reasoning": "Hm."}]},
            {"prompt_ids": [1, 2, 4, 5], "response_ids": [6], "logprobs": [-1.0], "weight_version": 4, "chat_completions": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}, {"role": "user", "content": "B?"}, {"role": "assistant", "content": "B."}]},
            {"prompt_ids": [1, 2, 4, 5, 6, 7], "response_ids": [8], "logprobs": [-2.0], "weight_version": 4, "chat_completions": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}, {"role": "user", "content": "B?"}, {"role": "assistant", "content": "B."}, {"role": "user", "content": "C?"}, {"role": "assistant", "content": "C."}]}]"#,
    );
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!((&*first.id, &*second.id), ("u", "u-branch-2"));
    assert_eq!(&*second.name, "task:0, branch 2");
    let link = &second.links[0];
    assert_eq!((link.relation, &*link.episode), (Relation::Branch, "u"));
    assert_eq!(roles(first), ["user", "assistant"]);
    assert_eq!(start(second), ["A?", "A.", "B?"]);
    assert_eq!(told(second), "assistant:B. | user:C? | assistant:C.");
    let trained = |episode: &Episode| {
        let record = episode.tokens.as_ref().unwrap();
        assert!(record.is_divided);
        let marked = record.strip.ids().iter().zip(record.strip.mask());
        marked.map(|(id, mask)| (*id, *mask)).collect::<Vec<_>>()
    };
    assert_eq!(
        trained(first),
        [(1, false), (2, false), (3, true), (4, true)]
    );
    assert_eq!(
        trained(second),
        [
            (1, false),
            (2, false),
            (4, false),
            (5, false),
            (6, true),
            (7, false),
            (8, true)
        ]
    );
    for (episode, versions) in [(first, 3), (second, 4)] {
        let versions = Json::List(vec![versions.into()]);
        assert_eq!(episode.metadata.get("weight_versions"), Some(&versions));
        assert_eq!(episode.reward(), Some(1.0));
    }
}

#[test]
fn returns_of_steps_are_not_their_rewards() {
    let steps = |rewards: [f64; 2]| {
        let [first, second] = rewards;
        format!(
            r#"[{{"reward": {first}, "chat_completions": [{{"role": "user", "content": "A?"}}, {{"role": "assistant", "content": "A."}}]}},
                {{"reward": {second}, "chat_completions": [{{"role": "user", "content": "A?"}}, {{"role": "assistant", "content": "A."}}, {{"role": "user", "content": "B?"}}, {{"role": "assistant", "content": "B."}}]}}]"#
        )
    };
    let kept = |rewards: [f64; 2]| {
        let outcome = read(&steps(rewards));
        let episode = &outcome.episodes[0];
        assert_eq!(episode.reward(), Some(1.0));
        let notes = said(&outcome, NoteLevel::KeptRaw);
        let is_said = notes.iter().any(|note| note.contains("do not add up"));
        let known = episode.metadata.get("step_rewards").cloned();
        assert_eq!(is_said, known.is_some());
        known
    };
    let returns = Json::List(vec![0.5.into(), 0.75.into()]);
    assert_eq!(kept([0.5, 0.75]), Some(returns));
    assert_eq!(kept([0.25, 0.75]), None);
    // Only the trajectory has a reward.
    assert_eq!(kept([0.0, 0.0]), None);
}
