//! Files with answers of models (`volary ask`) among those of an import. The page shows them as columns.
//!
//! Invariant: a file of answers is read here only, and never as trajectories. Lines that cannot be read are reported, and the
//! others are used; a file of a newer version is refused with a notice, and not used at all. The files of a site have no
//! report that people see, so a notice says it there.

use std::rc::Rc;

use volary_ask::cache::{AnswerLines, AnswerRecord};
use volary_core::quantity::{plural, size_text};
use volary_formats::import::NoteLevel;
use volary_protocol::library::{Event, Origin};

use super::running_import::RunningImport;
use super::state::Output;
use crate::source::Source;

/// The number of bytes at the start by which a file is recognised.
const BEGINNING: u64 = 4 << 10;
/// The maximum size of a file, in bytes.
const LARGEST: u64 = 256 << 20;
/// The number of damaged lines that are reported.
const MOST_REPORTED: usize = 5;

fn notify(reading: &RunningImport<'_>, what: &str, why: String, advice: &str) {
    (reading.send)(Output::Event(Event::Notice {
        what: what.into(),
        why: why.into(),
        advice: advice.into(),
    }));
}

/// Reads a file if it has answers. Returns whether it has.
pub(super) async fn read(reading: &RunningImport<'_>, file: &Rc<dyn Source>) -> bool {
    let name = file.name();
    // The beginnings of all files would be too much to read twice.
    let own = name.rsplit('/').next().unwrap_or_default();
    if !(own.contains("answers") && own.ends_with(".jsonl")) {
        return false;
    }
    // What cannot be read is reported by the reader of trajectories.
    let Ok(beginning) = file.read(0..file.size().min(BEGINNING)).await else {
        return false;
    };
    if !AnswerLines::is_file(&name, &String::from_utf8_lossy(&beginning)) {
        return false;
    }
    let unreadable = |text: String| reading.note(NoteLevel::Unreadable, &name, text);
    if file.size() > LARGEST {
        unreadable(format!(
            "The answers are larger than {}, and were not read.",
            size_text(LARGEST)
        ));
        return true;
    }
    let bytes = match file.read(0..file.size()).await {
        Ok(bytes) => bytes,
        Err(error) => {
            unreadable(format!("The answers could not be read: {error}"));
            return true;
        }
    };
    let lines = match AnswerLines::read(&String::from_utf8_lossy(&bytes)) {
        Ok(lines) => lines,
        Err(newer) => {
            unreadable(format!("The answers were not read, because {newer}."));
            notify(
                reading,
                "The answers of models were not read.",
                format!("{name} was refused: {newer}."),
                "The trajectories are shown without them.",
            );
            return true;
        }
    };
    if let (Origin::Published, Some(first)) = (reading.origin, lines.damaged.first()) {
        let count = plural(lines.damaged.len(), "line");
        let (line, reason) = (first.line, &first.reason);
        notify(
            reading,
            "Not all answers of models could be read.",
            format!("{name}: {count} skipped; line {line}, because {reason}."),
            "The others are shown. Ask again for what is missing.",
        );
    }
    for damaged in lines.damaged.iter().take(MOST_REPORTED) {
        let (line, reason) = (damaged.line, &damaged.reason);
        unreadable(format!("Line {line} was skipped, because {reason}."));
    }
    let more = lines.damaged.len().saturating_sub(MOST_REPORTED);
    if more > 0 {
        unreadable(format!("{} more were skipped.", plural(more, "line")));
    }
    let count = plural(lines.records.len(), "answer");
    reading.note(NoteLevel::Read, &name, format!("{count} of models."));
    let all: Vec<String> = lines.records.iter().map(AnswerRecord::to_line).collect();
    (reading.send)(Output::Event(Event::Answers {
        lines: all.join("\n").into(),
        origin: reading.origin,
    }));
    true
}
