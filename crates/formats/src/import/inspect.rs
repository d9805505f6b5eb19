//! Inspect logs: `.json` (one object) and `.eval` (a zip file, or a folder with its members), whose samples are
//! one file each or a folder of chunks.
//!
//! - `log`: metadata of all samples. `packed`: the files of an `.eval`. `sample`: a sample to an episode.
//!   `events`: events to steps. `store`: the state that events change. `references`: attachments and pools, which
//!   replace repeated values.

mod events;
mod log;
mod packed;
mod references;
mod sample;
mod store;

use volary_core::json::{Json, Object};
use volary_episode::episode::Episode;

use super::ImportOutcome;
use super::files::Files;
use super::json_repair::repair;
use super::reader::{Confidence, Document, Reader, Sink};
pub(super) use log::Log;
pub(super) use packed::{begins_sample, read_members};

pub(super) struct Inspect;

/// Whether bytes start like a log in one object.
pub(super) fn begins_as_log(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 1 << 14;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    if !text.trim_start().starts_with('{') || !text.contains("\"eval\"") {
        return false;
    }
    let begun = repair(&text).map(|repaired| repaired.value);
    begun.is_ok_and(|begun| {
        let task = begun.get("eval").and_then(|eval| eval.get("task"));
        task.is_some() && begun.get("version").is_some()
    })
}

/// Parses the bytes of a sample and reads it.
pub(super) fn read_sample(bytes: &[u8], log: &Log, sink: &mut Sink<'_>) {
    let text = String::from_utf8_lossy(bytes);
    match super::document::read(&text) {
        Ok(read) => {
            for loss in read.losses {
                sink.lost(loss);
            }
            match read.document {
                Document::Value(Json::Object(object)) => read_object(object, log, sink),
                _ => sink.lost("A sample is not an object."),
            }
        }
        Err(error) => sink.lost(format!("A sample is not valid JSON: {error}.")),
    }
}

/// Reads a sample of a log.
pub(super) fn read_object(sample: Object, log: &Log, sink: &mut Sink<'_>) {
    sample::read(sample, log, sink);
}

/// The episode of a partial sample: without its last step, which may be incomplete.
pub(super) fn read_beginning(sample: Object, log: &Log) -> Option<Episode> {
    // The outcome is not known yet.
    let log = Log {
        status: Some("started".into()),
        ..log.clone()
    };
    let mut outcome = ImportOutcome::default();
    sample::read(sample, &log, &mut Sink::new(&mut outcome, ID, ""));
    let mut episode = outcome.episodes.pop()?;
    episode.steps.pop()?;
    Some(episode)
}

const ID: &str = "inspect";

impl Reader for Inspect {
    fn id(&self) -> &'static str {
        ID
    }

    fn name(&self) -> &'static str {
        "logs of Inspect (.eval, .json)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        packed::gather(files, outcome);
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let Document::Value(value) = document else {
            return Confidence::No;
        };
        let has = |key: &str| value.get(key).is_some();
        let eval = value.get("eval").and_then(Json::as_object);
        match eval {
            Some(eval) if eval.contains_key("task") && (has("samples") || has("status")) => {
                Confidence::Certain
            }
            _ if sample::is_sample(value) => Confidence::Likely,
            _ => Confidence::No,
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let Document::Value(Json::Object(mut object)) = document else {
            return;
        };
        if object.get("eval").is_none() {
            let log = Log::default();
            sample::read(object, &log, sink);
            return sink.understood("A sample of an Inspect log, without its header.");
        }
        let samples = object.remove("samples");
        // Reductions repeat the scores of the samples.
        object.remove("reductions");
        let mut log = Log::read(object);
        sink.set_version(log.version.clone());
        let samples = match samples {
            Some(Json::List(samples)) => samples,
            _ => Vec::new(),
        };
        if samples.is_empty() {
            sink.lost("This Inspect log has no samples, only a header.");
        }
        for value in samples {
            match value {
                Json::Object(object) => sample::read(object, &log, sink),
                _ => sink.lost("A sample is not an object."),
            }
            log.header = None;
        }
        log.report(sink);
    }
}
