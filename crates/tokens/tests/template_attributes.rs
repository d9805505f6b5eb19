//! Filters that read an attribute of each item, as Jinja2 3.1 does: a member precedes a method of the same name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use volary_core::{Json, json};
use volary_tokens::{ChatTemplate, RenderInput};

fn rendered(source: &str) -> String {
    let tools: Vec<Json> = vec![
        json!({"type": "object", "items": "text", "inner": {"keys": [1]}}),
        json!({"type": "array", "items": "number", "inner": {"keys": [2]}}),
        json!({"type": "object"}),
    ];
    let input = RenderInput {
        messages: &tools,
        ..RenderInput::default()
    };
    let template = ChatTemplate::new(source).unwrap();
    template.render(&input).unwrap()
}

#[test]
fn members_precede_methods_in_filters() {
    for (source, expected) in [
        (
            "{{ messages[:2] | map(attribute='items') | join(',') }}",
            "text,number",
        ),
        (
            "{{ messages | map(attribute='items') | list | length }}",
            "3",
        ),
        (
            "{{ messages[:2] | map(attribute='inner.keys') | map('first') | join(',') }}",
            "1,2",
        ),
        (
            "{{ messages | selectattr('items', 'equalto', 'number') | map(attribute='type') | join(',') }}",
            "array",
        ),
        (
            "{{ messages | rejectattr('items', 'equalto', 'number') | map(attribute='type') | join(',') }}",
            "object,object",
        ),
        // Without such a member it is the method.
        (
            "{{ (messages | map(attribute='items') | list)[2]() | list | length }}",
            "1",
        ),
        // In an expression it is the method as well.
        ("{{ messages[0].items() | list | length }}", "3"),
    ] {
        assert_eq!(rendered(source), expected, "{source}");
    }
}

#[test]
fn other_attributes_are_read_as_before() {
    for (source, expected) in [
        (
            "{{ messages | map(attribute='no', default='none') | join(',') }}",
            "none,none,none",
        ),
        ("{{ messages | selectattr('no') | list | length }}", "0"),
        (
            "{{ messages | selectattr('type', 'defined') | list | length }}",
            "3",
        ),
        ("{{ messages | map('length') | join(',') }}", "3,3,1"),
        (
            "{{ [[1, 2], [3, 4]] | map(attribute=1) | join(',') }}",
            "2,4",
        ),
        (
            "{{ [[1, 2], [3, 4]] | map(attribute='1') | join(',') }}",
            "2,4",
        ),
    ] {
        assert_eq!(rendered(source), expected, "{source}");
    }
}
