//! Python packages, exactly those of a committed file of hashes, each set in a virtual environment of the project: what
//! Volary is compared with.
//!
//! `tests/interop/requirements*.txt` are made from the `.in` files beside them; their first lines say how.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::progress::{Status, quietly};
use super::{Lane, Need, Remedy, debian};
use crate::project::Project;
use crate::run::output;

/// Packages that share a virtual environment.
pub struct PythonPackages {
    name: &'static str,
    reason: &'static str,
    /// What is installed, with its hashes.
    requirements: &'static str,
    /// The virtual environment.
    folder: &'static str,
    megabytes: u32,
}

/// fhaviary, with its server and what tests it.
pub const ORIGINAL: PythonPackages = PythonPackages {
    name: "fhaviary",
    reason: "is the original that Volary is compared with",
    requirements: "tests/interop/requirements.txt",
    folder: "target/tools/python",
    megabytes: 150,
};

/// The SDKs of the model providers: what our wire formats are compared with.
pub const SDKS: PythonPackages = PythonPackages {
    name: "the SDKs of model providers",
    reason: "judge what is sent to providers and read from them",
    requirements: "tests/interop/requirements-providers.txt",
    folder: "target/tools/sdks",
    megabytes: 200,
};

/// What writes trajectories: what our formats of trajectories are compared with.
pub const HARNESSES: PythonPackages = PythonPackages {
    name: "ldp and inspect_ai",
    reason: "read the trajectories that we write, and write some",
    requirements: "tests/interop/requirements-harnesses.txt",
    folder: "target/tools/formats",
    megabytes: 500,
};

/// What Debian's Python lacks.
pub const VENV: [&str; 1] = ["python3-venv"];
/// A copy of the requirements that were installed: others are another installation.
const INSTALLED: &str = "installed-requirements.txt";

impl PythonPackages {
    /// The Python that has them.
    pub fn python(&self, project: &Project) -> PathBuf {
        let folder = project.path(self.folder);
        if cfg!(windows) {
            folder.join("Scripts").join("python.exe")
        } else {
            folder.join("bin").join("python")
        }
    }
}

impl Need for PythonPackages {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn reason(&self) -> &'static str {
        self.reason
    }

    fn find(&self, project: &Project) -> Option<String> {
        let wanted = std::fs::read(project.path(self.requirements)).ok()?;
        let installed = std::fs::read(project.path(self.folder).join(INSTALLED)).ok()?;
        (wanted == installed).then(|| format!("in {}", self.folder))
    }

    fn remedy(&self, project: &Project) -> Remedy {
        if system_python(project).is_none() && !debian::can_install() {
            return Remedy::Ask;
        }
        Remedy::Install {
            how: format!(
                "pip install, in a virtual environment of the project, {} MB",
                self.megabytes
            ),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        if system_python(project).is_none() && debian::can_install() {
            debian::install(&VENV, status)?;
        }
        let python = system_python(project).context("there is no Python 3.11 or later")?;
        let folder = project.path(self.folder);
        let mut venv = project.command(python);
        venv.args(["-m", "venv", "--clear"]).arg(&folder);
        quietly(&mut venv, None, status)?;
        let requirements = project.path(self.requirements);
        let mut pip = project.command(self.python(project));
        // The file names every package that is wanted, so pip has none to choose; wheels alone, because building a
        // package would fetch others that no hash covers.
        pip.args(["-m", "pip", "install", "--quiet", "--require-hashes"])
            .args(["--no-deps", "--only-binary", ":all:", "--requirement"])
            .arg(&requirements);
        quietly(&mut pip, None, status)?;
        std::fs::copy(&requirements, folder.join(INSTALLED))
            .map(drop)
            .with_context(|| format!("cannot copy {}", requirements.display()))
    }

    fn by_hand(&self) -> String {
        format!(
            "It needs Python 3.11 or later with its venv module (on Debian: `{}`) and PyPI.",
            debian::by_hand(&VENV)
        )
    }
}

/// A Python that is recent enough and can make virtual environments.
pub fn system_python(project: &Project) -> Option<&'static str> {
    let ask = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    ["python3", "python"]
        .into_iter()
        .find(|name| output(project.command(name).args(["-c", ask])).is_ok())
}
