//! The files of an `.eval`: `header.json`, or `_journal/start.json` while it runs; samples as
//! `samples/{id}_epoch_{n}.json`, or as a folder of chunks, each named by the index of its first element.

use std::collections::{BTreeMap, HashSet};

use volary_core::json::{Json, Object};

use super::log::Log;
use super::{ID, sample};
use crate::import::files::Files;
use crate::import::reader::{Document, Sink};
use crate::import::{ImportOutcome, NoteLevel};
use crate::renderer_files::names::split_folder;

/// Reads all logs among the files.
pub(super) fn gather(files: &mut Files<'_>, outcome: &mut ImportOutcome) {
    for folder in folders(files) {
        read(files, &folder, outcome);
    }
}

/// The folders of logs, each with a trailing slash.
fn folders(files: &Files<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for index in files.open() {
        let name = files.name(index);
        let folder = match name.strip_suffix("_journal/start.json") {
            Some(folder) => folder,
            None => match split_folder(name) {
                (folder, "header.json") => folder,
                _ => continue,
            },
        };
        if files.starts_with_quoted(index, "eval") && known.insert(folder) {
            found.push(folder.to_owned());
        }
    }
    found
}

/// The sample of a member of an `.eval`: the path up to its name, and the name.
pub(in crate::import) fn begins_sample(member: &str) -> Option<(&str, &str)> {
    const FOLDER: &str = "samples/";
    let at = member.find(FOLDER)?;
    let (folder, name) = member.split_at(at + FOLDER.len());
    Some((folder, sample_name(name)?.0))
}

/// Reads the unpacked members of one sample.
pub(in crate::import) fn read_members(
    members: Vec<(String, Vec<u8>)>,
    log: &mut Log,
    sink: &mut Sink<'_>,
) {
    let folder = members.first().and_then(|(name, _)| begins_sample(name));
    let folder = folder.map_or("", |(folder, _)| folder.trim_end_matches("samples/"));
    let folder = folder.to_owned();
    // The names come from a log that was listed already.
    let mut files = Files::unpacked("", members, &mut ImportOutcome::default());
    let samples = samples(&mut files, &folder);
    read_samples(&files, samples, log, sink);
}

fn read_samples(
    files: &Files<'_>,
    samples: Vec<(String, Members)>,
    log: &mut Log,
    sink: &mut Sink<'_>,
) {
    for (name, members) in samples {
        match assemble(files, &name, members) {
            Ok((object, losses)) => {
                for loss in losses {
                    sink.lost(format!("{name}: {loss}"));
                }
                sample::read(object, log, sink);
                log.header = None;
            }
            Err(problem) => sink.lost(format!("{name}: {problem}")),
        }
    }
}

fn read(files: &mut Files<'_>, folder: &str, outcome: &mut ImportOutcome) {
    let file = match files.container() {
        "" => folder.trim_end_matches('/').to_owned(),
        container => container.to_owned(),
    };
    let Some(mut log) = header(files, folder, &file, outcome) else {
        return;
    };
    let samples = samples(files, folder);
    let mut sink = Sink::new(outcome, ID, &file);
    sink.set_version(log.version.clone());
    read_samples(files, samples, &mut log, &mut sink);
    if sink.episodes() == 0 {
        sink.lost("This Inspect log has no readable sample.");
    }
    log.report(&mut sink);
    // Summaries, reductions and the journal repeat the contents of samples.
    let known = ["summaries.json", "reductions.json", "_journal/"];
    for index in files.below(folder) {
        let name = files.name(index).strip_prefix(folder);
        if name.is_some_and(|name| known.iter().any(|known| name.starts_with(known))) {
            files.take(index);
        }
    }
}

fn header(
    files: &mut Files<'_>,
    folder: &str,
    file: &str,
    outcome: &mut ImportOutcome,
) -> Option<Log> {
    let ended = files.find(&format!("{folder}header.json"));
    let started = files.find(&format!("{folder}_journal/start.json"));
    if ended.is_none() {
        let text = "This log has no header: its run is unfinished or was interrupted.";
        outcome.note(NoteLevel::Unreadable, file, text);
    }
    for index in [ended, started].into_iter().flatten() {
        match files.read_document(index).map(|read| read.document) {
            Ok(Document::Value(Json::Object(header))) => {
                files.take(index);
                if let Some(started) = started {
                    files.take(started);
                }
                return Some(Log::read(header));
            }
            Ok(_) => {}
            Err(error) => outcome.refuse(files.name(index), &error),
        }
    }
    None
}

/// The files of a sample: one file, or its chunks.
enum Members {
    Whole(usize),
    Chunks(Vec<usize>),
}

/// The samples, in file order.
fn samples(files: &mut Files<'_>, folder: &str) -> Vec<(String, Members)> {
    let start = format!("{folder}samples/");
    let mut found: Vec<(String, Members)> = Vec::new();
    let mut indices: BTreeMap<String, usize> = BTreeMap::new();
    for index in files.below(&start) {
        let Some(name) = files.name(index).strip_prefix(&start) else {
            continue;
        };
        match sample_name(name) {
            Some((sample, "")) => {
                let sample = sample.to_owned();
                files.take(index);
                found.push((sample, Members::Whole(index)));
            }
            Some((sample, _)) => {
                let sample = sample.to_owned();
                files.take(index);
                let sample_index = *indices.entry(sample.clone()).or_insert_with(|| {
                    found.push((sample, Members::Chunks(Vec::new())));
                    found.len() - 1
                });
                if let Some((_, Members::Chunks(chunks))) = found.get_mut(sample_index) {
                    chunks.push(index);
                }
            }
            None => {}
        }
    }
    found
}

/// The name of a file's sample (`{id}_epoch_{n}`; ids may contain slashes), and the name of the chunk within it: empty
/// for the sample as a whole.
fn sample_name(name: &str) -> Option<(&str, &str)> {
    const MARK: &str = "_epoch_";
    let (offset, rest) = name
        .rmatch_indices(MARK)
        .map(|(offset, _)| (offset, &name[offset + MARK.len()..]))
        .find(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()))?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (sample, inner) = name.split_at(offset + MARK.len() + digits);
    match inner.strip_prefix('/') {
        Some(chunk) => Some((sample, chunk)),
        None => (inner == ".json").then_some((sample, "")),
    }
}

/// The maximum index of a chunk; others are dropped.
const MOST_MISSING: usize = 1_000_000;

/// Reads a sample as one object, in either form, and returns what could not be read.
fn assemble(
    files: &Files<'_>,
    name: &str,
    members: Members,
) -> Result<(Object, Vec<String>), String> {
    let value = |index: usize| match files.read_document(index) {
        Ok(read) => match read.document {
            Document::Value(value) => Ok((value, read.losses)),
            Document::Lines(_) => Err("it contains lines instead of one JSON object".to_owned()),
        },
        Err(error) => Err(error.to_string()),
    };
    let chunks = match members {
        Members::Whole(index) => {
            return match value(index)? {
                (Json::Object(object), losses) => Ok((object, losses)),
                _ => Err("it is not an object".to_owned()),
            };
        }
        Members::Chunks(chunks) => chunks,
    };
    let mut sample = Object::new();
    let mut losses = Vec::new();
    let mut lists: BTreeMap<String, BTreeMap<usize, Vec<Json>>> = BTreeMap::new();
    for index in chunks {
        let path = files.name(index).to_owned();
        let inner = path
            .rsplit_once(&format!("{name}/"))
            .map_or("", |(_, inner)| inner);
        let chunk = inner.split_once('/').and_then(|(list, file)| {
            let start: usize = file.strip_suffix(".json")?.parse().ok()?;
            Some((list, start))
        });
        let wanted =
            chunk.is_some() || matches!(inner, "sample.json" | "metadata.json" | "store.json");
        if !wanted {
            continue;
        }
        let (value, lost) = match value(index) {
            Ok(read) => read,
            Err(problem) => {
                losses.push(format!("{inner}: {problem}"));
                continue;
            }
        };
        losses.extend(lost);
        match (chunk, value) {
            (Some((list, start)), Json::List(values)) => {
                lists
                    .entry(list.to_owned())
                    .or_default()
                    .insert(start, values);
            }
            (None, Json::Object(object)) if inner == "sample.json" => sample.extend(object),
            (None, value) => {
                let key = inner.trim_end_matches(".json").to_owned();
                sample.insert(key, value);
            }
            (Some((list, start)), _) => losses.push(format!("{list}/{start}.json is not a list")),
        }
    }
    if sample.is_empty() && lists.is_empty() {
        return Err("its sample.json cannot be read".to_owned());
    }
    let mut list = |key: &str| -> Json {
        let mut all = Vec::new();
        for (start, values) in lists.remove(key).unwrap_or_default() {
            // References use indices: if a chunk is missing, later elements keep theirs.
            if (all.len()..MOST_MISSING).contains(&start) {
                all.resize(start, Json::Null);
            }
            all.extend(values);
        }
        Json::List(all)
    };
    let pools = volary_core::json!({"messages": (list("messages")), "calls": (list("calls"))});
    sample.insert("events", list("events"));
    sample.insert("attachments", list("attachments"));
    sample.insert("events_data", pools);
    Ok((sample, losses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_their_sample() {
        for (name, expected) in [
            ("1_epoch_2.json", Some(("1_epoch_2", ""))),
            ("a/b_epoch_1.json", Some(("a/b_epoch_1", ""))),
            (
                "a_epoch_1/events/0.json",
                Some(("a_epoch_1", "events/0.json")),
            ),
            (
                "a_epoch_x_epoch_1/sample.json",
                Some(("a_epoch_x_epoch_1", "sample.json")),
            ),
            ("a_epoch_1.txt", None),
            ("notes.json", None),
        ] {
            assert_eq!(sample_name(name), expected, "{name}");
        }
    }
}
