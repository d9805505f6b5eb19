//! Converts a draft into a value, with an error at each field whose input is not a valid value. The schema
//! checker validates everything else.

use volary_core::Json;
use volary_core::json::{Integer, Object, float_from_text};

use super::draft::{Blank, Entry, FieldDraft};
use super::field::{Field, FieldKind};
use super::field_path::FieldPath;

/// An error at a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The path of the field.
    pub place: FieldPath,
    /// The error, with what is expected.
    pub reason: String,
}

impl FieldError {
    /// An error of the whole form.
    pub fn whole(reason: impl Into<String>) -> Self {
        FieldError {
            place: FieldPath::default(),
            reason: reason.into(),
        }
    }
}

/// The result of reading a draft.
#[derive(Debug)]
pub struct Read {
    /// The value; `None` if omitted. Text that is not a valid value of its field is kept as a string, so that
    /// it survives the switch to raw JSON.
    pub value: Option<Json>,
    pub errors: Vec<FieldError>,
}

/// Reads a draft.
pub fn read(field: &Field, draft: &FieldDraft) -> Read {
    let mut reader = DraftReader::default();
    let value = reader.value(field, draft);
    Read {
        value,
        errors: reader.errors,
    }
}

#[derive(Default)]
struct DraftReader {
    place: Vec<u32>,
    errors: Vec<FieldError>,
}

impl DraftReader {
    fn error(&mut self, reason: impl Into<String>) {
        self.errors.push(FieldError {
            place: FieldPath::from(&*self.place),
            reason: reason.into(),
        });
    }

    fn within(&mut self, step: u32, field: &Field, draft: &FieldDraft) -> Option<Json> {
        self.place.push(step);
        let value = self.value(field, draft);
        self.place.pop();
        value
    }

    fn value(&mut self, field: &Field, draft: &FieldDraft) -> Option<Json> {
        match (draft, &field.kind) {
            (FieldDraft::Blank(Blank::Null), _) => Some(Json::Null),
            (FieldDraft::Blank(Blank::LeftOut), _) => {
                if field.required {
                    self.error(missing(field));
                }
                None
            }
            (FieldDraft::Text(text), kind) => Some(self.text(text, kind)),
            (FieldDraft::Flag(flag), _) => Some(Json::Bool(*flag)),
            (FieldDraft::Choice(place), FieldKind::Choice(options)) => options.get(*place).cloned(),
            (FieldDraft::Fixed, FieldKind::Fixed(value)) => Some(value.clone()),
            (FieldDraft::Entries(entries), FieldKind::List { item, .. }) => {
                Some(Json::List(self.elements(entries, item)))
            }
            (FieldDraft::Entries(entries), FieldKind::Map { value }) => {
                Some(Json::Object(self.map(entries, value)))
            }
            (FieldDraft::Members(members), FieldKind::Tuple(fields)) => {
                let places = (0..).zip(fields.iter().zip(members));
                let values = places
                    .map(|(place, (field, draft))| self.within(place, field, draft))
                    .map(Option::unwrap_or_default)
                    .collect();
                Some(Json::List(values))
            }
            (FieldDraft::Members(members), FieldKind::Group(fields)) => {
                let mut object = Object::new();
                for (place, (field, draft)) in (0..).zip(fields.iter().zip(members)) {
                    if let Some(value) = self.within(place, field, draft) {
                        object.insert(field.name.to_string(), value);
                    }
                }
                Some(Json::Object(object))
            }
            (FieldDraft::Variant(variant, inner), FieldKind::Either(_)) => {
                let field = field.variant(*variant as usize)?;
                self.within(*variant, field, inner)
            }
            // Unreachable: a draft is always made for its field.
            _ => None,
        }
    }

    fn text(&mut self, text: &str, kind: &FieldKind) -> Json {
        let (value, reason) = match kind {
            FieldKind::Integer => (
                Integer::from_digits(text.trim()).map(Json::Integer),
                "Must be a whole number, such as 3 or -12.".to_owned(),
            ),
            FieldKind::Number => (
                number(text.trim()),
                "Must be a number, such as 3, 0.5 or 1e-3.".to_owned(),
            ),
            FieldKind::Free => match Json::parse(text) {
                Ok(value) => (Some(value), String::new()),
                Err(error) => (
                    None,
                    format!("This is not valid JSON: {error}. Strings need double quotes."),
                ),
            },
            _ => (Some(Json::from(text)), String::new()),
        };
        value.unwrap_or_else(|| {
            self.error(reason);
            Json::from(text)
        })
    }

    fn elements(&mut self, entries: &[Entry], item: &Field) -> Vec<Json> {
        entries
            .iter()
            .map(|entry| self.within(entry.key, item, &entry.draft))
            // Missing elements keep their index, so that the others keep theirs.
            .map(Option::unwrap_or_default)
            .collect()
    }

    fn map(&mut self, entries: &[Entry], pattern: &Field) -> Object {
        let mut object = Object::new();
        for entry in entries {
            let Some(value) = self.within(entry.key, pattern, &entry.draft) else {
                continue;
            };
            if object.insert(entry.name.clone(), value).is_some() {
                self.place.push(entry.key);
                self.error(format!("The key “{}” is used twice.", entry.name));
                self.place.pop();
            }
        }
        object
    }
}

/// Parses a number as JSON or with a bare point (`.5`, `2.`).
fn number(text: &str) -> Option<Json> {
    if let Ok(value @ (Json::Integer(_) | Json::Float(_))) = Json::parse(text) {
        return Some(value);
    }
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    float_from_text(text).filter(|_| plain).map(Json::Float)
}

fn missing(field: &Field) -> String {
    match &field.kind {
        FieldKind::Choice(_) => "Required".to_owned(),
        FieldKind::Text { .. } => "Required".to_owned(),
        FieldKind::Free => "Required: enter a JSON value".to_owned(),
        FieldKind::Integer | FieldKind::Number => {
            format!("Required: enter a {}", field.kind_text())
        }
        _ => "Required".to_owned(),
    }
}
