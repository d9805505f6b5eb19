//! The golden cases: recorded results of aviary (fhaviary 0.37.0), compared with Volary's.
//!
//! A case file names an operation; each case has an input and the expected result. [`run_directory`]
//! runs all files of a directory and reports every failed case by operation and name.
//! Invariant: nothing is skipped silently. An unknown operation, an unknown kind of expectation, a
//! file without cases and a directory without files are errors.
//!
//! - [`cases`]: reads the files.
//! - [`matching`]: compares results.
//! - [`ops`]: the operations.

pub mod cases;
pub mod matching;
pub mod ops;
mod report;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use volary_core::Json;

use cases::{Case, CaseFile, Expected, HarnessError};
use ops::Run;
pub use report::{Failure, Report};

/// Runs all case files of a directory. `only` selects the cases whose operation and name, as
/// `op/name`, contain it.
pub fn run_directory(directory: &Path, only: &str) -> Result<Report, HarnessError> {
    let mut report = Report::default();
    for path in cases::files(directory)? {
        // A file that cannot be run fails the run, but the others still run.
        let outcome = cases::read_file(&path).and_then(|file| match ops::find(&file.op) {
            Some(run) => {
                run_file(&file, &run, only, &mut report);
                Ok(())
            }
            None => Err(HarnessError::UnknownOp { path, op: file.op }),
        });
        report
            .broken
            .extend(outcome.err().map(|error| error.to_string()));
    }
    Ok(report)
}

fn run_file(file: &CaseFile, run: &Run, only: &str, report: &mut Report) {
    for case in &file.cases {
        if !format!("{}/{}", file.op, case.name).contains(only) {
            report.left_out += 1;
            continue;
        }
        if ops::tokens::lacks_tokenizer(&case.input) {
            let name = format!("{}/{}", file.op, case.name);
            report.without_tokenizer.push(name);
            continue;
        }
        let needs_data = case.input.get("needs_data").and_then(Json::as_bool);
        if needs_data == Some(true) && ops::tau::checkout().is_none() {
            *report.without_data.entry(file.op.clone()).or_default() += 1;
            continue;
        }
        if let (Some(without), Expected::Ok(value)) = (run.without_wording, &case.expected)
            && without(value) != *value
        {
            *report.without_wording.entry(file.op.clone()).or_default() += 1;
        }
        match judge(case, run) {
            Ok(()) => report.passed += 1,
            Err(reason) => report.failures.push(Failure {
                op: file.op.clone(),
                case: case.name.clone(),
                reason,
            }),
        }
    }
}

/// Runs a case; returns why it fails.
fn judge(case: &Case, run: &Run) -> Result<(), String> {
    // A panic fails its case; the others still run.
    let outcome = catch_unwind(AssertUnwindSafe(|| (run.run)(&case.input)))
        .map_err(|_| "it panicked; see above".to_owned())?;
    match (&case.expected, outcome) {
        (Expected::Ok(value), Ok(found)) => match run.without_wording {
            Some(without) => matching::check(&without(value), &found, run.loose),
            None => matching::check(value, &found, run.loose),
        },
        (Expected::OkPrefix(prefix), Ok(Json::Text(found))) if found.starts_with(&**prefix) => {
            Ok(())
        }
        (Expected::OkPrefix(prefix), Ok(found)) => Err(format!(
            "expected a text that starts with {prefix:?}, found {}",
            found.to_compact_text()
        )),
        (Expected::Error(None), Err(_)) => Ok(()),
        (Expected::Error(Some(part)), Err(error)) if error.contains(&**part) => Ok(()),
        (Expected::Error(Some(part)), Err(error)) => Err(format!(
            "expected an error with {part:?} in it, the error is {error:?}"
        )),
        (Expected::Error(_), Ok(found)) => Err(format!(
            "expected an error, found {}",
            found.to_compact_text()
        )),
        (Expected::Ok(_) | Expected::OkPrefix(_), Err(error)) => {
            Err(format!("failed with {error:?}"))
        }
    }
}
