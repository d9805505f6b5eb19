//! The command line: `cargo xtask serve`, `test`, `build`, `dist`, `ci` and others.
//!
//! Each command is one file. The tools that a command needs are in one table ([`setup`]): they are looked up first, and
//! installed if they are missing.

#[cfg(test)]
mod checks;
mod ci;
mod dev;
mod dist;
mod journeys;
mod page;
mod project;
mod run;
mod serve;
mod setup;
mod test;
mod test_summary;
mod wasm;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::prelude::*;
use project::Project;

const HELP: &str = "\
Usage: cargo xtask <command>

  serve    build the page and serve it on http://127.0.0.1:8080
             --port <port>   another port
             --open          open it in the browser
             --dev           debug build that reloads when a source changes
  test     run every test
             --only <part>   unit, golden, e2e or interop; may be repeated
  build    write a static site to dist/
  publish  build the page, then `volary publish`: publish <folder> [--out <folder>]
  dist     build the page, and what a release consists of, in target/packages/
             --target <platform>, --page <folder that is built already>,
             --compatibility <tag of the wheel>; may be repeated
  bench    measure, and print one table
             --only <part>   one part; may be repeated
  fuzz     give every importer damaged files
             --only <format>, --inputs <n>, --from <n>
  ci       what must hold before a change is merged
             --only <stage>  format, lint-native, lint-wasm, layers, sources or test
  doctor   say what is here, what is missing and what would be done about it
  setup    install tools by name, and print the environment in which programs find them

What is missing is installed on first use, inside target/tools where possible.
VOLARY_CHROMIUM names a browser for the tests other than the one that is found.";

fn main() -> ExitCode {
    match command() {
        Ok(true) => ExitCode::SUCCESS,
        // The failures have been printed, and their count has to be the last line.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command; returns whether it succeeded.
fn command() -> Result<bool> {
    let mut line = lexopt::Parser::from_env();
    let name = match line.next()? {
        Some(Value(name)) => name.string()?,
        Some(Short('h') | Long("help")) | None => {
            println!("{HELP}");
            return Ok(true);
        }
        Some(other) => return Err(other.unexpected().into()),
    };
    let project = Project::here()?;
    if let "publish" | "bench" | "fuzz" = name.as_str() {
        let arguments: Vec<OsString> = line.raw_args()?.collect();
        return program(&project, &name, &arguments);
    }
    let mut serve = serve::Options {
        port: 8080,
        open: false,
        dev: false,
    };
    let mut dist = dist::Options::default();
    let mut only = Vec::new();
    let mut tools = Vec::new();
    while let Some(argument) = line.next()? {
        match (name.as_str(), argument) {
            (_, Short('h') | Long("help")) => {
                println!("{HELP}");
                return Ok(true);
            }
            ("serve", Long("port")) => serve.port = line.value()?.parse()?,
            ("serve", Long("open")) => serve.open = true,
            ("serve", Long("dev")) => serve.dev = true,
            ("dist", Long("target")) => dist.target = Some(line.value()?.string()?),
            ("dist", Long("page")) => dist.page = Some(line.value()?.into()),
            ("dist", Long("compatibility")) => dist.compatibility.push(line.value()?.string()?),
            ("test" | "ci", Long("only")) => only.push(line.value()?.string()?),
            ("setup", Value(tool)) => tools.push(tool.string()?),
            (_, other) => return Err(other.unexpected().into()),
        }
    }
    match name.as_str() {
        "serve" => serve::serve(&project, &serve)?,
        "test" => return test::test(&project, &only),
        "build" => page::build(&project)?,
        "dist" => dist::dist(&project, &dist)?,
        "ci" => return ci::ci(&project, &only),
        "doctor" => setup::doctor(&project)?,
        "setup" => setup::setup(&project, &tools)?,
        wasm::HOOK => wasm::hook(&project)?,
        dev::HOOK => dev::open_policy()?,
        other => bail!("there is no command `{other}`\n\n{HELP}"),
    }
    Ok(true)
}

/// Runs a command that is a separate program and parses its own arguments.
fn program(project: &Project, name: &str, arguments: &[OsString]) -> Result<bool> {
    let mut cargo = project.cargo("run");
    match name {
        "publish" => {
            if !arguments.iter().any(|argument| argument == "--help") {
                page::build(project)?;
            }
            cargo.args(["--quiet", "-p", "volary-cli", "--", "publish", "--page"]);
            cargo.arg(project.path("dist"));
            // Relative paths are relative to the user's working directory.
            cargo.current_dir(std::env::current_dir()?);
        }
        "bench" => {
            cargo.args([
                "--quiet",
                "-p",
                "volary-bench",
                "--bin",
                "volary-bench",
                "--",
            ]);
        }
        _ => {
            // The assertions of a debug build at the speed of a release build. Failing cases are written to
            // target/fuzz.
            cargo.args(["--quiet", "--profile", "fuzz", "-p", "volary-fuzz", "--"]);
            cargo.arg("--out").arg(project.path("target/fuzz"));
        }
    }
    let status = cargo.args(arguments).status()?;
    Ok(status.success())
}
