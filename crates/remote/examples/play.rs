//! Plays episodes on any TaskDatasetServer through a blocking transport: a minimal native client.
//!
//! `play < plan.json`, where the plan is `{"server_url", "api_key"?, "episodes": [{"start": {"task_idx"? |
//! "task_kwargs"?}, "actions": [message, …]}]}`. Prints the result as JSON.

use std::io::Read;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use ureq::Agent;
use volary_core::json::{Json, Object, read};
use volary_core::message::DumpOptions;
use volary_core::{AnyMessage, json};
use volary_remote::request::Start;
use volary_remote::{
    ClientOptions, KEY_HEADER, Method, TaskDatasetClient, Transport, TransportError, WireReply,
    WireRequest,
};

type Failure = Box<dyn std::error::Error>;

/// The maximum size of a reply.
const REPLY_LIMIT: u64 = 256 << 20;

/// A blocking transport that uses ureq.
struct Blocking {
    agent: Agent,
}

impl Blocking {
    fn new() -> Self {
        let config = Agent::config_builder().http_status_as_error(false);
        Blocking {
            agent: config.build().into(),
        }
    }

    fn exchange(&self, request: &WireRequest) -> Result<WireReply, ureq::Error> {
        let timeout = request.timeout.map(Duration::from_secs_f64);
        let key = request.api_key.as_deref();
        let mut response = match request.method {
            Method::Get => {
                let mut get = self.agent.get(&request.url);
                if let Some(key) = key {
                    get = get.header(KEY_HEADER, key);
                }
                get.config().timeout_global(timeout).build().call()?
            }
            Method::Post => {
                let mut post = self
                    .agent
                    .post(&request.url)
                    .content_type("application/json");
                if let Some(key) = key {
                    post = post.header(KEY_HEADER, key);
                }
                let body = request.body.as_deref().unwrap_or_default();
                post.config().timeout_global(timeout).build().send(body)?
            }
        };
        Ok(WireReply {
            status: response.status().as_u16(),
            body: response
                .body_mut()
                .with_config()
                .limit(REPLY_LIMIT)
                .read_to_string()?,
        })
    }
}

impl Transport for Blocking {
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Result<WireReply, TransportError>> {
        let reply = self.exchange(&request).map_err(|error| match error {
            ureq::Error::Timeout(_) => TransportError::Timeout,
            other => TransportError::Unreachable {
                reason: other.to_string().into(),
            },
        });
        Box::pin(std::future::ready(reply))
    }

    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()> {
        std::thread::sleep(Duration::from_secs_f64(seconds));
        Box::pin(std::future::ready(()))
    }
}

fn main() -> Result<(), Failure> {
    let mut plan = String::new();
    std::io::stdin().read_to_string(&mut plan)?;
    let played = play(&read(&plan)?)
        .now_or_never()
        .ok_or("a blocking transport never waits")??;
    println!("{}", played.to_python_text());
    Ok(())
}

async fn play(plan: &Json) -> Result<Json, Failure> {
    let url = plan
        .get("server_url")
        .and_then(Json::as_text)
        .ok_or("no server_url")?;
    let options = ClientOptions {
        api_key: plan.get("api_key").and_then(Json::as_text).cloned(),
        close_replaced: true,
        retries: 2,
        ..ClientOptions::new(url.clone())
    };
    let dataset = TaskDatasetClient::connect(options, Rc::new(Blocking::new())).await?;
    let mut played = Vec::new();
    for episode in plan.get("episodes").and_then(Json::as_list).unwrap_or(&[]) {
        played.push(play_one(&dataset, episode).await?);
    }
    Ok(Json::List(played))
}

async fn play_one(dataset: &TaskDatasetClient, episode: &Json) -> Result<Json, Failure> {
    let start = Start::read(Some(episode.get("start").unwrap_or(&json!({}))));
    let start = start.map_err(|problems| format!("{problems:?}"))?;
    let mut environment = dataset.environment(start);
    let reset = environment.try_reset().await?;
    let tools = reset
        .tools
        .iter()
        .map(|tool| Json::from(tool.info.name.clone()));
    let tools = Json::List(tools.collect());
    let mut steps = Vec::new();
    for action in episode
        .get("actions")
        .and_then(Json::as_list)
        .unwrap_or(&[])
    {
        steps.push(
            match environment.try_step(&AnyMessage::read(action)?).await {
                Ok(step) => json!({
                    "messages": (dumps(&step.messages)?),
                    "reward": (step.reward),
                    "done": (step.done),
                    "truncated": (step.truncated)
                }),
                Err(error) => json!({"error": (error.to_string())}),
            },
        );
    }
    let _ = environment.fetch_frame().await;
    let frame = format!("{:?}", environment.frames());
    let closed = environment.try_close().await?;
    Ok(json!({
        "messages": (dumps(&reset.messages)?),
        "tools": tools,
        "steps": steps,
        "frames": frame,
        "closed": closed
    }))
}

fn dumps(messages: &[AnyMessage]) -> Result<Json, Failure> {
    let dumps: Result<Vec<Object>, _> = messages
        .iter()
        .map(|message| message.dump(&DumpOptions::with_info()))
        .collect();
    Ok(Json::from(dumps?))
}
