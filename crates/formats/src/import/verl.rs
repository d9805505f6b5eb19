//! Rollouts and validation samples dumped by verl's trainer, a file for each training step: lines of `{input, output,
//! score, step, …}` (`trainer.rollout_data_dir` and `trainer.validation_data_dir`).
//!
//! The texts are decoded without special tokens. With a ChatML template the roles remain as separate lines, which
//! delimit the messages; otherwise the input is one message and the output another one. Token ids may be in the place of a
//! text.

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};
use volary_episode::token_record::{LossMask, TokenRecordBuilder};

use super::members::{Members, keep_rest, reward};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::said::{Said, ids_of_both, keep_ids};
use super::slime;
use super::token_lists::{attach, ids};
use super::transcript::Transcript;

pub(super) const VERL: Records = Records {
    id: "verl",
    name: "verl rollouts (one per line)",
    title: "verl rollouts",
    record: "a rollout",
    confidence: Confidence::Likely,
    is: is_rollout,
    read: rollout,
};

/// The member with the ground truth.
const TRUTH: &str = "gts";

fn is_rollout(value: &Json) -> bool {
    let is_said = |key: &str| {
        value
            .get(key)
            .is_some_and(|said| said.as_text().is_some() || ids(said).is_some())
    };
    let has = |key: &str| value.get(key).is_some();
    let is_number = |key: &str| {
        value
            .get(key)
            .is_some_and(|number| number.as_f64().is_some())
    };
    // A reward function may give no score, and older files have no step. Other tools call their texts like this, too.
    is_said("input")
        && is_said("output")
        && has("score")
        && (is_number("step") || is_number("score") && (has("gts") || is_plain(value)))
        && value.get("messages").is_none_or(Json::is_null)
}

/// Whether a value has nothing but two texts and numbers, as the first dumps of verl.
fn is_plain(value: &Json) -> bool {
    let members = value
        .as_object()
        .into_iter()
        .flat_map(|object| object.iter());
    let mut others = members.filter(|(key, _)| !["input", "output"].contains(&key.as_ref()));
    others.all(|(_, value)| value.as_f64().is_some() || value.as_bool().is_some())
}

/// The score of a rollout: a number, a flag, or the text of a number, since what is not JSON is written as text.
fn score(value: &Json) -> Option<f64> {
    match value {
        Json::Text(text) => text.trim().parse().ok(),
        value => reward(value),
    }
}

fn rollout(mut rest: Object, number: usize, sink: &mut Sink<'_>) {
    // The name of a file is its step.
    let step = rest.take_step("step").unwrap_or_else(|| sink.stem());
    let input = Said::of(rest.take("input"));
    let output = Said::of(rest.take("output"));
    let tokens = ids_of_both(&input, &output);
    if tokens.is_none() {
        keep_ids(&input, ("input", "input_ids"), &mut rest, sink);
        keep_ids(&output, ("output", "output_ids"), &mut rest, sink);
    }
    let mut transcript = Transcript::default();
    // Rollouts with the same prompt are trials of one task.
    let (task, header) = match input {
        Said::Text(input) => push_input(&mut transcript, &input),
        input => (input.push(&mut transcript), None),
    };
    match (output, &header) {
        (Said::Text(output), Some(begun)) => {
            slime::push_response(&mut transcript, &marked(&format!("{begun}{output}")));
        }
        (Said::Text(output), None) => slime::push_response(&mut transcript, &output),
        (output, _) => drop(output.push(&mut transcript)),
    }
    let worth = rest.get("score").and_then(score);
    match rest.take("score") {
        Some(score @ (Json::Object(_) | Json::List(_) | Json::Text(_))) if worth.is_none() => {
            sink.kept("A score that is no number is kept as `score`, and is no reward.");
            rest.insert("score", score);
        }
        _ => {}
    }
    if header.is_some() {
        sink.kept("The roles of messages are a guess: the texts have no special tokens.");
    }
    let mut episode = Episode {
        id: format!("{}-{number}", sink.stem()).into(),
        name: format!("Step {step}, sample {number}").into(),
        task: task.map(|task| TaskReference {
            dataset: "verl".into(),
            id: task,
        }),
        rewards: worth.map_or(Rewards::Unknown, Rewards::Whole),
        ending: Ending::Done,
        ..Episode::default()
    };
    episode.metadata.insert("step", step);
    // Newer versions name the prompt.
    if let Some(group) = rest.get("uid").filter(|group| !group.is_null()) {
        episode.metadata.insert("group", group_of(group));
    }
    if is_validation(&rest, worth, sink) {
        episode.metadata.insert("split", "eval");
    }
    for (key, value) in std::mem::take(&mut rest) {
        // Additional results of the reward function, and the ground truth.
        match value {
            Json::Bool(_) | Json::Integer(_) | Json::Float(_) if *key != *TRUTH => {
                episode.scores.push(Score {
                    name: key.as_ref().into(),
                    value,
                    ..Score::default()
                })
            }
            value => {
                episode.metadata.insert(key, value);
            }
        }
    }
    transcript.finish(&mut episode);
    if let Some((ids, response)) = tokens
        && let Ok(builder) = TokenRecordBuilder::new(ids, LossMask::Unknown(response))
    {
        attach(builder.divided(&episode), &mut episode, sink);
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The group of a `uid`: that of the prompt, or in newer versions `{prompt}_{rollout}_{output}`.
fn group_of(uid: &Json) -> Json {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let prompt = uid.as_text().and_then(|uid| {
        let (rest, output) = uid.rsplit_once('_')?;
        let (prompt, rollout) = rest.rsplit_once('_')?;
        let is_numbered = is_number(rollout) && is_number(output) && !prompt.is_empty();
        is_numbered.then(|| Json::from(Text::from(prompt)))
    });
    prompt.unwrap_or_else(|| uid.clone())
}

/// Whether a sample is one of a validation: the name of the folder or file says it (`trainer.validation_data_dir`), or else
/// the score, which only validations repeat as `reward`, unless a reward function has a value of this name.
fn is_validation(sample: &Object, score: Option<f64>, sink: &Sink<'_>) -> bool {
    let name = format!("{}/{}", sink.folder(), sink.stem()).to_ascii_lowercase();
    let has_word = |known: &[&str]| {
        let mut words = name.split(|sign: char| !sign.is_ascii_alphabetic());
        words.any(|word| known.contains(&word))
    };
    if has_word(&["val", "valid", "validation", "eval", "evals", "evaluation"]) {
        return true;
    }
    if has_word(&["rollout", "rollouts", "train", "training"]) {
        return false;
    }
    let repeats_score = || score.is_some() && sample.get("reward").and_then(reward) == score;
    has_word(&["test"]) || repeats_score()
}

/// Adds the messages of an input. Returns the name of its task; and what the template began the answer with, if the input
/// has roles.
fn push_input(transcript: &mut Transcript, input: &str) -> (Option<Text>, Option<String>) {
    let Prompt {
        messages,
        has_roles,
        begun,
    } = prompt(input);
    let task = slime::task_of(&messages);
    messages
        .into_iter()
        .for_each(|message| transcript.observe(message.into()));
    (task, has_roles.then(|| begun.to_owned()))
}

/// The roles of ChatML, as they remain without special tokens.
const ROLES: [(&str, Role); 4] = [
    ("system", Role::System),
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Tool),
];

fn role(line: &str) -> Option<Role> {
    let known = ROLES.iter().find(|(name, _)| *name == line);
    known.map(|(_, role)| *role)
}

/// An input, divided.
struct Prompt<'a> {
    messages: Vec<Message>,
    /// Whether the input contains their roles.
    has_roles: bool,
    /// What the template wrote of the assistant's message, such as `<think>`.
    begun: &'a str,
}

/// Divides an input. With roles, it ends with the header of the assistant's message.
fn prompt(input: &str) -> Prompt<'_> {
    const HEADER: &str = "\nassistant";
    const THINKING: &str = "<think>";
    let first = input.lines().next().unwrap_or_default();
    let ends = input.trim_end().strip_suffix(HEADER);
    let begins = || {
        let (before, begun) = input.rsplit_once("\nassistant\n")?;
        begun
            .trim_start()
            .starts_with(THINKING)
            .then_some((before, begun))
    };
    let divided = ends.map(|before| (before, "")).or_else(begins);
    let Some((before, begun)) = divided.filter(|_| role(first).is_some()) else {
        return Prompt {
            messages: vec![Message::user(input)],
            has_roles: false,
            begun: "",
        };
    };
    let mut messages: Vec<(Role, Vec<&str>)> = Vec::new();
    // Line breaks of the texts stay as they are: `lines` drops the carriage returns.
    for line in before.split_terminator('\n') {
        match (role(line), messages.last_mut()) {
            (Some(role), _) => messages.push((role, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    let messages = messages
        .into_iter()
        .map(|(role, lines)| Message::new(role, Text::from(lines.join("\n"))));
    Prompt {
        messages: messages.collect(),
        has_roles: true,
        begun,
    }
}

/// An output with its ChatML markup restored.
fn marked(output: &str) -> String {
    let mut marked = String::with_capacity(output.len());
    for line in output.split_inclusive('\n') {
        match role(line.trim_end_matches('\n')) {
            Some(_) => {
                marked.push_str("<|im_end|>\n<|im_start|>");
                marked.push_str(line);
            }
            None => marked.push_str(line),
        }
    }
    marked
}
