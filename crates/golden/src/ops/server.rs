//! The server, called in-process, on a clock that the case controls.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use futures_util::future::LocalBoxFuture;
use tower::ServiceExt;
use volary_core::clock::Standstill;
use volary_core::dataset::{DatasetError, EnvsTaskDataset, TaskDataset};
use volary_core::environment::Setting;
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Frame, Json, Object, Reset, Step, Text, json,
};
use volary_server::app::app;
use volary_server::options::ServerOptions;
use volary_server::server::Server;
use volary_server::shared::MakeDataset;

use super::environments;
use super::input::{given, list, object, required, text, told};

const BODY_LIMIT: usize = 1 << 24;

pub(super) fn server_http(input: &Json) -> Result<Json, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(told)?;
    runtime.block_on(exchanges(input))
}

async fn exchanges(input: &Json) -> Result<Json, String> {
    let options = ServerOptions {
        api_key: given(input, "api_key")
            .and_then(Json::as_text)
            .map(|key| key.to_string()),
        ..ServerOptions::default()
    };
    // Seconds as the bits of a float: the clock is shared with the server's threads.
    let now = Arc::new(AtomicU64::new(0f64.to_bits()));
    let clock = Arc::clone(&now);
    let seconds = Arc::new(move || f64::from_bits(clock.load(Ordering::Relaxed)));
    let dataset = required(input, "dataset")?.clone();
    let make: MakeDataset = Arc::new(move || make(&dataset));
    let server = Server::start(options, make, seconds, 1)
        .await
        .map_err(told)?;
    let app = app(server, None, None);
    let mut ids: Vec<Text> = Vec::new();
    let mut replies = Vec::new();
    for step in list(input, "steps")? {
        if let Some(advance) = given(step, "advance_s").and_then(Json::as_f64) {
            let later = f64::from_bits(now.load(Ordering::Relaxed)) + advance;
            now.store(later.to_bits(), Ordering::Relaxed);
        }
        let path = text(step, "path")?;
        let request = request(step, &path, &ids)?;
        let response = app.clone().oneshot(request).await.map_err(told)?;
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), BODY_LIMIT)
            .await
            .map_err(told)?;
        let body = read_body(&bytes);
        if &*path == "/start"
            && let Some(id) = body.get("env_id").and_then(Json::as_text)
        {
            ids.push(id.clone());
        }
        replies.push(json!({"status": (i64::from(status)), "body": (named(body, &ids))}));
    }
    Ok(Json::List(replies))
}

fn request(step: &Json, path: &str, ids: &[Text]) -> Result<Request<Body>, String> {
    let mut request = Request::builder().method(&*text(step, "method")?).uri(path);
    for (name, value) in object(step, "headers")?.iter() {
        request = request.header(&**name, &**value.as_text().ok_or("a header is no text")?);
    }
    let body = match (step.get("json"), given(step, "raw")) {
        (Some(value), _) => Some(filled(value.clone(), ids).to_python_text()),
        (None, Some(_)) => Some(text(step, "raw")?.to_string()),
        (None, None) => None,
    };
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    request
        .body(Body::from(body.unwrap_or_default()))
        .map_err(told)
}

fn read_body(bytes: &[u8]) -> Json {
    let text = String::from_utf8_lossy(bytes);
    volary_core::json::read(&text).unwrap_or_else(|_| Json::from(&*text))
}

/// Replaces `$env0`, `$env1`, … by ids.
fn filled(value: Json, ids: &[Text]) -> Json {
    texts(value, &|text| {
        let indexed = ids.iter().enumerate();
        // In descending order, so that `$env1` is not found in `$env10`.
        indexed.rev().fold(text.to_owned(), |text, (index, id)| {
            text.replace(&format!("$env{index}"), id)
        })
    })
}

/// Replaces ids by `$env0`, `$env1`, …
fn named(value: Json, ids: &[Text]) -> Json {
    texts(value, &|text| {
        let indexed = ids.iter().enumerate();
        indexed.fold(text.to_owned(), |text, (index, id)| {
            text.replace(&**id, &format!("$env{index}"))
        })
    })
}

fn texts(value: Json, change: &dyn Fn(&str) -> String) -> Json {
    match value {
        Json::Text(text) => Json::from(change(&text)),
        Json::List(list) => {
            Json::List(list.into_iter().map(|value| texts(value, change)).collect())
        }
        Json::Object(object) => Json::Object(
            object
                .into_iter()
                .map(|(key, value)| (key, texts(value, change)))
                .collect(),
        ),
        other => other,
    }
}

fn make(dataset: &Json) -> Result<Box<dyn TaskDataset>, DatasetError> {
    let wrong = |message: String| DatasetError::Failed {
        message: message.into(),
    };
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Standstill),
        outside: Rc::new(volary_core::outside::Closed),
    };
    let kind = text(dataset, "kind").map_err(wrong)?;
    match &*kind {
        "dummy" => {
            let registry = volary_envs::registry();
            Ok(registry.dataset_from_name("dummy", &Object::new(), &setting)?)
        }
        "calculator" => Ok(Box::new(Calculators {
            tasks: list(dataset, "tasks").map_err(wrong)?.to_vec(),
            config: dataset.get("config").cloned(),
            setting,
        })),
        "calculator_args" => Ok(Box::new(CalculatorsByArguments { setting })),
        "envs" => {
            let environments: Result<Vec<Box<dyn Environment>>, DatasetError> =
                list(dataset, "envs")
                    .map_err(wrong)?
                    .iter()
                    .map(|entry| {
                        let name = text(entry, "env").map_err(wrong)?;
                        let configuration = object(entry, "config").map_err(wrong)?;
                        environment(&name, configuration, &setting)
                    })
                    .collect();
            Ok(Box::new(EnvsTaskDataset::new(environments?)))
        }
        "stuck" => Ok(Box::new(Stuck { setting })),
        other => Err(wrong(format!("there is no dataset of kind {other:?}"))),
    }
}

fn environment(
    name: &str,
    configuration: Object,
    setting: &Setting,
) -> Result<Box<dyn Environment>, DatasetError> {
    environments::named(name, configuration, setting).map_err(|message| DatasetError::Failed {
        message: message.into(),
    })
}

/// Calculators by index.
struct Calculators {
    tasks: Vec<Json>,
    config: Option<Json>,
    setting: Setting,
}

impl TaskDataset for Calculators {
    fn kind(&self) -> &'static str {
        "Calculators"
    }

    fn length(&self) -> Option<usize> {
        Some(self.tasks.len())
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let task = self.tasks.get(index).ok_or(DatasetError::OutOfRange {
            index: i64::try_from(index).unwrap_or(i64::MAX),
            length: self.tasks.len(),
        })?;
        let mut configuration = task.as_object().cloned().unwrap_or_default();
        if let Some(config) = &self.config {
            configuration.insert("config", config.clone());
        }
        environment("calculator", configuration, &self.setting)
    }
}

struct CalculatorsByArguments {
    setting: Setting,
}

impl TaskDataset for CalculatorsByArguments {
    fn kind(&self) -> &'static str {
        "CalculatorsByArguments"
    }

    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        environment("calculator", arguments.clone(), &self.setting)
    }
}

/// Dummy environments that do not close.
struct Stuck {
    setting: Setting,
}

impl TaskDataset for Stuck {
    fn kind(&self) -> &'static str {
        "Stuck"
    }

    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        environment("dummy", Object::new(), &self.setting)
            .map(|environment| Box::new(DoesNotClose(environment)) as Box<dyn Environment>)
    }
}

struct DoesNotClose(Box<dyn Environment>);

impl Environment for DoesNotClose {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        self.0.reset()
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        self.0.step(action)
    }

    fn export_frame(&self) -> Frame {
        self.0.export_frame()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<(), EnvironmentError>> {
        Box::pin(std::future::ready(Err(EnvironmentError::Failed {
            message: "cannot close".into(),
        })))
    }
}
