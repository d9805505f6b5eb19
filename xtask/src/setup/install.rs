//! Sources of tools: how each is found, installed, and installed by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use fs_err as fs;

use super::{NODE, PYTHON, Tool, WasmStd, debian};
use crate::project::Project;
use crate::run::{output, quietly};

/// Copies of the installed lock file and requirements: if they differ, the tools are installed again.
const INSTALLED_LOCK: &str = "node_modules/.installed-lock.json";
const INSTALLED_REQUIREMENTS: &str = "installed-requirements.txt";
const INSTALLED_PACKAGES: &str = "installed-packages.txt";
/// Packages are never built from source: that would fetch others, which no hash covers.
const PIP: [&str; 5] = [
    "--quiet",
    "--require-hashes",
    "--no-deps",
    "--only-binary",
    ":all:",
];
/// The platform of Pyodide 314: CPython 3.14, and pure Python.
const PYODIDE_PLATFORM: &str = "--platform pyemscripten_2026_0_wasm32 --platform any --python-version 314 \
                                --implementation cp --abi cp314 --abi none";

/// The source of a tool.
pub enum Source {
    /// See [`WasmStd`].
    WasmStd,
    /// A program of the system, by any of these names or paths, and the Debian packages that contain it.
    Program(&'static [&'static str], &'static [&'static str]),
    /// A crate and its version. Its own lock file pins its dependencies.
    Crate(&'static str, &'static str),
    /// Packages of npm: the folder of the lock file that pins them, and the folder that they are installed in.
    Npm(&'static str, &'static str),
    /// A virtual environment of Python: the requirements, pinned by hashes, and its folder.
    Pip(&'static str, &'static str),
    /// Packages of Debian for its Python, and the folder into which they are unpacked.
    Unpacked(&'static [&'static str], &'static str),
    /// Wheels for Pyodide: the requirements, pinned by hashes, and the folder of the wheels.
    Wheels(&'static str, &'static str),
}

impl Source {
    /// The path of the tool, if it is present.
    pub fn find(&self, project: &Project) -> Option<String> {
        match self {
            Source::WasmStd => WasmStd::find(project).map(|source| match source {
                WasmStd::Toolchain => "in the Rust toolchain".to_owned(),
                WasmStd::Debian => "Debian's sources, built along with the page".to_owned(),
            }),
            Source::Program(names, _) => {
                let path = find_program(project, names)?;
                is_recent_enough(project, &path).then(|| path.display().to_string())
            }
            Source::Crate(name, version) => {
                let printed = output(project.command(name).arg("--version")).ok()?;
                let found = printed.split_whitespace().nth(1)?;
                (found == *version).then(|| version.to_string())
            }
            Source::Npm(lock, folder) => {
                let lock = project.path(lock).join("package-lock.json");
                let folder = project.path(folder);
                let is_here = is_same(&lock, &folder.join(INSTALLED_LOCK));
                is_here.then(|| folder.join("node_modules").display().to_string())
            }
            Source::Pip(requirements, folder) => {
                let folder = project.path(folder);
                let is_here = is_same(
                    &project.path(requirements),
                    &folder.join(INSTALLED_REQUIREMENTS),
                );
                is_here.then(|| python_in(&folder).display().to_string())
            }
            Source::Unpacked(packages, folder) => {
                let folder = project.path(folder);
                let installed = fs::read_to_string(folder.join(INSTALLED_PACKAGES)).ok();
                let is_here = installed.as_deref() == Some(&packages.join(" "));
                is_here.then(|| folder.join("python").display().to_string())
            }
            Source::Wheels(requirements, folder) => {
                let folder = project.path(folder);
                let is_here = is_same(
                    &project.path(requirements),
                    &folder.join(INSTALLED_REQUIREMENTS),
                );
                is_here.then(|| folder.display().to_string())
            }
        }
    }

    /// A description of its installation.
    pub fn how(&self) -> String {
        match self {
            Source::WasmStd => WasmStd::HOW.to_owned(),
            Source::Program(_, packages) => {
                let packages = packages.join(" ");
                format!("on Debian apt-get install {packages}, elsewhere from your package manager")
            }
            Source::Unpacked(packages, folder) => {
                let packages = packages.join(" ");
                format!("the Debian packages {packages}, unpacked into {folder}")
            }
            Source::Crate(name, version) => {
                format!(
                    "cargo install --locked {name} --version {version}, 2½ minutes on two cores"
                )
            }
            Source::Npm(lock, _) => format!("npm ci with {lock}/package-lock.json"),
            Source::Pip(requirements, _) => format!("pip install with {requirements}"),
            Source::Wheels(requirements, _) => format!("pip download with {requirements}"),
        }
    }

    /// Whether this program can install it; otherwise the user has to.
    pub fn can_be_installed(&self) -> bool {
        match self {
            Source::WasmStd => WasmStd::can_be_installed(),
            Source::Program(..) => debian::can_install(),
            Source::Unpacked(..) => debian::is_recent(),
            _ => true,
        }
    }

    /// Whether it is installed system-wide: then nothing else is installed at the same time.
    pub fn is_of_the_system(&self) -> bool {
        matches!(self, Source::WasmStd | Source::Program(..))
    }

    /// The tool that its installation needs.
    pub fn installed_with(&self) -> Option<&'static Tool> {
        match self {
            Source::Npm(..) => Some(&NODE),
            Source::Pip(..) | Source::Wheels(..) => Some(&PYTHON),
            _ => None,
        }
    }

    /// Installs it.
    pub fn install(&self, project: &Project) -> Result<()> {
        match self {
            Source::WasmStd => WasmStd::install(project),
            Source::Program(_, packages) => debian::install(packages),
            Source::Unpacked(packages, folder) => {
                let folder = project.path(folder);
                debian::unpack_python(packages, &folder)?;
                fs::write(folder.join(INSTALLED_PACKAGES), packages.join(" "))?;
                Ok(())
            }
            Source::Crate(name, version) => install_crate(project, name, version),
            Source::Npm(lock, folder) => {
                npm_ci(project, &project.path(lock), &project.path(folder))
            }
            Source::Pip(requirements, folder) => {
                let (requirements, folder) = (project.path(requirements), project.path(folder));
                let mut pip = pip_of(project, &folder)?;
                pip.arg("install").args(PIP).arg("--requirement");
                quietly(pip.arg(&requirements))?;
                copy(&requirements, &folder.join(INSTALLED_REQUIREMENTS))
            }
            Source::Wheels(requirements, folder) => {
                let (requirements, folder) = (project.path(requirements), project.path(folder));
                // Debian's own Python has no pip.
                let mut pip = pip_of(project, &project.path("target/tools/pip"))?;
                // Remove wheels of earlier versions.
                if folder.exists() {
                    fs::remove_dir_all(&folder)?;
                }
                pip.arg("download").args(PIP);
                pip.args(PYODIDE_PLATFORM.split_whitespace());
                pip.arg("--dest").arg(&folder).arg("--requirement");
                quietly(pip.arg(&requirements))?;
                copy(&requirements, &folder.join(INSTALLED_REQUIREMENTS))
            }
        }
    }
}

/// Names without a separator are looked up in the search path, others are paths.
fn find_program(project: &Project, names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&project.search_path()).collect();
    let mut candidates = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.find(|path| path.is_file())
}

/// Two programs must have a minimum version, and be complete.
fn is_recent_enough(project: &Project, path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default();
    if name == "npm" {
        let script = "process.exit(process.versions.node.split('.')[0] >= 18 ? 0 : 1)";
        return output(project.command("node").args(["-e", script])).is_ok();
    }
    if name == "python3" || name == "python" {
        let script = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
        return output(project.command(path).args(["-c", script])).is_ok();
    }
    true
}

fn has_binstall(project: &Project) -> bool {
    output(project.command("cargo-binstall").arg("-V")).is_ok()
}

/// Downloads the program with cargo-binstall if available, and builds it otherwise: unoptimised, because a user
/// waits for it and it runs for seconds only.
fn install_crate(project: &Project, name: &str, version: &str) -> Result<()> {
    let root = project.path("target/tools");
    if has_binstall(project) {
        let mut binstall = project.command("cargo-binstall");
        binstall.args(["--no-confirm", "--force", "--disable-strategies", "compile"]);
        binstall.arg("--root").arg(&root);
        if quietly(binstall.arg(format!("{name}@{version}"))).is_ok() {
            return Ok(());
        }
    }
    let workshop = root.join("build").join(name);
    // The page is compiled at the same time. It takes longer, so it gets most of the machine.
    let jobs = std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
    let mut cargo = project.cargo("install");
    cargo
        .args([name, "--version", version, "--bin", name])
        .args(["--debug", "--no-default-features", "--force"])
        .args(["--jobs", &jobs.to_string(), "--root"])
        .arg(&root)
        .arg("--target-dir")
        .arg(&workshop)
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_DEV_INCREMENTAL", "false")
        // The flags are meant for the user's own code.
        .env_remove("RUSTFLAGS");
    quietly(&mut cargo)?;
    // The build is large and not needed again. A failure to remove it is harmless.
    let _ = fs::remove_dir_all(workshop);
    Ok(())
}

fn npm_ci(project: &Project, lock: &Path, folder: &Path) -> Result<()> {
    if lock != folder {
        fs::create_dir_all(folder)?;
        for name in ["package.json", "package-lock.json", ".npmrc"] {
            copy(&lock.join(name), &folder.join(name))?;
        }
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut npm = project.command(npm);
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    quietly(npm.current_dir(folder))?;
    copy(
        &lock.join("package-lock.json"),
        &folder.join(INSTALLED_LOCK),
    )
}

/// The pip of a new virtual environment.
pub fn pip_of(project: &Project, folder: &Path) -> Result<Command> {
    let python = PYTHON.ensured_path(project)?;
    let mut venv = project.command(python);
    quietly(venv.args(["-m", "venv", "--clear"]).arg(folder))?;
    let mut pip = project.command(python_in(folder));
    pip.args(["-m", "pip"]);
    Ok(pip)
}

fn python_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    })
}

fn is_same(wanted: &Path, installed: &Path) -> bool {
    let installed = fs::read(installed).ok();
    installed.is_some() && installed == fs::read(wanted).ok()
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)?;
    Ok(())
}
