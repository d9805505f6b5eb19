//! The options of the selects of a form. Each has a draft, which it puts in place of the field's.

use volary_core::Json;

use super::labels::blank_text;
use super::{Blank, Field, FieldDraft, FieldKind, Shape};
use crate::pretty::one_line;

/// The maximum number of characters of an option that is no text.
const LONGEST: usize = 200;

/// An option of a select.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOption {
    /// What choosing it puts into the field.
    pub draft: FieldDraft,
    pub text: String,
}

impl FieldOption {
    fn new(draft: FieldDraft, text: impl Into<String>) -> FieldOption {
        FieldOption {
            draft,
            text: text.into(),
        }
    }

    fn blank(field: &Field, blank: Blank) -> FieldOption {
        FieldOption::new(FieldDraft::Blank(blank), blank_text(field, blank))
    }
}

/// The options of a field with a few values, or of an optional boolean.
pub fn value_options(field: &Field) -> Vec<FieldOption> {
    let mut options = Vec::new();
    if field.required && !field.nullable {
        options.push(FieldOption::new(
            FieldDraft::Blank(Blank::LeftOut),
            "Choose…",
        ));
    }
    let blanks = field.blanks().into_iter();
    options.extend(blanks.map(|blank| FieldOption::blank(field, blank)));
    match &field.kind {
        FieldKind::Choice(values) => {
            let values = values.iter().enumerate();
            options.extend(values.map(|(place, value)| {
                let text = match value {
                    Json::Text(text) if !text.is_empty() => text.to_string(),
                    other => one_line(other, LONGEST),
                };
                FieldOption::new(FieldDraft::Choice(place), text)
            }));
        }
        _ => {
            let flags = [true, false].into_iter();
            options.extend(
                flags.map(|flag| FieldOption::new(FieldDraft::Flag(flag), flag.to_string())),
            );
        }
    }
    options
}

/// The kinds of a field with several variants, each of which begins with an empty draft.
pub fn kind_options(field: &Field) -> Vec<FieldOption> {
    let blanks = field.blanks().into_iter();
    let mut options: Vec<_> = blanks
        .map(|blank| FieldOption::blank(field, blank))
        .collect();
    if let FieldKind::Either(variants) = &field.kind {
        let variants = (0..).zip(variants);
        options.extend(variants.map(|(kind, variant)| {
            FieldOption::new(FieldDraft::of_variant(field, kind), &*variant.name)
        }));
    }
    options
}

/// What a blank text field may mean; empty if it can mean one thing only.
pub fn blank_options(field: &Field) -> Vec<FieldOption> {
    let mut options: Vec<_> = field
        .blanks()
        .into_iter()
        .map(|blank| FieldOption::blank(field, blank))
        .collect();
    if options.is_empty() {
        // The field is required: it is an error, unless an empty string is meant.
        options.push(FieldOption::blank(field, Blank::LeftOut));
    }
    if matches!(field.kind, FieldKind::Text { .. }) {
        options.push(FieldOption::new(
            FieldDraft::Text(String::new()),
            "empty string",
        ));
    }
    match options.len() {
        0 | 1 => Vec::new(),
        _ => options,
    }
}

/// Whether the select of [`blank_options`] is shown: while the field is blank, and what that means is a question.
pub fn asks_about_blank(field: &Field, shape: Shape, is_invalid: bool) -> bool {
    match shape {
        Shape::EmptyText => true,
        Shape::Blank(_) => !field.required || field.nullable || is_invalid,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::super::labels::tests::field;
    use super::*;

    fn texts(options: &[FieldOption]) -> Vec<&str> {
        options.iter().map(|option| &*option.text).collect()
    }

    #[test]
    fn a_required_choice_has_to_be_made() {
        let options = value_options(&field(json!({"enum": ["red", "", 3, [1]]}), true));
        assert_eq!(texts(&options), ["Choose…", "red", "\"\"", "3", "[1]"]);
        assert_eq!(options[0].draft, FieldDraft::Blank(Blank::LeftOut));
        assert_eq!(options[3].draft, FieldDraft::Choice(2));
    }

    #[test]
    fn an_optional_choice_can_be_left_out() {
        let optional = json!({"enum": ["red", "blue"], "default": "blue"});
        let options = value_options(&field(optional, false));
        assert_eq!(texts(&options), ["default: \"blue\"", "red", "blue"]);
    }

    #[test]
    fn an_optional_boolean_is_a_choice_among_three() {
        let options = value_options(&field(json!({"type": "boolean"}), false));
        assert_eq!(texts(&options), ["default", "true", "false"]);
        let nullable = json!({"anyOf": [{"type": "boolean"}, {"type": "null"}]});
        let options = value_options(&field(nullable, true));
        assert_eq!(texts(&options), ["null", "true", "false"]);
    }

    #[test]
    fn a_kind_begins_with_an_empty_draft_of_it() {
        let either = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
        let either = field(either, false);
        let options = kind_options(&either);
        assert_eq!(options.len(), 3, "{options:?}");
        assert_eq!(options[0].draft.shape(), Shape::Blank(Blank::LeftOut));
        assert_eq!(options[1].draft.shape(), Shape::Variant(0));
        assert_eq!(options[2].draft.shape(), Shape::Variant(1));
        assert!(options.iter().all(|option| !option.text.is_empty()));
        assert!(kind_options(&field(json!({"type": "string"}), true)).is_empty());
    }

    #[test]
    fn a_blank_text_may_be_an_empty_string() {
        let text = |required| blank_options(&field(json!({"type": "string"}), required));
        assert_eq!(texts(&text(false)), ["default", "empty string"]);
        assert_eq!(texts(&text(true)), ["not set", "empty string"]);
        assert_eq!(text(true)[1].draft.shape(), Shape::EmptyText);
    }

    #[test]
    fn a_blank_number_means_one_thing_unless_it_may_be_null() {
        assert!(blank_options(&field(json!({"type": "integer"}), false)).is_empty());
        assert!(blank_options(&field(json!({"type": "integer"}), true)).is_empty());
        let nullable = json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3});
        let options = blank_options(&field(nullable, false));
        assert_eq!(texts(&options), ["null", "default: 3"]);
    }

    #[test]
    fn the_meaning_of_a_blank_is_asked_when_it_matters() {
        let required = field(json!({"type": "string"}), true);
        let optional = field(json!({"type": "string"}), false);
        let left_out = Shape::Blank(Blank::LeftOut);
        assert!(asks_about_blank(&optional, left_out, false));
        assert!(
            !asks_about_blank(&required, left_out, false),
            "it was not filled in yet"
        );
        assert!(
            asks_about_blank(&required, left_out, true),
            "the error may be about an empty string that was meant"
        );
        assert!(asks_about_blank(&required, Shape::EmptyText, false));
        assert!(!asks_about_blank(&optional, Shape::Text, true));
    }
}
