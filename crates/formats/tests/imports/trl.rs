//! The tables of TRL's trainers: their columns, and how they differ from those of other tools.

use volary_core::json::{Json, Object};
use volary_core::{json, object};
use volary_formats::import::ImportOutcome;

use crate::tools::told;
use crate::trainer_corners::{lines, rewards, roles};

/// The outcome of a table whose rows begin with these columns of every table, and have the others after them.
fn table(name: &str, rows: &[Object]) -> ImportOutcome {
    let row = |others: &Object| {
        let mut row = object!({
            "step": 20,
            "prompt": "<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n",
            "completion": "4<|im_end|>",
        });
        row.extend(others.clone());
        Json::from(row)
    };
    let rows: Vec<Json> = rows.iter().map(row).collect();
    let outcome = lines(name, &rows);
    for episode in &outcome.episodes {
        let source = episode.source.as_ref().unwrap();
        assert_eq!(&*source.format, "trl");
        assert_eq!(&*episode.task().unwrap().id, "What is 2 + 2?");
        assert_eq!(roles(episode), ["user", "assistant"]);
    }
    outcome
}

fn score_names(outcome: &ImportOutcome) -> Vec<&str> {
    let scores = outcome.episodes[0].scores.iter();
    scores.map(|score| &*score.name).collect()
}

#[test]
fn a_reward_function_may_be_called_reward() {
    let only = object!({"reward": 0.5, "advantage": 1.0});
    let outcome = table("completions_00020.parquet", &[only]);
    assert_eq!(rewards(&outcome), [Some(0.5)]);
    assert_eq!(score_names(&outcome), ["reward"]);

    let several = object!({"reward": 0.5, "style": 0.25, "advantage": 1.0});
    let outcome = table("completions_00020.parquet", &[several]);
    assert_eq!(rewards(&outcome), [None]);
    assert_eq!(score_names(&outcome), ["reward", "style"]);
}

#[test]
fn older_tables_have_no_advantage() {
    for column in ["reward", "right"] {
        let mut row = Object::new();
        row.insert(column, 0.5);
        let outcome = table("completions_00020.parquet", &[row]);
        assert_eq!(rewards(&outcome), [Some(0.5)], "{column}");
    }
}

#[test]
fn whole_numbers_that_differ_from_floats_are_no_rewards() {
    let fraction = object!({"right": 0.5, "score": 3, "advantage": 0.25});
    let whole = object!({"right": 1.0, "score": 3, "advantage": 0.25});
    for (name, row) in [("table.parquet", &fraction), ("table.jsonl", &whole)] {
        let outcome = table(name, std::slice::from_ref(row));
        assert_eq!(score_names(&outcome), ["right"], "{name}");
        assert_eq!(outcome.episodes[0].metadata.get("score"), Some(&3.into()));
    }
    // Tools that write 1.0 as 1.
    let outcome = table("table.jsonl", &[fraction]);
    assert_eq!(score_names(&outcome), ["right", "score"]);
}

#[test]
fn results_of_verifiers_are_no_table() {
    let row = json!({
        "prompt": "Hi", "completion": "Ho", "example_id": 3, "reward": 1.0, "advantage": 0.5, "step": 2,
    });
    let outcome = lines("results.jsonl", &[row]);
    let source = outcome.episodes[0].source.as_ref().unwrap();
    assert_eq!(&*source.format, "verifiers-results");
}

#[test]
fn text_after_a_call_is_part_of_the_message() {
    let call = |name: &str| format!("<tool_call>\n{{\"name\": \"{name}\"}}\n</tool_call>");
    let cases = [
        (
            format!("One. {} Two. {} Three.", call("f"), call("g")),
            "One.\nTwo.\nThree.>f{}+g{}",
        ),
        (format!("{}\nDone.", call("f")), "Done.>f{}"),
        (
            format!("{}<tool_call>\n{{\"name\":", call("f")),
            "<tool_call>\n{\"name\":>f{}",
        ),
        (call("f"), ">f{}"),
    ];
    for (completion, expected) in cases {
        let row =
            json!({"step": 1, "prompt": "Hi", "completion": (completion.as_str()), "right": 0.5});
        assert_eq!(told(&lines("rows.jsonl", &[row]).episodes[0]), expected);
    }
}
