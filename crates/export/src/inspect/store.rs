//! The states of an episode as Inspect's store: the changes of each step, as JSON Patch.

use volary_core::json::{Json, Key, Object};
use volary_core::object;
use volary_episode::episode::Episode;
use volary_episode::frames::{FrameCursor, FrameHistory};
use volary_episode::patch::{ListEdit, ObjectPatch, Patch};
use volary_episode::time;

/// JSON Patch cannot change a part of a text, so a growing text is rewritten with every step. After this many
/// bytes of such rewrites, later steps record no changes; the final store is still complete.
const MOST_WRITTEN_ANEW: usize = 32 << 20;

/// The store during the export of the steps.
pub(super) struct Stores<'a> {
    history: &'a FrameHistory,
    frames: FrameCursor<'a>,
    index: usize,
    /// The members of the store so far; `None` if the store differs from the last frame.
    members: Option<Vec<Key>>,
    written_anew: usize,
    timestamp: String,
}

impl<'a> Stores<'a> {
    pub fn new(episode: &'a Episode) -> Stores<'a> {
        let timestamp = episode.started.and_then(time::format);
        Stores {
            history: &episode.frames,
            frames: episode.frames.cursor(),
            index: 0,
            members: None,
            written_anew: 0,
            timestamp: timestamp.unwrap_or_else(|| "1970-01-01T00:00:00Z".into()),
        }
    }

    /// The event of the next frame, if its state changed. A store is always an object: other states are left out.
    pub fn next(&mut self) -> Option<Json> {
        if self.written_anew > MOST_WRITTEN_ANEW {
            return None;
        }
        let patch = self.history.patch(self.index)?;
        self.index += 1;
        let state = &self.frames.advance()?.state;
        let Json::Object(members) = state else {
            self.members = None;
            return None;
        };
        let mut writer = Writer::default();
        match (&self.members, &patch.state) {
            (Some(_), Patch::Object(patch)) => writer.object(patch, state),
            (Some(_), Patch::Same) => return None,
            (before, _) => {
                for key in before.iter().flatten() {
                    writer.within(key, |writer| writer.change("remove", None));
                }
                for (key, value) in members.iter() {
                    writer.within(key, |writer| writer.change("add", Some(value)));
                }
            }
        }
        self.members = Some(members.keys().cloned().collect());
        self.written_anew += writer.written_anew;
        let has_changes = !writer.changes.is_empty();
        let event = object!({
            "event": "store",
            "timestamp": (self.timestamp.clone()),
            "working_start": 0.0,
            "changes": (writer.changes)
        });
        has_changes.then(|| event.into())
    }
}

/// Builds the operations of a patch.
#[derive(Default)]
struct Writer {
    /// The path of the current value.
    path: String,
    changes: Vec<Json>,
    written_anew: usize,
}

impl Writer {
    fn change(&mut self, operation: &str, value: Option<&Json>) {
        let mut change = object!({"op": operation, "path": (self.path.clone())});
        if let Some(value) = value {
            change.insert("value", value.clone());
        }
        self.changes.push(change.into());
    }

    /// Runs a function with `key` appended to the path.
    fn within(&mut self, key: &str, then: impl FnOnce(&mut Writer)) {
        let length = self.path.len();
        self.path.push('/');
        self.path
            .push_str(&key.replace('~', "~0").replace('/', "~1"));
        then(self);
        self.path.truncate(length);
    }

    /// Writes the operations of a patch. `new` is the resulting value.
    fn patch(&mut self, patch: &Patch, new: &Json) {
        match patch {
            Patch::Same => {}
            Patch::Set(_) => self.change("replace", Some(new)),
            Patch::Splice(_) => {
                self.written_anew += new.as_text().map_or(0, |text| text.len());
                self.change("replace", Some(new));
            }
            Patch::Object(patch) => self.object(patch, new),
            Patch::List(edits) => self.list(edits, new),
        }
    }

    fn object(&mut self, patch: &ObjectPatch, new: &Json) {
        for key in &patch.remove {
            self.within(key, |writer| writer.change("remove", None));
        }
        for (key, patch) in &patch.change {
            if let Some(new) = new.get(key) {
                self.within(key, |writer| writer.patch(patch, new));
            }
        }
        for (_, key, value) in &patch.add {
            self.within(key, |writer| writer.change("add", Some(value)));
        }
    }

    fn list(&mut self, edits: &[ListEdit], new: &Json) {
        let new = new.as_list().unwrap_or_default();
        let mut index = 0;
        for edit in edits {
            match edit {
                ListEdit::Keep(count) => index += count,
                ListEdit::Remove(count) => {
                    for _ in 0..*count {
                        self.within(&index.to_string(), |writer| writer.change("remove", None));
                    }
                }
                ListEdit::Add(values) => {
                    for value in values {
                        self.within(&index.to_string(), |writer| {
                            writer.change("add", Some(value));
                        });
                        index += 1;
                    }
                }
                ListEdit::Change(patch) => {
                    if let Some(new) = new.get(index) {
                        self.within(&index.to_string(), |writer| writer.patch(patch, new));
                    }
                    index += 1;
                }
            }
        }
    }
}

/// The final store.
pub(super) fn last(episode: &Episode) -> Object {
    match episode.frames.last().map(|frame| &frame.state) {
        Some(Json::Object(state)) => state.clone(),
        _ => Object::new(),
    }
}
