//! `cargo xtask serve`.

use std::process::Command;

use anyhow::Result;

use crate::http::Site;
use crate::project::Project;
use crate::{dev, page, run};

/// What can be asked of it.
pub struct Options {
    /// Where on 127.0.0.1 it listens.
    pub port: u16,
    /// Whether to show it in the user's browser.
    pub open: bool,
    /// Whether to watch the sources.
    pub dev: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            port: 8080,
            open: false,
            dev: false,
        }
    }
}

/// Builds and serves the page until the user has had enough.
pub fn serve(project: &Project, options: &Options) -> Result<()> {
    if options.dev {
        return dev::serve(project, options);
    }
    // The port first: who has to choose another should not have waited for a build.
    let site = Site::serve(project.path("dist"), "/", options.port)?;
    page::build(project)?;
    println!("Volary is at {} (Ctrl+C stops it).", site.url());
    if options.open
        && let Err(error) = run::run(&mut browser(&site.url()))
    {
        eprintln!("The browser did not open: {error:#}");
    }
    loop {
        std::thread::park();
    }
}

/// What opens an address in the user's browser.
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
