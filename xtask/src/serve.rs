//! `cargo xtask serve`.

use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use volary_site::Site;

use crate::project::Project;
use crate::{dev, page, run};

/// The options of the command.
pub struct Options {
    /// The port of 127.0.0.1 to listen on.
    pub port: u16,
    /// Whether to open the page in the user's browser.
    pub open: bool,
    /// Whether to rebuild when a source changes.
    pub dev: bool,
}

/// Builds and serves the page until the user stops it.
pub fn serve(project: &Project, options: &Options) -> Result<()> {
    if options.dev {
        return dev::serve(project, options);
    }
    let start = Instant::now();
    // Bind the port before building, so that a busy port fails fast.
    let site = Site::bind(options.port, "/")?;
    page::build_quickly(project)?;
    let url = site.url()?;
    println!(
        "Volary is at {url} after {:.0} s (Ctrl+C stops it).",
        start.elapsed().as_secs_f64()
    );
    if options.open
        && let Err(error) = run::run(&mut browser(&url))
    {
        eprintln!("The browser did not open: {error:#}");
    }
    site.serve(&project.path(page::QUICK_FOLDER))
}

/// The command that opens an address in the user's browser.
fn browser(url: &str) -> Command {
    let words: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["cmd", "/C", "start", ""]
    } else {
        &["xdg-open"]
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(url);
    command
}
