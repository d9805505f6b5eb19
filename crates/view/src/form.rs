//! A form generated from a JSON Schema: its fields, their input, and the resulting value.
//!
//! **Invariant:** input is never lost. A value that the fields cannot hold is edited as raw JSON; invalid input
//! stays as typed, with an error next to it.
//!
//! - [`field`]: converts a schema into fields.
//! - [`draft`]: the input as a tree parallel to the fields; converts a value into a draft.
//! - [`read`]: converts a draft into a value, with errors.
//! - [`field_path`]: the path of a field.
//! - [`labels`], [`options`]: the texts next to fields, and the options of selects. `entry_action`: the buttons of the entries
//!   of a list.

pub mod draft;
mod entry_action;
mod faults;
pub mod field;
mod field_path;
pub mod labels;
pub mod options;
pub mod read;

use std::sync::Arc;

use volary_core::Json;

pub use draft::{Blank, FieldDraft, MoveDirection, Shape};
pub use entry_action::EntryAction;
pub use field::{Field, FieldKind, is_write_only};
pub use field_path::FieldPath;
pub use read::FieldError;

/// [`Form::value`], as a form stores it.
type Check = fn(&Form) -> Result<Json, Vec<FieldError>>;

/// A form: a schema and its input.
#[derive(Clone, Debug)]
pub struct Form {
    schema: Arc<Json>,
    root: Arc<Field>,
    mode: Mode,
    /// Errors set from outside, until the next edit.
    refusals: Vec<FieldError>,
    /// Whether errors are shown: only after the first submit, not while typing.
    checked: bool,
    /// Finds the errors to show; `None` while there are none. A pointer, because the first load of the page draws
    /// forms without the code that checks them.
    check: Option<Check>,
}

/// How the value is edited.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// As fields.
    Fields(FieldDraft),
    /// As JSON text.
    Raw(String),
}

impl Default for Form {
    fn default() -> Self {
        Form::new(Json::Object(Default::default()))
    }
}

impl Form {
    /// A form filled with the schema's defaults.
    pub fn new(schema: Json) -> Self {
        let root = Field::root(&schema);
        let draft = FieldDraft::initial(&root);
        Form {
            schema: Arc::new(schema),
            root: Arc::new(root),
            mode: Mode::Fields(draft),
            refusals: Vec::new(),
            checked: false,
            check: None,
        }
    }

    /// A form with an initial value. A value that the fields cannot hold is shown as raw JSON.
    pub fn with_value(schema: Json, value: &Json) -> Self {
        let mut form = Form::new(schema);
        form.mode = form
            .fields_for(value)
            .unwrap_or_else(|| Mode::Raw(raw_text(value)));
        form
    }

    /// A form with an initial value that its fields can hold without loss.
    pub fn holding(schema: Json, value: &Json) -> Self {
        let mut form = Form::new(schema);
        if let Some(draft) = FieldDraft::of(&form.root, Some(value)) {
            form.mode = Mode::Fields(draft);
        }
        form
    }

    /// Fields with an initial value, if they can hold it without loss.
    fn fields_for(&self, value: &Json) -> Option<Mode> {
        let draft = FieldDraft::of(&self.root, Some(value))?;
        let read = read::read(&self.root, &draft);
        (read.errors.is_empty() && read.value.as_ref() == Some(value))
            .then_some(Mode::Fields(draft))
    }

    /// Begins again with a schema, unless it is the same one: then what was entered stays. Returns whether it began again.
    pub fn set_schema(&mut self, schema: Json) -> bool {
        let is_other = *self.schema != schema;
        if is_other {
            *self = Form::new(schema);
        }
        is_other
    }

    pub fn schema(&self) -> &Json {
        &self.schema
    }

    /// The root field.
    pub fn root(&self) -> &Arc<Field> {
        &self.root
    }

    /// How the value is edited.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The value if it is valid, or all errors.
    pub fn value(&self) -> Result<Json, Vec<FieldError>> {
        let (value, mut errors) = match &self.mode {
            Mode::Fields(draft) => {
                let read = read::read(&self.root, draft);
                let value = read.value.unwrap_or_default();
                let mut errors = read.errors;
                // Input that cannot be parsed is not checked further.
                let told: Vec<FieldPath> = errors.iter().map(|error| error.place.clone()).collect();
                let faults = faults::in_fields(&self.schema, &value, &self.root, draft);
                errors.extend(
                    faults
                        .into_iter()
                        .filter(|fault| !told.contains(&fault.place)),
                );
                (value, errors)
            }
            Mode::Raw(text) => match Json::parse(text) {
                Err(error) => (
                    Json::Null,
                    vec![FieldError::whole(format!(
                        "This is not valid JSON: {error}."
                    ))],
                ),
                Ok(value) => {
                    let faults = faults::in_text(&self.schema, &value);
                    (value, faults)
                }
            },
        };
        errors.extend(self.refusals.iter().cloned());
        if errors.is_empty() {
            Ok(value)
        } else {
            Err(errors)
        }
    }

    /// The current input, valid or not: text that is not a valid value of its field is kept as a string.
    pub fn filled(&self) -> Json {
        match &self.mode {
            Mode::Fields(draft) => read::read(&self.root, draft).value.unwrap_or_default(),
            Mode::Raw(text) => Json::parse(text).unwrap_or_default(),
        }
    }

    /// The value if it is valid. Otherwise errors are shown from now on.
    pub fn submit(&mut self) -> Option<Json> {
        self.refusals.clear();
        let value = self.value().ok();
        self.checked = value.is_none();
        self.check = Some(Form::value);
        value
    }

    /// The errors to show: none before the first submit.
    pub fn errors(&self) -> Vec<FieldError> {
        if self.checked || !self.refusals.is_empty() {
            let value = self.check.map(|check| check(self));
            value.and_then(Result::err).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// Sets an error at the field of a key, for reasons outside the schema. An unknown key marks the whole
    /// form.
    pub fn refuse(&mut self, key: &str, reason: &str) {
        let place = match (&self.root.kind, &self.mode) {
            (FieldKind::Group(fields), Mode::Fields(_)) => fields
                .iter()
                .position(|field| &*field.name == key)
                .map(FieldPath::member),
            _ => None,
        };
        self.refusals.push(match place {
            Some(place) => FieldError {
                place,
                reason: reason.to_owned(),
            },
            None => FieldError::whole(format!("{key}: {reason}")),
        });
        self.checked = true;
        self.check = Some(Form::value);
    }

    /// Whether the value is edited as raw JSON.
    pub fn is_raw(&self) -> bool {
        matches!(self.mode, Mode::Raw(_))
    }

    /// Switches to raw JSON with the current input. Invalid input is omitted.
    pub fn edit_raw(&mut self) {
        if let Mode::Fields(_) = &self.mode {
            let value = self.filled();
            self.mode = Mode::Raw(raw_text(&value));
            self.refusals.clear();
        }
    }

    /// Switches to fields. Returns the reason if they cannot hold the raw JSON, which then stays.
    pub fn edit_fields(&mut self) -> bool {
        let Mode::Raw(text) = &self.mode else {
            return true;
        };
        self.refusals.clear();
        self.check = Some(Form::value);
        let problem = match Json::parse(text) {
            Err(_) => {
                // `value` reports the error.
                self.checked = true;
                return false;
            }
            Ok(value) => match self.fields_for(&value) {
                Some(mode) => {
                    self.mode = mode;
                    return true;
                }
                None => "This value does not fit the fields. Edit it here or send it as it is.",
            },
        };
        self.refusals.push(FieldError::whole(problem));
        false
    }

    /// Switches between fields and raw JSON.
    pub fn switch_mode(&mut self) {
        if self.is_raw() {
            self.edit_fields();
        } else {
            self.edit_raw();
        }
    }

    /// Sets the raw JSON.
    pub fn set_raw(&mut self, text: String) {
        self.mode = Mode::Raw(text);
        self.refusals.clear();
    }

    /// The draft at a path.
    pub fn draft(&self, place: &FieldPath) -> Option<&FieldDraft> {
        let Mode::Fields(root) = &self.mode else {
            return None;
        };
        place
            .steps()
            .iter()
            .try_fold(root, |draft, step| draft.child(*step))
    }

    /// The draft at a path, for editing.
    pub fn draft_mut(&mut self, place: &FieldPath) -> Option<&mut FieldDraft> {
        self.refusals.clear();
        let Mode::Fields(root) = &mut self.mode else {
            return None;
        };
        place
            .steps()
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

fn raw_text(value: &Json) -> String {
    super::pretty::pretty(value, usize::MAX)
        .tokens
        .iter()
        .map(|token| &*token.text)
        .collect()
}

#[cfg(test)]
mod tests;
