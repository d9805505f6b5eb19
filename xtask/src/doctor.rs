//! `cargo xtask doctor`: looks, and touches nothing.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;

use crate::project::Project;
use crate::setup::{
    BUILD_TOOLS, Chromium, FIREFOX, HARNESSES, HaProxy, Need, Node, ORIGINAL, PLAYWRIGHT, PYODIDE,
    Remedy, SDKS, TOKENIZER, Trunk, WEBKIT, WasmStd, Wheels,
};

/// Says what is here, what is missing, and what would be done about it.
pub fn doctor(project: &Project) -> Result<()> {
    let page: [&dyn Need; 6] = [&WasmStd, &Node, &Trunk, &BUILD_TOOLS, &PYODIDE, &Wheels];
    let tests: [&dyn Need; 9] = [
        &Chromium,
        &FIREFOX,
        &WEBKIT,
        &PLAYWRIGHT,
        &ORIGINAL,
        &HaProxy,
        &SDKS,
        &HARNESSES,
        &TOKENIZER,
    ];
    let mut report = String::from("To build and serve the page:\n");
    let mut missing = tell(project, &page, &mut report)?;
    report += "\nTo test and measure it, besides:\n";
    missing += tell(project, &tests, &mut report)?;
    match missing {
        0 => report += "\nEverything is here.\n",
        _ => writeln!(
            report,
            "\n{missing} missing; `cargo xtask serve` and `cargo xtask test` see to it."
        )?,
    }
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}

fn tell(project: &Project, needs: &[&dyn Need], report: &mut String) -> Result<usize> {
    let mut missing = 0;
    for need in needs {
        let name = need.name();
        if let Some(place) = need.find(project) {
            writeln!(report, "  here     {name}: {place}")?;
            continue;
        }
        missing += 1;
        writeln!(report, "  missing  {name}, which {}", need.reason())?;
        match need.remedy(project) {
            Remedy::Install { how, .. } => writeln!(report, "           would be done: {how}")?,
            Remedy::Ask => writeln!(report, "           {}", need.by_hand())?,
        }
    }
    Ok(missing)
}
