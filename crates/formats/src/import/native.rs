//! Volary's own episodes: JSON, one per line, several in one object, or in Volary's zip format.

use volary_core::json::Json;
use volary_episode::native::{FORMAT, NativeError, episode_from_json};

use super::ImportOutcome;
use super::files::Files;
use super::reader::{Confidence, Document, Line, Reader, Sink};
use crate::renderer_files::NATIVE_NAME;
use crate::renderer_files::names::{frame_name, manifest_stem, split_folder};

pub(super) struct Native;

impl Reader for Native {
    fn id(&self) -> &'static str {
        "volary"
    }

    fn name(&self) -> &'static str {
        "Volary episodes (JSON, JSON Lines or zip)"
    }

    /// In Volary's zip the episode is next to its Renderer files, which contain nothing else.
    fn gather(&self, files: &mut Files<'_>, _outcome: &mut ImportOutcome) {
        for index in files.open() {
            let (folder, file) = split_folder(files.name(index));
            if file == NATIVE_NAME && files.starts_with_quoted(index, FORMAT) {
                let ours = format!("{folder}volary_");
                take_renderer_files(files, &ours);
            }
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let several = document.head().get("episodes").and_then(Json::as_list);
        let mut values = document.samples().chain(several.into_iter().flatten());
        if values.any(is_episode) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let are_lines = matches!(document, Document::Lines(_));
        let records = match document {
            Document::Value(Json::Object(mut object)) if object.contains_key("episodes") => {
                let episodes = object.remove("episodes").unwrap_or_default();
                Document::Value(episodes).into_records()
            }
            document => document.into_records(),
        };
        let is_single = !are_lines && records.len() == 1;
        let mut count = 0;
        for Line { number, value } in records {
            match episode_from_json(&value) {
                Ok(episode) => {
                    count += 1;
                    sink.own_episode(episode);
                }
                Err(error) => {
                    let error = Box::new(error);
                    let text = match (is_single, are_lines) {
                        (true, _) => error.to_string(),
                        (_, true) => NativeError::Line {
                            line: number,
                            error,
                        }
                        .to_string(),
                        (_, false) => NativeError::Episode { number, error }.to_string(),
                    };
                    sink.lost(text);
                }
            }
        }
        match count {
            0 => {}
            1 => sink.understood("One Volary episode."),
            count => sink.understood(format!("{count} Volary episodes.")),
        }
    }
}

fn is_episode(value: &Json) -> bool {
    let format = value.get("format").and_then(Json::as_text);
    format.is_some_and(|format| &**format == FORMAT)
}

fn take_renderer_files(files: &mut Files<'_>, ours: &str) {
    for index in files.open() {
        let name = files.name(index);
        if name.starts_with(ours) && (frame_name(name).is_some() || manifest_stem(name).is_some()) {
            files.take(index);
        }
    }
}
