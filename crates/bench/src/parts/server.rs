//! Our server against the original under uvicorn: requests a second, waiting times, processor time, memory.
//!
//! Both serve dummy environments, one after the other, to the same load generator
//! (`crates/bench/src/bin/load`), which shares the machine with them.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::Row;
use crate::project::{Project, Tools, output, run};

/// The number of concurrent environments.
const AT_ONCE: [u32; 3] = [1, 16, 64];
/// The duration of a measurement.
const SECONDS: u32 = 5;
/// The duration of the soak, which shows whether memory grows.
const SOAK_SECONDS: u32 = 180;
/// The number of open environments when memory is measured.
const OPEN: u32 = 1_000;
const MANY_OPEN: u32 = 100_000;

/// The minimum ratio of requests per second, and of processor time, with many concurrent environments.
const REQUESTS: f64 = 25.0;
/// The same with one environment: a request mostly waits for threads to wake up.
const ONE_REQUEST: f64 = 10.0;
/// The minimum ratio of latency at the 99th percentile.
const WAITING: f64 = 10.0;
/// The minimum ratio of memory.
const MEMORY: f64 = 5.0;
/// The maximum growth of memory from a soak's first quarter to its end.
const GROWTH: f64 = 1.1;

/// One of the two servers.
#[derive(Clone, Copy)]
enum Whose {
    Ours,
    Theirs,
}

/// Builds both programs and measures.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["original"])?;
    let mut cargo = project.cargo("build");
    cargo.args(["--release", "-p", "volary-cli", "-p", "volary-bench"]);
    run(cargo.args(["--bin", "volary", "--bin", "load"]))?;
    let mut rows = Vec::new();
    for environments in AT_ONCE {
        let what = format!("/step, {environments} at once");
        let [ours, theirs] = both(&tools, "step", environments, SECONDS)?;
        let aim = if environments == 1 {
            ONE_REQUEST
        } else {
            REQUESTS
        };
        rows.push(requests(&what, &ours, &theirs, aim)?);
        rows.push(waiting(&what, &ours, &theirs, environments == 64)?);
        rows.push(processor(&what, &ours, &theirs, aim)?);
    }
    let what = "start, reset, close, 16 at once";
    let [ours, theirs] = both(&tools, "cycle", 16, SECONDS)?;
    rows.push(requests(what, &ours, &theirs, REQUESTS)?);
    let [ours, theirs] = both(&tools, "open", OPEN, SECONDS)?;
    rows.push(memory(&ours, &theirs)?);
    rows.push(many(&load(
        &tools,
        Whose::Ours,
        "open",
        MANY_OPEN,
        SECONDS,
    )?)?);
    rows.push(soak(&load(&tools, Whose::Ours, "soak", 64, SOAK_SECONDS)?)?);
    Ok(rows)
}

fn requests(what: &str, ours: &str, theirs: &str, aim: f64) -> Result<Row> {
    let key = "requests_per_second";
    let (ours, theirs) = (number(ours, key)?, number(theirs, key)?);
    Ok(Row {
        what: format!("{what}: requests a second"),
        ours: format!("{ours:.0}"),
        against: format!("{theirs:.0} (uvicorn)"),
        ratio: format!("{:.0} times", ours / theirs),
        aim: format!("at least {aim:.0} times"),
        met: ours >= aim * theirs,
    })
}

fn waiting(what: &str, ours: &str, theirs: &str, is_judged: bool) -> Result<Row> {
    let at = |lines: &str, share: &str| number(lines, &format!("{share}_microseconds"));
    let (our_p99, their_p99) = (at(ours, "p99")?, at(theirs, "p99")?);
    let shown = |lines: &str, p99: f64| -> Result<String> {
        Ok(format!(
            "{:.2} / {:.2} ms",
            at(lines, "p50")? / 1e3,
            p99 / 1e3
        ))
    };
    Ok(Row {
        what: format!("{what}: p50 / p99"),
        ours: shown(ours, our_p99)?,
        against: shown(theirs, their_p99)?,
        ratio: format!("p99 {:.0} times shorter", their_p99 / our_p99),
        aim: if is_judged {
            format!("at least {WAITING:.0} times")
        } else {
            "shorter".to_owned()
        },
        met: our_p99 * if is_judged { WAITING } else { 1.0 } <= their_p99,
    })
}

fn processor(what: &str, ours: &str, theirs: &str, aim: f64) -> Result<Row> {
    let key = "processor_microseconds_per_request";
    let (ours, theirs) = (number(ours, key)?, number(theirs, key)?);
    Ok(Row {
        what: format!("{what}: processor time a request"),
        ours: format!("{ours:.1} µs"),
        against: format!("{theirs:.0} µs"),
        ratio: format!("{:.0} times less", theirs / ours),
        aim: format!("at least {aim:.0} times"),
        met: ours * aim <= theirs,
    })
}

fn memory(ours: &str, theirs: &str) -> Result<Row> {
    let key = "bytes_per_environment";
    let (ours, theirs) = (number(ours, key)?, number(theirs, key)?);
    Ok(Row {
        what: format!("memory of {OPEN} open environments"),
        ours: format!("{:.2} MB", ours * f64::from(OPEN) / 1e6),
        against: format!("{:.2} MB", theirs * f64::from(OPEN) / 1e6),
        ratio: format!("{:.1} times less", theirs / ours),
        aim: format!("at least {MEMORY:.0} times"),
        met: ours * MEMORY <= theirs,
    })
}

fn many(ours: &str) -> Result<Row> {
    Ok(Row {
        what: format!("{MANY_OPEN} open environments"),
        ours: format!(
            "{:.0} MB in all, opened in {:.1} s",
            number(ours, "resident_bytes")? / 1e6,
            number(ours, "open_seconds")?
        ),
        against: "not tried".to_owned(),
        ratio: format!("{:.0} bytes each", number(ours, "bytes_per_environment")?),
        aim: "they open".to_owned(),
        met: true,
    })
}

fn soak(ours: &str) -> Result<Row> {
    let early = number(ours, "early_resident_bytes")?;
    let late = number(ours, "resident_bytes")?;
    Ok(Row {
        what: format!("memory over {SOAK_SECONDS} s of episodes, 64 at once"),
        ours: format!("{:.1} MB, then {:.1} MB", early / 1e6, late / 1e6),
        against: format!(
            "{:.0} requests a second",
            number(ours, "requests_per_second")?
        ),
        ratio: format!("{:.2} times", late / early),
        aim: format!("at most {GROWTH} times"),
        met: late <= GROWTH * early,
    })
}

/// The same load on both.
fn both(tools: &Tools<'_>, part: &str, environments: u32, seconds: u32) -> Result<[String; 2]> {
    let load = |whose| load(tools, whose, part, environments, seconds);
    Ok([load(Whose::Ours)?, load(Whose::Theirs)?])
}

/// The load generator's figures for a server that was just started.
fn load(
    tools: &Tools<'_>,
    whose: Whose,
    part: &str,
    environments: u32,
    seconds: u32,
) -> Result<String> {
    let server = Server::start(tools, whose)?;
    let mut generator = tools.command(tools.project.path("target/release/load"));
    generator
        .args(["--address", &server.address, "--part", part])
        .args(["--environments", &environments.to_string()])
        .args(["--seconds", &seconds.to_string()])
        .args(["--pid", &server.child.id().to_string()]);
    let said = output(&mut generator)?;
    let name = match whose {
        Whose::Ours => "ours",
        Whose::Theirs => "the original",
    };
    eprintln!(
        "  {part} {environments}, {name}: {}",
        said.replace('\n', ", ")
    );
    Ok(said)
}

/// A server that runs until this is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(tools: &Tools<'_>, whose: Whose) -> Result<Self> {
        let port = free_port()?.to_string();
        let mut command = match whose {
            Whose::Ours => tools.command(tools.project.path("target/release/volary")),
            Whose::Theirs => tools.python("VOLARY_PYTHON")?,
        };
        match whose {
            Whose::Ours => command.args(["serve", "--dataset", "dummy", "--port", &port]),
            Whose::Theirs => command.args(["tests/bench/original_server.py", &port]),
        };
        let child = spawn(&mut command)?;
        let address = format!("127.0.0.1:{port}");
        let server = Server { child, address };
        let backoff = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(&server.address).is_err() {
            if Instant::now() > backoff {
                bail!("{command:?} does not listen");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))
}

fn free_port() -> Result<u16> {
    let taken = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(taken.local_addr()?.port())
}

/// The number behind a name, as the load generator prints them.
fn number(lines: &str, name: &str) -> Result<f64> {
    let named = lines
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let number = named.and_then(|number| number.parse().ok());
    number.with_context(|| format!("no {name} in {lines}"))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let lines = "early_a 1\na 2.5\na_b 3";
        assert_eq!(number(lines, "a").ok(), Some(2.5));
        assert!(number(lines, "b").is_err());
    }
}
