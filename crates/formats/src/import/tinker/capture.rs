//! Calls of the sampler that tinker-cookbook captured (`capture/sample.jsonl`): lines of `{kind: "sample", scope,
//! created_at, sampling_session_id, seq_id, model_path, base_model, prompt_tokens, prompt_length, sampling_params,
//! samples: [{tokens, logprobs, stop_reason}], status, latency_sec, error}`.
//!
//! A call has one prompt and several samples, each of which is an episode. There are ids and no texts.

use volary_core::TokenId;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

use crate::import::members::{Members, keep_rest};
use crate::import::reader::{Confidence, Sink};
use crate::import::records::Records;
use crate::import::token_lists::{attach, ids, not_ids, stream};

pub(in crate::import) const SAMPLES: Records = Records {
    id: "tinker-cookbook-capture",
    name: "tinker-cookbook captured samples (one call per line)",
    title: "tinker-cookbook captured samples",
    record: "a captured call of the sampler",
    confidence: Confidence::Likely,
    is: is_call,
    read: call,
};

fn is_call(value: &Json) -> bool {
    let has = |key| value.get(key).is_some();
    let kind = value.get("kind").and_then(Json::as_text);
    kind.is_some_and(|kind| &**kind == "sample") && has("num_samples") && has("status")
}

fn call(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    rest.remove("kind");
    let length = rest.take("prompt_length");
    let scope = rest.take_object("scope").unwrap_or_default();
    let mut call = Call {
        line,
        task: task(&scope),
        model: rest.take_text("model_path"),
        started: rest.take_number("created_at"),
        seconds: rest.take_number("latency_sec"),
        error: rest.take_text("error"),
        status: rest.take_text("status"),
        prompt: Vec::new(),
        metadata: scope,
        rest: Object::new(),
    };
    if let Some(step) = call.metadata.get("iteration").and_then(Json::as_i64) {
        // The name that other trainers give it.
        call.metadata.insert("step", step);
    }
    let base = rest.take_text("base_model");
    call.model = call.model.or(base);
    if let Some(prompt) = rest.take("prompt_tokens") {
        match ids(&prompt) {
            Some(prompt) => call.prompt = prompt,
            None => sink.lost(not_ids("prompt_tokens", &prompt, &format!("line {line}"))),
        }
    } else if let Some(length) = length.filter(|length| length.as_i64() > Some(0)) {
        call.metadata.insert("prompt_length", length);
        sink.lost(
            "The prompt of a call was not captured, only its length (`prompt_length`), so the tokens of its samples \
             are without it.",
        );
    }
    let samples = rest.take_list("samples").unwrap_or_default();
    rest.remove("num_samples");
    if let Some(settings) = rest.take("sampling_params") {
        call.metadata.insert("sampling_params", settings);
    }
    call.rest = rest;
    if samples.is_empty() {
        return call.failed(sink);
    }
    let is_alone = samples.len() == 1;
    for (index, sample) in samples.into_iter().enumerate() {
        match sample {
            Json::Object(sample) => call.sample(sample, (!is_alone).then_some(index), sink),
            _ => sink.lost(format!("Sample {index} of line {line} is not an object.")),
        }
    }
}

/// The prompt among the prompts of its iteration, if the scope says which one it is.
fn task(scope: &Object) -> Option<TaskReference> {
    let shown = |key| scope.get(key).map(Json::to_display);
    let group = shown("group_idx")?;
    let parts = [shown("split"), shown("iteration")].into_iter().flatten();
    let parts: Vec<String> = parts.collect();
    Some(TaskReference {
        dataset: shown("run_id").map_or_else(|| "tinker".into(), Text::from),
        id: if parts.is_empty() {
            format!("group {group}").into()
        } else {
            format!("{}, group {group}", parts.join(" ")).into()
        },
    })
}

/// What the samples of a call share.
struct Call {
    line: usize,
    task: Option<TaskReference>,
    model: Option<Text>,
    started: Option<f64>,
    seconds: Option<f64>,
    error: Option<Text>,
    status: Option<Text>,
    prompt: Vec<TokenId>,
    metadata: Object,
    rest: Object,
}

impl Call {
    fn episode(&self, index: Option<usize>, sink: &Sink<'_>) -> Episode {
        let line = self.line;
        let (id, name) = match index {
            Some(index) => (
                format!("{}-{line}-{index}", sink.stem()),
                format!("Sample {line}.{index}"),
            ),
            None => (format!("{}-{line}", sink.stem()), format!("Sample {line}")),
        };
        Episode {
            id: id.into(),
            name: name.into(),
            task: self.task.clone(),
            model: self.model.clone(),
            started: self.started,
            seconds: self.seconds,
            rewards: Rewards::Unknown,
            ending: Ending::Done,
            metadata: self.metadata.clone(),
            ..Episode::default()
        }
    }

    /// Adds a call that returned nothing.
    fn failed(self, sink: &mut Sink<'_>) {
        let mut episode = self.episode(None, sink);
        let status = self.status.unwrap_or_else(|| "nothing".into());
        episode.ending = Ending::Crashed {
            message: match &self.error {
                Some(error) => error.clone(),
                None => format!("The call returned no sample. Its status is \"{status}\".").into(),
            },
        };
        episode.errors.extend(self.error);
        episode.outcome = Some(status);
        keep_rest(&mut episode, self.rest, sink);
        sink.episode(episode);
    }

    fn sample(&self, mut sample: Object, index: Option<usize>, sink: &mut Sink<'_>) {
        let mut episode = self.episode(index, sink);
        let stop = sample.take_text("stop_reason");
        if stop.as_deref() == Some("length") {
            episode.ending = Ending::Truncated {
                reason: "The limit of tokens was reached.".into(),
            };
        }
        episode.outcome = stop;
        let tokens = sample.take("tokens").filter(|tokens| *tokens != Json::Null);
        if let Some(tokens) = tokens {
            match ids(&tokens) {
                Some(tokens) => self.tokens(tokens, &mut sample, &mut episode, sink),
                None => sink.lost(not_ids("tokens", &tokens, &format!("line {}", self.line))),
            }
        }
        let mut rest = self.rest.clone();
        sample.retain(|_, value| *value != Json::Null);
        for (key, value) in sample {
            rest.insert(key, value);
        }
        keep_rest(&mut episode, rest, sink);
        sink.episode(episode);
    }

    fn tokens(
        &self,
        tokens: Vec<TokenId>,
        sample: &mut Object,
        episode: &mut Episode,
        sink: &mut Sink<'_>,
    ) {
        let sampled = tokens.len();
        let all = self.prompt.iter().copied().chain(tokens).collect();
        // A trainer may leave some of the sampled tokens out.
        let Ok(mut builder) = TokenRecordBuilder::new(all, LossMask::Unknown(sampled)) else {
            return;
        };
        if let Some(values) = sample.get("logprobs").and_then(stream) {
            sample.remove("logprobs");
            builder.stream("logprobs", &values, Alignment::Response);
        }
        attach(builder.divided(episode), episode, sink);
    }
}
