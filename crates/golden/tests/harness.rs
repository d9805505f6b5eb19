//! The harness itself: its reports, and the files that it rejects.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

use volary_golden::cases::HarnessError;
use volary_golden::{Report, run_directory};

/// A directory that is removed when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("golden-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(name: &str, files: &[(&str, &str)]) -> Result<Report, HarnessError> {
    run_directory(&Directory::new(name, files).0, "")
}

fn case(op: &str, expected: &str) -> String {
    let case = format!(r#"{{"name": "one", "input": {{"state": 1}}, "expected": {expected}}}"#);
    format!(r#"{{"op": "{op}", "cases": [{case}]}}"#)
}

#[test]
fn a_case_passes_or_is_named() {
    let good = case("frame_dump", r#"{"ok": {"$subset": {"state": 1}}}"#);
    let bad = case("frame_dump", r#"{"ok": {"$subset": {"state": 1.0}}}"#);
    let report = run(
        "named",
        &[("a.json", &good), ("b.json", &bad), ("c.md", "no cases")],
    );
    let report = report.unwrap();
    assert_eq!((report.passed, report.failures.len()), (1, 1));
    let told = report.to_string();
    assert!(told.contains("FAILED frame_dump/one"), "{told}");
    assert!(told.contains("at $.state: expected 1.0, found 1"), "{told}");
}

#[test]
fn an_expected_failure_must_happen() {
    let any = case("frame_dump", r#"{"error": {"contains": null}}"#);
    assert_eq!(
        run("failure", &[("a.json", &any)]).unwrap().failures.len(),
        1
    );
}

#[test]
fn what_is_unknown_or_empty_fails_and_the_rest_still_runs() {
    let good = case("frame_dump", r#"{"ok": {"$any": true}}"#);
    let unknown_op = case("frame_dumped", r#"{"ok": 1}"#);
    let unknown_form = case("frame_dump", r#"{"okay": 1}"#);
    let two_forms = case("frame_dump", r#"{"ok": 1, "ok_prefix": "a"}"#);
    for (index, text) in [
        unknown_op.as_str(),
        &unknown_form,
        &two_forms,
        r#"{"op": "frame_dump", "cases": []}"#,
        r#"{"cases": []}"#,
        "{",
    ]
    .into_iter()
    .enumerate()
    {
        let report = run(
            &format!("bad{index}"),
            &[("a.json", text), ("b.json", &good)],
        )
        .unwrap();
        assert_eq!((report.passed, report.broken.len()), (1, 1), "{text}");
        assert!(!report.is_success());
    }
}

#[test]
fn a_directory_without_case_files_is_an_error() {
    assert!(matches!(
        run("empty", &[("a.md", "")]),
        Err(HarnessError::NoFiles { .. })
    ));
}
