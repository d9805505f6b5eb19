//! Tools of the page for agents in the browser: WebMCP (`document.modelContext`; `navigator.modelContext` in its first versions).
//!
//! Invariants:
//! - A browser without the API is no error: nothing happens.
//! - A tool is registered until its [`ToolRegistration`] is dropped. Calls that are under way then end as usual.
//! - The page sends nothing: the browser calls a tool, and gets what it returns.
//!
//! The API is read by name, since it is too new for `web-sys`, and some of its names have changed.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{JSON, Object, Promise};
use volary_core::json::{Json, read};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::AbortController;

use super::js_member::{function, get, set};
use super::spawn;

/// Runs a tool: its arguments, and the future of its result.
pub type RunTool = Rc<dyn Fn(Json) -> Pin<Box<dyn Future<Output = Json>>>>;

/// Something that agents can call.
pub struct PageTool {
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    pub description: &'static str,
    /// The JSON Schema of the arguments.
    pub schema: Json,
    pub run: RunTool,
}

/// Registered tools. Dropping it takes them back.
pub struct ToolRegistration {
    context: JsValue,
    names: Vec<&'static str>,
    abort: AbortController,
    _functions: Vec<Closure<dyn FnMut(JsValue) -> Promise>>,
}

/// Registers tools; `None` if the browser has no such API.
pub fn register(tools: Vec<PageTool>) -> Option<ToolRegistration> {
    let context = context()?;
    let register = function(&context, "registerTool")?;
    let abort = AbortController::new().ok()?;
    let options = Object::new();
    set(&options, "signal", &abort.signal());
    let mut names = Vec::new();
    let mut functions = Vec::new();
    for tool in tools {
        let execute = execute(tool.run);
        let definition = definition(tool.name, tool.title, tool.description, &tool.schema);
        set(&definition, "execute", execute.as_ref());
        // Refused if the document may not offer tools, or another script has one of this name.
        if let Ok(registered) = register.call2(&context, &definition, &options) {
            names.push(tool.name);
            // It is a promise in newer versions, whose rejection would be reported in the console.
            spawn(async move {
                let _ = JsFuture::from(Promise::resolve(&registered)).await;
            });
        }
        functions.push(execute);
    }
    Some(ToolRegistration {
        context,
        names,
        abort,
        _functions: functions,
    })
}

impl Drop for ToolRegistration {
    fn drop(&mut self) {
        self.abort.abort();
        // Earlier versions know no signal.
        if let Some(unregister) = function(&self.context, "unregisterTool") {
            for name in &self.names {
                // Refused if the signal has done it already.
                let _ = unregister.call1(&self.context, &(*name).into());
            }
        }
    }
}

fn definition(name: &str, title: &str, description: &str, schema: &Json) -> Object {
    let definition = Object::new();
    set(&definition, "name", &name.into());
    set(&definition, "title", &title.into());
    set(&definition, "description", &description.into());
    set(&definition, "inputSchema", &to_js(schema));
    let annotations = Object::new();
    // Results contain texts of files.
    set(&annotations, "untrustedContentHint", &JsValue::TRUE);
    set(&definition, "annotations", &annotations);
    definition
}

fn execute(run: RunTool) -> Closure<dyn FnMut(JsValue) -> Promise> {
    Closure::new(move |arguments: JsValue| {
        let running = run(from_js(&arguments));
        future_to_promise(async move { Ok(to_js(&running.await)) })
    })
}

fn context() -> Option<JsValue> {
    let global = js_sys::global();
    ["document", "navigator"].iter().find_map(|owner| {
        let owner = get(&global, owner);
        let context = owner.is_object().then(|| get(&owner, "modelContext"))?;
        function(&context, "registerTool").map(|_| context)
    })
}

/// Arguments as a value. A browser gives an object; some give its text.
fn from_js(arguments: &JsValue) -> Json {
    let text = arguments.as_string().or_else(|| {
        let text = JSON::stringify(arguments).ok()?;
        text.as_string()
    });
    let value = text.and_then(|text| read(&text).ok());
    value.unwrap_or_else(|| Json::Object(Default::default()))
}

fn to_js(value: &Json) -> JsValue {
    JSON::parse(&value.to_compact_text()).unwrap_or(JsValue::NULL)
}
