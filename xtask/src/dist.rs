//! `cargo xtask dist`: what a release consists of, in `target/packages/`.
//!
//! The program with the page inside of it becomes an archive and a wheel for Python. maturin compiles it for the wheel,
//! and the archive takes the same program. `SHA256SUMS` has the checksums of all files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use fs_err as fs;
use hmac_sha256::Hash;

use crate::page;
use crate::project::Project;
use crate::run::{self, output};
use crate::setup::{self, MATURIN};

/// The folder of the files.
const OUT: &str = "target/packages";
/// The virtual environment of [`install`].
const INSTALLED: &str = "target/xtask/installed";
const SUMS: &str = "SHA256SUMS";
/// The profile of the program, in `Cargo.toml`. Its name is that of a folder in `target/`.
const PROFILE: &str = "dist";
/// The maximum size of the program with the page, in bytes.
const LARGEST: u64 = 25_000_000;
/// All members of the workspace have one version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Shells with completions, and the names of their files.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "volary.bash"),
    ("zsh", "_volary"),
    ("fish", "volary.fish"),
    ("powershell", "_volary.ps1"),
];
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// The options of the command.
#[derive(Default)]
pub struct Options {
    /// The platform of the program; by default this one.
    pub target: Option<String>,
    /// The folder of a page that is built already.
    pub page: Option<PathBuf>,
    /// The platform tags of the wheel; by default those that maturin finds.
    pub compatibility: Vec<String>,
}

/// Builds all files, and prints their sizes.
pub fn dist(project: &Project, options: &Options) -> Result<()> {
    let start = Instant::now();
    setup::ensure(project, &[&MATURIN])?;
    let out = project.path(OUT);
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let page = match &options.page {
        Some(page) => page.canonicalize().context("cannot read the page")?,
        None => {
            page::build(project)?;
            let page = project.path("dist");
            let site = out.join(format!("volary-{VERSION}-site.tar.gz"));
            archive(&page, &site)?;
            page
        }
    };
    wheel(project, options, &page, &out)?;
    let program = program(project, options);
    let bytes = program.metadata()?.len();
    let name = match &options.target {
        Some(target) => target.clone(),
        None => host(project)?,
    };
    let folder = project
        .path("target/xtask")
        .join(format!("volary-{VERSION}-{name}"));
    fill(project, &program, &folder)?;
    let ending = if cfg!(windows) { "zip" } else { "tar.gz" };
    let file = out.join(format!("volary-{VERSION}-{name}.{ending}"));
    archive(&folder, &file)?;
    let files = checksums(&out)?;
    println!("{} in {OUT}:", plural(files.len()));
    for file in &files {
        println!("  {:>5.1} MB  {}", megabytes(&out.join(file))?, file);
    }
    println!(
        "The program has {:.1} MB. All took {:.0} s.",
        bytes as f64 / 1e6,
        start.elapsed().as_secs_f64()
    );
    if bytes > LARGEST {
        bail!("the program has more than {:.0} MB", LARGEST as f64 / 1e6);
    }
    Ok(())
}

/// Builds a release for this machine and installs its wheel into a new virtual environment, as a user does. Returns the
/// path of the installed command.
pub fn install(project: &Project) -> Result<PathBuf> {
    dist(project, &Options::default())?;
    let out = project.path(OUT);
    let wheel = fs::read_dir(&out)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "whl"))
        .with_context(|| format!("there is no wheel in {}", out.display()))?;
    let folder = project.path(INSTALLED);
    let mut pip = setup::pip_of(project, &folder)?;
    // Without an index: the wheel must need nothing else.
    pip.args(["install", "--quiet", "--no-index"]).arg(wheel);
    run::quietly(&mut pip)?;
    Ok(folder.join(if cfg!(windows) {
        "Scripts/volary.exe"
    } else {
        "bin/volary"
    }))
}

/// Compiles the program, and packs it as a wheel.
fn wheel(project: &Project, options: &Options, page: &Path, out: &Path) -> Result<()> {
    let python = MATURIN.ensured_path(project)?;
    let mut maturin = project.command(python);
    maturin
        .args(["-m", "maturin", "build", "--locked"])
        .args(["--profile", PROFILE, "--features", "page"])
        .arg("--manifest-path")
        .arg(project.path("crates/cli/Cargo.toml"))
        .arg("--out")
        .arg(out)
        .env("VOLARY_PAGE", page);
    if let Some(target) = &options.target {
        maturin.args(["--target", target]);
    }
    for tag in &options.compatibility {
        maturin.args(["--compatibility", tag]);
    }
    run::run(&mut maturin)
}

/// Where cargo puts the program.
fn program(project: &Project, options: &Options) -> PathBuf {
    let mut path = project.path("target");
    path.extend(options.target.as_deref());
    let is_windows = match &options.target {
        Some(target) => target.contains("windows"),
        None => cfg!(windows),
    };
    path.push(PROFILE);
    path.push(if is_windows { "volary.exe" } else { "volary" });
    path
}

/// The platform of this machine's compiler.
fn host(project: &Project) -> Result<String> {
    let printed = output(project.command("rustc").arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// Fills the folder of an archive: the program, what it prints for shells and for `man`, and documents.
fn fill(project: &Project, program: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    if let Some(name) = program.file_name() {
        fs::copy(program, folder.join(name))?;
    }
    for document in DOCUMENTS {
        fs::copy(project.path(document), folder.join(document))?;
    }
    let version = output(Command::new(program).arg("--version"))?;
    if version != format!("volary {VERSION}") {
        bail!("the program is `{version}`, and not version {VERSION}");
    }
    for (shell, name) in SHELLS {
        let script = output(Command::new(program).args(["completions", shell]))?;
        fs::write(completions.join(name), script + "\n")?;
    }
    let man = output(Command::new(program).arg("man"))?;
    Ok(fs::write(folder.join("volary.1"), man + "\n")?)
}

/// Packs a folder. Every supported system has a `tar`; the one of Windows also writes zip files.
fn archive(folder: &Path, file: &Path) -> Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        bail!("{} cannot be packed", folder.display());
    };
    let mut tar = Command::new("tar");
    // Hidden files are lists and leftovers of builds.
    tar.args(["--exclude", ".*", "-a", "-cf"]).arg(file);
    run::quietly(tar.arg("-C").arg(parent).arg(name))
}

/// Writes the checksums of all files in a folder, as `sha256sum --check` reads them. Returns the names.
fn checksums(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != SUMS {
            names.push(name);
        }
    }
    names.sort();
    let mut sums = String::new();
    for name in &names {
        let hash = Hash::hash(&fs::read(folder.join(name))?);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        sums.push_str(&format!("{hash}  {name}\n"));
    }
    fs::write(folder.join(SUMS), sums)?;
    Ok(names)
}

fn megabytes(file: &Path) -> Result<f64> {
    Ok(file.metadata()?.len() as f64 / 1e6)
}

fn plural(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let folder = std::env::temp_dir().join(format!("volary-sums-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("b"), "hello\n").unwrap();
        fs::write(folder.join("a"), "").unwrap();
        assert_eq!(checksums(&folder).unwrap(), ["a", "b"]);
        // A second time, the list is not in the list.
        assert_eq!(checksums(&folder).unwrap(), ["a", "b"]);
        let sums = fs::read_to_string(folder.join(SUMS)).unwrap();
        let expected = "\
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a
5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  b
";
        assert_eq!(sums, expected);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_program_is_where_cargo_puts_it() {
        let project = Project::here().unwrap();
        let on = |target: Option<&str>| {
            let options = Options {
                target: target.map(str::to_owned),
                ..Options::default()
            };
            program(&project, &options)
        };
        let windows = on(Some("x86_64-pc-windows-msvc"));
        assert!(windows.ends_with("target/x86_64-pc-windows-msvc/dist/volary.exe"));
        let musl = on(Some("x86_64-unknown-linux-musl"));
        assert!(musl.ends_with("target/x86_64-unknown-linux-musl/dist/volary"));
        assert!(on(None).parent().unwrap().ends_with("target/dist"));
    }
}
