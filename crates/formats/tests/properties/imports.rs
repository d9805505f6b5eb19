//! No bytes make an import panic; what was exported is imported.

use proptest::collection::vec;
use proptest::prelude::*;
use volary_core::Frame;
use volary_core::json::Json;
use volary_core::renderer::Renderer;
use volary_episode::diff::identical;
use volary_episode::native::{episode_to_json, to_text};
use volary_episode::{Episode, FrameHistory};
use volary_formats::archive::{Limits, Packer};
use volary_formats::import::{
    ImportError, ImportOutcome, InputFile, NoteLevel, import, import_within,
};
use volary_formats::renderer_files::to_zip;

use crate::episodes::episode;
use crate::values::states;

fn file(name: &str, content: impl Into<Vec<u8>>) -> InputFile {
    InputFile {
        name: Some(name.to_owned()),
        bytes: content.into(),
    }
}

fn rendered(frames: &[Frame]) -> Vec<InputFile> {
    let renderer = Renderer::new("test", "a_b", "My run").unwrap();
    let rendered = renderer.build(frames, Some(4), Vec::new());
    let files = rendered.files.into_iter();
    files.map(|made| file(&made.name, made.text)).collect()
}

fn zipped(files: &[InputFile]) -> InputFile {
    let mut packer = Packer::default();
    for file in files {
        packer
            .add(file.name.as_ref().unwrap(), &file.bytes)
            .unwrap();
    }
    file("run.zip", packer.finish().unwrap())
}

fn numbered(count: i64) -> Vec<Frame> {
    (0..count)
        .map(|number| Frame::new(number, Json::Null))
        .collect()
}

fn notes(outcome: &ImportOutcome, level: NoteLevel) -> Vec<String> {
    let notes = outcome.notes.iter().filter(|note| note.level == level);
    notes
        .map(|note| format!("{}: {}", note.file, note.text))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn our_zip_brings_the_episode_back(episode in episode()) {
        let outcome = import(&[file("a.zip", to_zip(&episode).unwrap())]).unwrap();
        prop_assert_eq!(outcome.episodes.len(), 1);
        let back = episode_to_json(&outcome.episodes[0]);
        prop_assert!(identical(&episode_to_json(&episode), &back));
        prop_assert_eq!(outcome.notes.len(), 1);
        prop_assert_eq!(outcome.notes[0].level, NoteLevel::Read);
    }

    #[test]
    fn renderer_files_bring_their_frames_back(states in states(), zip in any::<bool>()) {
        let frames: Vec<_> = states.into_iter().map(|state| Frame::new(state, 1)).collect();
        let mut files = rendered(&frames);
        files.reverse();
        let files = if zip { vec![zipped(&files)] } else { files };
        let outcome = import(&files).unwrap();
        prop_assert_eq!(outcome.episodes.len(), 1);
        let episode = &outcome.episodes[0];
        prop_assert_eq!((&*episode.name, &*episode.id), ("My run", "a_b"));
        prop_assert_eq!(episode.frames.len(), frames.len());
        for (index, frame) in frames.iter().enumerate() {
            prop_assert!(identical(&episode.frames.get(index).unwrap().state, &frame.state));
        }
    }

    #[test]
    fn any_bytes_are_imported_or_refused(
        bytes in vec(any::<u8>(), 0..200),
        head in prop::sample::select(vec![&b""[..], b"PK\x03\x04", b"{\"format\": \"volary-episode\"", b"{\"deepcopy\""])
    ) {
        let content = [head, &bytes].concat();
        let unnamed = InputFile { name: None, bytes: content };
        prop_assert!(import(&[unnamed]).is_err());
    }

    #[test]
    fn changed_zips_are_imported_or_refused(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<Option<prop::sample::Index>>()
    ) {
        let mut zip = zipped(&rendered(&numbered(3)));
        for (offset, value) in changes {
            let offset = offset.index(zip.bytes.len());
            zip.bytes[offset] = value;
        }
        if let Some(cut) = cut {
            zip.bytes.truncate(cut.index(zip.bytes.len()));
        }
        if let Err(error) = import(&[zip]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn gaps_and_broken_frames_are_reported() {
    let mut files = rendered(&numbered(8));
    files[6].bytes = b"{\"state\": ".to_vec();
    files.drain(2..4);
    let outcome = import(&[zipped(&files)]).unwrap();
    let frames: FrameHistory = [0, 1, 4, 5, 7]
        .map(|number| Frame::new(number, Json::Null))
        .into_iter()
        .collect();
    assert_eq!(outcome.episodes[0].frames, frames);
    let said = notes(&outcome, NoteLevel::Unreadable);
    assert!(
        said[0].starts_with("test_a_b_6.json: This is not valid JSON"),
        "{said:?}"
    );
    assert_eq!(
        said[1],
        "test_info_a_b.json: Missing or unreadable: frames 2 to 3, 6. The others are shown in order."
    );
}

#[test]
fn the_end_and_the_manifest_may_be_missing() {
    let mut files = rendered(&numbered(4));
    files.remove(3);
    let outcome = import(&files).unwrap();
    assert_eq!(outcome.episodes[0].frames.len(), 3);
    assert!(notes(&outcome, NoteLevel::Unreadable)[0].contains("frames 3."));

    let outcome = import(&rendered(&numbered(4))[..3]).unwrap();
    assert_eq!(&*outcome.episodes[0].name, "test_a_b");
    assert!(notes(&outcome, NoteLevel::Read)[0].contains("no manifest"));
}

#[test]
fn a_manifest_alone_names_the_missing_files() {
    let files = rendered(&numbered(1));
    let error = import(&files[1..]).unwrap_err().to_string();
    assert!(
        error.contains("its frames are missing (the first is test_a_b_0.json)"),
        "{error}"
    );
}

#[test]
fn frames_with_other_names_follow_the_links() {
    let frame = |state: i64, next: &str| format!("{{\"state\": {state}, \"next_frame\": {next}}}");
    let files = [
        file("x/c.json", frame(3, "\"a.json\"")),
        file("x/b.json", frame(2, "\"c.json\"")),
        file("x/a.json", frame(1, "\"b.json\"")),
        file("x/run.json", r#"{"first": "a.json", "last": "c.json"}"#),
    ];
    let outcome = import(&files).unwrap();
    let frames: FrameHistory = [1, 2, 3]
        .map(|number| Frame::new(number, Json::Null))
        .into_iter()
        .collect();
    assert_eq!(outcome.episodes[0].frames, frames);
}

#[test]
fn several_trajectories_in_folders_stay_apart() {
    let mut files = Vec::new();
    for folder in ["one", "two"] {
        for made in rendered(&numbered(2)) {
            files.push(file(
                &format!("{folder}/{}", made.name.unwrap()),
                made.bytes,
            ));
        }
    }
    assert_eq!(import(&[zipped(&files)]).unwrap().episodes.len(), 2);
}

#[test]
fn neighbouring_files_are_kept_or_named() {
    let mut files = rendered(&numbered(2));
    files.push(file("notes.txt", "remember"));
    files.push(file("config.json", "{\"a\": 1}"));
    files.push(file("plot.png", b"\x89PNG\r\n\x1a\n\xff".to_vec()));
    files.push(file("__MACOSX/._x", b"\xff".to_vec()));
    let outcome = import(&[zipped(&files)]).unwrap();
    let kept = outcome.episodes[0].metadata.get("files").unwrap();
    assert_eq!(
        kept.to_python_text(),
        r#"{"notes.txt": "remember", "config.json": {"a": 1}}"#
    );
    let said = notes(&outcome, NoteLevel::Unsupported);
    assert_eq!(
        said,
        ["plot.png: This is a PNG image, which is not supported."]
    );
}

#[test]
fn frames_of_another_shape_are_kept_unchanged() {
    let files = [
        file("t_1_0.json", r#"{"state": 1, "seen": true, "index": 1}"#),
        file("t_1_1.json", "[1, 2]"),
    ];
    let outcome = import(&files).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(episode.frames.get(1).unwrap().state, Json::from(vec![1, 2]));
    assert_eq!(
        episode
            .metadata
            .get("frame members")
            .unwrap()
            .to_python_text(),
        r#"{"0": {"seen": true}}"#
    );
    assert_eq!(notes(&outcome, NoteLevel::KeptRaw).len(), 2);
}

#[test]
fn unsupported_input_is_described_with_the_supported_formats() {
    let refused = |content: &[u8]| import(&[file("x", content)]).unwrap_err().to_string();
    let told = refused(b"{\"a\": 1}");
    let expected = "No episode was found. x: This is JSON with the members a, which is not \
         supported. Supported formats: Volary episodes (JSON, JSON Lines or zip); ";
    assert!(told.starts_with(expected), "{told}");
    let among = "; Aviary Renderer files (manifest and frames, together or as zip); ";
    assert!(told.contains(among), "{told}");
    assert!(refused(b"PK\x03\x04 cut").contains("x: This is not a complete zip file"));
    assert!(refused(b"{\"format\": \"volary-episode\", \"version\": 9}").contains("version 9"));
    assert_eq!(import(&[]), Err(ImportError::NoFiles));
    let empty = zipped(&[]);
    assert!(import(&[empty]).is_err());
}

#[test]
fn zips_that_unpack_to_too_much_end_in_a_note() {
    let mut files = rendered(&numbered(3));
    files[1].bytes = [b"{\"state\": \"", " ".repeat(3 << 20).as_bytes(), b"\"}"].concat();
    let limits = Limits {
        total: 2 << 20,
        ..Limits::default()
    };
    let outcome = import_within(&[zipped(&files)], limits).unwrap();
    // What was unpacked in vain counts, so there is no room for the frame after it.
    assert_eq!(outcome.episodes[0].frames.len(), 1);
    assert!(notes(&outcome, NoteLevel::Unreadable)[0].contains("unpacks to more than 2 MB"));
}

#[test]
fn an_encrypted_member_is_reported() {
    let mut zip = zipped(&[file("a.json", "{\"a\": 1}")]);
    let directory = zip
        .bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    zip.bytes[directory + 8] |= 1;
    let error = import(&[zip]).unwrap_err().to_string();
    assert!(error.contains("is encrypted"), "{error}");
}

#[test]
fn several_kinds_come_at_once() {
    let episode = Episode {
        id: "own".into(),
        ..Episode::default()
    };
    let mut files = rendered(&numbered(2));
    files.push(file("own.json", to_text(&episode)));
    files.push(file("more.jsonl", format!("{0}\n{0}\n", to_text(&episode))));
    let outcome = import(&files).unwrap();
    assert_eq!(outcome.episodes.len(), 4);
}

#[test]
fn episodes_without_renderer_files_are_reported() {
    let refused = |frames: FrameHistory| {
        let episode = Episode {
            frames,
            ..Episode::default()
        };
        to_zip(&episode).unwrap_err().to_string()
    };
    assert!(refused(FrameHistory::default()).contains("no frames"));
    let large = Frame::new(vec![Json::Null; 100_000], Json::Null);
    let many: FrameHistory = std::iter::repeat_n(large, 50).collect();
    assert!(refused(many).contains("would take about 152 MB"));
}
