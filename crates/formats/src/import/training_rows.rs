//! Rows of data sets that [`volary_export::training_rows`] wrote, as JSON Lines or from Parquet.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{
    Ending, EndingKind, Episode, Outcome, Rewards, Score, StepRecord, TaskReference, Usage,
};
use volary_episode::token_record::{LossMask, TokenPart, TokenRecord, TokenRecordBuilder};

use super::chat;
use super::members::{Members, keep_rest};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::token_lists::{flags, ids, stream};
use super::transcript::Transcript;
use volary_export::training_rows::{MARK, RECONSTRUCTED, STREAM, UNDIVIDED};

pub(super) const TRAINING_ROWS: Records = Records {
    id: "volary-rows",
    name: "Volary rows with messages and tokens (JSON Lines or Parquet)",
    title: "Volary rows",
    record: "a row of Volary",
    confidence: Confidence::Certain,
    is: |value| value.get(MARK).is_some(),
    read: row,
};

fn row(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    rest.retain(|_, value| !value.is_null());
    rest.remove(MARK);
    let metadata = match unpacked(&mut rest, "metadata") {
        Some(Json::Object(metadata)) => metadata,
        _ => Object::new(),
    };
    // They are in the metadata, too.
    for key in ["step", "group", "sample"] {
        rest.remove(key);
    }
    let id = rest.take_id("id");
    let dataset = rest.take_text("dataset").unwrap_or_default();
    let kind = rest.take_text("ending");
    let kind = kind.and_then(|word| EndingKind::read(&word));
    let reason = rest.take_text("ending_reason").unwrap_or_default();
    let reward = rest.take("reward").and_then(|reward| reward.as_f64());
    let rewards = rest.take_list("rewards");
    let usage = Usage {
        input: whole(&mut rest, "input_tokens"),
        output: whole(&mut rest, "output_tokens"),
        cost: rest.take("cost").and_then(|cost| cost.as_f64()),
        ..Usage::default()
    };
    let mut episode = Episode {
        id: id.unwrap_or_else(|| format!("{}-{line}", sink.stem()).into()),
        name: rest.take_text("name").unwrap_or_default(),
        task: rest
            .take_text("task")
            .map(|id| TaskReference { dataset, id }),
        environment: rest.take_text("environment"),
        model: rest.take_text("model"),
        policy: rest.take_text("agent"),
        rewards: match (&rewards, reward) {
            (Some(_), _) => Rewards::Steps,
            (None, Some(reward)) => Rewards::Whole(reward),
            (None, None) => Rewards::Unknown,
        },
        scores: scores(&mut rest),
        ending: match kind {
            Some(EndingKind::Done) => Ending::Done,
            Some(EndingKind::Truncated) => Ending::Truncated { reason },
            Some(EndingKind::Crashed) => Ending::Crashed { message: reason },
            Some(EndingKind::Open) | None => Ending::Open,
        },
        outcome: rest.take_text("outcome"),
        errors: texts(&mut rest, "errors"),
        total_usage: (!usage.is_empty()).then_some(usage),
        started: rest.take("started").and_then(|time| time.as_f64()),
        seconds: rest.take("seconds").and_then(|time| time.as_f64()),
        metadata,
        ..Episode::default()
    };
    if let Some(Json::List(tools)) = unpacked(&mut rest, "tools") {
        episode.tools = tools.iter().filter_map(chat::tool).collect();
    }
    let (started, seconds) = (episode.started, episode.seconds);
    let starts = indices(&mut rest, "steps");
    transcript(&mut rest, &starts, &mut episode);
    (episode.started, episode.seconds) = (started, seconds);
    for (step, reward) in episode.steps.iter_mut().zip(rewards.unwrap_or_default()) {
        put_reward(step, &reward);
    }
    tokens(&mut rest, &starts, &mut episode, sink);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The value of a JSON text.
fn unpacked(rest: &mut Object, key: &str) -> Option<Json> {
    match rest.take(key)? {
        Json::Text(text) => Json::parse(&text).ok(),
        value => Some(value),
    }
}

fn whole(rest: &mut Object, key: &str) -> Option<u64> {
    u64::try_from(rest.take(key)?.as_i64()?).ok()
}

fn texts(rest: &mut Object, key: &str) -> Vec<Text> {
    let list = rest.take_list(key).unwrap_or_default();
    list.iter().filter_map(Json::as_text).cloned().collect()
}

fn indices(rest: &mut Object, key: &str) -> Vec<usize> {
    let list = rest.take_list(key).unwrap_or_default();
    let index = |value: &Json| usize::try_from(value.as_i64()?).ok();
    list.iter().filter_map(index).collect()
}

fn scores(rest: &mut Object) -> Vec<Score> {
    let Some(Json::List(scores)) = unpacked(rest, "scores") else {
        return Vec::new();
    };
    let score = |score: Json| {
        let Json::Object(mut score) = score else {
            return None;
        };
        Some(Score {
            name: score.take_text("name")?,
            value: score.take("value").unwrap_or_default(),
            explanation: score.take_text("explanation"),
            extras: score,
        })
    };
    scores.into_iter().filter_map(score).collect()
}

/// Reads the messages. Those at the positions of steps are actions, whatever their role.
fn transcript(rest: &mut Object, starts: &[usize], episode: &mut Episode) {
    let mut transcript = Transcript::default();
    let messages = rest.take_list("messages").unwrap_or_default();
    for (index, message) in messages.into_iter().enumerate() {
        let message = match message {
            Json::Object(mut message) => {
                message.retain(|_, value| !value.is_null());
                if let Some(content) = unpacked(&mut message, "content_json") {
                    message.insert("content", content);
                }
                Json::Object(message)
            }
            message => message,
        };
        for said in chat::read(&message) {
            match starts.binary_search(&index) {
                Ok(_) => transcript.act(said),
                Err(_) => transcript.observe(said),
            }
        }
    }
    transcript.finish(episode);
}

fn put_reward(step: &mut StepRecord, value: &Json) {
    if let (Outcome::Observed { reward, .. }, Some(value)) = (&mut step.outcome, value.as_f64()) {
        *reward = value;
    }
}

fn tokens(rest: &mut Object, starts: &[usize], episode: &mut Episode, sink: &mut Sink<'_>) {
    let Some(known) = rest.take("tokens").as_ref().and_then(ids) else {
        return;
    };
    let count = known.len();
    let mask = rest.take("loss_mask").as_ref().and_then(flags);
    let prompt = whole(rest, "prompt_length").and_then(|prompt| usize::try_from(prompt).ok());
    let prompt = prompt.unwrap_or_default().min(count);
    let parts = rest.take_list("token_parts").unwrap_or_default();
    let parts = parts.iter().filter_map(|value| part(value, starts, count));
    let parts: Vec<TokenPart> = parts.collect();
    let marks = texts(rest, "token_flags");
    let has = |mark: &str| marks.iter().any(|known| **known == *mark);
    let mask = match mask {
        Some(mask) if mask.len() != count => {
            return sink.lost(format!(
                "The tokens of a row can't be used: the mask has {} values for {count} tokens.",
                mask.len()
            ));
        }
        Some(mask) => LossMask::Response(mask.get(prompt..).unwrap_or_default().to_vec()),
        None => LossMask::Unknown(count - prompt),
    };
    let builder = match TokenRecordBuilder::new(known, mask) {
        Ok(builder) => builder,
        Err(error) => return sink.lost(format!("The tokens of a row can't be used: {error}.")),
    };
    let mut record: TokenRecord = if parts.is_empty() {
        builder.divided(episode)
    } else {
        builder.with_parts(parts)
    };
    record.is_divided = !has(UNDIVIDED);
    record.is_reconstructed = has(RECONSTRUCTED);
    rest.retain(|key, value| {
        let Some(values) = stream(value) else {
            return true;
        };
        let name = key.as_ref();
        let name = name.strip_prefix(STREAM).unwrap_or(name);
        let length = values.len();
        if record.strip.set_stream(name, values).is_err() {
            sink.lost(format!(
                "`{name}` has {length} values for {count} tokens and is left out."
            ));
        }
        false
    });
    episode.tokens = Some(Arc::new(record));
}

fn part(value: &Json, starts: &[usize], count: usize) -> Option<TokenPart> {
    let number = |key: &str| usize::try_from(value.get(key)?.as_i64()?).ok();
    let (message, start, end) = (number("message")?, number("start")?, number("end")?);
    let step = starts.partition_point(|first| *first <= message);
    let first = step.checked_sub(1).and_then(|step| starts.get(step));
    (start <= end && end <= count).then(|| TokenPart {
        step,
        message: message - first.copied().unwrap_or_default(),
        range: start..end,
    })
}
