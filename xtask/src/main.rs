//! What a person types: `cargo xtask serve`, `test`, `build`, `publish`, `bench`, `fuzz`, `ci`, `doctor`.
//!
//! Each command is one file. All that a command needs on the machine is a [`setup::Need`], which is
//! looked for first and installed, with a line that says what and why.

mod bench;
mod ci;
mod dev;
mod doctor;
mod folders;
mod fuzz;
mod http;
mod journeys;
mod layering;
mod links;
mod page;
mod pins;
mod policy;
mod project;
mod publish;
mod python_kit;
mod run;
mod serve;
mod setup;
mod test;
mod test_summary;
mod tidy;
mod wasm;

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
  build    leave a static site in dist/
  publish  leave a static site that shows the trajectories of a folder: publish <folder>
             --out <folder>  where (default: published/)
             --title <text>  what the library is called (default: the folder's name)
             --all           also files that do not look like trajectories
  bench    measure, and print one table
             --only <part>   one part; may be repeated
  fuzz     give every importer damaged files
             --only <format> one format; may be repeated
             --inputs <n>    so many of each, 10,000 unless told
             --from <n>      the number of the first
  ci       what must hold before a change goes in
             --only <stage>  format, lint-native, lint-wasm, layers, sources or test
  doctor   say what is here, what is missing and what would be done about it

What is missing is installed on first use, inside target/tools where possible.
VOLARY_CHROMIUM names a browser for the tests other than the one that is found.";

fn main() -> ExitCode {
    match command() {
        Ok(true) => ExitCode::SUCCESS,
        // What is wrong has been said, and the count of it is to be the last line.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does what is asked for, and says whether all was well.
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
    let mut serve = serve::Options::default();
    let mut fuzz = fuzz::Options::default();
    let mut only = Vec::new();
    let mut publish = publish::Options::default();
    while let Some(argument) = line.next()? {
        match (name.as_str(), argument) {
            (_, Short('h') | Long("help")) => {
                println!("{HELP}");
                return Ok(true);
            }
            ("serve", Long("port")) => serve.port = line.value()?.parse()?,
            ("serve", Long("open")) => serve.open = true,
            ("serve", Long("dev")) => serve.dev = true,
            ("fuzz", Long("inputs")) => fuzz.inputs = Some(line.value()?.parse()?),
            ("fuzz", Long("from")) => fuzz.from = Some(line.value()?.parse()?),
            ("test" | "bench" | "ci" | "fuzz", Long("only")) => only.push(line.value()?.string()?),
            ("publish", Long("out")) => publish.out = line.value()?.into(),
            ("publish", Long("all")) => publish.all = true,
            ("publish", Long("title")) => publish.title = Some(line.value()?.string()?),
            ("publish", Value(folder)) if publish.folder.is_none() => {
                publish.folder = Some(folder.into());
            }
            (_, other) => return Err(other.unexpected().into()),
        }
    }
    let project = Project::here()?;
    match name.as_str() {
        "serve" => serve::serve(&project, &serve)?,
        "test" => return test::test(&project, &only),
        "build" => page::build(&project)?,
        "publish" => publish::publish(&project, &publish)?,
        "bench" => return bench::bench(&project, &only),
        "fuzz" => {
            fuzz.only = only;
            fuzz::fuzz(&project, &fuzz)?;
        }
        "ci" => return ci::ci(&project, &only),
        "doctor" => doctor::doctor(&project)?,
        wasm::HOOK => wasm::hook(&project)?,
        dev::HOOK => dev::open_policy()?,
        other => bail!("there is no command `{other}`\n\n{HELP}"),
    }
    Ok(true)
}
