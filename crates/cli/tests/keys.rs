//! The commands that read trajectories: no key of the environment, and none in a damaged file, is in an error.

#![cfg(test)]

use std::fs;
use std::process::Command;

#[test]
fn no_error_has_a_key() {
    const KEY: &str = "sk-ant-api03-k3yk3yk3yk3yk3yk3yk3yk3yk3yk3y";
    let folder = std::env::temp_dir().join(format!("volary-error-keys-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let cut = format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"{KEY}\"");
    fs::write(folder.join("cut.json"), &cut).unwrap();
    let lines = format!("{{\"messages\": []}}\n{{\"key\": {KEY}}}\n{KEY}\n");
    fs::write(folder.join("lines.jsonl"), lines).unwrap();
    fs::write(folder.join("broken.eval"), format!("PK\u{3}\u{4}{KEY}")).unwrap();
    fs::write(folder.join("broken.pt"), format!("\u{80}\u{2}{KEY}")).unwrap();
    let out = folder.join("out");
    let out = out.to_str().unwrap();
    for arguments in [
        &["convert", "--to", "messages", "--mask"][..],
        &["convert", "--to", "html", "--out", out, "--json"],
        &["convert", "--to", "nothing"],
        &["check", "--json"],
        &["stats"],
        &["search", "marble"],
        &["lesson", "check"],
    ] {
        for path in [
            "cut.json",
            "lines.jsonl",
            "broken.eval",
            "broken.pt",
            "absent",
            ".",
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_volary"));
            for name in [
                "VOLARY_API_KEY",
                "VOLARY_CLASS_KEY",
                "OPENAI_API_KEY",
                "ANTHROPIC_API_KEY",
            ] {
                command.env(name, KEY);
            }
            command
                .env("RUST_BACKTRACE", "full")
                .env("RUST_LOG", "trace");
            let output = command
                .args(arguments)
                .arg(path)
                .current_dir(&folder)
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(!errors.contains("k3yk3y"), "{arguments:?} {path}: {errors}");
            assert!(
                !errors.contains("panicked"),
                "{arguments:?} {path}: {errors}"
            );
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(!said.contains("k3yk3y"), "{arguments:?} {path}: {said}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
