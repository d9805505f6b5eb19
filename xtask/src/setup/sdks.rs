//! The Python SDKs of the model providers, in a virtual environment of the project: what our wire formats are
//! held against.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::original::bare;
use super::quietly::{Status, quietly};
use super::{Lane, Need, Remedy, debian};
use crate::project::Project;
use crate::run::output;

/// Each at the version that the tests know.
const SDKS: [(&str, &str); 4] = [
    ("openai", "3.52.0"),
    ("anthropic", "2.11.0"),
    ("google-genai", "3.4.0"),
    ("mistralai", "3.7.0"),
];
const PYTEST: &str = "pytest>=8,<10";
const FOLDER: &str = "target/tools/sdks";

/// The SDKs, with pytest.
pub struct Sdks;

impl Sdks {
    /// The Python that has them.
    pub fn python(project: &Project) -> PathBuf {
        let folder = project.path(FOLDER);
        if cfg!(windows) {
            folder.join("Scripts").join("python.exe")
        } else {
            folder.join("bin").join("python")
        }
    }
}

impl Need for Sdks {
    fn name(&self) -> String {
        "the SDKs of model providers".to_owned()
    }

    fn reason(&self) -> &'static str {
        "judge what is sent to providers and read from them"
    }

    fn find(&self, project: &Project) -> Option<String> {
        let mut ask = "import importlib.metadata as m; m.version('pytest'); print(".to_owned();
        for (name, _) in SDKS {
            ask.push_str(&format!("m.version('{name}'), "));
        }
        ask.push(')');
        let mut python = project.command(Sdks::python(project));
        let found = output(python.args(["-c", &ask])).ok()?;
        let wanted = SDKS.map(|(_, version)| version).join(" ");
        (found == wanted).then(|| format!("in {FOLDER}"))
    }

    fn remedy(&self, project: &Project) -> Remedy {
        if bare(project).is_none() && !debian::can_install() {
            return Remedy::Ask;
        }
        Remedy::Install {
            how: "pip install, in a virtual environment of the project, 200 MB".to_owned(),
            lane: Lane::Project,
        }
    }

    fn install(&self, project: &Project, status: &Status) -> Result<()> {
        let python = bare(project).context("there is no Python")?;
        let mut venv = project.command(python);
        venv.args(["-m", "venv", "--clear"])
            .arg(project.path(FOLDER));
        quietly(&mut venv, None, status)?;
        let mut pip = project.command(Sdks::python(project));
        pip.args(["-m", "pip", "install", "--quiet", PYTEST]);
        pip.args(SDKS.map(|(name, version)| format!("{name}=={version}")));
        quietly(&mut pip, None, status)
    }

    fn by_hand(&self) -> String {
        "It needs Python 3.11 or later with its venv module, and PyPI.".to_owned()
    }
}
