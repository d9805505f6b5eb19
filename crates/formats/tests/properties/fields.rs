//! Mappings of members: no record and no path makes a reading panic, and what is written is read again.

use proptest::prelude::*;
use volary_core::json::Json;
use volary_formats::archive::Limits;
use volary_formats::import::fields::{Field, FieldMapping, Mappings, Shape, paths};
use volary_formats::import::{InputFile, import_mapped, preview};

use crate::values::{json, object};

fn path() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop_oneof![
        8 => "[a-e0-2](\\.[a-e0-2]){0,4}",
        1 => any::<String>(),
    ])
}

fn mapping() -> impl Strategy<Value = FieldMapping> {
    (prop::collection::vec(path(), 8), path()).prop_map(|(paths, records)| {
        let mut mapping = FieldMapping {
            records,
            ..FieldMapping::default()
        };
        for (field, path) in Field::ALL.into_iter().zip(paths) {
            mapping.set(field, path);
        }
        mapping
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_records_are_read_by_any_mapping(
        records in prop::collection::vec(object(), 1..5),
        fields in mapping(),
    ) {
        let lines = records.iter().map(|record| Json::Object(record.clone()).to_python_text());
        let text = lines.collect::<Vec<_>>().join("\n");
        let file = InputFile { name: Some("x.jsonl".to_owned()), bytes: text.into_bytes() };
        let mappings = Mappings::for_all(fields.clone());
        // An error is as good as episodes; the number of a record's episodes is bounded by its answers.
        let _ = import_mapped(&[file], Limits::default(), &mappings);
        for record in records {
            let record = Json::Object(record);
            if let Ok(episodes) = preview(&record, &fields) {
                prop_assert!(!episodes.is_empty());
            }
        }
    }

    #[test]
    fn suggestions_can_be_parsed(record in json()) {
        let fields = FieldMapping::suggested(&record);
        let found = paths(fields.first_record(&record));
        for field in Field::ALL {
            if let Some(path) = fields.get(field) {
                prop_assert!(found.iter().any(|one| one.path == path));
            }
        }
        let _ = preview(&record, &fields);
    }

    #[test]
    fn mappings_are_read_as_they_were_written(
        list in prop::collection::vec((object(), mapping()), 0..5),
    ) {
        let mut mappings = Mappings::default();
        for (record, fields) in list {
            if let Some(shape) = Shape::of(&Json::Object(record)) {
                mappings.remember(shape, fields.clone());
                let text = serde_json::to_string(&fields).unwrap();
                prop_assert_eq!(serde_json::from_str::<FieldMapping>(&text).unwrap(), fields);
            }
        }
        let text = serde_json::to_string(&mappings).unwrap();
        prop_assert_eq!(serde_json::from_str::<Mappings>(&text).unwrap(), mappings);
    }
}

#[test]
fn a_mapping_names_only_what_it_maps() {
    let mapping: FieldMapping = serde_json::from_str(r#"{"prompt": "q.text"}"#).unwrap();
    assert_eq!(mapping.get(Field::Prompt), Some("q.text"));
    assert!(serde_json::from_str::<FieldMapping>(r#"{"promt": "q"}"#).is_err());
}
