//! The user's tokenizer file, which shows the text of tokens in Review and in the template lab. It is stored in the
//! browser, and the next visit reads it when it is needed.
//!
//! The code of tokenizers is large, so it is loaded with the first file. It panics on some files and texts, so it runs
//! isolated.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_tokens::tokenizer::file::broken;
use volary_tokens::{FileTokenizer, TokenId, Tokenizer, TokenizerError};

use volary_browser::database::DatabaseError;
use volary_browser::files::GivenFile;
use volary_browser::isolation::isolated;
use volary_browser::lazy::Loaded;
use volary_browser::storage::{self as small, Keep};
use volary_storage::sources;

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

type Read = fn(Vec<u8>) -> Result<SharedTokenizer, String>;

#[wasm_split(template, wasm_split_path = leptos::wasm_split, fallible)]
fn reader() -> Loaded<Read> {
    Ok(read_bytes)
}

/// Reads the bytes of a tokenizer file.
pub fn read_bytes(bytes: Vec<u8>) -> Result<SharedTokenizer, String> {
    let read = isolated(move || FileTokenizer::read(&bytes)).unwrap_or_else(|_| Err(broken()));
    match read {
        Ok(tokenizer) => Ok(Arc::new(IsolatedTokenizer(Arc::new(tokenizer)))),
        Err(error) => Err(error.to_string()),
    }
}

/// A tokenizer of which a panic is an error.
struct IsolatedTokenizer(Arc<FileTokenizer>);

impl IsolatedTokenizer {
    fn isolated<T: 'static>(
        &self,
        work: impl FnOnce(&FileTokenizer) -> Result<T, TokenizerError> + 'static,
    ) -> Result<T, TokenizerError> {
        let tokenizer = Arc::clone(&self.0);
        isolated(move || work(&tokenizer)).unwrap_or_else(|_| Err(broken()))
    }
}

impl Tokenizer for IsolatedTokenizer {
    fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError> {
        let text = text.to_owned();
        self.isolated(move |tokenizer| tokenizer.encode(&text))
    }

    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError> {
        let ids = ids.to_vec();
        self.isolated(move |tokenizer| tokenizer.decode(&ids))
    }

    fn is_special(&self, id: TokenId) -> bool {
        self.0.is_special(id)
    }
}

/// What the user chose last. Reading takes time, and the user may choose something else meanwhile.
#[derive(Clone)]
struct Chosen<T> {
    value: Option<T>,
    /// The number of choices so far.
    count: u64,
}

impl<T> Chosen<T> {
    const fn new() -> Chosen<T> {
        Chosen {
            value: None,
            count: 0,
        }
    }

    /// Begins a choice, which supersedes the earlier ones. Returns its number.
    fn begin(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Uses a value, unless something else was chosen after `choice`. Returns whether it is used.
    fn settle(&mut self, choice: u64, value: Option<T>) -> bool {
        let is_last = self.count == choice;
        if is_last {
            self.value = value;
        }
        is_last
    }
}

thread_local! {
    static GIVEN: ArcRwSignal<Chosen<NamedTokenizer>> = ArcRwSignal::new(Chosen::new());
}

/// The tokenizer; `None` without one. Tracks changes.
pub fn given() -> Option<NamedTokenizer> {
    signal().with(|given| given.value.clone())
}

/// Whether a file is named as a tokenizer: `tokenizer.json`, `qwen.tiktoken`.
pub fn is_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".tiktoken") || name.ends_with(".json") && name.contains("tokenizer")
}

/// Reads a file and stores it.
pub async fn give(file: &GivenFile) -> Result<(), String> {
    let choice = begin();
    let tokenizer = read(file).await?;
    settle_and_store(choice, file, tokenizer).await;
    Ok(())
}

/// Uses a tokenizer that was read already, and stores its file.
pub async fn keep(file: &GivenFile, tokenizer: SharedTokenizer) {
    settle_and_store(begin(), file, tokenizer).await;
}

async fn settle_and_store(choice: u64, file: &GivenFile, tokenizer: SharedTokenizer) {
    let name = file.name.clone();
    if !settle(choice, Some(NamedTokenizer { name, tokenizer })) {
        return;
    }
    // Stored, so that a reload finds it. If the browser refuses, the tokenizer lasts until the page is left.
    let is_stored = sources::keep(KEY, file).await.is_ok();
    if is_stored && signal().with_untracked(|given| given.count == choice) {
        small::set(Keep::Always, KEY, &file.name);
    }
}

/// Reads the stored file, if there is one and no tokenizer is in use.
pub async fn restore() {
    let Some(name) = small::get(Keep::Always, KEY) else {
        return;
    };
    let (is_given, choice) = signal().with_untracked(|given| (given.value.is_some(), given.count));
    if is_given {
        return;
    }
    if let Ok(Some(file)) = stored(&name).await
        && let Ok(tokenizer) = read(&file).await
    {
        settle(choice, Some(NamedTokenizer { name, tokenizer }));
    }
}

/// Removes the tokenizer and its stored file.
pub async fn forget() {
    settle(begin(), None);
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
    read(bytes)
}

fn signal() -> ArcRwSignal<Chosen<NamedTokenizer>> {
    GIVEN.with(ArcRwSignal::clone)
}

/// Begins a choice; what is shown stays until it is settled.
fn begin() -> u64 {
    let mut choice = 0;
    signal().update_untracked(|given| choice = given.begin());
    choice
}

fn settle(choice: u64, value: Option<NamedTokenizer>) -> bool {
    let is_last = signal().try_maybe_update(|given| {
        let is_last = given.settle(choice, value);
        (is_last, is_last)
    });
    is_last.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokenizers_are_known_by_name() {
        let names = ["tokenizer.json", "Qwen-Tokenizer.json", "qwen.tiktoken"];
        assert!(names.into_iter().all(is_name));
        assert!(!is_name("run.json") && !is_name("tokenizer.jsonl"));
    }

    #[test]
    fn the_file_that_was_chosen_last_counts_though_another_is_read_later() {
        let mut chosen = Chosen::new();
        let large = chosen.begin();
        let small = chosen.begin();
        assert!(chosen.settle(small, Some("small")));
        assert!(!chosen.settle(large, Some("large")));
        assert_eq!(chosen.value, Some("small"));
    }

    #[test]
    fn a_tokenizer_that_was_removed_while_it_was_read_does_not_come_back() {
        let mut chosen = Chosen::new();
        let restored = chosen.count;
        let removed = chosen.begin();
        assert!(chosen.settle(removed, None));
        assert!(!chosen.settle(restored, Some("stored")));
        assert_eq!(chosen.value, None);
    }

    #[test]
    fn a_file_that_cannot_be_read_leaves_the_one_in_use() {
        let mut chosen = Chosen::new();
        let first = chosen.begin();
        assert!(chosen.settle(first, Some("first")));
        // The second one is not settled, because it is no tokenizer.
        chosen.begin();
        assert_eq!(chosen.value, Some("first"));
        let third = chosen.begin();
        assert!(chosen.settle(third, Some("third")));
        assert_eq!(chosen.value, Some("third"));
    }
}
