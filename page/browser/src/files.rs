//! Files: saving, picking, and drag and drop anywhere on the page.
//!
//! - [`streaming_download`]: files from an address. [`ranged_file`]: those of which nothing is kept. [`folders`]: the files in
//!   dropped folders.

pub mod folders;
pub mod ranged_file;
pub mod streaming_download;

use std::ops::Range;

use super::kept_text::KeptText;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, DragEvent, File, FileList, HtmlAnchorElement, HtmlInputElement, Url,
};

/// Larger files, in bytes, are rejected before they are read: a tab does not have enough memory.
pub const LARGEST_FILE: f64 = 512.0 * 1024.0 * 1024.0;

/// A file that the user picked or dropped, or one made in memory.
#[derive(Clone, Debug)]
pub struct GivenFile {
    /// The name, or the path where one is known.
    pub name: String,
    /// The size in bytes.
    pub size: f64,
    file: File,
}

impl GivenFile {
    /// Wraps a JavaScript file under its own name; `None` if the value is none.
    pub fn of_file(value: JsValue) -> Option<GivenFile> {
        let file: File = value.dyn_into().ok()?;
        // The path within a picked folder.
        let path = js_sys::Reflect::get(&file, &"webkitRelativePath".into()).ok();
        let path = path.and_then(|path| path.as_string());
        let name = path
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| file.name());
        GivenFile::of(&name, file.into())
    }

    /// Wraps a JavaScript file under another name: its path, or its original name.
    pub fn of(name: &str, value: JsValue) -> Option<GivenFile> {
        let file: File = value.dyn_into().ok()?;
        Some(GivenFile {
            name: name.to_owned(),
            size: file.size(),
            file,
        })
    }

    /// Makes a file of bytes in memory.
    pub fn of_parts(name: &str, parts: &Array) -> Option<GivenFile> {
        let file = File::new_with_u8_array_sequence(parts, name).ok()?;
        GivenFile::of(name, file.into())
    }

    /// A file of the bytes of several, under the name of the first one. The browser copies nothing.
    pub fn joined(first: &GivenFile, others: &[&GivenFile]) -> Option<GivenFile> {
        let parts = std::iter::once(first).chain(others.iter().copied());
        let parts: Array = parts.map(GivenFile::as_js).collect();
        let file = File::new_with_blob_sequence(&parts, &first.name).ok()?;
        GivenFile::of(&first.name, file.into())
    }

    /// Makes a file of a text.
    pub fn of_text(name: &str, text: &KeptText) -> Option<GivenFile> {
        let file = File::new_with_str_sequence(&Array::of1(text.as_js()), name).ok()?;
        GivenFile::of(name, file.into())
    }

    /// The browser's handle, which can be sent to a worker.
    pub fn as_js(&self) -> &JsValue {
        &self.file
    }

    /// The file as a blob.
    pub fn as_blob(&self) -> &Blob {
        &self.file
    }

    /// Reads the whole file.
    pub async fn read(&self) -> Result<Vec<u8>, String> {
        JsFuture::from(self.file.array_buffer())
            .await
            .map(|buffer| Uint8Array::new(&buffer).to_vec())
            .map_err(|error| super::js_error::text_of(&error))
    }

    /// Reads a range of bytes. The browser starts with the call, not with the first poll.
    pub fn slice(
        &self,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Vec<u8>, String>> + use<> {
        let said = |error: JsValue| super::js_error::text_of(&error);
        let (start, end) = (range.start as f64, range.end as f64);
        let slice = self.file.slice_with_f64_and_f64(start, end);
        let reading = slice.map(|slice| JsFuture::from(slice.array_buffer()));
        async move {
            let buffer = reading.map_err(said)?.await.map_err(said)?;
            Ok(Uint8Array::new(&buffer).to_vec())
        }
    }
}

/// Saves bytes as a file.
pub fn download(name: &str, kind: &str, bytes: &[u8]) {
    // Fails only where the browser forbids downloads, which it reports itself.
    let _ = try_download(name, kind, bytes);
}

fn try_download(name: &str, kind: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let parts = Array::of1(&Uint8Array::from(bytes));
    let blob = Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    save(name, &blob)
}

/// Saves a blob as a file.
pub fn download_blob(name: &str, blob: &Blob) {
    let _ = save(name, blob);
}

fn save(name: &str, blob: &Blob) -> Result<(), JsValue> {
    let address = Url::create_object_url_with_blob(blob)?;
    let document = web_sys::window()
        .and_then(|window| window.document())
        .ok_or(JsValue::NULL)?;
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&address);
    link.set_download(name);
    link.click();
    // The browser reads the bytes at the click; the address is revoked later.
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

/// Lets the user pick files of the given kinds (as in an `accept` attribute).
pub fn pick(kinds: &str, picked: impl FnOnce(Vec<GivenFile>) + 'static) {
    // Fails only without a document.
    let _ = try_pick(kinds, false, Box::new(picked));
}

/// Lets the user pick a folder, and passes on all files in it with their paths.
pub fn pick_folder(picked: impl FnOnce(Vec<GivenFile>) + 'static) {
    // Fails only without a document.
    let _ = try_pick("", true, Box::new(picked));
}

type Picked = Box<dyn FnOnce(Vec<GivenFile>)>;

fn try_pick(kinds: &str, folder: bool, picked: Picked) -> Result<(), JsValue> {
    let document = web_sys::window()
        .and_then(|window| window.document())
        .ok_or(JsValue::NULL)?;
    let input: HtmlInputElement = document.create_element("input")?.dyn_into()?;
    input.set_type("file");
    input.set_accept(kinds);
    input.set_multiple(true);
    if folder {
        input.set_attribute("webkitdirectory", "")?;
    }
    let source = input.clone();
    let listener = Closure::once_into_js(move || picked(given(source.files())));
    input.set_onchange(Some(listener.unchecked_ref()));
    input.click();
    Ok(())
}

/// Calls back when files are dropped anywhere; `over` receives whether files are dragged over the page.
pub fn on_drop(over: impl Fn(bool) + 'static, dropped: impl Fn(Vec<GivenFile>) + 'static) {
    let dropped = std::rc::Rc::new(dropped);
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
        // Leaving one element for another has a related target; leaving the window has none.
        if event.related_target().is_none() {
            leave(false);
        }
    });
    listen("drop", move |event| {
        end(false);
        if carries_files(&event) {
            event.prevent_default();
            // The entries can only be read during the event.
            let folders = folders::entries(&event);
            if !folders.is_empty() {
                let dropped = std::rc::Rc::clone(&dropped);
                super::spawn(async move {
                    // If the code of `folders` cannot be loaded, nothing is dropped.
                    if let Ok(gathering) = folders::gather(folders).await {
                        dropped(gathering.await);
                    }
                });
                return;
            }
            let files = event.data_transfer().and_then(|transfer| transfer.files());
            dropped(given(files));
        }
    });
}

fn listen(name: &str, heard: impl Fn(DragEvent) + 'static) {
    let listener = Closure::<dyn Fn(DragEvent)>::new(heard);
    if let Some(window) = web_sys::window() {
        // Cannot fail: the names are constants.
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
        .filter_map(|place| GivenFile::of_file(files.get(place)?.into()))
        .collect()
}
