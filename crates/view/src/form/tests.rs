//! Forms, tested by typed input and the resulting value.

use proptest::prelude::*;
use volary_core::{Json, json};

use super::draft::Entry;
use super::draft::MoveDirection;
use super::read::read as read_draft;
use super::*;

fn tool_schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "Some text."},
            "count": {"type": "integer", "default": 3},
            "share": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": null},
            "loud": {"type": "boolean", "default": false},
            "hand": {"enum": ["left", "right"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "point": {"$ref": "#/$defs/Point"},
            "any": {}
        },
        "required": ["text", "hand", "point"],
        "$defs": {
            "Point": {
                "type": "object",
                "description": "A point.",
                "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
                "required": ["x", "y"]
            }
        }
    })
}

fn place(form: &Form, path: &[&str]) -> FieldPath {
    let mut field = form.root().as_ref();
    let mut place = FieldPath::default();
    for name in path {
        let FieldKind::Group(fields) = &field.kind else {
            panic!("{name} is in no group")
        };
        let at = fields.iter().position(|field| *field.name == **name);
        let at = at.unwrap_or_else(|| panic!("no field {name}"));
        field = &fields[at];
        place = place.then(at as u32);
    }
    place
}

fn field(form: &Form, name: &str) -> Field {
    match &form.root().kind {
        FieldKind::Group(fields) => fields.iter().find(|field| &*field.name == name),
        _ => None,
    }
    .unwrap_or_else(|| panic!("no field {name}"))
    .as_ref()
    .clone()
}

fn type_in(form: &mut Form, path: &[&str], text: &str) {
    let at = place(form, path);
    let field = field(form, path[0]);
    let draft = form.draft_mut(&at).unwrap();
    draft.set_text(&field, text.to_owned());
}

#[test]
fn a_filled_form_gives_its_value() {
    let mut form = Form::new(tool_schema());
    type_in(&mut form, &["text"], "hello");
    type_in(&mut form, &["point", "x"], "1");
    type_in(&mut form, &["point", "y"], "-.5");
    *form.draft_mut(&place(&form.clone(), &["hand"])).unwrap() = FieldDraft::Choice(1);
    assert_eq!(
        form.submit(),
        Some(json!({
            "text": "hello", "count": 3, "loud": false, "hand": "right", "point": {"x": 1, "y": (-0.5)}
        }))
    );
}

#[test]
fn errors_are_shown_after_the_submit() {
    let mut form = Form::new(tool_schema());
    type_in(&mut form, &["count"], "3.5");
    assert!(form.errors().is_empty());
    assert_eq!(form.submit(), None);
    let said = |form: &Form, path: &[&str]| form.error_at(&place(form, path)).unwrap_or_default();
    assert_eq!(said(&form, &["text"]), "Required");
    assert_eq!(said(&form, &["hand"]), "Required");
    assert_eq!(said(&form, &["point", "x"]), "Required: enter a number");
    assert!(said(&form, &["count"]).contains("whole number"));
    assert_eq!(said(&form, &["share"]), "");
    // Errors of the checker are added for the fields that can be read.
    let entry = form.draft_mut(&place(&form.clone(), &["tags"])).unwrap();
    *entry = FieldDraft::Entries(vec![Entry::new(0, FieldDraft::Text("x".into()))]);
    assert_eq!(said(&form, &["tags"]), "Must have at least 2 elements.");
    type_in(&mut form, &["count"], "99999999999999999999");
    assert_eq!(said(&form, &["count"]), "");
}

#[test]
fn a_blank_field_is_left_out_or_null() {
    let schema = json!({
        "properties": {
            "left": {"type": ["string", "null"]},
            "null": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 5}
        }
    });
    let mut form = Form::new(schema);
    assert_eq!(form.value(), Ok(json!({"null": 5})));
    type_in(&mut form, &["null"], "");
    assert_eq!(form.value(), Ok(json!({"null": null})));
}

#[test]
fn raw_json_and_fields_are_equivalent() {
    let mut form = Form::new(json!({"properties": {"a": {"type": "integer"}}}));
    type_in(&mut form, &["a"], "12a");
    form.edit_raw();
    assert_eq!(form.mode(), &Mode::Raw("{\"a\": \"12a\"}".into()));
    assert!(!form.edit_fields());
    assert!(form.is_raw());
    form.set_raw("{\"a\": 12".into());
    assert!(!form.edit_fields());
    assert!(
        form.errors()[0]
            .reason
            .starts_with("This is not valid JSON: ")
    );
    form.set_raw("{\"a\": 12}".into());
    assert!(form.edit_fields());
    assert_eq!(form.value(), Ok(json!({"a": 12})));
}

#[test]
fn entries_are_added_moved_and_removed() {
    let mut form = Form::new(tool_schema());
    let at = place(&form, &["tags"]);
    let tags = field(&form, "tags");
    let item = match &tags.kind {
        FieldKind::List { item, .. } => (**item).clone(),
        _ => panic!("no list"),
    };
    for text in ["a", "b", "c"] {
        let key = form.draft_mut(&at).unwrap().add_entry(&tags).unwrap();
        let entry = form.draft_mut(&at.then(key)).unwrap();
        entry.set_text(&item, text.to_owned());
    }
    let list = form.draft_mut(&at).unwrap();
    list.move_entry(2, MoveDirection::Up);
    list.move_entry(0, MoveDirection::Up);
    list.remove_entry(0);
    let names: Vec<_> = list
        .entries()
        .iter()
        .map(|entry| entry.draft.text())
        .collect();
    assert_eq!(names, ["c", "b"]);
}

#[test]
fn a_schema_that_refers_to_itself_ends_in_json() {
    let form = Form::new(json!({
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "required": ["tree"],
        "$defs": {"Tree": {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/Tree"}, "right": {"$ref": "#/$defs/Tree"}
        }}}
    }));
    let FieldKind::Group(sides) = field(&form, "tree").kind else {
        panic!("no group")
    };
    assert!(sides.iter().all(|side| side.kind == FieldKind::Free));
}

#[test]
fn a_map_with_a_key_twice_is_refused() {
    let schema = json!({"properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}}});
    let mut form = Form::with_value(schema, &json!({"m": {"a": 1, "b": 2}}));
    let at = place(&form, &["m"]);
    form.draft_mut(&at).unwrap().rename_entry(1, "a".into());
    assert_eq!(form.submit(), None);
    assert_eq!(
        form.error_at(&at.then(1)).as_deref(),
        Some("The key “a” is used twice.")
    );
}

#[test]
fn schema_errors_are_shown_at_the_field() {
    let schema = json!({
        "properties": {
            "n": {"type": "integer", "maximum": 5},
            "list": {"type": "array", "items": {"type": "string", "minLength": 2}},
            "either": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "object", "properties": {"x": {"type": "number", "minimum": 0}}}]},
            "free": {"minimum": 3}
        }
    });
    let value = json!({"n": 6, "list": ["ok", "x"], "either": {"x": (-1)}, "free": 1});
    let mut form = Form::with_value(schema, &value);
    assert!(!form.is_raw());
    assert_eq!(form.submit(), None);
    let said = |place: FieldPath| form.error_at(&place).unwrap_or_default();
    assert_eq!(said(place(&form, &["n"])), "Must be at most 5.");
    let entry = place(&form, &["list"]).then(1);
    assert_eq!(said(entry), "Must have at least 2 characters.");
    let inner = place(&form, &["either"]).then(1).then(0);
    assert_eq!(said(inner), "Must be at least 0.");
    assert_eq!(said(place(&form, &["free"])), "Must be at least 3.");
    form.edit_raw();
    assert!(form.errors()[0].reason.starts_with("n must be at most 5"));
}

#[test]
fn refusals_mark_the_field_until_the_next_edit() {
    let mut form = Form::new(tool_schema());
    form.refuse("count", "must be even");
    assert_eq!(
        form.error_at(&place(&form, &["count"])).as_deref(),
        Some("must be even")
    );
    form.refuse("elsewhere", "is odd");
    assert_eq!(
        form.error_at(&FieldPath::default()).as_deref(),
        Some("elsewhere: is odd")
    );
    type_in(&mut form, &["count"], "4");
    assert_eq!(form.error_at(&place(&form, &["count"])), None);
}

#[test]
fn strange_schemas_give_forms_that_hold_anything() {
    for schema in [
        json!(true),
        json!(null),
        json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}),
        json!({"properties": {"a": {"$ref": "elsewhere.json"}}}),
        json!({"properties": {"a": {"type": "strange"}, "b": {"allOf": []}}}),
        json!({"properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}}),
    ] {
        let value = json!({"a": [{"b": null}, 1.5], "other": "x"});
        let mut form = Form::with_value(schema, &value);
        form.edit_raw();
        let Mode::Raw(text) = form.mode() else {
            panic!("not raw")
        };
        assert_eq!(Json::parse(text), Ok(value));
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1e9f64..1e9).prop_map(Json::from),
        "[a-zé\n\"]{0,6}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::List),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..4).prop_map(|pairs| {
                let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value));
                Json::Object(pairs.collect())
            }),
        ]
    })
}

proptest! {
    /// A form returns every value unchanged, whether or not its fields can hold it.
    #[test]
    fn nothing_is_lost(
        text in any_json(), count in any_json(), tags in any_json(), point in any_json(), any in any_json(),
        left_out in 0usize..6,
    ) {
        let mut value = volary_core::Object::new();
        for (key, member) in [("text", text), ("count", count), ("tags", tags), ("point", point), ("any", any)].into_iter().take(left_out) {
            value.insert(key, member);
        }
        let value = Json::Object(value);
        let mut form = Form::with_value(tool_schema(), &value);
        if let Mode::Raw(text) = form.mode() {
            prop_assert_eq!(&Json::parse(text).unwrap(), &value);
        } else {
            prop_assert_eq!(form.value(), Ok(value.clone()));
        }
        form.edit_raw();
        let Mode::Raw(text) = form.mode() else { panic!("not raw") };
        prop_assert_eq!(&Json::parse(text).unwrap(), &value);
    }
}

/// The field of one property with this schema.
fn of(schema: Json) -> Field {
    field(&Form::new(json!({"properties": {"f": (schema)}})), "f")
}

#[test]
fn kinds_follow_the_schema() {
    for (schema, kind) in [
        (json!({"type": "string"}), "text"),
        (json!({"type": "integer"}), "whole number"),
        (json!({"type": "number"}), "number"),
        (json!({"type": "boolean"}), "yes or no"),
        (json!({"enum": ["a", "b"]}), "choice"),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            "list",
        ),
        (json!({"type": "object", "properties": {"a": {}}}), "object"),
        (json!({"properties": {"a": {}}}), "object"),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "object",
        ),
        (json!({"allOf": [{"type": "integer"}]}), "whole number"),
        (
            json!({"allOf": [{"type": "integer"}, {"minimum": 1}]}),
            "JSON",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}),
            "one of several",
        ),
        (json!({}), "JSON"),
        (json!({"type": 7}), "JSON"),
    ] {
        assert_eq!(of(schema.clone()).kind_text(), kind, "{schema:?}");
    }
}

#[test]
fn null_makes_a_field_nullable_and_is_no_variant() {
    for schema in [
        json!({"type": ["integer", "null"]}),
        json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        json!({"oneOf": [{"type": "null"}, {"type": "integer"}]}),
    ] {
        let field = of(schema.clone());
        assert!(field.nullable, "{schema:?}");
        assert_eq!(field.kind, FieldKind::Integer, "{schema:?}");
    }
    let field = of(json!({"enum": ["a", null]}));
    assert!(field.nullable);
    assert_eq!(field.kind, FieldKind::Choice(vec![json!("a")]));
    assert!(!of(json!({"type": "integer"})).nullable);
}

#[test]
fn a_blank_field_means_what_its_default_does_not() {
    let blanks = |required, nullable, default: Option<Json>| {
        let field = Field {
            required,
            nullable,
            default,
            ..of(json!({"type": "integer"}))
        };
        field.blanks()
    };
    use Blank::{LeftOut, Null};
    assert_eq!(blanks(false, false, None), [LeftOut]);
    assert_eq!(blanks(true, false, None), []);
    assert_eq!(blanks(true, true, None), [Null]);
    assert_eq!(blanks(false, true, None), [LeftOut, Null]);
    assert_eq!(blanks(false, true, Some(Json::Null)), [LeftOut, Null]);
    // Left out means 5, so blank is null.
    assert_eq!(blanks(false, true, Some(json!(5))), [Null, LeftOut]);
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let read = |kind: &str, text: &str| {
        let field = of(json!({"type": (kind)}));
        let read = read_draft(&field, &FieldDraft::Text(text.to_owned()));
        if read.errors.is_empty() {
            read.value
        } else {
            None
        }
    };
    for (text, expected) in [
        ("3", json!(3)),
        (" -12 ", json!(-12)),
        (".5", json!(0.5)),
        ("2.", json!(2.0)),
        ("1e-3", json!(0.001)),
        ("1E3", json!(1000.0)),
    ] {
        assert_eq!(read("number", text), Some(expected), "{text}");
    }
    for text in [
        "", "x", "1,5", "0x10", "1 2", "inf", "nan", "--1", "true", "\"1\"", "[1]",
    ] {
        assert_eq!(read("number", text), None, "{text}");
    }
    let huge = "9".repeat(40);
    let whole = read("integer", &huge).expect("of any size");
    assert_eq!(whole.to_compact_text(), huge);
    for text in ["1.0", "1e3", ".5", "x", ""] {
        assert_eq!(read("integer", text), None, "{text}");
    }
}

#[test]
fn text_that_is_no_value_survives_with_an_error() {
    let field = of(json!({"type": "integer"}));
    let found = read_draft(&field, &FieldDraft::Text("12a".to_owned()));
    assert_eq!(found.value, Some(json!("12a")));
    assert_eq!(found.errors.len(), 1);
    let field = of(json!({}));
    let found = read_draft(&field, &FieldDraft::Text("{a".to_owned()));
    assert_eq!(found.value, Some(json!("{a")));
    assert!(
        found.errors[0]
            .reason
            .ends_with("Strings need double quotes."),
        "{:?}",
        found.errors
    );
}

#[test]
fn a_missing_element_keeps_the_places_of_the_others() {
    let field = of(json!({"type": "array", "items": {"type": "integer"}}));
    let entry = |key, text: &str| Entry::new(key, FieldDraft::Text(text.to_owned()));
    let blank = Entry::new(4, FieldDraft::Blank(Blank::LeftOut));
    let draft = FieldDraft::Entries(vec![entry(9, "1"), blank, entry(2, "3")]);
    let found = read_draft(&field, &draft);
    assert_eq!(found.value, Some(json!([1, null, 3])));
    let places: Vec<FieldPath> = found.errors.into_iter().map(|error| error.place).collect();
    assert_eq!(
        places,
        [FieldPath::default().then(4)],
        "by its key, wherever it is"
    );
}

#[test]
fn a_draft_is_made_only_of_a_value_that_its_field_can_hold() {
    for (schema, value) in [
        (json!({"type": "string"}), json!(1)),
        (json!({"type": "integer"}), json!(1.5)),
        (json!({"type": "boolean"}), json!("true")),
        (json!({"enum": ["a"]}), json!("b")),
        (json!({"const": 1}), json!(2)),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!(["a", 1]),
        ),
        (
            json!({"type": "object", "properties": {"a": {}}}),
            json!({"b": 1}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"b": 1}),
        ),
        (json!({"type": "string"}), Json::Null),
    ] {
        let field = of(schema.clone());
        assert_eq!(
            FieldDraft::of(&field, Some(&value)),
            None,
            "{schema:?} {value:?}"
        );
        let omitted = FieldDraft::of(&field, None);
        assert_eq!(omitted, Some(FieldDraft::Blank(Blank::LeftOut)));
    }
}

#[test]
fn the_first_variant_that_holds_a_value_is_chosen() {
    let field = of(json!({"anyOf": [
        {"type": "integer"}, {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    ]}));
    let variant = |value: Json| match FieldDraft::of(&field, Some(&value)) {
        Some(FieldDraft::Variant(variant, _)) => Some(variant),
        _ => None,
    };
    assert_eq!(variant(json!(1)), Some(0));
    assert_eq!(variant(json!("1")), Some(1));
    assert_eq!(variant(json!(["a"])), Some(2));
    assert_eq!(variant(json!([1])), None);
    // A variant that does not exist holds nothing.
    let none = FieldDraft::of_variant(&field, 9);
    assert_eq!(read_draft(&field, &none).value, None);
}

#[test]
fn lists_start_with_their_minimum_up_to_a_limit() {
    let initial = |fewest: i64| {
        let field = of(json!({"type": "array", "items": {"type": "string"}, "minItems": (fewest)}));
        FieldDraft::begun(&field).entries().len()
    };
    assert_eq!(initial(0), 0);
    assert_eq!(initial(2), 2);
    // A hostile schema does not fill the page.
    assert_eq!(initial(1_000_000_000), 100);
    assert_eq!(initial(i64::MAX), 100);
}

#[test]
fn entries_keep_their_keys_and_new_ones_get_others() {
    let field = of(json!({"type": "object", "additionalProperties": {"type": "string"}}));
    let mut draft = FieldDraft::Blank(Blank::LeftOut);
    assert_eq!(draft.add_entry(&field), Some(0));
    assert_eq!(draft.add_entry(&field), Some(1));
    draft.remove_entry(0);
    assert_eq!(draft.add_entry(&field), Some(2));
    draft.remove_entry(7);
    draft.move_entry(7, MoveDirection::Up);
    draft.move_entry(1, MoveDirection::Up);
    draft.move_entry(2, MoveDirection::Down);
    draft.rename_entry(7, "none".to_owned());
    draft.rename_entry(2, "b".to_owned());
    let keys: Vec<(u32, &str)> = draft
        .entries()
        .iter()
        .map(|entry| (entry.key, &*entry.name))
        .collect();
    assert_eq!(keys, [(1, ""), (2, "b")]);
    // Other fields have no entries.
    let mut text = FieldDraft::Text("x".to_owned());
    assert_eq!(text.add_entry(&of(json!({"type": "string"}))), None);
    assert_eq!(text, FieldDraft::Text("x".to_owned()));
}

#[test]
fn a_huge_schema_ends_in_json() {
    let many = (0..2_000).map(|place| (format!("f{place}").into(), json!({"type": "string"})));
    let properties = Json::Object(many.collect());
    let schema = json!({"type": "object", "properties": (properties)});
    let form = Form::new(schema);
    let FieldKind::Group(fields) = &form.root().kind else {
        panic!("no group")
    };
    assert_eq!(fields.len(), 2_000, "each has a field");
    assert!(fields.iter().any(|field| field.kind == FieldKind::Free));
    assert_ne!(fields[0].kind, FieldKind::Free);
}

#[test]
fn what_is_written_only_is_hidden_with_all_its_parts() {
    let form = Form::new(json!({"properties": {
        "secret": {"writeOnly": true, "properties": {"inner": {"type": "string"}}},
        "shown": {"type": "string"}
    }}));
    let secret = field(&form, "secret");
    assert!(secret.is_hidden);
    let FieldKind::Group(inner) = &secret.kind else {
        panic!("no group")
    };
    assert!(inner[0].is_hidden);
    assert!(!field(&form, "shown").is_hidden);
}

#[test]
fn a_form_begins_again_only_for_another_schema() {
    let schema = |default: i64| {
        json!({
            "type": "object",
            "properties": {"seeds": {"type": "integer", "default": default}}
        })
    };
    let entered: Json = json!({"seeds": 3});
    let mut form = Form::with_value(schema(10), &entered);
    assert!(!form.set_schema(schema(10)));
    assert_eq!(form.value(), Ok(entered));
    assert!(form.set_schema(schema(11)));
    assert_eq!(form.value(), Ok(json!({"seeds": 11})));
}
