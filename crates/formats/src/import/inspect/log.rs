//! The metadata of an Inspect log that all its samples share.

use volary_core::json::{Json, Object, Text};

use super::super::describe::counted;
use crate::import::json_repair::repair;
use crate::import::reader::Sink;

/// Metadata that all samples share.
#[derive(Clone, Debug, Default)]
pub(in crate::import) struct Log {
    /// The version of the format.
    pub version: Option<Text>,
    /// The name of the task.
    pub task: Option<Text>,
    /// The name of the dataset.
    pub dataset: Option<Text>,
    pub model: Option<Text>,
    pub solver: Option<Text>,
    pub eval_id: Option<Text>,
    /// The status of the run ("success", "error", "cancelled", "started").
    pub status: Option<Text>,
    /// The whole header, which is attached to the first episode.
    pub header: Option<Object>,
}

impl Log {
    /// Reads a header.
    pub fn read(header: Object) -> Log {
        let text = |path: &[&str]| {
            let first = header.get(path.first()?)?;
            let found = path
                .iter()
                .skip(1)
                .try_fold(first, |value, key| value.get(key))?;
            found.as_text().filter(|text| !text.is_empty()).cloned()
        };
        Log {
            version: header
                .get("version")
                .and_then(Json::as_i64)
                .map(|version| version.to_string().into()),
            task: text(&["eval", "task_display_name"]).or_else(|| text(&["eval", "task"])),
            dataset: text(&["eval", "dataset", "name"]),
            model: text(&["eval", "model"]).filter(|model| &**model != "none/none"),
            solver: text(&["eval", "solver"]),
            eval_id: text(&["eval", "eval_id"]).or_else(|| text(&["eval", "task_id"])),
            status: text(&["status"]),
            header: Some(header),
        }
    }

    /// Reads the part of a log that precedes its samples, without the header itself.
    pub fn of_start(bytes: &[u8]) -> Log {
        let text = String::from_utf8_lossy(bytes);
        match repair(&text).map(|repaired| repaired.value) {
            Ok(Json::Object(header)) => Log {
                header: None,
                ..Log::read(header)
            },
            _ => Log::default(),
        }
    }

    /// Reports what was read.
    pub fn report(&self, sink: &mut Sink<'_>) {
        let task = self.task.as_deref().unwrap_or("unnamed");
        let samples = match sink.episodes() {
            0 => return,
            count => counted(count, "sample"),
        };
        sink.understood(format!("Inspect log of the task {task} with {samples}."));
        sink.kept(
            "The header of the log is kept with its first episode. Raw model requests and \
             responses are omitted: the messages have their content. A text that a tool \
             overwrote is kept with its step.",
        );
        match self.status.as_deref() {
            Some("success") | None => {}
            Some(status) => sink.lost(format!(
                "The log reports that its run did not succeed ({status}); samples may be missing."
            )),
        }
    }
}
