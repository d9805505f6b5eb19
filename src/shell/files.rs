//! Files: saved by the person, picked, or dropped anywhere on the page.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, DragEvent, File, FileList, HtmlAnchorElement, HtmlInputElement, Url,
};

/// Larger files are refused before they are read: a tab has no room for them.
pub const LARGEST_FILE: f64 = 512.0 * 1024.0 * 1024.0;

/// A file that the person gave.
#[derive(Clone, Debug)]
pub struct GivenFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: f64,
    file: File,
}

impl GivenFile {
    /// Reads it whole.
    pub async fn read(&self) -> Result<Vec<u8>, String> {
        JsFuture::from(self.file.array_buffer())
            .await
            .map(|buffer| Uint8Array::new(&buffer).to_vec())
            .map_err(|error| super::worker_link::text_of(&error))
    }
}

/// Saves bytes as a file.
pub fn download(name: &str, kind: &str, bytes: &[u8]) {
    // Each step only fails where the browser forbids downloads altogether; it then says so itself.
    let _ = try_download(name, kind, bytes);
}

fn try_download(name: &str, kind: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let parts = Array::of1(&Uint8Array::from(bytes));
    let blob = Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    let address = Url::create_object_url_with_blob(&blob)?;
    let document = web_sys::window()
        .and_then(|window| window.document())
        .ok_or(JsValue::NULL)?;
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&address);
    link.set_download(name);
    link.click();
    // The browser takes the bytes at the click; a moment later the address is not needed.
    let forget = Closure::once_into_js(move || {
        let _ = Url::revoke_object_url(&address);
    });
    if let Some(window) = web_sys::window() {
        window.set_timeout_with_callback_and_timeout_and_arguments_0(
            forget.unchecked_ref(),
            10_000,
        )?;
    }
    Ok(())
}

/// Lets the person pick files of the given kinds (as in an `accept` attribute).
pub fn pick(kinds: &str, picked: impl FnOnce(Vec<GivenFile>) + 'static) {
    // Fails only without a document.
    let _ = try_pick(kinds, picked);
}

fn try_pick(kinds: &str, picked: impl FnOnce(Vec<GivenFile>) + 'static) -> Result<(), JsValue> {
    let document = web_sys::window()
        .and_then(|window| window.document())
        .ok_or(JsValue::NULL)?;
    let input: HtmlInputElement = document.create_element("input")?.dyn_into()?;
    input.set_type("file");
    input.set_accept(kinds);
    input.set_multiple(true);
    let source = input.clone();
    let listener = Closure::once_into_js(move || picked(given(source.files())));
    input.set_onchange(Some(listener.unchecked_ref()));
    input.click();
    Ok(())
}

/// Calls back when files are dropped anywhere; `over` hears whether files hang above the page.
pub fn on_drop(over: impl Fn(bool) + 'static, dropped: impl Fn(Vec<GivenFile>) + 'static) {
    let over = std::rc::Rc::new(over);
    let leave = std::rc::Rc::clone(&over);
    let end = std::rc::Rc::clone(&over);
    listen("dragover", move |event| {
        if carries_files(&event) {
            event.prevent_default();
            over(true);
        }
    });
    listen("dragleave", move |event| {
        // Leaving one element for another has a target to go to; leaving the window has none.
        if event.related_target().is_none() {
            leave(false);
        }
    });
    listen("drop", move |event| {
        end(false);
        if carries_files(&event) {
            event.prevent_default();
            let files = event.data_transfer().and_then(|transfer| transfer.files());
            dropped(given(files));
        }
    });
}

fn listen(name: &str, heard: impl Fn(DragEvent) + 'static) {
    let listener = Closure::<dyn Fn(DragEvent)>::new(heard);
    if let Some(window) = web_sys::window() {
        // Can't fail: the names are constants.
        let _ = window.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

fn carries_files(event: &DragEvent) -> bool {
    event
        .data_transfer()
        .is_some_and(|transfer| transfer.types().includes(&"Files".into(), 0))
}

fn given(files: Option<FileList>) -> Vec<GivenFile> {
    let Some(files) = files else {
        return Vec::new();
    };
    (0..files.length())
        .filter_map(|place| files.get(place))
        .map(|file| GivenFile {
            name: file.name(),
            size: file.size(),
            file,
        })
        .collect()
}
