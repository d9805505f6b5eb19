//! `cargo xtask bench`: one table, each figure beside what it is held against.
//!
//! A part is one file here: a name, what it needs, and a function that gives rows. All figures of a
//! part are measured in the same run on the same machine.

mod bundle;
mod environments;

use anyhow::{Result, bail};

use crate::project::Project;

/// One line of the table.
pub struct Row {
    /// What is measured.
    pub what: String,
    /// Ours, with its unit.
    pub ours: String,
    /// What it is held against, with its unit.
    pub against: String,
    /// The ratio, or how much of a limit is used.
    pub ratio: String,
    /// The aim, and whether it is met.
    pub aim: String,
    /// Whether it is.
    pub met: bool,
}

type Part = fn(&Project) -> Result<Vec<Row>>;

const PARTS: [(&str, Part); 2] = [
    ("bundle", bundle::measure),
    ("environments", environments::measure),
];

/// Measures every part, or those that are named, prints the table, and says whether all aims are met.
pub fn bench(project: &Project, only: &[String]) -> Result<bool> {
    let known = || PARTS.map(|(name, _)| name).join(", ");
    if let Some(unknown) = only
        .iter()
        .find(|name| PARTS.iter().all(|(part, _)| part != name))
    {
        bail!("there is no part `{unknown}`; there are {}", known());
    }
    let mut rows = Vec::new();
    for (name, measure) in PARTS {
        if only.is_empty() || only.iter().any(|wanted| wanted == name) {
            eprintln!("Measuring: {name}.");
            rows.extend(measure(project)?);
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
