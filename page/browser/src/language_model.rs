//! The model built into the browser: the Prompt API (`LanguageModel`), which exists in windows only, not in workers.
//!
//! Invariants:
//! - One session exists at a time: further calls wait for their turn, because each session takes memory of the device.
//! - Nothing is downloaded by a call. Only [`download`] does it, after a click.
//! - Dropping a future aborts what it started, and destroys its session.
//!
//! The API is read by name, since it is too new for `web-sys`, and some of its names have changed.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::lock::Mutex;
use js_sys::{Array, JSON, Object, Promise};
use volary_agent::model::prompt_api::reply::Fault;
use volary_agent::model::prompt_api::{Availability, PromptReply};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use super::js_member::{function, get, set};
use super::timers;

/// The turn to have a session.
static TURN: Mutex<()> = Mutex::new(());

/// The options that decide whether there is a model: the same ones for which sessions are created.
const OPTIONS: &str = r#"{"expectedInputs":[{"type":"text","languages":["en"]}],"expectedOutputs":[{"type":"text","languages":["en"]}]}"#;

/// Whether there is a model that can be used.
pub async fn availability() -> Availability {
    let Some(class) = class() else {
        return Availability::Missing;
    };
    let options = JSON::parse(OPTIONS).unwrap_or(JsValue::UNDEFINED);
    let said = call(&class, "availability", &[options]).await;
    let word = said.ok().and_then(|word| word.as_string());
    // An error means that the document may not use the API, or that the browser failed.
    word.and_then(|word| Availability::from_name(&word))
        .unwrap_or(Availability::Unavailable)
}

/// Downloads the model, and reports the downloaded part, from 0 to 1. Must be called by a click.
pub async fn download(progress: impl FnMut(f64) + 'static) -> Result<(), Fault> {
    let class = class().ok_or_else(|| Fault::not_ready(Availability::Missing))?;
    let abort = Abort::new()?;
    let progress = Closure::<dyn FnMut(JsValue)>::new({
        let mut progress = progress;
        move |event: JsValue| {
            if let Some(loaded) = number(&event, &["loaded"]) {
                progress(loaded.clamp(0.0, 1.0));
            }
        }
    });
    let listener = progress.as_ref().clone();
    let monitor = Closure::<dyn FnMut(JsValue)>::new(move |monitor: JsValue| {
        let arguments = Array::of2(&"downloadprogress".into(), &listener);
        if let Some(listen) = function(&monitor, "addEventListener") {
            // Without progress the download still works.
            let _ = listen.apply(&monitor, &arguments);
        }
    });
    let options = JSON::parse(OPTIONS).map_err(|error| fault(&error))?;
    set(&options, "signal", &abort.signal());
    set(&options, "monitor", monitor.as_ref());
    let session = call(&class, "create", &[options]).await;
    session
        .map(|session| drop(Session(session)))
        .map_err(|error| fault(&error))
}

/// Makes a call: `request` is a [`Call`](volary_agent::model::prompt_api::Call) as JSON. `limit` is the time for
/// creating the session, and again for the answer.
pub async fn prompt(request: &str, limit: Duration) -> Result<PromptReply, Silent> {
    let _turn = TURN.lock().await;
    Ok(prompted(request, limit)
        .await?
        .unwrap_or_else(|error| PromptReply {
            error: Some(error),
            ..PromptReply::default()
        }))
}

/// The model did not answer in time.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

async fn prompted(request: &str, limit: Duration) -> Result<Result<PromptReply, Fault>, Silent> {
    let ready = availability().await;
    let Some(class) = class().filter(|_| ready == Availability::Available) else {
        return Ok(Err(Fault::not_ready(ready)));
    };
    let abort = match Abort::new() {
        Ok(abort) => abort,
        Err(error) => return Ok(Err(error)),
    };
    let parsed = JSON::parse(request).unwrap_or(JsValue::UNDEFINED);
    let (create, input, options) = (
        get(&parsed, "create"),
        get(&parsed, "prompt"),
        get(&parsed, "options"),
    );
    let constrained = get(&options, "responseConstraint").is_object();
    set(&create, "signal", &abort.signal());
    set(&options, "signal", &abort.signal());
    let session = match in_time(limit, call(&class, "create", &[create])).await? {
        Ok(session) => Session(session),
        Err(error) => return Ok(Err(fault(&error))),
    };
    let usage = || number(&session.0, &["contextUsage", "inputUsage"]);
    let before = usage();
    let mut measured = None;
    for name in ["measureContextUsage", "measureInputUsage"] {
        if measured.is_none() && function(&session.0, name).is_some() {
            let arguments = [input.clone(), options.clone()];
            let tokens = in_time(limit, call(&session.0, name, &arguments)).await?;
            // What cannot be measured is reported by the prompt.
            measured = tokens.ok().and_then(|tokens| tokens.as_f64());
        }
    }
    let said = in_time(limit, call(&session.0, "prompt", &[input, options])).await?;
    let response = match said {
        Ok(response) => response.as_string(),
        Err(error) => return Ok(Err(fault(&error))),
    };
    let prompt_tokens = before.zip(measured).map(|(before, prompt)| before + prompt);
    let used = usage().zip(prompt_tokens);
    Ok(Ok(PromptReply {
        response,
        constrained,
        prompt_tokens,
        response_tokens: used.map(|(used, prompt)| (used - prompt).max(0.0)),
        ..PromptReply::default()
    }))
}

async fn in_time<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Silent> {
    match select(pin!(future), pin!(timers::sleep(limit))).await {
        Either::Left((output, _)) => Ok(output),
        Either::Right(_) => Err(Silent),
    }
}

/// Aborts what was started with its signal.
struct Abort(AbortController);

impl Abort {
    fn new() -> Result<Self, Fault> {
        AbortController::new()
            .map(Abort)
            .map_err(|error| fault(&error))
    }

    fn signal(&self) -> JsValue {
        self.0.signal().into()
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        // Does nothing if all is over.
        self.0.abort();
    }
}

/// A session, destroyed when it is dropped.
struct Session(JsValue);

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(destroy) = function(&self.0, "destroy") {
            // A session that cannot be destroyed is left to the browser.
            let _ = destroy.call0(&self.0);
        }
    }
}

fn class() -> Option<JsValue> {
    let class = get(&js_sys::global(), "LanguageModel");
    function(&class, "create").is_some().then_some(class)
}

fn number(object: &JsValue, names: &[&str]) -> Option<f64> {
    names.iter().find_map(|name| get(object, name).as_f64())
}

/// Calls a method and waits for its promise.
async fn call(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let method = function(object, name).ok_or(JsValue::UNDEFINED)?;
    let arguments: Array = arguments.iter().collect();
    JsFuture::from(Promise::resolve(&method.apply(object, &arguments)?)).await
}

/// An exception as data.
fn fault(error: &JsValue) -> Fault {
    let text = |key: &str| get(error, key).as_string();
    Fault {
        name: text("name").unwrap_or_else(|| "UnknownError".to_owned()),
        message: text("message").unwrap_or_else(|| match error.dyn_ref::<Object>() {
            Some(object) => String::from(object.to_string()),
            None => String::new(),
        }),
        requested: number(error, &["requested"]),
        quota: number(error, &["quota"]),
    }
}
