//! `volary`: serves environments, and reads and converts trajectories.
//!
//! Each subcommand is one file. Results go to standard output, everything else to standard error, and texts from files
//! pass through [`output::plain`] before they reach a terminal.

mod ask;
mod assert;
mod check;
mod convert;
mod embed;
mod inputs;
mod keys;
mod lesson;
mod mcp;
mod output;
mod page;
mod publish;
mod recognition;
mod school;
mod search;
mod serve;
mod sharing;
mod stats;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

/// The result of a command that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    /// Success: status 0.
    Good,
    /// A negative answer, or missing parts: status 1.
    Bad,
    /// Everything was written, but contains keys, tokens or passwords: status 3.
    Sensitive,
}

/// The status of [`ExitStatus::Sensitive`].
const SENSITIVE: u8 = 3;

/// The status of a command that could not run. clap uses the same one for a wrong command line.
const ERROR: u8 = 2;

const EXIT_STATUS: &str = "\
Exit status:
  0  success
  1  the answer is no: an episode differs, nothing was found, or a file could be read only in part
  2  the command line is wrong, or the command could not do its work
  3  everything was written, but keys, tokens or passwords were found in it and not masked

Output has no colours if NO_COLOR is set or if it does not go to a terminal.
`volary completions SHELL` prints the completions of a shell, `volary man` the man page.";

/// Shows, searches, converts, checks and publishes trajectories of language agents, and serves environments for them.
///
/// Start with `volary view FOLDER`, which shows the trajectories of a folder in the browser.
#[derive(Parser)]
#[command(name = "volary", version, max_term_width = 100, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    View(view::View),
    Serve(serve::Serve),
    Publish(publish::Publish),
    Convert(convert::Convert),
    Ask(ask::Ask),
    Assert(assert::Assert),
    Check(check::Check),
    Lesson(lesson::LessonCommand),
    Mcp(mcp::Mcp),
    School(school::School),
    Search(search::Search),
    Stats(stats::Stats),
    #[command(hide = true)]
    Embed(embed::Embed),
    /// Prints the completions of a shell
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Prints the man page
    #[command(hide = true)]
    Man,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::View(view) => view.run().map(|()| ExitStatus::Good),
        Command::Serve(serve) => serve.run().map(|()| ExitStatus::Good),
        Command::Publish(publish) => publish.run(),
        Command::Convert(convert) => convert.run(),
        Command::Ask(ask) => ask.run(),
        Command::Assert(assert) => assert.run(),
        Command::Check(check) => check.run(),
        Command::Lesson(lesson) => lesson.run(),
        Command::Mcp(mcp) => mcp.run().map(|()| ExitStatus::Good),
        Command::School(school) => school.run(),
        Command::Search(search) => search.run(),
        Command::Stats(stats) => stats.run(),
        Command::Embed(embed) => embed.run().map(|()| ExitStatus::Good),
        Command::Completions { shell } => completions(shell),
        Command::Man => man(),
    };
    match result {
        Ok(ExitStatus::Good) => ExitCode::SUCCESS,
        Ok(ExitStatus::Bad) => ExitCode::FAILURE,
        Ok(ExitStatus::Sensitive) => ExitCode::from(SENSITIVE),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // With its causes and without a backtrace, because the user has to fix it.
            eprintln!("error: {}", output::plain(&format!("{error:#}")));
            ExitCode::from(ERROR)
        }
    }
}

fn completions(shell: Shell) -> anyhow::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "volary", &mut script);
    output::write(&script)?;
    Ok(ExitStatus::Good)
}

fn man() -> anyhow::Result<ExitStatus> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    output::write(&page)?;
    Ok(ExitStatus::Good)
}

/// Whether the reader of the output, such as `head`, has closed the pipe.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
