//! The original, fhaviary, in a virtual environment of the project: what ours is held against.

use std::path::PathBuf;

use anyhow::Result;

use super::quietly::{Status, quietly};
use super::{Lane, Need, Remedy, debian};
use crate::project::Project;
use crate::run::output;

const VERSION: &str = "0.37.0";
/// What tests with it are run by, and what makes up hostile requests for our server.
const TOOLS: [&str; 2] = ["pytest>=8,<10", "schemathesis>=4.10,<5"];
const PACKAGES: [&str; 1] = ["python3-venv"];
const FOLDER: &str = "target/tools/python";

/// fhaviary, with its server and what tests it.
pub struct Original;

impl Original {
    /// The Python that has it.
    pub fn python(project: &Project) -> PathBuf {
        let folder = project.path(FOLDER);
        if cfg!(windows) {
            folder.join("Scripts").join("python.exe")
        } else {
            folder.join("bin").join("python")
        }
    }
}

impl Need for Original {
    fn name(&self) -> String {
        format!("fhaviary {VERSION}")
    }

    fn reason(&self) -> &'static str {
        "is the original that Volary is held against"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let mut python = project.command(Original::python(project));
        let ask = "import importlib.metadata as m
for package in ('pytest', 'schemathesis', 'aviary.gsm8k', 'uvicorn', 'httpx-aiohttp'):
    m.version(package)
print(m.version('fhaviary'))";
        let version = output(python.args(["-c", ask])).ok()?;
        (version == VERSION).then(|| format!("in {FOLDER}"))
    }

    fn remedy(&self, project: &Project) -> Remedy {
        if bare(project).is_none() && !debian::can_install() {
            return Remedy::Ask;
        }
        Remedy::Install {
            how: "pip install, in a virtual environment of the project".to_owned(),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        if bare(project).is_none() && debian::can_install() {
            debian::install(&PACKAGES, status)?;
        }
        let python = bare(project).unwrap_or("python3");
        let mut venv = project.command(python);
        venv.args(["-m", "venv", "--clear"])
            .arg(project.path(FOLDER));
        quietly(&mut venv, None, status)?;
        let mut pip = project.command(Original::python(project));
        pip.args(["-m", "pip", "install", "--quiet"])
            .args(TOOLS)
            .arg(format!("fhaviary[server]=={VERSION}"));
        quietly(&mut pip, None, status)?;
        // The calculator. What it depends on is for downloading its data, which nothing here does.
        let mut pip = project.command(Original::python(project));
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps"])
            .arg(format!("aviary.gsm8k=={VERSION}"));
        quietly(&mut pip, None, status)
    }

    fn by_hand(&self) -> String {
        format!(
            "It needs Python 3.11 or later with its venv module (on Debian: `{}`) and PyPI.",
            debian::by_hand(&PACKAGES)
        )
    }
}

/// A Python that is recent enough and can make virtual environments.
pub(super) fn bare(project: &Project) -> Option<&'static str> {
    let ask = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    ["python3", "python"]
        .into_iter()
        .find(|name| output(project.command(name).args(["-c", ask])).is_ok())
}
