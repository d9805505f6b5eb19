//! The command, as it is published: `view` and `inspect view`, from the command to the first rows; many small files; a
//! file that grows; `convert` and `search` over a large file; its size and its start.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::project::{Project, Tools, output_aloud, run};
use crate::{Row, number};

/// The maximum time to the first rows, as a share of that of `inspect view`.
const FIRST: f64 = 0.5;
/// The maximum time until the first of many small files is shown, in milliseconds, and their memory in megabytes.
const SMALL_FIRST: f64 = 1_000.0;
const SMALL_MEMORY: f64 = 300.0;
/// The maximum time from an appended line to its row, in milliseconds.
const APPENDED: f64 = 1_000.0;
/// The maximum memory of a page that followed a file, as a share of that of one that loaded it at once.
const FOLLOWED: f64 = 1.25;
/// The minimum throughput of convert and search, in megabytes per second.
const CONVERTED: f64 = 100.0;
const SEARCHED: f64 = 300.0;
/// The size of the file for that.
const BYTES: u64 = 1_000_000_000;
/// A word that few of its lines have.
const RARE: &str = "sapphire";
/// The largest program in megabytes, and the milliseconds until it has printed its address.
const LARGEST: f64 = 15.0;
const STARTED: f64 = 50.0;
/// How often it is started.
const STARTS: usize = 20;
/// The numbers of files and lines that are shown.
const AGENT_FILES: usize = 2_000;
const SMALL_FILES: usize = 100_000;
const LINES: usize = 100;
const COMMAND: &str = "target/dist/volary";

/// Builds the command with the page inside, and measures.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "harnesses"])?;
    project.build_page()?;
    let command = [
        "--profile",
        "dist",
        "-p",
        "volary-cli",
        "--features",
        "page",
    ];
    run(project.cargo("build").arg("--quiet").args(command))?;
    let mut rows = in_a_browser(project, &tools)?;
    rows.extend(over_a_large_file(project)?);
    rows.extend(size_and_start(project)?);
    Ok(rows)
}

/// What a reader waits for.
fn in_a_browser(project: &Project, tools: &Tools<'_>) -> Result<Vec<Row>> {
    let logs = project.path("target/bench/review");
    let mut python = tools.python("VOLARY_HARNESSES")?;
    let script = project.path("tests/bench/inspect_logs.py");
    output_aloud(python.arg(script).arg(&logs))?;
    let folder = folder(project)?;
    let (agents, small, growing) = (
        folder.join("agents"),
        folder.join("small"),
        folder.join("growing.jsonl"),
    );
    write_files(&agents, AGENT_FILES, "traj", &agent_file)?;
    write_files(&small, SMALL_FILES, "json", &|number| chat(number, 20))?;
    let lines: Vec<String> = (0..LINES).map(|number| chat(number, 100)).collect();
    fs::write(&growing, lines.concat())?;
    let mut node = tools.command("node");
    node.arg(project.path("tests/bench/command.mjs"))
        .env("VOLARY_LOGS", logs.join("many/logs"))
        .env("VOLARY_AGENTS", agents)
        .env("VOLARY_SMALL", small)
        .env("VOLARY_SMALL_COUNT", SMALL_FILES.to_string())
        .env("VOLARY_GROWING", growing)
        .env("VOLARY_GROWING_COUNT", LINES.to_string())
        .env("VOLARY_SERVER", project.path(COMMAND));
    let said = output_aloud(&mut node)?;
    let of = |key: &str| number(&said, key);
    let theirs = of("theirs")?;
    let first = |what: &str, ours: f64, against: String| Row {
        what: format!("from the command to the first of {what}"),
        ours: format!("{ours:.0} ms"),
        against,
        ratio: format!("{:.2}", ours / theirs),
        aim: format!("at most {FIRST:.2}"),
        met: ours <= FIRST * theirs,
    };
    let small = of("small")?;
    let (page, command) = (of("small_page")?, of("small_command")?);
    let p99 = of("append_p99")?;
    let (followed, loaded) = (of("followed")?, of("loaded")?);
    Ok(vec![
        first(
            "5,000 samples, .eval",
            of("ours")?,
            format!("{theirs:.0} ms (inspect view)"),
        ),
        first(
            "2,000 files of SWE-agent",
            of("agents")?,
            format!("{theirs:.0} ms (inspect view, which reads none of them, with its log)"),
        ),
        Row {
            what: "from the command to the first of 100,000 small files".to_owned(),
            ours: format!(
                "{small:.0} ms (all after {:.0} s)",
                of("small_whole")? / 1e3
            ),
            against: format!("{SMALL_FIRST:.0} ms"),
            ratio: format!("{:.2}", small / SMALL_FIRST),
            aim: format!("at most {SMALL_FIRST:.0} ms"),
            met: small <= SMALL_FIRST,
        },
        Row {
            what: "memory of command, page and worker with all of them".to_owned(),
            ours: format!("{command:.0} + {page:.0} MB"),
            against: format!("{SMALL_MEMORY:.0} MB"),
            ratio: format!("{:.2}", (command + page) / SMALL_MEMORY),
            aim: format!("at most {SMALL_MEMORY:.0} MB"),
            met: command + page <= SMALL_MEMORY,
        },
        Row {
            what: "from an appended line to its row, 99 of 100".to_owned(),
            ours: format!(
                "{p99:.0} ms (median {:.0}, longest {:.0} ms)",
                of("append_median")?,
                of("append_most")?
            ),
            against: format!("{APPENDED:.0} ms"),
            ratio: format!("{:.2}", p99 / APPENDED),
            aim: format!("at most {APPENDED:.0} ms"),
            met: p99 <= APPENDED,
        },
        Row {
            what: "memory of page and worker after 1,000 such lines".to_owned(),
            ours: format!("{followed:.0} MB"),
            against: format!("{loaded:.0} MB, with the same lines from the start"),
            ratio: format!("{:.2}", followed / loaded),
            aim: format!("at most {FOLLOWED}"),
            met: followed <= FOLLOWED * loaded,
        },
    ])
}

/// The folder of the files that are written here.
fn folder(project: &Project) -> Result<PathBuf> {
    let folder = project.path("target/bench/command");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Converts and searches a file.
fn over_a_large_file(project: &Project) -> Result<[Row; 2]> {
    let folder = folder(project)?;
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

/// The size of the program, and how long it takes until it can be asked.
fn size_and_start(project: &Project) -> Result<[Row; 2]> {
    let program = project.path(COMMAND);
    let size = fs::metadata(&program)?.len() as f64 / 1e6;
    let folder = folder(project)?.join("empty");
    fs::create_dir_all(&folder)?;
    let starts: Result<Vec<f64>> = (0..STARTS).map(|_| start(&program, &folder)).collect();
    let mut starts = starts?;
    starts.sort_by(f64::total_cmp);
    let (median, slow) = (starts[STARTS / 2], starts[STARTS - 1]);
    let row = |what: &str, ours: String, value: f64, most: f64, unit: &str| Row {
        what: what.to_owned(),
        ours,
        against: format!("{most:.0} {unit}"),
        ratio: format!("{:.2}", value / most),
        aim: format!("at most {most:.0} {unit}"),
        met: value <= most,
    };
    Ok([
        row(
            "the command with the page inside",
            format!("{size:.1} MB"),
            size,
            LARGEST,
            "MB",
        ),
        row(
            "its start, until `view` has printed the address",
            format!("{median:.0} ms (longest {slow:.0} ms)"),
            median,
            STARTED,
            "ms",
        ),
    ])
}

/// Milliseconds until `view` has printed its address. It listens by then.
fn start(program: &Path, folder: &Path) -> Result<f64> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["view", "--json"])
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let out = child.stdout.take().context("the output is piped")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let taken = start.elapsed().as_secs_f64() * 1e3;
    child.kill()?;
    child.wait()?;
    ensure!(line.starts_with('{'), "`view` printed {line:?}");
    Ok(taken)
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

/// Writes `count` files, a thousand in each folder, unless they exist.
fn write_files(
    folder: &Path,
    count: usize,
    ending: &str,
    text: &dyn Fn(usize) -> String,
) -> Result<()> {
    const IN_EACH: usize = 1_000;
    let done = folder.with_extension("written");
    if done.exists() {
        return Ok(());
    }
    for number in 0..count {
        let within = folder.join(format!("{:03}", number / IN_EACH));
        if number % IN_EACH == 0 {
            fs::create_dir_all(&within)?;
        }
        fs::write(within.join(format!("{number}.{ending}")), text(number))?;
    }
    Ok(File::create(done).map(drop)?)
}

/// A chat as a line of JSON, with about this number of words.
fn chat(number: usize, words: usize) -> String {
    let said = "some words ".repeat(words / 2);
    format!(
        r#"{{"messages": [{{"role": "user", "content": "Say {number}. {said}"}}, {{"role": "assistant", "content": "answer {number}"}}]}}"#
    ) + "\n"
}

/// A run of SWE-agent with 40 steps, about 100 KB.
fn agent_file(number: usize) -> String {
    const STEPS: usize = 40;
    let seen = "def look(box):\\n    return box.marbles\\n".repeat(30);
    let steps: Vec<String> = (0..STEPS)
        .map(|step| {
            format!(
                r#"{{"action": "open a{step}.py", "observation": "[File: a{step}.py]\n{seen}", "response": "Opening a{step}.py of {number}.\n{seen}", "thought": "Opening a{step}.py.\n", "execution_time": 0.25, "state": {{"open_file": "a{step}.py", "working_dir": "/repo"}}, "query": [], "extra_info": {{}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"environment": "repo_env", "trajectory": [{}], "history": [{{"role": "system", "content": "You fix.", "agent": "main", "message_type": "system_prompt"}}, {{"role": "user", "content": "Fix a{number}.py", "agent": "main", "message_type": "observation"}}], "info": {{"swe_agent_version": "1.1.0", "exit_status": "submitted", "submission": "diff", "model_stats": {{"instance_cost": 0.5, "tokens_sent": 1000, "tokens_received": 50, "api_calls": {STEPS}}}}}}}"#,
        steps.join(",\n")
    )
}

/// Writes a file of chats, unless it is there.
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
