//! `volary`: the command for people who have environments to serve or trajectories to read.
//!
//! Each subcommand is one file. Results go to standard output, everything else to standard error.

mod publish;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The command could not do its work. clap uses the same status for a wrong command line.
const ERROR: u8 = 2;

const EXIT_STATUS: &str = "\
Exit status:
  0  success
  2  the command line is wrong, or the command could not do its work";

/// Serves environments for language agents, and publishes trajectories.
#[derive(Parser)]
#[command(name = "volary", version, max_term_width = 100, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Serve),
    Publish(publish::Publish),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(serve) => serve.run(),
        Command::Publish(publish) => publish.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With its causes and without a backtrace: it is the user's to fix.
            eprintln!("error: {error:#}");
            ExitCode::from(ERROR)
        }
    }
}
