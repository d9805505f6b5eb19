//! Runs of Docent, `AgentRun`: `{id, name, transcripts: [{id, messages, metadata}], metadata: {scores, …}}`, one per
//! file or one per line. Each transcript of a run is an episode; messages are in Inspect's form.

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, Score, StepError, TaskReference};

use super::chat;
use super::members::{Members, keep_rest, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::transcript::Transcript;

pub(super) const DOCENT: Records = Records {
    id: "docent",
    name: "Docent agent runs (JSON, or one per line)",
    title: "Docent",
    record: "an agent run",
    confidence: Confidence::Likely,
    is: is_run,
    read: run,
};

fn is_run(value: &Json) -> bool {
    let is_transcript = |value: &Json| {
        let messages = value.get("messages").and_then(Json::as_list);
        messages.is_some_and(|messages| messages.iter().take(8).any(chat::is_message))
    };
    match value.get("transcripts") {
        Some(Json::List(all)) => all.iter().take(4).any(is_transcript),
        Some(Json::Object(all)) => all.values().take(4).any(is_transcript),
        _ => false,
    }
}

fn run(mut rest: Object, number: usize, sink: &mut Sink<'_>) {
    let id = rest
        .take_id("id")
        .unwrap_or_else(|| format!("{}-{number}", sink.stem()).into());
    let name = rest.take_text("name");
    let metadata = rest.take_object("metadata").unwrap_or_default();
    let transcripts: Vec<(Option<Text>, Json)> = match rest.take("transcripts") {
        Some(Json::List(list)) => list.into_iter().map(|value| (None, value)).collect(),
        // In older versions they are keyed by name.
        Some(Json::Object(all)) => {
            let named = |(key, value): (volary_core::json::Key, Json)| {
                (Some(Text::from(key.as_ref())), value)
            };
            all.into_iter().map(named).collect()
        }
        _ => Vec::new(),
    };
    let several = transcripts.len() > 1;
    for (index, (key, transcript)) in transcripts.into_iter().enumerate() {
        let Json::Object(transcript) = transcript else {
            sink.lost("A transcript is not an object.");
            continue;
        };
        if sink.is_full() {
            return;
        }
        let mut episode = Episode {
            id: id.clone(),
            name: name.clone().unwrap_or_default(),
            metadata: metadata.clone(),
            rewards: Rewards::Unknown,
            ending: Ending::Done,
            ..Episode::default()
        };
        judge(&mut episode);
        if several {
            episode.id = format!("{id}/{}", index + 1).into();
        }
        transcript_of(transcript, key, several, &mut episode, sink);
        if index == 0 {
            keep_rest(&mut episode, std::mem::take(&mut rest), sink);
        }
        sink.episode(episode);
    }
}

/// Reads scores, task and model from the metadata of a run.
fn judge(episode: &mut Episode) {
    let scores = episode.metadata.take_object("scores").unwrap_or_default();
    for (name, value) in scores {
        episode.scores.push(Score {
            name: name.as_ref().into(),
            value,
            ..Score::default()
        });
    }
    if let Some(reward) = episode.metadata.take_reward("reward") {
        episode.rewards = Rewards::Whole(reward);
    } else if let [only] = episode.scores.as_slice()
        && let Some(worth) = super::members::reward(&only.value)
    {
        episode.rewards = Rewards::Whole(worth);
    }
    episode.model = episode.metadata.take_text("model");
    let dataset = episode.metadata.get("benchmark_id").and_then(Json::as_text);
    let dataset = dataset.cloned().unwrap_or_else(|| "docent".into());
    let task = ["task_id", "sample_id"]
        .iter()
        .find_map(|key| episode.metadata.take_id(key));
    episode.task = task.map(|id| TaskReference { dataset, id });
}

fn transcript_of(
    mut rest: Object,
    key: Option<Text>,
    several: bool,
    episode: &mut Episode,
    sink: &mut Sink<'_>,
) {
    let name = rest.take_text("name").or(key);
    if let Some(name) = name
        && (several || episode.name.is_empty())
    {
        episode.name = if episode.name.is_empty() {
            name
        } else {
            format!("{}, {name}", episode.name).into()
        };
    }
    episode.started = rest.take_time("created_at");
    let about = rest.take_object("metadata").unwrap_or_default();
    episode.metadata.extend_missing(about);
    let mut transcript = Transcript::default();
    for message in rest.take_list("messages").unwrap_or_default() {
        let Json::Object(mut message) = message else {
            sink.lost("A message is not an object.");
            continue;
        };
        let model = message.take_text("model");
        let error = message.take_object("error").map(Json::from);
        for mut said in chat::read(&message.into()) {
            if let Some(error) = &error {
                let text = text_at(error, &["message"]);
                said.details.errors.push(StepError {
                    call: None,
                    message: text.unwrap_or_else(|| error.to_compact_text().into()),
                });
            }
            episode.model = episode.model.take().or_else(|| model.clone());
            said.details.model = model.clone();
            transcript.push(said);
        }
    }
    transcript.finish(episode);
    rest.remove("id");
    keep_rest(episode, rest, sink);
}
