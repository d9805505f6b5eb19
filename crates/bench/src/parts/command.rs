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
/// Names a command with its page inside, such as that of a release, which is measured instead of one that is built here.
const GIVEN: &str = "VOLARY_COMMAND";

/// Builds the command with the page inside, unless one is given, and measures.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["node", "chromium", "playwright", "harnesses"])?;
    let program = match std::env::var_os(GIVEN) {
        Some(program) => program.into(),
        None => build(project)?,
    };
    let mut rows = over_a_large_file(project, &program)?;
    rows.extend(size_and_start(project, &program)?);
    rows.extend(in_a_browser(project, &tools, &program)?);
    Ok(rows)
}

fn build(project: &Project) -> Result<PathBuf> {
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
    Ok(project.path(COMMAND))
}

/// What a reader waits for.
fn in_a_browser(project: &Project, tools: &Tools<'_>, program: &Path) -> Result<Vec<Row>> {
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
        .env("VOLARY_SERVER", program);
    let said = output_aloud(&mut node)?;
    let of = |key: &str| number(&said, key);
    let theirs = of("theirs")?;
    let first = |what: &str, key: &str| {
        let what = format!("from the command to the first of {what}");
        Ok::<Figure, anyhow::Error>(Figure::of(what, of(key)?, "ms"))
    };
    let (page, command) = (of("small_page")?, of("small_command")?);
    Ok(vec![
        first("5,000 samples, .eval", "ours")?.beside(theirs, "inspect view", FIRST),
        first("2,000 files of SWE-agent", "agents")?.beside(
            theirs,
            "inspect view, which reads none of them, with its log",
            FIRST,
        ),
        first("100,000 small files", "small")?
            .with(format!("all after {:.0} s", of("small_whole")? / 1e3))
            .at_most(SMALL_FIRST),
        Figure::of(
            "memory of command, page and worker with all of them",
            command + page,
            "MB",
        )
        .with(format!("command {command:.0}, page and worker {page:.0}"))
        .at_most(SMALL_MEMORY),
        Figure::of(
            "from an appended line to its row, 99 of 100",
            of("append_p99")?,
            "ms",
        )
        .with(format!(
            "median {:.0}, longest {:.0}",
            of("append_median")?,
            of("append_most")?
        ))
        .at_most(APPENDED),
        Figure::of(
            "memory of page and worker after 1,000 such lines",
            of("followed")?,
            "MB",
        )
        .beside(of("loaded")?, "the same lines from the start", FOLLOWED),
    ])
}

/// A measured figure.
struct Figure {
    what: String,
    value: f64,
    unit: &'static str,
    /// What else is said of it.
    more: String,
}

impl Figure {
    fn of(what: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        Figure {
            what: what.into(),
            value,
            unit,
            more: String::new(),
        }
    }

    fn with(mut self, more: String) -> Figure {
        self.more = format!(" ({more})");
        self
    }

    /// Held against a limit.
    fn at_most(self, limit: f64) -> Row {
        let met = self.value <= limit;
        self.against(limit, String::new(), "most", met)
    }

    /// Held against a limit. `beside` says what others reach.
    fn at_least(self, limit: f64, beside: String) -> Row {
        let met = self.value >= limit;
        self.against(limit, beside, "least", met)
    }

    /// Held against the same figure of something else, of which it may be a share.
    fn beside(self, other: f64, name: &str, share: f64) -> Row {
        let ratio = self.value / other;
        Row {
            against: format!("{other:.0} {} ({name})", self.unit),
            ratio: format!("{ratio:.2}"),
            aim: format!("at most {share}"),
            met: ratio <= share,
            ours: self.text(),
            what: self.what,
        }
    }

    fn against(self, limit: f64, beside: String, side: &str, met: bool) -> Row {
        Row {
            against: beside,
            ratio: format!("{:.2}", self.value / limit),
            aim: format!("at {side} {limit:.0} {}", self.unit),
            met,
            ours: self.text(),
            what: self.what,
        }
    }

    fn text(&self) -> String {
        let decimals = usize::from(self.value < 20.0);
        format!("{:.decimals$} {}{}", self.value, self.unit, self.more)
    }
}

/// The folder of the files that are written here.
fn folder(project: &Project) -> Result<PathBuf> {
    let folder = project.path("target/bench/command");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Converts and searches a file.
fn over_a_large_file(project: &Project, program: &Path) -> Result<Vec<Row>> {
    let folder = folder(project)?;
    let file = folder.join("messages.jsonl");
    write_messages(&file)?;
    let converted = folder.join("converted.jsonl");
    let convert = |format: &str, out: &Path| {
        let mut command = project.command(program);
        rate(
            command
                .args(["convert", "--to", format, "--out"])
                .arg(out)
                .arg(&file),
        )
    };
    let lines = convert("messages", &converted)?;
    fs::remove_file(converted)?;
    // Linux (ext4) searches long for a place of a new file where files were deleted within some minutes, so they are
    // deleted afterwards.
    let apart = folder.join("converted");
    let files = convert("volary", &apart)?;
    let count = fs::read_dir(&apart)?.count();
    fs::remove_dir_all(apart)?;
    let search = rate(
        project
            .command(program)
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
    let of = |what: &str| format!("{what} of {:.1} GB of messages", BYTES as f64 / 1e9);
    Ok(vec![
        Figure::of(of("conversion"), lines, "MB/s").at_least(CONVERTED, String::new()),
        Figure::of(of("conversion to a file for each episode"), files, "MB/s")
            .with(format!("{count} files"))
            .at_least(CONVERTED, String::new()),
        Figure::of(of("search"), search, "MB/s").at_least(SEARCHED, against),
    ])
}

/// The size of the program, and how long it takes until it can be asked.
fn size_and_start(project: &Project, program: &Path) -> Result<Vec<Row>> {
    let size = fs::metadata(program)?.len() as f64 / 1e6;
    let folder = folder(project)?.join("empty");
    fs::create_dir_all(&folder)?;
    let starts: Result<Vec<f64>> = (0..STARTS).map(|_| start(program, &folder)).collect();
    let mut starts = starts?;
    starts.sort_by(f64::total_cmp);
    let (median, slow) = (starts[STARTS / 2], starts[STARTS - 1]);
    Ok(vec![
        Figure::of("the command with the page inside", size, "MB").at_most(LARGEST),
        Figure::of(
            "its start, until `view` has printed the address",
            median,
            "ms",
        )
        .with(format!("longest {slow:.0}"))
        .at_most(STARTED),
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
