//! `cargo xtask doctor`: looks, and touches nothing.

use anyhow::Result;

use crate::project::Project;
use crate::setup::{
    Chromium, Need, Node, Original, Playwright, Remedy, Trunk, WasmBindgen, WasmOpt, WasmStd,
};

/// Says what is here, what is missing, and what would be done about it.
pub fn doctor(project: &Project) -> Result<()> {
    let wasm_bindgen = WasmBindgen::locked(project)?;
    let page: [&dyn Need; 5] = [&WasmStd, &Node, &Trunk, &wasm_bindgen, &WasmOpt];
    let tests: [&dyn Need; 3] = [&Chromium, &Playwright, &Original];
    println!("To build and serve the page:");
    let mut missing = tell(project, &page);
    println!("\nTo test and measure it, besides:");
    missing += tell(project, &tests);
    println!();
    match missing {
        0 => println!("Everything is here."),
        count => println!("{count} missing; `cargo xtask serve` and `cargo xtask test` see to it."),
    }
    Ok(())
}

fn tell(project: &Project, needs: &[&dyn Need]) -> usize {
    let mut missing = 0;
    for need in needs {
        let name = need.name();
        if let Some(place) = need.find(project) {
            println!("  here     {name}: {place}");
            continue;
        }
        missing += 1;
        println!("  missing  {name}, which {}", need.reason());
        match need.remedy(project) {
            Remedy::Install { how, .. } => println!("           would be installed: {how}"),
            Remedy::Ask => println!("           {}", need.by_hand()),
        }
    }
    missing
}
