//! Python packages, each set in a virtual environment of the project: what our formats are held against.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::original::bare;
use super::quietly::{Status, quietly};
use super::{Lane, Need, Remedy, debian};
use crate::project::Project;
use crate::run::output;

/// Packages that share a virtual environment, with pytest.
pub struct PythonPackages {
    name: &'static str,
    reason: &'static str,
    /// Each at the version that the tests know.
    packages: &'static [(&'static str, &'static str)],
    folder: &'static str,
    megabytes: u32,
}

/// The SDKs of the model providers: what our wire formats are held against.
pub const SDKS: PythonPackages = PythonPackages {
    name: "the SDKs of model providers",
    reason: "judge what is sent to providers and read from them",
    packages: &[
        ("openai", "3.52.0"),
        ("anthropic", "2.11.0"),
        ("google-genai", "3.4.0"),
        ("mistralai", "3.7.0"),
    ],
    folder: "target/tools/sdks",
    megabytes: 200,
};

/// What writes trajectories: what our formats of trajectories are held against.
pub const HARNESSES: PythonPackages = PythonPackages {
    name: "ldp and inspect_ai",
    reason: "read the trajectories that we write, and write some",
    packages: &[("ldp", "1.10.0"), ("inspect_ai", "0.3.285")],
    folder: "target/tools/formats",
    megabytes: 500,
};

const PYTEST: &str = "pytest>=8,<10";

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
        let mut ask = "import importlib.metadata as m; m.version('pytest'); print(".to_owned();
        for (name, _) in self.packages {
            ask.push_str(&format!("m.version('{name}'), "));
        }
        ask.push(')');
        let mut python = project.command(self.python(project));
        let found = output(python.args(["-c", &ask])).ok()?;
        let wanted: Vec<&str> = self.packages.iter().map(|(_, version)| *version).collect();
        (found == wanted.join(" ")).then(|| format!("in {}", self.folder))
    }

    fn remedy(&self, project: &Project) -> Remedy {
        if bare(project).is_none() && !debian::can_install() {
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
        let python = bare(project).context("there is no Python")?;
        let mut venv = project.command(python);
        venv.args(["-m", "venv", "--clear"])
            .arg(project.path(self.folder));
        quietly(&mut venv, None, status)?;
        let mut pip = project.command(self.python(project));
        pip.args(["-m", "pip", "install", "--quiet", PYTEST]);
        let wanted = self.packages.iter();
        pip.args(wanted.map(|(name, version)| format!("{name}=={version}")));
        quietly(&mut pip, None, status)
    }

    fn by_hand(&self) -> String {
        "It needs Python 3.11 or later with its venv module, and PyPI.".to_owned()
    }
}
