//! Volary's own episodes: JSON, one a line, several in one object, or as our zip.

use super::files::Files;
use super::{ImportOutcome, NoteLevel};
use crate::native;
use crate::renderer_files::NATIVE_NAME;
use crate::renderer_files::names::{frame_name, manifest_stem, split_folder};

pub(super) fn read(files: &mut Files<'_>, outcome: &mut ImportOutcome) {
    for index in files.open() {
        // The mark of the format stands in the head, whoever ordered the members.
        if files.starts_with_quoted(index, native::FORMAT) {
            read_file(files, index, outcome);
        }
    }
}

fn read_file(files: &mut Files<'_>, index: usize, outcome: &mut ImportOutcome) {
    let text = files.take_text(index);
    let name = files.name(index).to_owned();
    let text = match text {
        Ok(text) => text,
        Err(error) => return outcome.refuse(&name, &error),
    };
    match native::read(&text) {
        Ok(reading) => {
            let text = match reading.episodes.len() {
                1 => "One Volary episode.".to_owned(),
                count => format!("{count} Volary episodes."),
            };
            outcome.note(NoteLevel::Read, &name, text);
            for fault in &reading.faults {
                outcome.refuse(&name, fault);
            }
            outcome.episodes.extend(reading.episodes);
            take_renderer_files(files, &name);
        }
        Err(error) => outcome.refuse(&name, &error),
    }
}

/// In our zip the episode stands beside its Renderer files, which add nothing to it.
fn take_renderer_files(files: &mut Files<'_>, name: &str) {
    let (folder, file) = split_folder(name);
    if file != NATIVE_NAME {
        return;
    }
    let ours = format!("{folder}volary_");
    for index in files.open() {
        let name = files.name(index);
        if name.starts_with(&ours) && (frame_name(name).is_some() || manifest_stem(name).is_some())
        {
            files.take(index);
        }
    }
}
