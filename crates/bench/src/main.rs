//! `cargo xtask bench`: one table, each figure next to its reference.
//!
//! A part is one file: a function that measures and returns rows. All figures of a part are measured in the same run on
//! the same machine.

mod parts;
mod project;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;

use parts::{
    behaviour, codecs, command, environments, evaluate, first_load, library, long_episode, python,
    review, school, server, streaming, tau_bench, tokens, training,
};
use project::Project;

/// Measures Volary and its references, and prints one table.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Options {
    /// One part; may be repeated
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
}

/// One line of the table.
pub struct Row {
    /// What is measured.
    pub what: String,
    /// Ours, with its unit.
    pub ours: String,
    /// The reference, with its unit.
    pub against: String,
    /// The ratio, or how much of a limit is used.
    pub ratio: String,
    /// The aim, and whether it is met.
    pub aim: String,
    /// Whether it is.
    pub met: bool,
}

type Part = fn(&Project) -> Result<Vec<Row>>;

const PARTS: [(&str, Part); 16] = [
    ("first-load", first_load::measure),
    ("long-episode", long_episode::measure),
    ("review", review::measure),
    ("streaming", streaming::measure),
    ("environments", environments::measure),
    ("tokens", tokens::measure),
    ("tau-bench", tau_bench::measure),
    ("evaluate", evaluate::measure),
    ("python", python::measure),
    ("server", server::measure),
    ("codecs", codecs::measure),
    ("library", library::measure),
    ("behaviour", behaviour::measure),
    ("command", command::measure),
    ("training", training::measure),
    ("school", school::measure),
];

fn main() -> ExitCode {
    match bench(&Options::parse().only) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures every part, or those that are named, prints the table, and returns whether all aims are met.
fn bench(only: &[String]) -> Result<bool> {
    let known = || PARTS.map(|(name, _)| name).join(", ");
    let is_known = |name: &&String| PARTS.iter().any(|(part, _)| part == name);
    if let Some(unknown) = only.iter().find(|name| !is_known(name)) {
        bail!("unknown part `{unknown}`; available: {}", known());
    }
    let project = Project::here()?;
    let mut rows = Vec::new();
    for (name, measure) in PARTS {
        let is_named = only.iter().any(|wanted| wanted == name);
        let is_possible = name != "tau-bench" || std::env::var_os(tau_bench::CHECKOUT).is_some();
        if only.is_empty() && !is_possible {
            eprintln!("Leaving out {name}: {} is not set.", tau_bench::CHECKOUT);
        } else if only.is_empty() || is_named {
            eprintln!("Measuring: {name}.");
            rows.extend(measure(&project)?);
        }
    }
    println!("{}", table(&rows));
    Ok(rows.iter().all(|row| row.met))
}

fn table(rows: &[Row]) -> String {
    let mut lines = vec![
        "| what | Volary | held against | ratio | aim | met |".to_owned(),
        "|---|---:|---:|---:|---:|---|".to_owned(),
    ];
    lines.extend(rows.iter().map(|row| {
        let met = if row.met { "yes" } else { "no" };
        format!(
            "| {} | {} | {} | {} | {} | {met} |",
            row.what, row.ours, row.against, row.ratio, row.aim
        )
    }));
    lines.join("\n")
}

/// The number under a key of a flat JSON object, as the scripts print it.
fn number(json: &str, key: &str) -> Result<f64> {
    let after = json
        .split_once(&format!("\"{key}\":"))
        .map(|(_, after)| after.trim_start());
    let number = after.and_then(|after| after.split([',', '}']).next());
    let found = number.and_then(|number| number.trim().parse().ok());
    found.with_context(|| format!("no number `{key}` in {json}"))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_found() {
        let json = r#"{"a": 12.5, "b":7}"#;
        assert_eq!(number(json, "a").ok(), Some(12.5));
        assert_eq!(number(json, "b").ok(), Some(7.0));
        assert!(number(json, "c").is_err());
    }
}
