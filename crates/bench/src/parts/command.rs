//! The command: `view` and `inspect view`, from the command to the first rows; `convert` and `search` over a large file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::project::{Project, output_aloud, run};
use crate::{Row, number};

/// The maximum time to the first rows, as a share of that of `inspect view`.
const FIRST: f64 = 0.5;
/// The minimum throughput of convert and search, in megabytes per second.
const CONVERTED: f64 = 100.0;
const SEARCHED: f64 = 300.0;
/// The size of the file for that.
const BYTES: u64 = 1_000_000_000;
/// A word that few of its lines have.
const RARE: &str = "sapphire";
const COMMAND: &str = "target/release/volary";

/// Builds the command with the page inside, and measures.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "harnesses"])?;
    project.build_page()?;
    let command = ["--release", "-p", "volary-cli", "--features", "page"];
    run(project.cargo("build").arg("--quiet").args(command))?;
    let logs = project.path("target/bench/review");
    let mut python = tools.python("VOLARY_HARNESSES")?;
    let script = project.path("tests/bench/inspect_logs.py");
    output_aloud(python.arg(script).arg(&logs))?;
    let mut node = tools.command("node");
    node.arg(project.path("tests/bench/command.mjs"))
        .env("VOLARY_LOGS", logs.join("many/logs"))
        .env("VOLARY_SERVER", project.path(COMMAND));
    let said = output_aloud(&mut node)?;
    let (ours, theirs) = (number(&said, "ours")?, number(&said, "theirs")?);
    let mut rows = vec![Row {
        what: "from the command to the first of 5,000 samples, .eval".to_owned(),
        ours: format!("{ours:.0} ms"),
        against: format!("{theirs:.0} ms (inspect view)"),
        ratio: format!("{:.2}", ours / theirs),
        aim: format!("at most {FIRST:.2}"),
        met: ours <= FIRST * theirs,
    }];
    rows.extend(over_a_large_file(project)?);
    Ok(rows)
}

/// Converts and searches a file.
fn over_a_large_file(project: &Project) -> Result<[Row; 2]> {
    let folder = project.path("target/bench/command");
    fs::create_dir_all(&folder)?;
    let file = folder.join("messages.jsonl");
    write_messages(&file)?;
    let converted = folder.join("converted.jsonl");
    let convert = rate(
        project
            .command(project.path(COMMAND))
            .args(["convert", "--to", "messages", "--out"])
            .arg(&converted)
            .arg(&file),
    )?;
    fs::remove_file(converted)?;
    let search = rate(
        project
            .command(project.path(COMMAND))
            .args(["search", RARE, "--json"])
            .arg(&file),
    )?;
    // The same word in the same file with an installed tool.
    let program = ["rg", "grep"].into_iter().find(|program| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|version| version.status.success())
    });
    let against = match program {
        Some(program) => {
            let found = rate(project.command(program).args(["-i", "-c", RARE]).arg(&file))?;
            format!("{found:.0} MB/s ({program})")
        }
        None => "neither rg nor grep is here".to_owned(),
    };
    let row = |what: &str, rate: f64, least: f64, against: String| Row {
        what: format!("{what} of {:.1} GB of messages", BYTES as f64 / 1e9),
        ours: format!("{rate:.0} MB/s"),
        against,
        ratio: format!("{:.2}", rate / least),
        aim: format!("at least {least:.0} MB/s"),
        met: rate >= least,
    };
    Ok([
        row("conversion", convert, CONVERTED, String::new()),
        row("search", search, SEARCHED, against),
    ])
}

/// The throughput of a program that reads the file, in megabytes per second.
fn rate(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed ({status})");
    Ok(BYTES as f64 / 1e6 / start.elapsed().as_secs_f64())
}

/// Writes a file of chats, unless it exists.
fn write_messages(path: &Path) -> Result<()> {
    const WORDS: [&str; 12] = [
        "the", "agent", "opens", "a", "box", "and", "finds", "some", "red", "marble", "in", "it",
    ];
    if fs::metadata(path).is_ok_and(|known| known.len() >= BYTES) {
        return Ok(());
    }
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut draw, mut line) = (0, 1_u64, 0_u64);
    while written < BYTES {
        let mut said = String::new();
        while said.len() < 2_000 {
            // A linear congruential generator: the same words in each run.
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            said.push_str(WORDS[(draw >> 33) as usize % WORDS.len()]);
            said.push(' ');
        }
        line += 1;
        let end = if line % 10_000 == 0 { RARE } else { "door" };
        let messages: Vec<String> = ["user", "assistant", "user", "assistant"]
            .map(|role| format!(r#"{{"role": "{role}", "content": "{said}{end} {line}"}}"#))
            .into();
        let text = format!(r#"{{"messages": [{}]}}"#, messages.join(", "));
        writeln!(file, "{text}")?;
        written += text.len() as u64 + 1;
    }
    Ok(file.flush()?)
}
