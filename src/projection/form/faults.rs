//! From the schema checker's faults to errors at fields.

use volary_core::Json;

use super::draft::Draft;
use super::field::Field;
use super::read::FieldError;

/// The faults of a value, each at the field in which it was typed.
pub(super) fn in_fields(
    _schema: &Json,
    _value: &Json,
    _root: &Field,
    _draft: &Draft,
) -> Vec<FieldError> {
    Vec::new()
}

/// The faults of a value that was typed as text, each with the path to it in words.
pub(super) fn in_text(_schema: &Json, _value: &Json) -> Vec<FieldError> {
    Vec::new()
}
