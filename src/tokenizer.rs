//! The user's tokenizer file, which shows the text of tokens in Review and in the template lab. It is stored in the
//! browser, and the next visit reads it when it is needed.
//!
//! The code of tokenizers is large, so it is loaded with the first file.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_tokens::{FileTokenizer, Tokenizer};

use crate::browser::database::DatabaseError;
use crate::browser::files::GivenFile;
use crate::browser::lazy::Loaded;
use crate::browser::storage::{self as small, Keep};
use crate::storage::sources;

/// The maximum size of a file, in bytes.
pub const LARGEST_FILE: f64 = 64.0 * 1024.0 * 1024.0;
/// The key of the file in the database, and of its name in `browser::storage`.
const KEY: &str = "tokenizer";

/// A tokenizer that parts of the page share.
pub type SharedTokenizer = Arc<dyn Tokenizer + Send + Sync>;

/// A tokenizer with the name of its file.
#[derive(Clone)]
pub struct NamedTokenizer {
    pub name: String,
    pub tokenizer: SharedTokenizer,
}

type Read = fn(&[u8]) -> Result<SharedTokenizer, String>;

#[wasm_split(template, wasm_split_path = leptos::wasm_split, fallible)]
fn reader() -> Loaded<Read> {
    Ok(read_bytes)
}

fn read_bytes(bytes: &[u8]) -> Result<SharedTokenizer, String> {
    match FileTokenizer::read(bytes) {
        Ok(tokenizer) => Ok(Arc::new(tokenizer)),
        Err(error) => Err(error.to_string()),
    }
}

thread_local! {
    static GIVEN: ArcRwSignal<Option<NamedTokenizer>> = ArcRwSignal::new(None);
}

/// The tokenizer; `None` without one. Tracks changes.
pub fn given() -> Option<NamedTokenizer> {
    GIVEN.with(ArcRwSignal::clone).get()
}

/// Reads a file and stores it.
pub async fn give(file: &GivenFile) -> Result<(), String> {
    let tokenizer = read(file).await?;
    keep(file, tokenizer).await;
    Ok(())
}

/// Uses a tokenizer that was read already, and stores its file.
pub async fn keep(file: &GivenFile, tokenizer: SharedTokenizer) {
    // Stored, so that a reload finds it. If the browser refuses, the tokenizer lasts until the page is left.
    if sources::keep(KEY, file).await.is_ok() {
        small::set(Keep::Always, KEY, &file.name);
    }
    set(Some(NamedTokenizer {
        name: file.name.clone(),
        tokenizer,
    }));
}

/// Reads the stored file, if there is one and no tokenizer is in use.
pub async fn restore() {
    let Some(name) = small::get(Keep::Always, KEY) else {
        return;
    };
    if GIVEN.with(|given| given.with_untracked(Option::is_some)) {
        return;
    }
    if let Ok(Some(file)) = stored(&name).await
        && let Ok(tokenizer) = read(&file).await
        && GIVEN.with(|given| given.with_untracked(Option::is_none))
    {
        set(Some(NamedTokenizer { name, tokenizer }));
    }
}

/// Removes the tokenizer and its stored file.
pub async fn forget() {
    set(None);
    small::remove(Keep::Always, KEY);
    // If the browser does not delete it, nothing refers to it any more.
    let _ = sources::forget(KEY).await;
}

/// The stored file, for a worker that reads it.
pub async fn file() -> Option<GivenFile> {
    let name = small::get(Keep::Always, KEY)?;
    stored(&name).await.ok().flatten()
}

/// The name of the stored file.
pub fn stored_name() -> Option<String> {
    small::get(Keep::Always, KEY)
}

async fn stored(name: &str) -> Result<Option<GivenFile>, DatabaseError> {
    sources::file(KEY, name).await
}

async fn read(file: &GivenFile) -> Result<SharedTokenizer, String> {
    if file.size > LARGEST_FILE {
        return Err("It is larger than 64 MB.".to_owned());
    }
    let bytes = file.read().await?;
    let read = reader().await.map_err(|error| error.to_string())?;
    read(&bytes)
}

fn set(tokenizer: Option<NamedTokenizer>) {
    GIVEN.with(ArcRwSignal::clone).set(tokenizer);
}
