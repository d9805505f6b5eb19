//! The token export of prime-rl's trainer (`token_exports/step_N/rank_k.jsonl`): a line for each sequence, with arrays
//! over all its tokens. There are no texts. Some versions have the reward of a sequence at each of its tokens.

use volary_core::json::{Json, Object};
use volary_episode::episode::{Ending, Episode, Rewards};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

use crate::import::members::{Members, keep_rest};
use crate::import::reader::{Confidence, Sink};
use crate::import::records::Records;
use crate::import::token_lists::{
    REWARDS, attach, flags, ids, not_ids, reward_of_tokens, take_streams,
};

pub(in crate::import) const TOKEN_EXPORT: Records = Records {
    id: "prime-rl-token-export",
    name: "prime-rl token export (one sequence per line)",
    title: "prime-rl token export",
    record: "a sequence",
    confidence: Confidence::Certain,
    is: is_sequence,
    read: sequence,
};

fn is_sequence(value: &Json) -> bool {
    let is_list = |key: &str| value.get(key).is_some_and(|list| list.as_list().is_some());
    value.get("schema_version").is_some() && is_list("token_ids") && is_list("loss_mask")
}

fn sequence(mut rest: Object, line: usize, sink: &mut Sink<'_>) {
    sink.set_version(rest.take_id("schema_version"));
    // The export of a step may be written while the trainer is at a later one.
    if let Some(step) = rest.take_if("export_step", |step| step.as_i64().is_some())
        && let Some(trainer) = rest.insert("step", step)
    {
        rest.insert("trainer_step", trainer);
    }
    let shown = |rest: &Object, key| {
        rest.get(key)
            .map_or_else(|| "?".to_owned(), Json::to_display)
    };
    let numbers = ["step", "rank", "micro_step", "micro_sequence_idx"].map(|key| shown(&rest, key));
    let [step, rank, batch, sequence] = &numbers;
    let mut episode = Episode {
        id: format!("step-{step}-rank-{rank}-{batch}-{sequence}").into(),
        name: format!("Step {step}, rank {rank}, batch {batch}, sequence {sequence}").into(),
        environment: rest.take_text("env_name"),
        rewards: Rewards::Unknown,
        ending: Ending::Done,
        ..Episode::default()
    };
    let sample = rest
        .take("export_sequence_idx")
        .unwrap_or_else(|| (line as i64).into());
    episode.metadata.insert("sample", sample);
    for key in [
        "step",
        "trainer_step",
        "rank",
        "micro_step",
        "micro_sequence_idx",
    ] {
        if let Some(value) = rest.take(key) {
            episode.metadata.insert(key, value);
        }
    }
    if let Some(run) = rest.take_id("run_id") {
        episode.metadata.insert("run", run);
    }
    rest.remove("position_ids");
    let known = rest.take("token_ids").unwrap_or_default();
    let mask = rest.take("loss_mask").as_ref().and_then(flags);
    let (known, mask) = match (ids(&known), mask) {
        (Some(known), Some(mask)) => (known, mask),
        (None, _) => return sink.lost(not_ids("token_ids", &known, &format!("line {line}"))),
        (_, None) => {
            return sink.lost(format!(
                "`loss_mask` in line {line} has values that are no flags."
            ));
        }
    };
    let (tokens, flags) = (known.len(), mask.len());
    let mask = if flags == tokens {
        LossMask::Full(mask)
    } else {
        LossMask::Unknown(0)
    };
    match TokenRecordBuilder::new(known, mask) {
        Ok(mut builder) => {
            if flags != tokens {
                builder.misfit("loss_mask", flags, tokens);
            }
            for (name, values) in take_streams(&mut rest) {
                if &*name == REWARDS {
                    episode.rewards = reward_of_tokens(&values);
                }
                builder.stream(name, &values, Alignment::Full);
            }
            attach(builder.divided(&episode), &mut episode, sink);
        }
        Err(error) => sink.lost(format!("The tokens of line {line} can't be used: {error}.")),
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}
