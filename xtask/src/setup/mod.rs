//! What commands need on the machine: looked for, said, installed, and looked for again.
//!
//! Nothing is installed outside of the project but by the machine's own package manager, `rustup` or
//! `apt-get`. What can't be installed is asked for, in words that can be typed.

mod chromium;
mod debian;
mod haproxy;
mod jobs;
mod node;
mod npm;
mod other_browsers;
pub mod progress;
mod python_packages;
mod trunk;
mod wasm_std;
mod wheels;

use anyhow::{Result, bail};

pub use chromium::Chromium;
pub use haproxy::HaProxy;
pub use jobs::Job;
pub use node::Node;
pub use npm::{BUILD_TOOLS, PLAYWRIGHT, PYODIDE, TOKENIZER, TOKENIZER_FILE, esbuild, wasm_opt};
pub use other_browsers::{FIREFOX, WEBKIT, webkit};
pub use python_packages::{HARNESSES, ORIGINAL, SDKS};
pub use trunk::Trunk;
pub use wasm_std::WasmStd;
pub use wheels::Wheels;

use crate::project::Project;
use progress::Status;

/// Something that a command needs.
pub trait Need: Sync {
    /// What it is, with its version where that matters.
    fn name(&self) -> String;
    /// What it does for us; follows on "which".
    fn reason(&self) -> &'static str;
    /// Where it is, if it is here.
    fn find(&self, project: &Project) -> Option<String>;
    /// The packages of Debian that it is; what is had in other ways says how in the next two.
    fn packages(&self) -> &'static [&'static str] {
        &[]
    }
    /// What is to be done when it is missing.
    fn remedy(&self, _: &Project) -> Remedy {
        debian::remedy(self.packages())
    }
    /// Does what [`Remedy::Install`] says.
    fn install(&self, _: &Project, status: &Status) -> Result<()> {
        debian::install(self.packages(), status)
    }
    /// What the user can do, should it come to that.
    fn by_hand(&self) -> String;
}

/// What is to be done about something that is missing.
pub enum Remedy {
    /// We install it.
    Install {
        /// How, and how long it takes; follows on a colon.
        how: String,
        /// What else may go on meanwhile.
        lane: Lane,
    },
    /// The user has to, as [`Need::by_hand`] says.
    Ask,
}

/// Installations that get in each other's way share a lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Of the machine: one after the other, before all others.
    System,
    /// Of the project: side by side.
    Project,
}

/// Installs what is missing.
pub fn ensure(project: &Project, needs: &[&dyn Need]) -> Result<()> {
    ensure_beside(project, needs, None)
}

/// Installs what is missing, and does another job meanwhile if there is something to wait for.
pub fn ensure_beside(project: &Project, needs: &[&dyn Need], job: Option<Job<'_>>) -> Result<()> {
    let missing: Vec<(&dyn Need, Remedy)> = needs
        .iter()
        .filter(|need| need.find(project).is_none())
        .map(|need| (*need, need.remedy(project)))
        .collect();
    // Before anything is installed: nobody wants to wait and be told then.
    let asked: Vec<String> = missing
        .iter()
        .filter(|(_, remedy)| matches!(remedy, Remedy::Ask))
        .map(|(need, _)| request(*need))
        .collect();
    if !asked.is_empty() {
        bail!("{}", asked.join("\n"));
    }
    let mut beside = Vec::new();
    for (need, remedy) in missing {
        let Remedy::Install { how, lane } = remedy else {
            continue;
        };
        let name = need.name();
        eprintln!("Missing: {name}, which {}. Now: {how}.", need.reason());
        let work = Job {
            name,
            work: Box::new(move |status| install(need, project, status)),
        };
        match lane {
            Lane::System => jobs::run(vec![work])?,
            Lane::Project => beside.push(work),
        }
    }
    if !beside.is_empty() {
        beside.extend(job);
        jobs::run(beside)?;
    }
    Ok(())
}

fn install(need: &dyn Need, project: &Project, status: &Status) -> Result<()> {
    if let Err(error) = need.install(project, status) {
        let hand = need.by_hand();
        bail!("could not be installed. {hand}\n\nWhat went wrong: {error:#}");
    }
    if need.find(project).is_none() {
        let hand = need.by_hand();
        bail!("was installed, and yet it is not found. {hand}");
    }
    Ok(())
}

fn request(need: &dyn Need) -> String {
    let (name, reason, hand) = (need.name(), need.reason(), need.by_hand());
    format!("{name} is missing, which {reason}. {hand}")
}
