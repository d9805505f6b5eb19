//! Builds the page: cargo compiles it, Trunk assembles a static site in `dist/`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use fs_err as fs;

use crate::project::Project;
use crate::run;
use crate::setup::{self, BUILD_TOOLS, Job, PYODIDE, TRUNK, WASM, WHEELS};
use crate::wasm::{self, PROFILE_VARIABLE, Profile};

/// The sources of the site. No other files affect it.
pub const SOURCES: [&str; 14] = [
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "Trunk.toml",
    "index.html",
    "crates",
    "page",
    "public",
    "src",
    "style",
    "xtask/npm",
    "xtask/python",
    "xtask/src/wasm.rs",
    "xtask/wasm-parts",
];

/// A site that commands build.
struct Output {
    profile: Profile,
    folder: &'static str,
    /// The file with the fingerprint of the sources that it was built from.
    built: &'static str,
}

/// What is hosted, packaged and tested.
const RELEASE: Output = Output {
    profile: Profile::Release,
    folder: "dist",
    built: "target/xtask/built",
};

/// What `cargo xtask serve` shows. Most of a release build goes to making the page small, which does not matter on the
/// same machine.
const QUICK: Output = Output {
    profile: Profile::Quick,
    folder: QUICK_FOLDER,
    built: "target/xtask/quick/built",
};

/// Where [`build_quickly`] writes the site.
pub const QUICK_FOLDER: &str = "target/xtask/quick/dist";

/// The lock file of commands that install tools or build.
const TURN: &str = "target/xtask/turn";

/// Builds the site in `dist/`, unless it is up to date, and prints the time of each part.
pub fn build(project: &Project) -> Result<()> {
    assemble(project, &RELEASE)
}

/// Builds the site in [`QUICK_FOLDER`] in a fraction of the time. Its files are larger, and otherwise the same.
pub fn build_quickly(project: &Project) -> Result<()> {
    assemble(project, &QUICK)
}

fn assemble(project: &Project, output: &Output) -> Result<()> {
    let start = Instant::now();
    let _turn = turn(project)?;
    let sources = fingerprint(project)?;
    let built = project.path(output.built);
    let site = project.path(output.folder);
    if site.join("index.html").exists()
        && fs::read_to_string(&built).is_ok_and(|text| text == sources)
    {
        eprintln!("{}/ is up to date.", output.folder);
        return Ok(());
    }
    ensure_tools(project, output.profile)?;
    eprintln!("Building the page.");
    let mut trunk = trunk(project);
    trunk.env(PROFILE_VARIABLE, output.profile.name());
    run::run(trunk.args(["build", "--release", "--dist"]).arg(&site))?;
    let mut offline = wasm::wasm_parts(project)?;
    run::run(offline.arg("offline").arg(&site))?;
    // The fingerprint from before the build: sources that changed meanwhile cause another build.
    write(&built, &sources)?;
    eprintln!(
        "  {:>6.1} s  {}/ in all",
        start.elapsed().as_secs_f64(),
        output.folder
    );
    Ok(())
}

/// Waits until no other process builds the page here, and locks it while the file is held: Trunk assembles each build
/// in the same folder, so two concurrent builds would remove each other's files.
fn turn(project: &Project) -> Result<std::fs::File> {
    let path = project.path(TURN);
    write(&path, "")?;
    let file = std::fs::File::open(&path)?;
    if file.try_lock().is_err() {
        eprintln!("Another command is building the page. Waiting for it.");
        file.lock().context("cannot wait for the other command")?;
    }
    Ok(file)
}

/// Installs the tools for building. The slowest part of the build itself runs concurrently.
pub fn ensure_tools(project: &Project, profile: Profile) -> Result<()> {
    setup::ensure(project, &[&WASM])?;
    let mut compile = wasm::ahead(project, profile)?;
    let mut cutter = wasm::compile_parts(project);
    let tools = [&TRUNK, &BUILD_TOOLS, &PYODIDE, &WHEELS];
    let head_start: [Job<'_>; 2] = [
        (
            "the page, compiled".to_owned(),
            Box::new(move || run::run(&mut compile)),
        ),
        (
            "the program that cuts it into parts, compiled".to_owned(),
            Box::new(move || run::run(&mut cutter)),
        ),
    ];
    setup::ensure_beside(project, &tools, Vec::from(head_start))
}

/// The command for Trunk, which calls this program's hook for the wasm.
pub fn trunk(project: &Project) -> Command {
    let mut trunk = project.command("trunk");
    if std::env::var_os("RUST_LOG").is_none() {
        // At every build it warns that it cannot minify the output of wasm-bindgen.
        trunk.env("RUST_LOG", "error");
    }
    trunk
        .env("RUST_BACKTRACE", "0")
        .env("TRUNK_SKIP_VERSION_CHECK", "true")
        .env_remove("NO_COLOR");
    trunk
}

/// A hash that changes when a source is written, added, removed or renamed.
fn fingerprint(project: &Project) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        add(&project.path(source), &mut hasher)?;
    }
    // Affects the build without a change in the sources.
    std::env::var_os("RUSTFLAGS").hash(&mut hasher);
    Ok(format!("{:x}", hasher.finish()))
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let Ok(data) = path.metadata() else {
        return Ok(());
    };
    if data.is_dir() {
        let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut inside = entries.collect::<Result<Vec<_>>>()?;
        inside.sort();
        return inside.iter().try_for_each(|path| add(path, hasher));
    }
    path.hash(hasher);
    data.len().hash(hasher);
    data.modified()?.hash(hasher);
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}
