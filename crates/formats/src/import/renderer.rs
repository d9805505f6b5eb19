//! Reads aviary Renderer files from any writer: present data is shown, missing data is reported.
//!
//! Frames are grouped by name (see [`names`](crate::renderer_files::names)), with or without a manifest. Data that
//! frames do not contain (actions, rewards) is not guessed.

use std::collections::HashMap;

use volary_core::Frame;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Episode, Rewards, Source};
use volary_episode::frames::FrameHistory;

use super::describe::counted;
use super::files::Files;
use super::reader::Reader;
use super::{ImportOutcome, NoteLevel};
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
    // Each file is removed when it is visited, so that a cycle of links ends the walk.
    let mut unvisited: Option<HashMap<String, usize>> = None;
    for manifest in manifests {
        let mut stems = manifest.stems();
        let group = stems.find_map(|stem| groups.take(&stem));
        let group = group.or_else(|| {
            let unvisited = unvisited.get_or_insert_with(|| {
                let open = files.open().into_iter().rev();
                open.map(|index| (files.name(index).to_owned(), index))
                    .collect()
            });
            linked(files, &manifest, unvisited)
        });
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
    for (stem, frames) in groups.rest() {
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

/// Frames with a common stem of their names, each with its number and the index of its file, sorted by number.
type Group = (String, Vec<(u64, usize)>);

/// The groups of all frames, in file order.
#[derive(Default)]
struct Groups {
    found: Vec<Group>,
    /// The indices of the groups by stem.
    indices: HashMap<String, usize>,
}

impl Groups {
    /// Takes the group with a stem.
    fn take(&mut self, stem: &str) -> Option<Group> {
        let index = self.indices.remove(stem)?;
        self.found.get_mut(index).map(std::mem::take)
    }

    /// The groups that were not taken.
    fn rest(self) -> impl Iterator<Item = Group> {
        let found = self.found.into_iter();
        found.filter(|(_, frames)| !frames.is_empty())
    }
}

fn groups(files: &Files<'_>) -> Groups {
    let mut groups = Groups::default();
    for index in files.open() {
        let Some(name) = frame_name(files.name(index)) else {
            continue;
        };
        let group = match groups.indices.get(name.stem) {
            Some(group) => *group,
            None => {
                let group = groups.found.len();
                groups.found.push((name.stem.to_owned(), Vec::new()));
                groups.indices.insert(name.stem.to_owned(), group);
                group
            }
        };
        groups.found[group].1.push((name.number, index));
    }
    groups
        .found
        .iter_mut()
        .for_each(|(_, frames)| frames.sort_unstable());
    groups
}

/// Finds frames with other names by following the links from each frame to the next. The visited files are removed from
/// `unvisited`, the indices of files by name: no two walks visit the same file.
fn linked(
    files: &Files<'_>,
    manifest: &Manifest,
    unvisited: &mut HashMap<String, usize>,
) -> Option<Group> {
    let mut frames = Vec::new();
    let mut next = manifest.beside(&manifest.first);
    while let Some(index) = unvisited
        .remove(&next)
        .filter(|index| files.is_open(*index))
    {
        frames.push((frames.len() as u64, index));
        // A damaged frame is the last one, and is reported when it is read.
        let value = files.peek_json(index).unwrap_or_default();
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

    /// Records a gap. Numbers come from file names, so gaps may have any size: only 1000 missing frames are recorded.
    fn skip(&mut self, from: u64, to: u64) {
        const MOST: usize = 1000;
        let room = MOST.saturating_sub(self.missing.len());
        self.missing.extend((from..to).take(room));
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
        if !outcome.episode_limit.take() {
            let text = outcome.episode_limit.describe(1);
            return outcome.note(NoteLevel::Unreadable, &file, text);
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
            let others = others.map(|(member, object)| (member.into(), object.into()));
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
        .map(|(start, end)| {
            if start == end {
                start.to_string()
            } else {
                format!("{start} to {end}")
            }
        })
        .collect();
    let more = match ranges.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("frames {}{more}", shown.join(", "))
}
