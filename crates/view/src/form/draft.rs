//! The contents of a form: a tree parallel to its fields, which also holds incomplete and invalid input.

use volary_core::Json;

use super::field::{Field, FieldKind};

/// The maximum number of elements that a new list starts with, however many its schema wants.
const MOST_BEGUN: u32 = 100;

/// The meaning of a blank field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// The key is omitted.
    LeftOut,
    /// The value is `null`.
    Null,
}

/// The input of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldDraft {
    /// Nothing.
    Blank(Blank),
    /// A text, a number or free JSON, as typed.
    Text(String),
    /// A boolean.
    Flag(bool),
    /// The index of an option.
    Choice(usize),
    /// The only possible value.
    Fixed,
    /// The elements of a list or the members of a map.
    Entries(Vec<Entry>),
    /// One draft per field, of a group or tuple.
    Members(Vec<FieldDraft>),
    /// The index of a variant, and its draft.
    Variant(u32, Box<FieldDraft>),
}

/// The direction in which an entry moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveDirection {
    /// Towards the start.
    Up,
    /// Towards the end.
    Down,
}

/// A draft without its text, which decides the control to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Blank(Blank),
    /// An empty string.
    EmptyText,
    Text,
    /// A boolean.
    Flag(bool),
    /// The index of an option.
    Choice(usize),
    /// The only possible value.
    Fixed,
    /// The elements or members.
    Entries,
    /// One draft per field.
    Members,
    /// The index of a variant.
    Variant(u32),
}

/// An element of a list or a member of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Identifies the entry while the list is edited, wherever it moves.
    pub key: u32,
    /// The key in a map; empty in lists.
    pub name: String,
    /// The input.
    pub draft: FieldDraft,
}

impl FieldDraft {
    pub fn shape(&self) -> Shape {
        match self {
            FieldDraft::Blank(blank) => Shape::Blank(*blank),
            FieldDraft::Text(text) if text.is_empty() => Shape::EmptyText,
            FieldDraft::Text(_) => Shape::Text,
            FieldDraft::Flag(flag) => Shape::Flag(*flag),
            FieldDraft::Choice(place) => Shape::Choice(*place),
            FieldDraft::Fixed => Shape::Fixed,
            FieldDraft::Entries(_) => Shape::Entries,
            FieldDraft::Members(_) => Shape::Members,
            FieldDraft::Variant(variant, _) => Shape::Variant(*variant),
        }
    }

    /// The draft of an untouched field: its default, or blank.
    pub fn initial(field: &Field) -> Self {
        // Omitting the key means the same as its default `null` and is shorter.
        let default = field.default.as_ref().filter(|value| !value.is_null());
        if let Some(draft) = default.and_then(|default| FieldDraft::of(field, Some(default))) {
            return draft;
        }
        match field.blanks().first() {
            Some(blank) => FieldDraft::Blank(*blank),
            None => FieldDraft::begun(field),
        }
    }

    /// The draft of a field that is being filled in: empty but present.
    pub fn begun(field: &Field) -> Self {
        match &field.kind {
            FieldKind::Text { .. } | FieldKind::Integer | FieldKind::Number | FieldKind::Free => {
                FieldDraft::Blank(Blank::LeftOut)
            }
            FieldKind::Flag => FieldDraft::Flag(false),
            FieldKind::Choice(options) if options.len() == 1 => FieldDraft::Choice(0),
            FieldKind::Choice(_) => FieldDraft::Blank(Blank::LeftOut),
            FieldKind::Fixed(_) => FieldDraft::Fixed,
            FieldKind::List { item, fewest, .. } => FieldDraft::Entries(
                (0..u32::try_from(*fewest).unwrap_or(u32::MAX).min(MOST_BEGUN))
                    .map(|key| Entry::new(key, FieldDraft::initial(item)))
                    .collect(),
            ),
            FieldKind::Map { .. } => FieldDraft::Entries(Vec::new()),
            FieldKind::Tuple(fields) | FieldKind::Group(fields) => FieldDraft::Members(
                fields
                    .iter()
                    .map(|field| FieldDraft::initial(field))
                    .collect(),
            ),
            FieldKind::Either(_) => FieldDraft::of_variant(field, 0),
        }
    }

    /// The empty draft of a variant.
    pub fn of_variant(field: &Field, variant: u32) -> Self {
        let inner = field
            .variant(variant as usize)
            .map_or(FieldDraft::Fixed, |field| FieldDraft::initial(field));
        FieldDraft::Variant(variant, Box::new(inner))
    }

    /// The draft of a value (`None`: omitted), if the field can hold it.
    pub fn of(field: &Field, value: Option<&Json>) -> Option<Self> {
        let Some(value) = value else {
            return Some(FieldDraft::Blank(Blank::LeftOut));
        };
        if value.is_null() && field.nullable {
            return Some(FieldDraft::Blank(Blank::Null));
        }
        match (&field.kind, value) {
            (FieldKind::Text { .. }, Json::Text(text)) => Some(FieldDraft::Text(text.to_string())),
            (FieldKind::Integer | FieldKind::Number, Json::Integer(_))
            | (FieldKind::Number, Json::Float(_)) => Some(FieldDraft::Text(value.to_python_text())),
            (FieldKind::Flag, Json::Bool(flag)) => Some(FieldDraft::Flag(*flag)),
            (FieldKind::Choice(options), _) => options
                .iter()
                .position(|option| option == value)
                .map(FieldDraft::Choice),
            (FieldKind::Fixed(fixed), _) => (fixed == value).then_some(FieldDraft::Fixed),
            (FieldKind::List { item, .. }, Json::List(list)) => {
                let entries = (0..)
                    .zip(list)
                    .map(|(key, value)| Some(Entry::new(key, FieldDraft::of(item, Some(value))?)))
                    .collect::<Option<_>>()?;
                Some(FieldDraft::Entries(entries))
            }
            (FieldKind::Tuple(fields), Json::List(list)) if fields.len() == list.len() => {
                let members = fields
                    .iter()
                    .zip(list)
                    .map(|(field, value)| FieldDraft::of(field, Some(value)))
                    .collect::<Option<_>>()?;
                Some(FieldDraft::Members(members))
            }
            (FieldKind::Group(fields), Json::Object(object)) => {
                let known = |key: &str| fields.iter().any(|field| &*field.name == key);
                if !object.keys().all(|key| known(key)) {
                    return None;
                }
                let members = fields
                    .iter()
                    .map(|field| FieldDraft::of(field, object.get(&field.name)))
                    .collect::<Option<_>>()?;
                Some(FieldDraft::Members(members))
            }
            (FieldKind::Map { value: pattern }, Json::Object(object)) => {
                let entries = (0..)
                    .zip(object.iter())
                    .map(|(key, (name, value))| {
                        Some(Entry {
                            key,
                            name: name.to_string(),
                            draft: FieldDraft::of(pattern, Some(value))?,
                        })
                    })
                    .collect::<Option<_>>()?;
                Some(FieldDraft::Entries(entries))
            }
            (FieldKind::Either(variants), _) => (0..).zip(variants).find_map(|(place, variant)| {
                let inner = FieldDraft::of(variant, Some(value))?;
                Some(FieldDraft::Variant(place, Box::new(inner)))
            }),
            (FieldKind::Free, _) => Some(FieldDraft::Text(super::raw_text(value))),
            _ => None,
        }
    }

    pub(super) fn child(&self, step: u32) -> Option<&FieldDraft> {
        match self {
            FieldDraft::Members(members) => members.get(step as usize),
            FieldDraft::Entries(entries) => entries
                .iter()
                .find(|entry| entry.key == step)
                .map(|entry| &entry.draft),
            FieldDraft::Variant(variant, inner) if *variant == step => Some(inner),
            _ => None,
        }
    }

    pub(super) fn child_mut(&mut self, step: u32) -> Option<&mut FieldDraft> {
        match self {
            FieldDraft::Members(members) => members.get_mut(step as usize),
            FieldDraft::Entries(entries) => entries
                .iter_mut()
                .find(|entry| entry.key == step)
                .map(|entry| &mut entry.draft),
            FieldDraft::Variant(variant, inner) if *variant == step => Some(inner),
            _ => None,
        }
    }

    /// The text as typed; empty if there is none.
    pub fn text(&self) -> &str {
        match self {
            FieldDraft::Text(text) => text,
            _ => "",
        }
    }

    /// Sets the typed text. An empty text makes the field blank.
    pub fn set_text(&mut self, field: &Field, text: String) {
        *self = if text.is_empty() {
            let blank = field.blanks().first().copied();
            FieldDraft::Blank(blank.unwrap_or(Blank::LeftOut))
        } else {
            FieldDraft::Text(text)
        };
    }

    /// The entries of a list or map.
    pub fn entries(&self) -> &[Entry] {
        match self {
            FieldDraft::Entries(entries) => entries,
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
        if !matches!(self, FieldDraft::Entries(_)) {
            *self = FieldDraft::Entries(Vec::new());
        }
        let FieldDraft::Entries(entries) = self else {
            return None;
        };
        let key = entries.iter().map(|entry| entry.key + 1).max();
        let key = key.unwrap_or_default();
        entries.push(Entry::new(key, FieldDraft::initial(pattern)));
        Some(key)
    }

    pub fn remove_entry(&mut self, key: u32) {
        if let FieldDraft::Entries(entries) = self {
            entries.retain(|entry| entry.key != key);
        }
    }

    /// Moves an entry by one position, if there is one in that direction.
    pub fn move_entry(&mut self, key: u32, direction: MoveDirection) {
        let FieldDraft::Entries(entries) = self else {
            return;
        };
        let Some(place) = entries.iter().position(|entry| entry.key == key) else {
            return;
        };
        let other = match direction {
            MoveDirection::Up => place.checked_sub(1),
            MoveDirection::Down => Some(place + 1).filter(|other| *other < entries.len()),
        };
        if let Some(other) = other {
            entries.swap(place, other);
        }
    }

    /// Renames an entry of a map.
    pub fn rename_entry(&mut self, key: u32, name: String) {
        if let FieldDraft::Entries(entries) = self
            && let Some(entry) = entries.iter_mut().find(|entry| entry.key == key)
        {
            entry.name = name;
        }
    }
}

impl Entry {
    /// An entry without a name.
    pub fn new(key: u32, draft: FieldDraft) -> Self {
        Entry {
            key,
            name: String::new(),
            draft,
        }
    }
}
