//! Makes the page's files of its linked wasm, or writes the JavaScript glue of any module.
//!
//! This is a program of the workspace rather than an installed tool, so that `Cargo.lock` pins its
//! dependencies like all others, and its own crate, so that only building the page waits for them. It runs in the
//! folder of the project.

mod chunks;
mod files;
mod offline;
mod profile;
mod python_kit;
mod step_files;
mod styles;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "Usage:
  wasm-parts page <module> <profile>        write the files of the page to target/xtask/wasm;
                                            the profile is debug, quick or release
  wasm-parts bind <module> <folder> <name>  write a module as browsers load it, with its glue
  wasm-parts offline <site>                 list the files of a site in its service worker";

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (command, arguments) = arguments.split_first().context(USAGE)?;
    match (command.to_str(), arguments) {
        (Some("page"), [module, profile]) => files::write(module, profile.as_path().try_into()?),
        (Some("offline"), [site]) => offline::write(site),
        (Some("bind"), [module, folder, name]) => bind(
            module,
            folder,
            name.to_str().context("the name is not UTF-8")?,
        ),
        _ => bail!("{USAGE}"),
    }
}

/// Writes `<name>.wasm`, the input of [`bind`], the other parts, and the script that loads them. Returns the file stems
/// of each part.
fn split(module: &Path, folder: &Path, name: &str) -> Result<HashMap<String, Vec<String>>> {
    let bytes =
        std::fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let main = folder.join(name).with_extension("wasm");
    let glue = format!("./{name}.js");
    let mut options = wasm_split_cli_support::Options::new(&bytes);
    options.output_dir = folder;
    options.main_out_path = &main;
    options.main_module = &glue;
    wasm_split_cli_support::transform(options)
        .map(|split| split.prefetch_map)
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
