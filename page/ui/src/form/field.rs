//! Draws a form field by its kind.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::Json;
use volary_view::form::{Field, FieldKind, FieldPath};

use super::Editor;
use super::control::{check_box, choice, fixed};
use super::entries::{list, map};
use super::nested::{either, group, tuple};
use super::slot::Slot;
use super::text_field::text_field;

/// Renders a field labelled with its own name.
pub(super) fn field_view(editor: Editor, field: &Arc<Field>, place: FieldPath) -> AnyView {
    draw(Slot {
        editor,
        field: Arc::clone(field),
        place,
        label: Signal::stored(field.name.to_string()),
        aside: None,
    })
}

/// Renders a field.
pub(super) fn draw(slot: Slot) -> AnyView {
    let field = Arc::clone(&slot.field);
    match &field.kind {
        FieldKind::Group(fields) => group(slot, fields),
        FieldKind::Flag if is_plain_flag(&field) => check_box(slot),
        FieldKind::Text { .. } | FieldKind::Integer | FieldKind::Number | FieldKind::Free => {
            text_field(slot)
        }
        FieldKind::Tuple(fields) => tuple(slot, fields),
        FieldKind::List { item, most, .. } => list(slot, item, *most),
        FieldKind::Map { value } => map(slot, value),
        FieldKind::Either(variants) => either(slot, variants),
        FieldKind::Flag | FieldKind::Choice(_) => choice(slot),
        FieldKind::Fixed(value) => fixed(slot, value),
    }
}

/// Returns whether a checkbox can represent every state of the field.
fn is_plain_flag(field: &Field) -> bool {
    let default = matches!(field.default, Some(Json::Bool(_)));
    !field.nullable && (field.required || default)
}
