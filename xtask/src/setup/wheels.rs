//! The wheels of fhaviary and what it needs, for Pyodide: exactly those of `xtask/python/requirements.txt`, by hash.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::progress::{Status, quietly};
use super::python_packages::{VENV, system_python};
use super::{Lane, Need, Remedy, debian};
use crate::project::Project;

const REQUIREMENTS: &str = "xtask/python/requirements.txt";
const FOLDER: &str = "target/tools/wheels";
/// A virtual environment for its pip: Debian's own Python has none.
const PIP: &str = "target/tools/pip";
/// A copy of the requirements whose wheels are in the folder.
const FETCHED: &str = "fetched-requirements.txt";

/// What Pyodide 314 runs: CPython 3.14, and pure Python.
const PLATFORM: [&str; 12] = [
    "--platform",
    "pyemscripten_2026_0_wasm32",
    "--platform",
    "any",
    "--python-version",
    "314",
    "--implementation",
    "cp",
    "--abi",
    "cp314",
    "--abi",
    "none",
];

/// The wheels that the page unpacks into Python.
pub struct Wheels;

impl Wheels {
    /// The files, in order of their names.
    pub fn files(project: &Project) -> Result<Vec<PathBuf>> {
        let folder = project.path(FOLDER);
        let unreadable = || format!("cannot read {}", folder.display());
        let mut files = Vec::new();
        for entry in folder.read_dir().with_context(unreadable)? {
            let path = entry.with_context(unreadable)?.path();
            if path.extension().is_some_and(|end| end == "whl") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

impl Need for Wheels {
    fn name(&self) -> String {
        "fhaviary for Pyodide".to_owned()
    }

    fn reason(&self) -> &'static str {
        "runs the users' Python environments in the page"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let wanted = std::fs::read(project.path(REQUIREMENTS)).ok()?;
        let fetched = std::fs::read(project.path(FOLDER).join(FETCHED)).ok()?;
        (wanted == fetched).then(|| format!("in {FOLDER}"))
    }

    fn remedy(&self, project: &Project) -> Remedy {
        if system_python(project).is_none() && !debian::can_install() {
            return Remedy::Ask;
        }
        Remedy::Install {
            how: "pip download, 2 MB".to_owned(),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        if system_python(project).is_none() && debian::can_install() {
            debian::install(&VENV, status)?;
        }
        let python = system_python(project).context("there is no Python 3.11 or later")?;
        let (folder, pip) = (project.path(FOLDER), project.path(PIP));
        let mut venv = project.command(python);
        venv.args(["-m", "venv", "--clear"]).arg(&pip);
        quietly(&mut venv, None, status)?;
        // Wheels of earlier versions must not stay.
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        let requirements = project.path(REQUIREMENTS);
        let executable = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        let mut download = project.command(pip.join(executable));
        download
            .args(["-m", "pip", "download", "--quiet", "--require-hashes"])
            .args(["--no-deps", "--only-binary", ":all:"])
            .args(PLATFORM)
            .arg("--dest")
            .arg(&folder)
            .arg("--requirement")
            .arg(&requirements);
        quietly(&mut download, None, status)?;
        std::fs::copy(&requirements, folder.join(FETCHED))
            .map(drop)
            .with_context(|| format!("cannot copy {}", requirements.display()))
    }

    fn by_hand(&self) -> String {
        format!(
            "They need Python 3.11 or later with its venv module (on Debian: `{}`) and PyPI.",
            debian::by_hand(&VENV)
        )
    }
}
