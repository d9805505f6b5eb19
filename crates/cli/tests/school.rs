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

#[test]
fn rollouts_are_written_for_other_tools_and_are_a_training_run_there_too() {
    for format in ["slime", "parquet"] {
        let folder = Folder::new(format);
        let train = |arguments: &[&str]| {
            let mut all = vec!["school", "--out", folder.path()];
            all.extend(arguments);
            let (status, _, errors) = volary(&all);
            assert_eq!(status, Some(0), "{errors}");
        };
        train(&["--updates", "1", "--format", format]);
        // The format is that of the run.
        train(&["--updates", "2", "--resume"]);
        let end = if format == "slime" { "json" } else { format };
        for step in 0..2 {
            let path = folder.0.join(format!("rollouts/step_00000{step}.{end}"));
            assert!(path.exists(), "{}", path.display());
        }
        let (status, out, errors) = volary(&["stats", "--json", folder.path()]);
        assert_eq!(status, Some(0), "{errors}");
        assert!(out.contains("256"), "{out}");
    }
}

#[test]
fn a_checkpoint_of_a_newer_version_is_named_and_not_touched() {
    let folder = Folder::new("newer");
    let train = |arguments: &[&str]| {
        let mut all = vec!["school", "--out", folder.path()];
        all.extend(arguments);
        volary(&all)
    };
    let (status, _, errors) = train(&["--updates", "1", "--environment", "hands"]);
    assert_eq!(status, Some(0), "{errors}");
    let checkpoint = folder.0.join("checkpoints/step_000001.vols");
    let mut bytes = fs::read(&checkpoint).unwrap();
    bytes[4] = 9;
    fs::write(&checkpoint, &bytes).unwrap();
    let metrics = folder.text("metrics.jsonl");
    let (status, _, errors) = train(&["--updates", "2", "--resume"]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(
        errors.contains("newer version of Volary (format 9)"),
        "{errors}"
    );
    assert_eq!(fs::read(&checkpoint).unwrap(), bytes);
    assert_eq!(folder.text("metrics.jsonl"), metrics);
}

#[test]
fn a_class_teaches_the_warm_start_and_a_continued_run_has_it_too() {
    let (work, folder) = (Folder::new("work"), Folder::new("class"));
    let run = |arguments: &[&str]| {
        let mut all = vec!["school", "--out"];
        all.extend(arguments);
        volary(&all)
    };
    // The samples of an update are episodes as pupils hand them in: some are right.
    let (status, _, errors) = run(&[work.path(), "--updates", "1"]);
    assert_eq!(status, Some(0), "{errors}");
    let samples = work.text("rollouts/step_000000.jsonl");
    let samples: Vec<&str> = samples.lines().collect();
    let files = ["ada.jsonl", "ben.jsonl", "photo.png"].map(|name| work.0.join(name));
    fs::write(&files[0], samples[..64].join("\n")).unwrap();
    fs::write(&files[1], samples[64..].join("\n")).unwrap();
    fs::write(&files[2], "no episode").unwrap();
    let class: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let taught = |folder: &Folder, more: &[&str]| {
        let mut all = vec![folder.path(), "--updates", "1"];
        all.extend(more);
        all.push("--class");
        all.extend(&class);
        run(&all)
    };
    let (status, _, errors) = taught(&folder, &[]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(errors.contains("did not solve its task"), "{errors}");
    assert!(
        errors.contains("photo") && errors.contains("neither a hand-in"),
        "{errors}"
    );
    let warm_start = || fs::read(folder.0.join("warm_start.volp")).unwrap();
    let before = warm_start();
    let (status, _, errors) = run(&[folder.path(), "--updates", "2", "--resume"]);
    assert_eq!(status, Some(0), "{errors}");
    assert_eq!(warm_start(), before);
    // The same at once gives the same figures.
    let whole = Folder::new("class-whole");
    let mut all = vec![whole.path(), "--updates", "2", "--class"];
    all.extend(&class);
    assert_eq!(run(&all).0, Some(0));
    assert_eq!(whole.text("metrics.jsonl"), folder.text("metrics.jsonl"));
    let other = Folder::new("class-without");
    let (status, _, errors) = taught(&other, &["--without", "Nobody"]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains("ada, ben"), "{errors}");
    assert!(!other.0.exists());
    let (status, _, errors) = taught(&other, &["--without", "ben"]);
    assert_eq!(status, Some(0), "{errors}");
    let without = fs::read(other.0.join("warm_start.volp")).unwrap();
    assert_ne!(without, before);
}
