//! Some cases of every format, and every file that once failed.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use volary_formats::import::InputFile;
use volary_fuzz::judge::{Depth, judge};
use volary_fuzz::mutate::case;
use volary_fuzz::seeds::formats;

/// The number of cases of each format; `cargo xtask fuzz` runs more.
const CASES: u64 = 75;

#[test]
fn damaged_files_of_every_format_break_nothing() {
    let mut refused = 0;
    for format in formats().unwrap() {
        let imported = (0..CASES).filter(|number| judge(&case(&format, *number), Depth::All) > 0);
        let imported = imported.count() as u64;
        // If all inputs were rejected, nothing would be tested. The metadata of a Parquet file describe every page, so most
        // damage makes the whole file unreadable.
        let least = match format.name {
            "parquet" => CASES / 15,
            _ => CASES / 5,
        };
        assert!(imported > least, "{}: {imported} of {CASES}", format.name);
        refused += CASES - imported;
    }
    // Of a file with many lines something is read nearly always.
    assert!(refused > CASES, "hardly anything is damaged");
}

/// One folder per case: its files were imported together.
#[test]
fn past_regressions_stay_fixed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut cases = 0;
    for case in std::fs::read_dir(folder).unwrap() {
        let path = case.unwrap().path();
        let mut files: Vec<InputFile> = std::fs::read_dir(&path)
            .unwrap()
            .map(|file| {
                let file = file.unwrap();
                InputFile {
                    name: Some(file.file_name().to_string_lossy().into_owned()),
                    bytes: std::fs::read(file.path()).unwrap(),
                }
            })
            .collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        judge(&files, Depth::All);
        cases += 1;
    }
    println!("{cases} cases were found so far");
}
