//! The messages of NeMo-RL's samples: who said what, in texts that do not name the speaker.

use volary_core::json;
use volary_core::json::Json;
use volary_episode::Episode;
use volary_formats::import::ImportOutcome;

use crate::trainer_corners::{lines, tasks};

const PROMPT: &str = "<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n";

fn train(content: Json) -> Json {
    json!({"idx": 0, "content": [content], "rewards": [1.0], "sample_loss_mask": [1.0]})
}

/// A sample with a token for each flag.
fn masked(content: Json, mask: &[u8]) -> Json {
    let ids: Vec<Json> = (100..).take(mask.len()).map(|id: i64| id.into()).collect();
    let mask: Vec<Json> = mask.iter().map(|flag| i64::from(*flag).into()).collect();
    json!({
        "idx": 0, "content": [content], "rewards": [1.0], "sample_loss_mask": [1.0],
        "token_ids": [(Json::List(ids))], "token_loss_mask": [(Json::List(mask))],
    })
}

/// The speakers and what they said.
fn said(episode: &Episode) -> Vec<(&str, &str)> {
    let messages = episode.messages();
    messages
        .map(|message| {
            let text = message.body().content_or_empty();
            (message.role().as_str(), text)
        })
        .collect()
}

/// The step, the message and the number of tokens of each part.
fn parts(outcome: &ImportOutcome) -> Vec<(usize, usize, usize)> {
    let record = outcome.episodes[0].tokens.as_ref().unwrap();
    assert!(record.is_divided);
    let parts = record.parts.iter();
    parts
        .map(|part| (part.step, part.message, part.range.len()))
        .collect()
}

#[test]
fn an_observation_follows_each_turn() {
    let content = json!([PROMPT, "It is 4.", "Environment: correct"]);
    let outcome = lines(
        "train_data_step1.jsonl",
        &[masked(content, &[0, 0, 1, 1, 1, 0])],
    );
    let episode = &outcome.episodes[0];
    let expected = [
        ("user", "What is 2+2?"),
        ("assistant", "It is 4."),
        ("tool", "Environment: correct"),
    ];
    assert_eq!(said(episode), expected);
    assert_eq!(episode.steps.len(), 1);
    assert_eq!(parts(&outcome), [(0, 0, 2), (1, 0, 3), (1, 1, 1)]);

    let content = json!(["Play.", "up", "moved", "left", "solved"]);
    let outcome = lines("train_data_step1.jsonl", &[train(content)]);
    let expected = [
        ("user", "Play."),
        ("assistant", "up"),
        ("tool", "moved"),
        ("assistant", "left"),
        ("tool", "solved"),
    ];
    assert_eq!(said(&outcome.episodes[0]), expected);
}

/// NeMo-Gym writes no texts.
#[test]
fn empty_messages_are_turns_and_observations() {
    let content = json!(["", "", "", ""]);
    let outcome = lines(
        "train_data_step1.jsonl",
        &[masked(content, &[0, 0, 1, 1, 1, 0, 1])],
    );
    let expected = [(0, 0, 2), (1, 0, 3), (1, 1, 1), (2, 0, 1)];
    assert_eq!(parts(&outcome), expected);
}

#[test]
fn the_mask_may_say_that_each_text_is_a_turn() {
    let content = json!([PROMPT, "It is 4.", "So it is."]);
    let outcome = lines("train_data_step1.jsonl", &[masked(content, &[0, 1, 0, 1])]);
    assert_eq!(outcome.episodes[0].steps.len(), 2);
}

#[test]
fn an_observation_after_a_call_is_its_result() {
    let call = r#"<tool_call>{"name": "add", "arguments": {}}</tool_call>"#;
    let outcome = lines(
        "train_data_step1.jsonl",
        &[train(json!([PROMPT, call, "4", "It is 4."]))],
    );
    let step = outcome.episodes[0].steps.first().unwrap();
    let [volary_core::AnyMessage::Response(result)] = step.messages() else {
        panic!("{:?}", step.messages())
    };
    assert_eq!(&*result.name, "add");
}

#[test]
fn what_a_template_begins_is_of_the_prompt() {
    let prompt = format!("{PROMPT}<think>\n");
    let content = json!(["Be brief.", prompt, "2+2.</think>4", "Environment: correct"]);
    let outcome = lines("train_data_step1.jsonl", &[train(content)]);
    let expected = [
        ("system", "Be brief."),
        ("user", "What is 2+2?"),
        ("assistant", "2+2.</think>4"),
        ("tool", "Environment: correct"),
    ];
    assert_eq!(said(&outcome.episodes[0]), expected);
    assert_eq!(tasks(&outcome), ["What is 2+2?"]);
    let begun = outcome.episodes[0].steps[0].extras.get("begun_with");
    assert_eq!(begun, Some(&"<think>".into()));
    // A text of a whole sample may be cut off.
    let content = json!([(format!("{PROMPT}It is"))]);
    let outcome = lines("train_data_step1.jsonl", &[train(content)]);
    let expected = [("user", "What is 2+2?"), ("assistant", "It is")];
    assert_eq!(said(&outcome.episodes[0]), expected);
}

/// Validation data have the texts of the prompts as they are rendered, too.
#[test]
fn validation_has_the_tasks_of_training() {
    let llama = "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhat is 2+2?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
    let expected = [
        ("user", "What is 2+2?"),
        ("assistant", "It is 4."),
        ("tool", "Environment: correct"),
    ];
    for prompt in [PROMPT, llama] {
        let message = |role: &str, content: &str| json!({"role": role, "content": content});
        let validation = json!([
            (message("user", prompt)),
            (message("assistant", "It is 4.")),
            (message("environment", "Environment: correct"))
        ]);
        let training = json!([prompt, "It is 4.", "Environment: correct"]);
        for (name, content) in [("val", validation), ("train", training)] {
            let outcome = lines(&format!("{name}_data_step1.jsonl"), &[train(content)]);
            assert_eq!(tasks(&outcome), ["What is 2+2?"]);
            assert_eq!(said(&outcome.episodes[0]), expected);
        }
    }
}

#[test]
fn headers_name_the_speakers() {
    let llama = |role: &str, text: &str| {
        format!("<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>")
    };
    let content = json!([
        (llama("user", "Hi.")),
        (llama("assistant", "Ho.")),
        (llama("user", "So?")),
        (llama("assistant", "So."))
    ]);
    let outcome = lines("train_data_step1.jsonl", &[train(content)]);
    let expected = [
        ("user", "Hi."),
        ("assistant", "Ho."),
        ("user", "So?"),
        ("assistant", "So."),
    ];
    assert_eq!(said(&outcome.episodes[0]), expected);
}

#[test]
fn images_are_of_the_message_in_the_markup() {
    let image = json!({"type": "image", "image": "<PIL.Image.Image image mode=RGB size=10x10>"});
    let blocks = json!([image, {"type": "text", "text": PROMPT}]);
    let validation = json!({"role": "user", "content": (blocks.clone())});
    let contents = [
        json!([blocks, "It is 4."]),
        json!([validation, {"role": "assistant", "content": "It is 4."}]),
    ];
    let outcomes = contents.map(|content| lines("train_data_step1.jsonl", &[train(content)]));
    for outcome in &outcomes {
        let [("user", asked), ("assistant", "It is 4.")] = said(&outcome.episodes[0])[..] else {
            panic!("{:?}", said(&outcome.episodes[0]))
        };
        let blocks = Json::parse(asked).unwrap();
        let texts = blocks.as_list().unwrap().iter();
        let texts: Vec<_> = texts.map(|block| block.get("text")).collect();
        assert_eq!(texts, [None, Some(&"What is 2+2?".into())]);
    }
    assert_eq!(tasks(&outcomes[0]), tasks(&outcomes[1]));
}

#[test]
fn without_a_text_the_tokens_of_the_prompt_name_the_task() {
    let sample = |mask: &[u8]| masked(json!(["", ""]), mask);
    let outcome = lines(
        "train_data_step1.jsonl",
        &[sample(&[0, 0, 1]), sample(&[0, 0, 1, 1]), sample(&[0, 1])],
    );
    let [first, same, other] = tasks(&outcome)[..] else {
        panic!("{:?}", outcome.notes)
    };
    assert!(first.starts_with("2 tokens #"), "{first}");
    assert!(first == same && first != other, "{same}, {other}");
}
