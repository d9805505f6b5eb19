//! The texts next to the fields of a form.

use super::{Blank, Field, FieldKind};
use crate::pretty::one_line;

/// The maximum number of characters of a default.
const LONGEST_DEFAULT: usize = 40;

/// The hint next to a label: what to type, and whether the field may be left blank.
pub fn hint(field: &Field) -> String {
    let kind = match &field.kind {
        FieldKind::Integer => "whole number",
        FieldKind::Number => "number",
        FieldKind::Free => "JSON",
        _ => "",
    };
    let has_default = field.default.as_ref().is_some_and(|it| !it.is_null());
    let optional = if field.required || has_default {
        ""
    } else {
        "optional"
    };
    let words = [kind, optional].into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(", ")
}

/// What a blank field means.
pub fn blank_text(field: &Field, blank: Blank) -> String {
    match (blank, &field.default) {
        (Blank::Null, _) => "null".to_owned(),
        (Blank::LeftOut, _) if field.required => "not set".to_owned(),
        (Blank::LeftOut, Some(default)) if !default.is_null() => {
            format!("default: {}", one_line(default, LONGEST_DEFAULT))
        }
        (Blank::LeftOut, _) => "default".to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use volary_core::{Json, json};

    use super::*;

    /// The field of the property `x` of a schema.
    pub(in crate::form) fn field(schema: Json, required: bool) -> Arc<Field> {
        let mut object = json!({"type": "object"});
        let Json::Object(members) = &mut object else {
            panic!("an object");
        };
        members.insert("properties", json!({"x": schema}));
        if required {
            members.insert("required", json!(["x"]));
        }
        match &Field::root(&object).kind {
            FieldKind::Group(fields) => Arc::clone(&fields[0]),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hints_name_what_cannot_be_guessed() {
        for (schema, required, expected) in [
            (json!({"type": "integer"}), true, "whole number"),
            (json!({"type": "number"}), false, "number, optional"),
            (json!({"type": "number", "default": 2}), false, "number"),
            (json!({}), true, "JSON"),
            (json!({"type": "string"}), true, ""),
            (json!({"type": "string"}), false, "optional"),
            // A default of null says no more than that it may be left out.
            (
                json!({"type": "string", "default": null}),
                false,
                "optional",
            ),
        ] {
            assert_eq!(
                hint(&field(schema.clone(), required)),
                expected,
                "{schema:?}"
            );
        }
    }

    #[test]
    fn a_blank_says_what_it_stands_for() {
        let text = |schema, required, blank| blank_text(&field(schema, required), blank);
        let string = || json!({"type": "string"});
        assert_eq!(text(string(), true, Blank::LeftOut), "not set");
        assert_eq!(text(string(), false, Blank::LeftOut), "default");
        assert_eq!(text(string(), false, Blank::Null), "null");
        let with_default = json!({"type": "array", "default": ["a", "b"]});
        assert_eq!(
            text(with_default, false, Blank::LeftOut),
            "default: [\"a\", \"b\"]"
        );
        let long = json!({"type": "string", "default": ("x".repeat(100))});
        let shown = text(long, false, Blank::LeftOut);
        assert!(
            shown.chars().count() <= "default: ".len() + LONGEST_DEFAULT + 3,
            "{shown}"
        );
    }
}
