//! Walks dropped folders and collects their files.

use std::pin::Pin;

use js_sys::{Array, Promise};
use leptos::wasm_split::wasm_split;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DragEvent, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

use super::GivenFile;
use crate::lazy::Loaded;

/// Deeper folders are skipped: links can make a folder its own child.
const DEEPEST: usize = 32;
/// The maximum number of files.
const MOST: usize = 100_000;

/// Returns the dropped entries if one of them is a folder, and nothing otherwise.
pub(super) fn entries(event: &DragEvent) -> Vec<FileSystemEntry> {
    let Some(transfer) = event.data_transfer() else {
        return Vec::new();
    };
    let items = transfer.items();
    let entries = (0..items.length()).filter_map(|place| {
        let entry = items.get(place)?.webkit_get_as_entry();
        entry.ok().flatten()
    });
    let entries: Vec<FileSystemEntry> = entries.collect();
    if entries.iter().any(FileSystemEntry::is_directory) {
        entries
    } else {
        Vec::new()
    }
}

/// The future of the collected files.
pub(super) type Gathering = Pin<Box<dyn Future<Output = Vec<GivenFile>>>>;

/// Collects all dropped files, each under its path.
#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn gather(entries: Vec<FileSystemEntry>) -> Loaded<Gathering> {
    Ok(Box::pin(walk(entries)))
}

async fn walk(entries: Vec<FileSystemEntry>) -> Vec<GivenFile> {
    let mut files = Vec::new();
    let mut open: Vec<(usize, FileSystemEntry)> =
        entries.into_iter().rev().map(|entry| (0, entry)).collect();
    while let Some((depth, entry)) = open.pop() {
        if files.len() >= MOST {
            break;
        }
        if entry.is_directory() {
            if depth < DEEPEST {
                let inside = children(entry.unchecked_into()).await;
                open.extend(inside.into_iter().rev().map(|entry| (depth + 1, entry)));
            }
        } else {
            let path = entry.full_path();
            files.extend(file(entry.unchecked_into(), path.trim_start_matches('/')).await);
        }
    }
    files
}

/// Lists a folder; entries that cannot be listed are skipped.
async fn children(folder: FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut found = Vec::new();
    // Browsers list about a hundred entries per call, and none at the end.
    loop {
        let some = Promise::new(&mut |resolve, reject| {
            let _ = reader.read_entries_with_callback_and_callback(&resolve, &reject);
        });
        let Ok(some) = JsFuture::from(some).await else {
            return found;
        };
        let some = Array::from(&some);
        if some.length() == 0 {
            return found;
        }
        found.extend(some.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
    }
}

async fn file(entry: FileSystemFileEntry, path: &str) -> Option<GivenFile> {
    let file = Promise::new(&mut |resolve, reject| {
        entry.file_with_callback_and_callback(&resolve, &reject);
    });
    GivenFile::of(path, JsFuture::from(file).await.ok()?)
}
