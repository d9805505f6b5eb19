//! Tags of episodes as notes, so that they are kept where the notes are: a label on the whole episode.
//!
//! Invariant: the id follows from the episode and the tag. So a tag that two annotators assign is one note, and a deleted
//! one still says which tag was removed.

use volary_core::json::{Json, Text};
use volary_episode::episode::Episode;

use super::{Annotation, Annotations, Target};

/// How the ids begin.
const PREFIX: &str = "tag ";

/// The key of the metadata under which an exported episode has its tags.
const METADATA: &str = "library_tags";

/// The tag that a note is, also if it was deleted; `None` for other notes.
pub fn tag_of(note: &Annotation) -> Option<&str> {
    let rest = note.id.strip_prefix(PREFIX)?;
    let tag = rest.strip_prefix(&*note.episode)?.strip_prefix(' ')?;
    (!tag.is_empty()).then_some(tag)
}

/// Assigns a tag to an episode, or removes it, unless that was done already.
pub fn set(notes: &mut Annotations, episode: &Text, tag: &str, on: bool, author: &Text, now: f64) {
    let id = Text::from(format!("{PREFIX}{episode} {tag}"));
    match (on, notes.get(&id).is_some()) {
        (true, false) => {
            let note = Annotation {
                id,
                episode: episode.clone(),
                target: Target::Episode,
                label: Some(tag.into()),
                author: author.clone(),
                ..Annotation::default()
            };
            notes.write(note, now);
        }
        (false, true) => drop(notes.delete(&id, now)),
        // A row can have a tag that no note holds: a tombstone removes it for others too.
        (false, false) if notes.by_id.contains_key(&id) => {}
        (false, false) => {
            let note = Annotation {
                id,
                episode: episode.clone(),
                author: author.clone(),
                deleted: true,
                ..Annotation::default()
            };
            notes.write(note, now);
        }
        (true, true) => {}
    }
}

/// Adds the tag of a note to the tags of its episode, or removes it if the note was deleted.
pub fn apply(note: &Annotation, tags: &mut Vec<Text>) {
    let Some(tag) = tag_of(note) else { return };
    let index = tags.iter().position(|known| **known == *tag);
    match (note.deleted, index) {
        (false, None) => tags.push(tag.into()),
        (true, Some(index)) => drop(tags.remove(index)),
        _ => {}
    }
}

/// Adds the tags to an episode that is exported.
pub fn put(episode: &mut Episode, tags: Vec<Text>) {
    if !tags.is_empty() {
        episode.metadata.insert(METADATA, tags);
    }
}

/// The tags in an episode that was exported.
pub fn of(episode: &Episode) -> Vec<Text> {
    let Some(Json::List(tags)) = episode.metadata.get(METADATA) else {
        return Vec::new();
    };
    tags.iter().filter_map(Json::as_text).cloned().collect()
}

/// Takes the tags out of an episode that was exported.
pub fn take(episode: &mut Episode) -> Vec<Text> {
    let tags = of(episode);
    if episode.metadata.contains_key(METADATA) {
        episode.metadata.remove(METADATA);
    }
    tags
}

#[cfg(test)]
mod tests {
    use volary_episode::native;

    use super::*;
    use crate::annotations::sidecar;

    fn tags_after(notes: &Annotations, before: &[&str]) -> String {
        let mut tags = before.iter().map(|tag| Text::from(*tag)).collect();
        notes.iter_all().for_each(|note| apply(note, &mut tags));
        tags.join(", ")
    }

    #[test]
    fn tags_are_assigned_once_and_removed_for_all() {
        let (episode, author) = (Text::from("run 1"), Text::from("ann"));
        let mut notes = Annotations::default();
        let mut tag = |tag, on| set(&mut notes, &episode, tag, on, &author, 1.0);
        tag("to do", true);
        tag("to do", true);
        tag("old", false);
        let lines = sidecar::to_lines(&notes);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        let mut theirs = sidecar::read_lines(&lines).annotations;
        assert_eq!(tags_after(&theirs, &["old", "mine"]), "mine, to do");
        set(&mut theirs, &episode, "to do", false, &author, 2.0);
        notes.merge(theirs);
        assert_eq!(tags_after(&notes, &["to do"]), "");
        assert_eq!(notes.iter().count(), 0);
        set(&mut notes, &episode, "to do", true, &author, 3.0);
        assert_eq!(tags_after(&notes, &[]), "to do");
        let note = notes.iter().next().unwrap();
        assert_eq!(note.label.as_deref(), Some("to do"));
    }

    #[test]
    fn tags_go_with_an_exported_episode() {
        let mut episode = Episode::default();
        put(&mut episode, Vec::new());
        assert_eq!(episode, Episode::default());
        put(&mut episode, vec!["to do".into(), "old".into()]);
        let text = native::to_text(&episode);
        let mut read = native::read(&text).unwrap().episodes.remove(0);
        assert_eq!(take(&mut read), ["to do".into(), "old".into()]);
        assert!(read.metadata.is_empty());
        assert!(take(&mut read).is_empty());
    }

    #[test]
    fn other_notes_are_no_tags() {
        for id in ["tag", "tag e", "tag e ", "tag other x", "0123"] {
            let note = Annotation {
                id: id.into(),
                episode: "e".into(),
                ..Annotation::default()
            };
            assert_eq!(tag_of(&note), None, "{id}");
        }
    }
}
