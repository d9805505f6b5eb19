//! Records of unknown shapes, read with a mapping: whole files, large files piece by piece, and what is offered for
//! mapping.

use volary_core::json::Json;
use volary_episode::Episode;
use volary_formats::archive::Limits;
use volary_formats::import::fields::{Field, FieldMapping, Mappings, Shape};
use volary_formats::import::index::{Indexer, open_mapped};
use volary_formats::import::{
    ImportError, ImportOutcome, InputFile, NoteLevel, import, import_mapped, preview,
};

fn file(text: &str) -> InputFile {
    InputFile {
        name: Some("made.jsonl".to_owned()),
        bytes: text.as_bytes().to_vec(),
    }
}

fn mapping(pairs: &[(Field, &str)]) -> FieldMapping {
    let mut mapping = FieldMapping::default();
    for (field, path) in pairs {
        mapping.set(*field, Some((*path).to_owned()));
    }
    mapping
}

fn read(text: &str, fields: &FieldMapping) -> ImportOutcome {
    let mappings = Mappings::for_all(fields.clone());
    import_mapped(&[file(text)], Limits::default(), &mappings).unwrap()
}

fn said(episode: &Episode) -> Vec<String> {
    let messages = episode.messages();
    messages
        .map(|message| {
            format!(
                "{}: {}",
                message.role().as_str(),
                message.body().content_or_empty()
            )
        })
        .collect()
}

const LINES: &str = r#"{"q": {"text": "2 + 2?"}, "out": "4", "verdict": {"ok": true}, "key": 7, "batch": "g1", "at": 30, "note": "x", "blob": [1, 2]}
{"q": {"text": "3 + 3?"}, "out": "5", "verdict": {"ok": false}, "key": 8, "batch": "g1", "at": 30, "note": "y", "blob": [3]}
{"q": {"other": 1}, "at": 31}
"#;

fn fields() -> FieldMapping {
    mapping(&[
        (Field::Prompt, "q.text"),
        (Field::Answer, "out"),
        (Field::Reward, "verdict.ok"),
        (Field::Task, "key"),
        (Field::Group, "batch"),
        (Field::Step, "at"),
    ])
}

#[test]
fn records_are_read_as_mapped() {
    let outcome = read(LINES, &fields());
    let [right, wrong] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(said(right), ["user: 2 + 2?", "assistant: 4"]);
    assert_eq!((right.reward(), wrong.reward()), (Some(1.0), Some(0.0)));
    let task = wrong.task.as_ref().unwrap();
    assert_eq!((&*task.dataset, &*task.id), ("made", "8"));
    assert_eq!(right.metadata.get("group"), Some(&"g1".into()));
    assert_eq!(right.metadata.get("step"), Some(&Json::from(30)));
    assert_eq!(right.metadata.get("note"), Some(&"x".into()));
    let left: Vec<&str> = right.raw.keys().map(AsRef::as_ref).collect();
    assert_eq!(left, ["blob"], "what is mapped is not kept twice");
    let lost = |note: &&volary_formats::import::Note| note.level == NoteLevel::Unreadable;
    let lost: Vec<&str> = outcome
        .notes
        .iter()
        .filter(lost)
        .map(|note| &*note.text)
        .collect();
    assert_eq!(lost, ["Record 3 has none of the mapped members."]);
}

#[test]
fn several_answers_are_episodes_of_one_task() {
    let line = r#"{"prompt": "p", "completions": ["a", "b"], "rewards": [1, 0.5], "uid": "u"}"#;
    let record = Json::parse(line).unwrap();
    let fields = FieldMapping::suggested(&record);
    let outcome = read(line, &fields);
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("two");
    };
    assert_eq!(said(second), ["user: p", "assistant: b"]);
    assert_eq!((first.reward(), second.reward()), (Some(1.0), Some(0.5)));
    assert_ne!(first.id, second.id);
    assert_eq!(preview(&record, &fields).unwrap().len(), 2);
    let nothing = mapping(&[(Field::Prompt, "gone")]);
    assert_eq!(
        preview(&record, &nothing).unwrap_err().to_string(),
        "Record 1 has none of the mapped members."
    );
}

#[test]
fn messages_and_lists_within_a_value_are_read() {
    let value = r#"{"version": 2, "rows": [
        {"row": {"talk": "[{\"role\": \"user\", \"content\": \"hi\"}, {\"role\": \"assistant\", \"content\": \"ho\"}]", "grades": {"style": 0.5, "text": "x"}}},
        {"row": {"talk": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hum"}]}}]}"#;
    let mut fields = mapping(&[(Field::Messages, "row.talk"), (Field::Reward, "row.grades")]);
    fields.records = Some("rows".to_owned());
    let outcome = read(value, &fields);
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(said(first), ["user: hi", "assistant: ho"]);
    assert_eq!(said(second), ["user: hi", "assistant: hum"]);
    assert_eq!(first.scores[0].name, "style".into());
    assert_eq!(first.scores.len(), 1);
}

#[test]
fn unknown_records_are_offered_and_remembered_shapes_are_read() {
    let Err(ImportError::NoEpisode { unmapped, .. }) = import(&[file(LINES)]) else {
        panic!("no reader knows this");
    };
    let [unmapped] = unmapped.as_slice() else {
        panic!("one shape");
    };
    assert_eq!(
        unmapped.shape.names(),
        ["at", "batch", "blob", "key", "note", "out", "q", "verdict"]
    );
    let mut mappings = Mappings::default();
    mappings.remember(unmapped.shape.clone(), fields());
    let read = |text: &str| import_mapped(&[file(text)], Limits::default(), &mappings);
    assert_eq!(read(LINES).unwrap().episodes.len(), 2);
    assert!(read("{\"other\": 1}\n{\"other\": 2}\n").is_err());
    // A format that is known for sure is read as that, and a conversation only as mapped.
    let native = volary_episode::native::to_text(&Episode::default());
    let of_all = Mappings::for_all(mapping(&[(Field::Prompt, "id")]));
    let outcome = import_mapped(&[file(&native)], Limits::default(), &of_all).unwrap();
    assert_eq!(outcome.episodes[0].source, None);
    let chat = r#"{"messages": [{"role": "user", "content": "hi"}], "grade": 1, "id": "c"}"#;
    let shape = Shape::of(&Json::parse(chat).unwrap()).unwrap();
    let mut mappings = Mappings::default();
    mappings.remember(
        shape,
        mapping(&[(Field::Messages, "messages"), (Field::Reward, "grade")]),
    );
    let outcome = import_mapped(&[file(chat)], Limits::default(), &mappings).unwrap();
    assert_eq!(outcome.episodes[0].reward(), Some(1.0));
}

#[test]
fn large_files_are_read_piece_by_piece_by_the_same_mapping() {
    let line = LINES.lines().next().unwrap();
    let text = format!("{}\n", [line; 400].join("\n"));
    let shape = Shape::of(&Json::parse(line).unwrap()).unwrap();
    let mut mappings = Mappings::default();
    mappings.remember(shape, fields());
    let mut indexer = Indexer::new("made.jsonl");
    indexer.map_fields(mappings);
    let mut entries = Vec::new();
    for chunk in text.as_bytes().chunks(1000) {
        indexer.feed(chunk);
        entries.extend(indexer.take_entries());
    }
    indexer.finish();
    entries.extend(indexer.take_entries());
    assert_eq!(entries.len(), 400);
    let entry = &entries[300];
    let part = &entry.range.parts[0];
    let bytes = text.as_bytes()[part.start as usize..part.end as usize].to_vec();
    let opened = open_mapped(
        "made.jsonl",
        vec![bytes],
        &entry.range,
        &entry.row,
        indexer.fields(),
    );
    let opened = opened.unwrap();
    assert_eq!((opened.reward(), &opened.id), (Some(1.0), &entry.row.id));
    assert_eq!(said(&opened), ["user: 2 + 2?", "assistant: 4"]);
    // Without a mapping the first record can be had after a few lines.
    let mut indexer = Indexer::new("made.jsonl");
    for chunk in text.repeat(2).as_bytes().chunks(1 << 14) {
        indexer.feed(chunk);
    }
    assert!(indexer.unmapped().is_some() && indexer.is_held());
}
