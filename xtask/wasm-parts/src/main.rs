//! Cuts a linked wasm module into parts, or writes the JavaScript glue of a module.
//!
//! This is a program of the workspace rather than an installed tool, so that `Cargo.lock` fixes its
//! dependencies like all others, and a crate of its own, so that only building the page waits for them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "Usage:
  wasm-parts split <module> <folder> <name>  write the parts of a module and their loader
  wasm-parts bind <module> <folder> <name>   write a module as browsers load it, with its glue";

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [command, module, folder, name] = &arguments[..] else {
        bail!("{USAGE}");
    };
    let name = name.to_str().context("the name is not UTF-8")?;
    match command.to_str() {
        Some("split") => split(module, folder, name),
        Some("bind") => bind(module, folder, name),
        _ => bail!("{USAGE}"),
    }
}

/// Writes `<name>.wasm`, which is for [`bind`], the other parts, and the script that loads them.
fn split(module: &Path, folder: &Path, name: &str) -> Result<()> {
    let bytes =
        std::fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let main = folder.join(name).with_extension("wasm");
    let glue = format!("./{name}.js");
    let mut options = wasm_split_cli_support::Options::new(&bytes);
    options.output_dir = folder;
    options.main_out_path = &main;
    options.main_module = &glue;
    wasm_split_cli_support::transform(options)
        .map(drop)
        .map_err(|error| anyhow!("cannot split {}: {error:#}", module.display()))
}

/// Writes `<name>_bg.wasm` and `<name>.js`.
fn bind(module: &Path, folder: &Path, name: &str) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .web(true)?
        // The parts share the main module's memory and table.
        .keep_lld_exports(true)
        .typescript(false)
        .out_name(name)
        .generate(folder)
        .with_context(|| format!("cannot write the glue of {}", module.display()))
}
