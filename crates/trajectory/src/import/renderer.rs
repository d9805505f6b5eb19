//! Reads aviary Renderer files from any writer: present data is shown, missing data is reported.
//!
//! Frames are grouped by name (see [`names`](crate::renderer_files::names)), with or without a manifest. Data that
//! frames do not contain (actions, rewards) is not guessed.

use volary_core::Frame;
use volary_core::json::{Json, Object, Text};

use super::describe::counted;
use super::files::Files;
use super::reader::Reader;
use super::{ImportOutcome, NoteLevel};
use crate::episode::{Episode, Rewards, Source};
use crate::frames::FrameHistory;
use crate::renderer_files::names::{frame_name, manifest_stem, split_folder};

pub(super) struct Renderer;

impl Reader for Renderer {
    fn id(&self) -> &'static str {
        "aviary-renderer"
    }

    fn name(&self) -> &'static str {
        "Aviary Renderer files (manifest and frames, together or as zip)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        gather(files, outcome);
    }
}

fn gather(files: &mut Files<'_>, outcome: &mut ImportOutcome) {
    let manifests = manifests(files);
    let mut groups = groups(files);
    for manifest in manifests {
        let group = manifest
            .stems()
            .find_map(|stem| {
                let place = groups.iter().position(|(known, _)| *known == stem)?;
                Some(groups.remove(place))
            })
            .or_else(|| linked(files, &manifest));
        match group {
            Some((stem, frames)) => {
                Trajectory::new(stem, Some(&manifest)).read(files, frames, outcome)
            }
            None => outcome.note(
                NoteLevel::Unreadable,
                &manifest.file,
                format!(
                    "This is a Renderer manifest, but its frames are missing (the first is {}). \
                     Give manifest and frames together, or as one zip.",
                    manifest.first
                ),
            ),
        }
    }
    for (stem, frames) in groups {
        let looks_right = |(_, index): &(u64, usize)| {
            files.starts_with_quoted(*index, "deepcopy")
                || files.starts_with_quoted(*index, "state")
        };
        if frames.first().is_some_and(looks_right) {
            Trajectory::new(stem, None).read(files, frames, outcome);
        }
    }
    odd_frames(files, outcome);
}

/// A manifest: the file with a trajectory's name, and its first and last frame.
struct Manifest {
    file: String,
    name: Option<Text>,
    first: Text,
    last: Text,
}

impl Manifest {
    fn of(file: &str, value: &Json) -> Option<Manifest> {
        Some(Manifest {
            file: file.to_owned(),
            name: value.get("name").and_then(Json::as_text).cloned(),
            first: file_name(value.get("first")?)?,
            last: file_name(value.get("last")?)?,
        })
    }

    /// The possible common stems of its frames, the most reliable first.
    fn stems(&self) -> impl Iterator<Item = String> {
        let first = self.beside(&self.first);
        let by_content = frame_name(&first).map(|name| name.stem.to_owned());
        by_content.into_iter().chain(manifest_stem(&self.file))
    }

    /// The path of a file name in the manifest, relative to the manifest's folder.
    fn beside(&self, name: &str) -> String {
        format!("{}{name}", split_folder(&self.file).0)
    }
}

fn file_name(value: &Json) -> Option<Text> {
    value
        .as_text()
        .filter(|name| name.ends_with(".json"))
        .cloned()
}

/// Takes the manifests among the files. They are small, so their start is the whole file.
fn manifests(files: &mut Files<'_>) -> Vec<Manifest> {
    let mut found = Vec::new();
    for index in files.open() {
        if !files.is_whole(index) {
            continue;
        }
        let start = files.start(index);
        let value = std::str::from_utf8(&start).ok();
        let value = value.and_then(|text| Json::parse(text.trim_start_matches('\u{feff}')).ok());
        if let Some(manifest) = value.and_then(|value| Manifest::of(files.name(index), &value)) {
            files.take(index);
            found.push(manifest);
        }
    }
    found
}

/// Frames by the common stem of their names, sorted by number.
type Groups = Vec<(String, Vec<(u64, usize)>)>;

fn groups(files: &Files<'_>) -> Groups {
    let mut groups = Groups::new();
    for index in files.open() {
        let Some(name) = frame_name(files.name(index)) else {
            continue;
        };
        // Neighbours usually belong together, so the search is short.
        match groups.iter_mut().rfind(|(stem, _)| stem == name.stem) {
            Some((_, frames)) => frames.push((name.number, index)),
            None => groups.push((name.stem.to_owned(), vec![(name.number, index)])),
        }
    }
    groups
        .iter_mut()
        .for_each(|(_, frames)| frames.sort_unstable());
    groups
}

/// Finds frames with other names by following the links from each frame to the next.
fn linked(files: &Files<'_>, manifest: &Manifest) -> Option<(String, Vec<(u64, usize)>)> {
    let mut open = files.open();
    let mut frames = Vec::new();
    let mut next = manifest.beside(&manifest.first);
    // Each file is removed when it is visited, so that a cycle of links ends the walk.
    while let Some(place) = open.iter().position(|&index| files.name(index) == next) {
        let index = open.remove(place);
        frames.push((frames.len() as u64, index));
        let value = files.peek_json(index).ok()?;
        match value.get("next_frame").and_then(Json::as_text) {
            Some(name) => next = manifest.beside(name),
            None => break,
        }
    }
    let stem = without_ending(&manifest.file);
    (!frames.is_empty()).then_some((stem, frames))
}

fn without_ending(name: &str) -> String {
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}

/// Reads frames without name pattern and manifest, ordered by their contents.
fn odd_frames(files: &mut Files<'_>, outcome: &mut ImportOutcome) {
    let mut frames = Vec::new();
    for index in files.open() {
        if !files.starts_with_quoted(index, "deepcopy") || !files.starts_with_quoted(index, "state")
        {
            continue;
        }
        // Other formats contain such members too, but nested.
        let Ok(value) = files.peek_json(index) else {
            continue;
        };
        if value.get("deepcopy").is_none() || value.get("state").is_none() {
            continue;
        }
        let number = value.get("index").and_then(Json::as_i64);
        let number = number.and_then(|number| u64::try_from(number - 1).ok());
        frames.push((number.unwrap_or(frames.len() as u64), index));
    }
    frames.sort_unstable();
    if let Some((_, first)) = frames.first() {
        let stem = without_ending(files.name(*first));
        Trajectory::new(stem, None).read(files, frames, outcome);
    }
}

/// The state while a trajectory is read.
struct Trajectory<'a> {
    stem: String,
    manifest: Option<&'a Manifest>,
    frames: FrameHistory,
    /// The numbers of missing or unreadable frames.
    missing: Vec<u64>,
    /// The numbers of frames in another form.
    raw: Vec<u64>,
    /// Unknown members of frames, by frame.
    others: Vec<(String, Object)>,
}

impl<'a> Trajectory<'a> {
    fn new(stem: String, manifest: Option<&'a Manifest>) -> Self {
        Trajectory {
            stem,
            manifest,
            frames: FrameHistory::default(),
            missing: Vec::new(),
            raw: Vec::new(),
            others: Vec::new(),
        }
    }

    fn read(
        mut self,
        files: &mut Files<'_>,
        found: Vec<(u64, usize)>,
        outcome: &mut ImportOutcome,
    ) {
        const MOST_TOLD: usize = 3;
        let mut expected = 0;
        let mut told = 0;
        for (number, index) in found {
            self.skip(expected, number);
            expected = number.saturating_add(1);
            match files.take_json(index) {
                Ok(value) => self.push(number, value),
                Err(error) => {
                    self.missing.push(number);
                    told += 1;
                    if told <= MOST_TOLD {
                        outcome.refuse(files.name(index), &error);
                    }
                }
            }
        }
        let last = self.manifest.map(|manifest| manifest.last.to_string());
        if let Some(last) = last.as_deref().and_then(frame_name) {
            self.skip(expected, last.number.saturating_add(1));
        }
        self.finish(outcome);
    }

    /// Records a gap. Numbers come from file names, so a gap may have any size: only the first 1000 are recorded.
    fn skip(&mut self, from: u64, to: u64) {
        const MOST: u64 = 1000;
        let end = to.min(from.saturating_add(MOST));
        self.missing.extend(from..end);
    }

    fn push(&mut self, number: u64, value: Json) {
        match value {
            Json::Object(mut object)
                if object.contains_key("state") || object.contains_key("info") =>
            {
                let mut part = |key: &str| object.remove(key).unwrap_or_default();
                let deepcopy = part("deepcopy").as_bool().unwrap_or(true);
                let (state, info) = (part("state"), part("info"));
                for link in ["index", "prev_frame", "next_frame"] {
                    object.remove(link);
                }
                if !object.is_empty() {
                    self.others.push((self.frames.len().to_string(), object));
                }
                self.frames.push(Frame {
                    deepcopy,
                    state,
                    info,
                });
            }
            other => {
                self.raw.push(number);
                self.frames.push(Frame::new(other, Json::Null));
            }
        }
    }

    fn finish(self, outcome: &mut ImportOutcome) {
        let file = match self.manifest {
            Some(manifest) => manifest.file.clone(),
            None => format!("{}_*.json", self.stem),
        };
        if !self.missing.is_empty() {
            let text = format!(
                "Missing or unreadable: {}. The others are shown in order.",
                frames_text(&self.missing)
            );
            outcome.note(NoteLevel::Unreadable, &file, text);
        }
        if self.frames.is_empty() {
            return;
        }
        let count = counted(self.frames.len(), "frame");
        let text = match self.manifest {
            Some(_) => format!("Renderer files with {count}."),
            None => {
                format!("Renderer files with {count} but no manifest; ordered by name.")
            }
        };
        outcome.note(NoteLevel::Read, &file, text);
        if !self.raw.is_empty() {
            let text = format!(
                "Of another shape, kept unchanged: {}.",
                frames_text(&self.raw)
            );
            outcome.note(NoteLevel::KeptRaw, &file, text);
        }
        if !self.others.is_empty() {
            let text = "Some frames have unknown members, which are kept in the metadata.";
            outcome.note(NoteLevel::KeptRaw, &file, text);
        }
        outcome.episodes.push(self.episode(file));
    }

    fn episode(self, file: String) -> Episode {
        let (_, stem) = split_folder(&self.stem);
        let id = stem.split_once('_').map_or(stem, |(_, id)| id);
        let mut metadata = Object::new();
        if !self.others.is_empty() {
            let others = self.others.into_iter();
            let others = others.map(|(place, object)| (place.into(), object.into()));
            metadata.insert("frame members", Object::from_distinct(others.collect()));
        }
        Episode {
            id: id.into(),
            name: self
                .manifest
                .and_then(|manifest| manifest.name.clone())
                .unwrap_or_else(|| stem.into()),
            frames: self.frames,
            rewards: Rewards::Unknown,
            source: Some(Source {
                format: "aviary-renderer".into(),
                version: None,
                file: file.into(),
            }),
            metadata,
            ..Episode::default()
        }
    }
}

/// Formats frame numbers: "frames 3 to 5, 9 and 4 more".
fn frames_text(numbers: &[u64]) -> String {
    const MOST: usize = 5;
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(number) => *end = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown: Vec<String> = ranges
        .iter()
        .take(MOST)
        .map(|(start, end)| match start == end {
            true => start.to_string(),
            false => format!("{start} to {end}"),
        })
        .collect();
    let more = match ranges.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("frames {}{more}", shown.join(", "))
}
