//! The files of Python (`dist/python/`): fetched once, then kept in the browser, so that Python starts without a
//! connection too.
//!
//! Invariants: the list of the files is stored after all files that it names, so a stored list is complete. The files'
//! folder is named after its content, so a stored file never becomes stale; other folders are deleted.

use js_sys::{Array, ArrayBuffer, Object};
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Cache, RequestCache, RequestInit, Response};

use super::python_port::set;

/// Where the build puts the files, relative to the page.
const FOLDER: &str = "python";

/// The name of their store. The service worker (`src/service-worker.js`) reads the document of the sandbox from it.
const STORE: &str = "volary-python";

/// The list of the files.
const LIST: &str = "python/kit.json";

/// Why there is no Python on a page without its files, and what to do.
const NO_RUNTIME: &str = "the page built into the volary command does not include the Python runtime. \
                          Start the command with --page and the folder of a whole page, which `cargo xtask build` writes \
                          to dist/, or open a hosted page.";

/// Why there is no Python without a connection, and what to do.
const NOT_STORED: &str = "this device is offline, and the Python runtime is not stored in this browser yet. \
                          Go online and try again; everything else works offline.";

/// What the sandboxed frame is given, and the document that receives it.
pub(super) struct PythonFiles {
    /// Texts and buffers by purpose, as the relay expects them.
    pub message: Object,
    /// The large buffers among them, to be transferred instead of copied.
    pub transferred: Array,
    pub document: SandboxDocument,
}

/// Where the document of the sandboxed frame comes from. Both ways give it an opaque origin.
pub(super) enum SandboxDocument {
    /// From the network: the frame's attribute `sandbox` makes the origin opaque.
    Network(String),
    /// From the store: browsers bypass service workers for frames with that attribute, so the service worker adds the
    /// header `Content-Security-Policy: sandbox` instead.
    Store(String),
}

/// The list of the files, as the build writes it.
#[derive(Deserialize)]
struct Kit {
    folder: String,
    bytes: f64,
    files: FileNames,
    wheels: Vec<String>,
}

/// File names by purpose.
#[derive(Deserialize)]
struct FileNames {
    boot: String,
    host: String,
    core: String,
    asm: String,
    wasm: String,
    stdlib: String,
}

impl Kit {
    fn path(&self, name: &str) -> String {
        format!("{FOLDER}/{}/{name}", self.folder)
    }
}

/// Fetches the files, or reads those that are stored. `progress` is given the bytes so far and the bytes in all.
///
/// # Errors
///
/// Says why there is no Python, and what to do: no connection and nothing stored, or a page without these files.
pub(super) async fn load(mut progress: impl FnMut(f64, f64)) -> Result<PythonFiles, JsValue> {
    // Without a store, for example in a private window, everything comes from the network.
    let store = open_store().await.ok();
    let (list, is_offline) = match requested(LIST, RequestCache::NoCache).await {
        Ok(response) if response.status() == 404 => return Err(NO_RUNTIME.into()),
        Ok(response) => (response, false),
        // A stored list helps only if the service worker answers for the sandbox's document.
        Err(error) => match stored(store.as_ref(), LIST).await {
            Some(response) if is_controlled() => (response, true),
            _ if !super::network::is_online() => return Err(NOT_STORED.into()),
            _ => return Err(error),
        },
    };
    let list = text(list).await?;
    let kit: Kit = serde_json::from_str(&list).map_err(|error| error.to_string())?;

    let message = Object::new();
    let transferred = Array::new();
    let mut fetched = 0.0;
    let mut count = |length: u32| {
        fetched += f64::from(length);
        progress(fetched, kit.bytes);
    };
    let files = &kit.files;
    let store = store.as_ref();
    for (role, name) in [
        ("boot", &files.boot),
        ("host", &files.host),
        ("core", &files.core),
        ("asm", &files.asm),
    ] {
        let text = text(file(store, &kit, name).await?).await?;
        count(u32::try_from(text.len()).unwrap_or(u32::MAX));
        set(&message, role, &text.into());
    }
    for (role, name) in [("stdlib", &files.stdlib), ("wasm", &files.wasm)] {
        let buffer = bytes(file(store, &kit, name).await?).await?;
        count(buffer.byte_length());
        set(&message, role, &buffer);
        transferred.push(&buffer);
    }
    let wheels = Array::new();
    for name in &kit.wheels {
        let buffer = bytes(file(store, &kit, name).await?).await?;
        count(buffer.byte_length());
        wheels.push(&buffer);
    }
    set(&message, "wheels", &wheels);

    let path = kit.path("python.html");
    let document = if is_offline {
        SandboxDocument::Store(path)
    } else {
        if let Some(store) = store {
            // A store that is full or was deleted meanwhile: Python works now, and needs a connection next time.
            let _ = complete(store, &kit, &list).await;
        }
        SandboxDocument::Network(path)
    };
    Ok(PythonFiles {
        message,
        transferred,
        document,
    })
}

/// Stores the document of the sandbox and then the list, and deletes the files of other versions.
async fn complete(store: &Cache, kit: &Kit, list: &str) -> Result<(), JsValue> {
    let document = kit.path("python.html");
    if stored(Some(store), &document).await.is_none() {
        JsFuture::from(store.add_with_str(&document)).await?;
    }
    let response = Response::new_with_opt_str(Some(list))?;
    JsFuture::from(store.put_with_str(LIST, &response)).await?;
    let ours = format!("/{FOLDER}/{}/", kit.folder);
    let requests: Array = JsFuture::from(store.keys()).await?.dyn_into()?;
    for request in requests.iter() {
        let request: web_sys::Request = request.dyn_into()?;
        let url = request.url();
        if !url.contains(&ours) && !url.ends_with(LIST) {
            JsFuture::from(store.delete_with_request(&request)).await?;
        }
    }
    Ok(())
}

/// The store of this page; other pages of the same host have other addresses.
async fn open_store() -> Result<Cache, JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    let base = window.document().and_then(|page| page.base_uri().ok()?);
    let base = web_sys::Url::new_with_base(".", &base.ok_or("no address")?)?.href();
    let opened = window.caches()?.open(&format!("{STORE} {base}"));
    JsFuture::from(opened).await?.dyn_into()
}

/// Whether a service worker answers for this page, and so for the documents of its frames.
fn is_controlled() -> bool {
    let navigator = web_sys::window().map(|window| window.navigator());
    // Browsers have service workers only on https and localhost.
    let workers = navigator
        .and_then(|navigator| js_sys::Reflect::get(&navigator, &"serviceWorker".into()).ok());
    workers
        .and_then(|workers| js_sys::Reflect::get(&workers, &"controller".into()).ok())
        .is_some_and(|controller| controller.is_truthy())
}

/// What is stored under a path.
async fn stored(store: Option<&Cache>, path: &str) -> Option<Response> {
    let found = JsFuture::from(store?.match_with_str(path)).await.ok()?;
    found.dyn_into().ok()
}

/// A file of the kit: stored, or else fetched and then stored.
async fn file(store: Option<&Cache>, kit: &Kit, name: &str) -> Result<Response, JsValue> {
    let path = kit.path(name);
    if let Some(response) = stored(store, &path).await {
        return Ok(response);
    }
    let response = requested(&path, RequestCache::ForceCache).await?;
    if !response.ok() {
        return Err(format!("{path} answered {}.", response.status()).into());
    }
    if let Some(store) = store {
        // A full store is no reason to fail: the file is fetched again next time.
        let _ = JsFuture::from(store.put_with_str(&path, &response.clone()?)).await;
    }
    Ok(response)
}

/// The response, whatever its status.
async fn requested(path: &str, cache: RequestCache) -> Result<Response, JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    let options = RequestInit::new();
    options.set_cache(cache);
    let response = JsFuture::from(window.fetch_with_str_and_init(path, &options)).await?;
    response.dyn_into()
}

async fn text(response: Response) -> Result<String, JsValue> {
    let text = JsFuture::from(response.text()?).await?;
    text.as_string().ok_or_else(|| "no text".into())
}

async fn bytes(response: Response) -> Result<ArrayBuffer, JsValue> {
    JsFuture::from(response.array_buffer()?).await?.dyn_into()
}
