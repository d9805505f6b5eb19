//! Archives of every kind, within each other, damaged, and with paths that lead elsewhere.

use volary_formats::archive::{Limits, Packer};
use volary_formats::import::{ImportOutcome, InputFile, NoteLevel, import, import_within};

use crate::{fixture, shape};

fn named(name: &str, bytes: Vec<u8>) -> InputFile {
    InputFile {
        name: Some(name.into()),
        bytes,
    }
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // Set by hand: the builder refuses what must be refused here.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let packed = miniz_oxide::deflate::compress_to_vec(bytes, 6);
    let header = [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255];
    [&header[..], b"name\0", &packed, &[0; 8]].concat()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut packer = Packer::default();
    for (name, bytes) in members {
        packer.add(name, bytes).unwrap();
    }
    packer.finish().unwrap()
}

fn unreadable(outcome: &ImportOutcome) -> Vec<String> {
    let notes = outcome.notes.iter();
    notes
        .filter(|note| note.level == NoteLevel::Unreadable)
        .map(|note| format!("{}: {}", note.file, note.text))
        .collect()
}

#[test]
fn every_container_holds_the_same() {
    let atif = fixture("atif.json").bytes;
    let ldp = fixture("ldp.jsonl").bytes;
    let log = fixture("inspect-zstd.eval").bytes;
    let members: [(&str, &[u8]); 3] = [
        ("run/a.json", &atif),
        ("run/b.jsonl", &ldp),
        ("c.eval", &log),
    ];
    let loose: Vec<InputFile> = members
        .iter()
        .map(|(name, bytes)| named(name, bytes.to_vec()))
        .collect();
    let mut expected: Vec<_> = import(&loose).unwrap().episodes.iter().map(shape).collect();
    expected.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
    assert_eq!(expected.len(), 6);
    let tared = tar(&members);
    for (name, bytes) in [
        ("x.zip", zip(&members)),
        ("x.tar", tared.clone()),
        ("x.tar.gz", gzip(&tared)),
        ("x.tgz.zip", zip(&[("x.tgz", &gzip(&tared))])),
    ] {
        let outcome = import(&[named(name, bytes)]).unwrap();
        let mut shapes: Vec<_> = outcome.episodes.iter().map(shape).collect();
        shapes.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
        assert_eq!(shapes, expected, "{name}");
        assert_eq!(unreadable(&outcome), [""; 0], "{name}");
    }
}

#[test]
fn a_packed_file_keeps_its_name() {
    let outcome = import(&[named("day/run.jsonl.gz", gzip(&fixture("ldp.jsonl").bytes))]).unwrap();
    let source = outcome.episodes[0].source.clone().unwrap();
    assert_eq!(source.file.as_ref(), "day/run.jsonl");
}

#[test]
fn truncated_input_gives_its_readable_part() {
    let ldp = fixture("ldp.jsonl").bytes;
    let packed = gzip(&ldp);
    let outcome = import(&[named("x.jsonl.gz", packed[..packed.len() / 2].to_vec())]).unwrap();
    assert!(!outcome.episodes.is_empty());
    assert!(
        unreadable(&outcome)[0].contains("cut off"),
        "{:?}",
        outcome.notes
    );

    let members: [(&str, &[u8]); 2] = [("a.jsonl", &ldp), ("b.jsonl", &ldp)];
    let whole = tar(&members);
    let outcome = import(&[named("x.tar", whole[..2600].to_vec())]).unwrap();
    assert!(!outcome.episodes.is_empty());
    assert!(!unreadable(&outcome).is_empty());

    let whole = zip(&members);
    let outcome = import(&[named("x.zip", whole[..whole.len() * 2 / 3].to_vec())]).unwrap();
    assert!(!outcome.episodes.is_empty());
    assert!(
        unreadable(&outcome)[0].contains("the directory at its end"),
        "{:?}",
        outcome.notes
    );
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let ldp = fixture("ldp.jsonl").bytes;
    let members: [(&str, &[u8]); 3] = [
        ("../../etc/x.jsonl", &ldp),
        ("/root/y.jsonl", &ldp),
        ("fine.jsonl", &ldp),
    ];
    // The packer makes such names harmless, so they are put in afterwards.
    let [(_, ldp), ..] = members;
    let mut zipped = zip(&[
        ("AA/AA/etc/x.jsonl", ldp),
        ("Aroot/y.jsonl", ldp),
        ("fine.jsonl", ldp),
    ]);
    for (from, to) in [(&b"AA/AA/etc"[..], &b"../../etc"[..]), (b"Aroot", b"/root")] {
        while let Some(offset) = zipped.windows(from.len()).position(|window| window == from) {
            zipped[offset..offset + to.len()].copy_from_slice(to);
        }
    }
    for bytes in [tar(&members), zipped] {
        let outcome = import(&[named("x", bytes)]).unwrap();
        assert_eq!(outcome.episodes.len(), 1, "{:?}", outcome.notes);
        let said = unreadable(&outcome).join("\n");
        assert!(said.contains("leads outside its folder"), "{said}");
    }
}

#[test]
fn bombs_and_endless_layers_end() {
    let limits = Limits {
        total: 4 << 20,
        member: 2 << 20,
        members: 10,
    };
    let zeros = gzip(&vec![b' '; 64 << 20]);
    assert!(import_within(&[named("x.gz", zeros)], limits).is_err());
    let mut layered = zip(&[("a.jsonl", &fixture("ldp.jsonl").bytes)]);
    for _ in 0..8 {
        layered = zip(&[("inner.zip", &layered)]);
    }
    let refused = import_within(&[named("x.zip", layered)], limits).unwrap_err();
    assert!(
        refused.to_string().contains("too many archives"),
        "{refused}"
    );
    let fixture = fixture("ldp.jsonl").bytes;
    let names: Vec<String> = (0..12).map(|number| format!("{number}.jsonl")).collect();
    let many: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &fixture[..]))
        .collect();
    let outcome = import_within(&[named("x.tar", tar(&many))], limits).unwrap();
    assert_eq!(outcome.episodes.len(), 10);
}

#[test]
fn encodings_are_read_and_reported() {
    let text = String::from_utf8(fixture("ldp.jsonl").bytes)
        .unwrap()
        .replace("Add.", "Addiere für mich.");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin: Vec<u8> = text.chars().map(|character| character as u8).collect();
    for bytes in [utf16, latin] {
        let outcome = import(&[named("x.jsonl", bytes)]).unwrap();
        let said = outcome.episodes[0].start[0].body().content.clone();
        assert_eq!(said.as_deref(), Some("Addiere für mich."));
        assert!(
            outcome
                .notes
                .iter()
                .any(|note| note.text.contains("was read as"))
        );
    }
}
