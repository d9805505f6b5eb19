//! Paths into a draft, and edits at a path.

use super::Form;
use super::Mode;
use super::draft::{Blank, Draft, Entry};
use super::field::{Field, FieldKind};
use super::read::FieldError;

/// The path of a field: members by index, entries by key, variants by index. The root is the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<u32>);

impl FieldPath {
    /// The path of a member of the root.
    pub fn member(place: usize) -> Self {
        FieldPath::default().then(u32::try_from(place).unwrap_or(u32::MAX))
    }

    /// A path below this one.
    pub fn then(&self, step: u32) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        FieldPath(steps)
    }

    /// An element id: the prefix and the path.
    pub fn id(&self, prefix: &str) -> String {
        let mut id = prefix.to_owned();
        for step in &self.0 {
            id.push('-');
            id.push_str(&step.to_string());
        }
        id
    }
}

impl From<&[u32]> for FieldPath {
    fn from(steps: &[u32]) -> Self {
        FieldPath(steps.to_vec())
    }
}

/// The direction in which an entry moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the start.
    Up,
    /// Towards the end.
    Down,
}

impl Form {
    /// The draft at a path.
    pub fn draft(&self, place: &FieldPath) -> Option<&Draft> {
        let Mode::Fields(root) = &self.mode else {
            return None;
        };
        place
            .0
            .iter()
            .try_fold(root, |draft, step| draft.child(*step))
    }

    /// The draft at a path, for editing.
    pub fn draft_mut(&mut self, place: &FieldPath) -> Option<&mut Draft> {
        self.refusals.clear();
        let Mode::Fields(root) = &mut self.mode else {
            return None;
        };
        place
            .0
            .iter()
            .try_fold(root, |draft, step| draft.child_mut(*step))
    }

    /// The error at a path, if errors are shown.
    pub fn error_at(&self, place: &FieldPath) -> Option<String> {
        self.errors()
            .into_iter()
            .find(|FieldError { place: at, .. }| at == place)
            .map(|error| error.reason)
    }
}

impl Draft {
    fn child(&self, step: u32) -> Option<&Draft> {
        match self {
            Draft::Members(members) => members.get(step as usize),
            Draft::Entries(entries) => entries
                .iter()
                .find(|entry| entry.key == step)
                .map(|entry| &entry.draft),
            Draft::Variant(variant, inner) if *variant == step => Some(inner),
            _ => None,
        }
    }

    fn child_mut(&mut self, step: u32) -> Option<&mut Draft> {
        match self {
            Draft::Members(members) => members.get_mut(step as usize),
            Draft::Entries(entries) => entries
                .iter_mut()
                .find(|entry| entry.key == step)
                .map(|entry| &mut entry.draft),
            Draft::Variant(variant, inner) if *variant == step => Some(inner),
            _ => None,
        }
    }

    /// The text as typed; empty if there is none.
    pub fn text(&self) -> &str {
        match self {
            Draft::Text(text) => text,
            _ => "",
        }
    }

    /// Sets the typed text. An empty text makes the field blank.
    pub fn set_text(&mut self, field: &Field, text: String) {
        *self = if text.is_empty() {
            let blank = field.blanks().first().copied();
            Draft::Blank(blank.unwrap_or(Blank::LeftOut))
        } else {
            Draft::Text(text)
        };
    }

    /// The entries of a list or map.
    pub fn entries(&self) -> &[Entry] {
        match self {
            Draft::Entries(entries) => entries,
            _ => &[],
        }
    }

    /// Appends an entry and returns its key.
    pub fn add_entry(&mut self, field: &Field) -> Option<u32> {
        let (FieldKind::List { item: pattern, .. } | FieldKind::Map { value: pattern }) =
            &field.kind
        else {
            return None;
        };
        if !matches!(self, Draft::Entries(_)) {
            *self = Draft::Entries(Vec::new());
        }
        let Draft::Entries(entries) = self else {
            return None;
        };
        let key = entries.iter().map(|entry| entry.key + 1).max();
        let key = key.unwrap_or_default();
        entries.push(Entry::new(key, Draft::initial(pattern)));
        Some(key)
    }

    pub fn remove_entry(&mut self, key: u32) {
        if let Draft::Entries(entries) = self {
            entries.retain(|entry| entry.key != key);
        }
    }

    /// Moves an entry by one position, if there is one in that direction.
    pub fn move_entry(&mut self, key: u32, direction: Direction) {
        let Draft::Entries(entries) = self else {
            return;
        };
        let Some(place) = entries.iter().position(|entry| entry.key == key) else {
            return;
        };
        let other = match direction {
            Direction::Up => place.checked_sub(1),
            Direction::Down => Some(place + 1).filter(|other| *other < entries.len()),
        };
        if let Some(other) = other {
            entries.swap(place, other);
        }
    }

    /// Renames an entry of a map.
    pub fn rename_entry(&mut self, key: u32, name: String) {
        if let Draft::Entries(entries) = self
            && let Some(entry) = entries.iter_mut().find(|entry| entry.key == key)
        {
            entry.name = name;
        }
    }
}
