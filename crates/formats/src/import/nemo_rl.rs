//! Rollouts logged by NeMo-RL, a file for each step (`train_data_step7.jsonl`, `val_data_step7.jsonl`). Every value is a
//! list of one, as of a batch, except for `idx`. Arrays of tokens are padded to the longest of the batch, and cut at
//! `input_lengths`. A sample whose `sample_loss_mask` is 0 (too long, or masked by the environment) is left out of the loss,
//! whatever the mask of its tokens says; that mask is kept. `conversation` reads the messages.

mod conversation;

use volary_core::TokenStream;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

use super::members::{Members, count, keep_rest, number, reward};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::token_lists::{attach, flags, ids, not_ids, stream};
use conversation::Conversation;

pub(super) const NEMO_RL: Records = Records {
    id: "nemo-rl",
    name: "NeMo-RL train and validation data (one sample per line)",
    title: "NeMo-RL data",
    record: "a sample",
    confidence: Confidence::Likely,
    is: is_sample,
    read: sample,
};

/// Lists that are no streams.
const OTHERS: [&str; 3] = ["token_ids", "token_loss_mask", "content"];

fn is_sample(value: &Json) -> bool {
    let is_list = |key: &str| value.get(key).is_some_and(|list| list.as_list().is_some());
    let has = |key: &str| value.get(key).is_some();
    has("idx")
        && (is_list("token_loss_mask")
            || is_list("rewards") && (is_list("content") || is_list("input_lengths"))
            // Distillation has no rewards.
            || is_list("content") && is_list("input_lengths"))
}

/// The only element of a batch of one.
fn only(value: Json) -> Json {
    match value {
        Json::List(mut list) if list.len() == 1 => list.pop().unwrap_or_default(),
        value => value,
    }
}

fn sample(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    let index = rest.take("idx");
    let stem = sink.stem();
    let step = step_of(&stem);
    let content = rest.take("content").map(only);
    if content.as_ref().is_some_and(has_ids) {
        sink.kept(
            "The content of a sample has token ids instead of texts; it is kept as `content`.",
        );
        rest.insert("content", content.clone().unwrap_or_default());
    }
    let content = content.filter(|content| !has_ids(content));
    let messages = content.and_then(list).unwrap_or_default();
    let Conversation {
        transcript, task, ..
    } = Conversation::of(messages, trained_runs(&rest));
    let worth = rest.take("rewards").map(only);
    if let Some(Json::List(several)) = &worth {
        rest.insert("rewards", several.clone());
    }
    let worth = worth.as_ref().and_then(reward);
    let filtered = rest
        .take("filtered_rewards")
        .map(only)
        .as_ref()
        .and_then(reward);
    let worth = filtered.or(worth);
    let sample = index
        .as_ref()
        .map_or_else(|| line.to_string(), Json::to_display);
    let mut episode = Episode {
        id: format!("{stem}-{sample}").into(),
        name: match step {
            Some(step) => format!("Step {step}, sample {sample}").into(),
            None => format!("Sample {sample}").into(),
        },
        task: task.map(reference),
        rewards: worth.map_or(Rewards::Unknown, Rewards::Whole),
        ending: Ending::Done,
        ..Episode::default()
    };
    let members = [
        ("step", step.map(Json::from)),
        ("sample", index),
        ("split", stem.starts_with("val_").then(|| "eval".into())),
    ];
    for (key, value) in members {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
    let counted = rest.take("sample_loss_mask").map(only);
    let is_left_out = counted.as_ref().and_then(number) == Some(0.0);
    if let Some(counted) = counted {
        episode.metadata.insert("sample_loss_mask", counted);
    }
    if is_left_out {
        sink.kept(
            "A sample with `sample_loss_mask` 0 is left out of the loss, whatever the mask of its tokens says.",
        );
    }
    transcript.finish(&mut episode);
    tokens(&mut rest, line, &mut episode, sink);
    if episode.task.is_none() {
        episode.task = task_of_tokens(&episode).map(reference);
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

fn reference(id: Text) -> TaskReference {
    TaskReference {
        dataset: "nemo-rl".into(),
        id,
    }
}

/// The name of the task by the tokens of the prompt, which precede the first trained one.
fn task_of_tokens(episode: &Episode) -> Option<Text> {
    let record = episode.tokens.as_ref()?;
    let is_known = record.is_mask_known && record.strip.trained() > 0;
    let prompt = record.strip.ids().get(..record.prompt)?;
    is_known.then(|| slime::task_of_ids(prompt)).flatten()
}

/// The number of runs of trained tokens.
fn trained_runs(sample: &Object) -> Option<usize> {
    let mask = sample.get("token_loss_mask")?;
    let mask = match mask.as_list()? {
        [inner @ Json::List(_)] => flags(inner)?,
        _ => flags(mask)?,
    };
    let runs = mask.chunk_by(|one, next| one == next);
    Some(runs.filter(|run| run.first() == Some(&true)).count())
}

/// Whether a content is a list of ids, or has one for each message.
fn has_ids(content: &Json) -> bool {
    let is_ids = |value: &Json| ids(value).is_some_and(|ids| !ids.is_empty());
    is_ids(content)
        || content
            .as_list()
            .is_some_and(|messages| messages.iter().any(is_ids))
}

fn list(value: Json) -> Option<Vec<Json>> {
    match value {
        Json::List(list) => Some(list),
        value @ Json::Text(_) => Some(vec![value]),
        _ => None,
    }
}

/// The step in the name of a file.
fn step_of(stem: &str) -> Option<i64> {
    let (_, number) = stem.rsplit_once("step")?;
    number.trim_start_matches('_').parse().ok()
}

fn tokens(rest: &mut Object, line: usize, episode: &mut Episode, sink: &mut Sink<'_>) {
    let length = rest
        .take("input_lengths")
        .map(only)
        .as_ref()
        .and_then(count);
    let length = length.and_then(|length| usize::try_from(length).ok());
    let known = rest.take("token_ids").map(only);
    if let Some(wrong) = known.as_ref().filter(|known| ids(known).is_none()) {
        sink.lost(not_ids("token_ids", wrong, &format!("line {line}")));
        rest.insert("token_ids", wrong.clone());
    }
    let known = known.as_ref().and_then(ids);
    let mask = rest.take("token_loss_mask").map(only);
    if let Some(wrong) = mask.as_ref().filter(|mask| flags(mask).is_none()) {
        sink.lost("The mask of a sample has values that are no flags: it is unknown, and kept as `token_loss_mask`.");
        rest.insert("token_loss_mask", wrong.clone());
    }
    let mask = mask.as_ref().and_then(flags);
    let Some(mut known) = known else {
        if let Some(mask) = mask {
            sink.kept("A sample has a mask without the ids of its tokens; it is kept as `token_loss_mask`.");
            let mask = mask.into_iter().map(Json::from).collect();
            rest.insert("token_loss_mask", Json::List(mask));
        }
        return;
    };
    if let Some(length) = length.filter(|length| *length > known.len()) {
        sink.lost(format!(
            "`input_lengths` is {length}, but there are {} tokens.",
            known.len()
        ));
    }
    let padded = known.len();
    let length = length.map_or(padded, |length| length.min(padded));
    known.truncate(length);
    let mask = mask.map(|mut mask| {
        mask.truncate(length);
        mask
    });
    let recorded = match &mask {
        Some(mask) => LossMask::Full(mask.clone()),
        None => LossMask::Unknown(length),
    };
    let mut builder = match TokenRecordBuilder::new(known, recorded) {
        Ok(builder) => builder,
        Err(error) => return sink.lost(format!("The tokens of a sample can't be used: {error}.")),
    };
    let mut streams: Vec<(Text, TokenStream)> = Vec::new();
    rest.retain(|key, value| {
        let values = match value.as_list() {
            Some([inner @ Json::List(_)]) => stream(inner),
            // Without the list around it.
            Some(list) if list.len() == padded && padded > 1 => stream(value),
            _ => None,
        };
        match values {
            Some(values) if !OTHERS.contains(&key.as_ref()) => {
                streams.push((Text::from(key.as_ref()), values));
                false
            }
            _ => true,
        }
    });
    // Some versions have one advantage for the sample.
    let advantage = rest
        .get("advantages")
        .and_then(|value| only(value.clone()).as_f64());
    if let Some(advantage) = advantage {
        rest.remove("advantages");
        let values = std::iter::repeat_n(Some(advantage), length).collect();
        streams.push(("advantages".into(), values));
    }
    for (name, mut values) in streams {
        if values.len() > length {
            values.resize(length);
        }
        if let (Some(mask), "advantages") = (&mask, &*name) {
            // It is written at every position, and counts where the mask is on.
            let masked = values.iter().zip(mask);
            values = masked
                .map(|(value, is_on)| value.filter(|_| *is_on))
                .collect();
        }
        builder.stream(name, &values, Alignment::Full);
    }
    attach(builder.divided(episode), episode, sink);
}
