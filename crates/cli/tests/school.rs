//! `volary school` trains, can be stopped and continued, and writes what the other commands read.

#![cfg(test)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("volary-school-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Status, standard output, and standard error.
fn volary(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_volary"));
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_run_that_was_continued_writes_the_same_files() {
    let (whole, parts) = (Folder::new("whole"), Folder::new("parts"));
    let train = |folder: &Folder, updates: &str, more: &[&str]| {
        let mut arguments = vec![
            "school",
            "--json",
            "--out",
            folder.path(),
            "--updates",
            updates,
        ];
        arguments.extend(more);
        let (status, out, errors) = volary(&arguments);
        assert_eq!(status, Some(0), "{errors}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let at_once = train(&whole, "4", &["--seed", "3"]);
    train(&parts, "2", &["--seed", "3"]);
    let continued = train(&parts, "4", &["--resume"]);
    assert_eq!(continued, at_once);
    assert_eq!(at_once["updates"], 4);
    for name in ["metrics.jsonl", "knobs.json", "rollouts/step_000003.jsonl"] {
        assert_eq!(parts.text(name), whole.text(name), "{name}");
    }
    let checkpoint =
        |folder: &Folder| fs::read(folder.0.join("checkpoints/step_000004.vols")).unwrap();
    assert_eq!(checkpoint(&parts), checkpoint(&whole));
    assert_eq!(whole.text("metrics.jsonl").lines().count(), 4);
    // The recordings can be played again in the real environment, and give what was recorded.
    let rollouts = whole.0.join("rollouts/step_000003.jsonl");
    let (status, _, errors) = volary(&["check", rollouts.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{errors}");
    let (status, out, errors) = volary(&["stats", "--json", whole.path()]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(out.contains("512"), "{out}");
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let folder = Folder::new("refused");
    let refuse = |arguments: &[&str]| {
        let mut all = vec!["school", "--out", folder.path()];
        all.extend(arguments);
        let (status, _, errors) = volary(&all);
        assert_eq!(status, Some(2), "{errors}");
        errors
    };
    assert!(refuse(&["--environment", "dummy"]).contains("calculator, counter or hands"));
    assert!(refuse(&["--break", "everything"]).contains("leaky-grader"));
    assert!(refuse(&["--resume"]).contains("no run to continue"));
    let knobs = std::env::temp_dir().join(format!("volary-knobs-{}.json", std::process::id()));
    fs::write(&knobs, r#"{"temperature": 0}"#).unwrap();
    let error = refuse(&["--knobs", knobs.to_str().unwrap()]);
    fs::remove_file(&knobs).unwrap();
    assert!(
        error.contains("The temperature is 0; it must be from 0.05 to 5."),
        "{error}"
    );
    assert!(!folder.0.exists());
    let (status, _, errors) = volary(&[
        "school",
        "--out",
        folder.path(),
        "--updates",
        "1",
        "--environment",
        "hands",
        "--rollouts-every",
        "0",
    ]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(refuse(&["--updates", "2"]).contains("--resume"));
}
