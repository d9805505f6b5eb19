//! Signals of import, export, sharing and playback. [`crate::transfer`] changes them.

use std::sync::Arc;

use leptos::prelude::*;
use volary_browser::worker_client::WorkerClient;

use crate::share_links::Offer;

/// Signals of import, export, sharing and playback.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// Whether the dialog of the export formats is open.
    pub exporting: RwSignal<bool>,
    /// The content of the share dialog; `None` while it is closed.
    pub sharing: RwSignal<Option<Arc<Offer>>>,
    /// Whether files are being dragged over the page.
    pub dragging: RwSignal<bool>,
    /// Whether a file is being read.
    pub reading: RwSignal<bool>,
    /// Whether playback is on.
    pub playing: RwSignal<bool>,
    /// Playback speed in steps per second.
    pub speed: RwSignal<f64>,
    /// Generation counter of imports: only the result of the last one is shown.
    pub(crate) readers: StoredValue<u32>,
    /// The worker that reads the current import.
    reader: StoredValue<Option<WorkerClient>, LocalStorage>,
}

impl Transfer {
    pub fn new() -> Self {
        Transfer {
            exporting: RwSignal::new(false),
            sharing: RwSignal::new(None),
            dragging: RwSignal::new(false),
            reading: RwSignal::new(false),
            playing: RwSignal::new(false),
            speed: RwSignal::new(2.0),
            readers: StoredValue::new(0),
            reader: StoredValue::new_local(None),
        }
    }

    /// Terminates the worker that reads a file, and replaces it with another one, if any.
    pub(crate) fn replace_reader(self, reader: Option<WorkerClient>) {
        let former = self
            .reader
            .try_update_value(|kept| std::mem::replace(kept, reader));
        drop(former);
    }
}

impl Default for Transfer {
    fn default() -> Self {
        Transfer::new()
    }
}
