//! The tags that `volary view --notes` keeps next to the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use volary_analysis::annotations::{Annotation, Annotations, sidecar, tags};
use volary_core::json::Text;
use volary_episode::Episode;
use volary_formats::import::fields::Mappings;

use crate::inputs;
use crate::view::{NOTES_FILE, NOTES_FOLDER};

/// Tags by the ids of their episodes.
#[derive(Debug, Default)]
pub struct TagsBeside {
    by_episode: BTreeMap<Text, Vec<Annotation>>,
}

impl TagsBeside {
    /// Reads the notes next to files. If there are tags, the files are read too: of several episodes with the same id the
    /// notes do not say which one is meant.
    pub fn of(paths: &[PathBuf], mappings: &Mappings) -> Result<TagsBeside> {
        let mut by_episode: BTreeMap<Text, Vec<Annotation>> = BTreeMap::new();
        for note in notes_beside(paths)?.iter_all() {
            if tags::tag_of(note).is_some() {
                let of_episode = by_episode.entry(note.episode.clone()).or_default();
                of_episode.push(note.clone());
            }
        }
        if !by_episode.is_empty() {
            let mut counts: BTreeMap<Text, usize> = BTreeMap::new();
            inputs::read_mapped(paths, mappings, |_, episode| {
                if by_episode.contains_key(&episode.id) {
                    *counts.entry(episode.id).or_default() += 1;
                }
                Ok(())
            })?;
            by_episode.retain(|id, _| counts.get(id) == Some(&1));
        }
        Ok(TagsBeside { by_episode })
    }

    /// Adds the tags of an episode to it.
    pub fn add(&self, episode: &mut Episode) {
        let Some(notes) = self.by_episode.get(&episode.id) else {
            return;
        };
        let mut all = tags::take(episode);
        notes.iter().for_each(|note| tags::apply(note, &mut all));
        tags::put(episode, all);
    }
}

/// The notes next to files.
pub fn notes_beside(paths: &[PathBuf]) -> Result<Annotations> {
    let folders = paths.iter().map(|path| {
        if path.is_dir() {
            path.as_path()
        } else {
            path.parent().unwrap_or(Path::new(""))
        }
    });
    let mut notes = Annotations::default();
    for folder in folders.collect::<BTreeSet<_>>() {
        let file = folder.join(NOTES_FOLDER).join(NOTES_FILE);
        match fs::read(&file) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                notes.merge(sidecar::read_lines(&text).annotations);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        }
    }
    Ok(notes)
}
