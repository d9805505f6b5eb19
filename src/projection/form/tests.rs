//! Forms, tested by typed input and the resulting value.

use proptest::prelude::*;
use volary_core::{Json, json};

use super::draft::Entry;
use super::draft::MoveDirection;
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
