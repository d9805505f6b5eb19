//! The codec driver of tests/interop: each line on standard input is a command in JSON, each line on standard output
//! its answer.
//!
//! - `{"do": "request", "provider", "base_url", "key", "request"}`: the HTTP request, as it would be sent.
//! - `{"do": "reply", "provider", "status", "content_type", "body"}`: the parsed reply: `answer` and `action`, or
//!   `error`.
//! - `{"do": "play", "provider", "base_url", "key", "model", "environment", …}`: plays an episode against a server
//!   on this machine.

mod http;
mod play;

use std::io::{BufRead, Write};

use volary_agent::model::selector::ToolSelector;
use volary_agent::model::{
    Answer, ApiKey, Effort, ModelError, ModelRequest, ParameterFallback, ParameterFallbacks,
    ProviderKind, Reply, ToolChoice, select,
};
use volary_core::json::{Json, Object, Text, read};
use volary_core::message::DumpOptions;
use volary_core::{AnyMessage, Tool, json, object};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    for line in std::io::stdin().lock().lines() {
        let command = read(&line?)?;
        let answer = match &*text(&command, "do")? {
            "request" => request(&command),
            "reply" => reply(&command),
            "play" => play::play(&command),
            other => Err(format!("not understood: {other}").into()),
        };
        let answer = answer.unwrap_or_else(|error| json!({"failure": (error.to_string())}));
        println!("{}", answer.to_python_text());
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn text(value: &Json, key: &str) -> Result<Text, Failure> {
    let found = value.get(key).and_then(Json::as_text);
    Ok(found.ok_or_else(|| format!("no text `{key}`"))?.clone())
}

fn provider(command: &Json) -> Result<ProviderKind, Failure> {
    let name = text(command, "provider")?;
    Ok(ProviderKind::from_name(&name).ok_or_else(|| format!("no provider {name}"))?)
}

fn key(command: &Json) -> ApiKey {
    ApiKey::new(
        command
            .get("key")
            .and_then(Json::as_text)
            .map_or("", |key| key),
    )
}

fn request(command: &Json) -> Result<Json, Failure> {
    let described = command.get("request").ok_or("no request")?;
    let request = described_request(described)?;
    let base_url = text(command, "base_url")?;
    let http = provider(command)?
        .provider()
        .request(&base_url, &key(command), &request);
    let mut headers = Object::new();
    for (name, value) in &http.headers {
        headers.insert(*name, value.expose());
    }
    let method = http.method();
    Ok(json!({"method": method, "url": (http.url), "headers": headers, "body": (http.body)}))
}

/// Parses a request in the provider-independent form.
fn described_request(described: &Json) -> Result<ModelRequest, Failure> {
    let list = |key: &str| described.get(key).and_then(Json::as_list).unwrap_or(&[]);
    let messages = list("messages").iter().map(AnyMessage::read);
    let tools = list("tools").iter().map(Tool::read);
    let mut request = ModelRequest {
        model: text(described, "model")?,
        messages: messages.collect::<Result<_, _>>()?,
        tools: tools.collect::<Result<_, _>>()?,
        tool_choice: described.get("tool_choice").map(choice).transpose()?,
        temperature: described.get("temperature").and_then(Json::as_f64),
        stop: list("stop")
            .iter()
            .filter_map(Json::as_text)
            .cloned()
            .collect(),
        seed: described.get("seed").and_then(Json::as_i64),
        stream: described.get("stream").and_then(Json::as_bool) == Some(true),
        fallbacks: fallbacks(list("concessions")),
        ..ModelRequest::default()
    };
    if let Some(limit) = described.get("max_tokens").and_then(Json::as_i64) {
        request.max_tokens = Some(limit.try_into()?);
    }
    if let Some(word) = described.get("effort").and_then(Json::as_text) {
        let mut efforts = Effort::ALL.into_iter();
        let effort = efforts.find(|effort| effort.as_str() == &**word);
        request.effort = Some(effort.ok_or_else(|| format!("no effort {word}"))?);
    }
    Ok(request)
}

fn choice(value: &Json) -> Result<ToolChoice, Failure> {
    Ok(match value.as_text().map(|word| &**word) {
        Some("required") => ToolChoice::Required,
        Some("auto") => ToolChoice::Auto,
        Some("none") => ToolChoice::None,
        Some(other) => return Err(format!("no tool choice {other}").into()),
        None => ToolChoice::Tool(text(value, "tool")?),
    })
}

/// Fallbacks by their names in code.
fn fallbacks(names: &[Json]) -> ParameterFallbacks {
    let named = |fallback: &ParameterFallback| {
        let name = format!("{fallback:?}");
        names
            .iter()
            .any(|known| *known == Json::from(name.as_str()))
    };
    let named = ParameterFallback::ALL.into_iter().filter(named);
    named.fold(ParameterFallbacks::default(), ParameterFallbacks::with)
}

fn reply(command: &Json) -> Result<Json, Failure> {
    let kind = provider(command)?;
    let status = command.get("status").and_then(Json::as_i64).unwrap_or(200);
    let content_type = text(command, "content_type")?;
    let mut reply = Reply::new(
        kind.provider(),
        &key(command),
        status.try_into()?,
        &content_type,
        None,
    );
    let mut deltas = Vec::new();
    let answer = reply
        .push(text(command, "body")?.as_bytes(), &mut deltas)
        .and_then(|()| reply.finish(&mut deltas));
    Ok(match answer {
        Ok(answer) => {
            let mut selector = ToolSelector::new("the-model", false, false);
            let name = kind.provider().name();
            let action = select(&mut selector, &answer, name, |index| {
                format!("made{index}").into()
            });
            let action = match action {
                Ok(action) => Json::Object(action.dump(&DumpOptions::with_info())?),
                Err(error) => shown_error(&error),
            };
            json!({"answer": (shown(&answer)), "action": action, "deltas": (deltas.len() as i64)})
        }
        Err(error) => json!({"error": (shown_error(&error))}),
    })
}

fn shown(answer: &Answer) -> Json {
    let calls = answer.calls.iter().map(|call| {
        json!({"id": (call.id.clone()), "name": (call.name.clone()), "arguments": (call.arguments.clone())})
    });
    let usage = answer.usage.map(|usage| {
        let counts = [
            ("prompt", usage.prompt),
            ("completion", usage.completion),
            ("cached", usage.cached),
            ("cache_written", usage.cache_written),
            ("reasoning", usage.reasoning),
        ];
        let counts = counts.map(|(key, count)| (key.into(), Json::from(count as i64)));
        Json::Object(counts.into_iter().collect())
    });
    json!({
        "text": (answer.text.clone()),
        "thinking": (answer.thinking.clone()),
        "calls": (Json::List(calls.collect())),
        "finish": (answer.finish.as_str()),
        "refusal": (answer.refusal.clone()),
        "usage": usage,
        "model": (answer.model.clone()),
        "echo": (answer.echo.clone())
    })
}

fn shown_error(error: &ModelError) -> Json {
    let debug = format!("{error:?}");
    let kind = debug
        .split(|character: char| !character.is_alphanumeric())
        .next();
    Json::Object(object!({"kind": (kind.unwrap_or("")), "message": (error.to_string())}))
}
