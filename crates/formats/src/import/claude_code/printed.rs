//! The settings and the result of a run, from its `stream-json` events.

use volary_core::json::{Json, Text};
use volary_core::object;
use volary_episode::episode::{Ending, Episode, Outcome, Usage};

use crate::import::chat;
use crate::import::members::{number, text_at};

/// Reads metadata of an episode from lines that are not messages.
pub(super) fn tell(lines: &[Json], episode: &mut Episode) {
    let of_kind = |kind: &'static str| {
        let is = move |line: &&Json| text_at(line, &["type"]).as_deref() == Some(kind);
        lines.iter().filter(is)
    };
    let is_init = |line: &&Json| text_at(line, &["subtype"]).as_deref() == Some("init");
    if let Some(init) = of_kind("system").find(is_init) {
        set_up(init, episode);
    }
    // In a conversation with several user turns each turn has a result; the last one has the total cost.
    if let Some(result) = of_kind("result").next_back() {
        ended(result, episode);
    }
}

fn set_up(init: &Json, episode: &mut Episode) {
    episode.model = episode.model.take().or_else(|| text_at(init, &["model"]));
    // The event contains only the names of the tools.
    let tools = init.get("tools").and_then(Json::as_list);
    let tools = tools.unwrap_or_default().iter().filter_map(Json::as_text);
    episode.tools = tools
        .filter_map(|name| chat::tool(&object!({ "name": (name.clone()) }).into()))
        .collect();
    for (key, name) in [("cwd", "cwd"), ("claude_code_version", "version")] {
        if let Some(value) = text_at(init, &[key])
            && !episode.metadata.contains_key(name)
        {
            episode.metadata.insert(name, value);
        }
    }
}

fn ended(result: &Json, episode: &mut Episode) {
    let outcome = text_at(result, &["subtype"]);
    let failed = result.get("is_error").and_then(Json::as_bool) == Some(true);
    episode.ending = match outcome.as_deref() {
        Some(limit) if limit.starts_with("error_max_") => Ending::Truncated {
            reason: format!("It was cut off: {limit}.").into(),
        },
        Some(error) if failed || error.starts_with("error") => {
            let message = text_at(result, &["result"]).filter(|text| !text.is_empty());
            let message: Text =
                message.unwrap_or_else(|| format!("The run ended with {error}.").into());
            episode.errors.push(message.clone());
            Ending::Crashed { message }
        }
        _ => Ending::Done,
    };
    // The steps were read before.
    if let Some(Outcome::Observed {
        done, truncated, ..
    }) = episode.steps.last_mut().map(|step| &mut step.outcome)
    {
        *done = episode.ending == Ending::Done;
        *truncated = matches!(episode.ending, Ending::Truncated { .. });
    }
    episode.outcome = outcome;
    let usage = result.get("usage").and_then(chat::usage);
    let usage = Usage {
        cost: result.get("total_cost_usd").and_then(number),
        ..usage.unwrap_or_else(|| episode.usage())
    };
    episode.total_usage = (!usage.is_empty()).then_some(usage);
    let seconds = result.get("duration_ms").and_then(number);
    episode.seconds = seconds.map(|spent| spent / 1000.0).or(episode.seconds);
}
