//! Runs the golden cases: those of the directory in `GOLDEN_DIR` (relative to the
//! root of the repository), by default the project's own.
//!
//! `cargo test -p volary-golden --test golden -- message_dump` runs the cases whose
//! `operation/name` contains that text.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Test runners first list the names, and then run the only test by its name.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            println!("golden: test");
        }
        return ExitCode::SUCCESS;
    }
    let only = arguments
        .iter()
        .find(|argument| !argument.starts_with('-') && !has("--exact"));
    match volary_golden::run_directory(&directory(), only.map_or("", String::as_str)) {
        Ok(report) => {
            println!("{report}");
            if report.is_success() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("The golden cases could not be run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn directory() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match std::env::var_os("GOLDEN_DIR") {
        Some(given) => root.join(given),
        None => root.join("tests/golden"),
    }
}
