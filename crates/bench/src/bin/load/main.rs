//! Measures any TaskDatasetServer with dummy environments under load.
//!
//! `load --address 127.0.0.1:8041 --part step --environments 64 --seconds 10 --pid 1234`
//! prints lines of a name and a number. Requests are made in advance and replies are only counted,
//! so that the generator uses little of the machine that it shares with the server.

mod wire;

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};
use tokio::task::JoinSet;

use wire::{Connection, post};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Steps of environments that are open, each on a connection of its own
    Step,
    /// Starts, resets and closes
    Cycle,
    /// Whole episodes again and again, and how memory is early and at the end
    Soak,
    /// Opens environments, says what they cost, and closes them
    Open,
}

#[derive(Clone, Debug, Parser)]
struct Options {
    /// The server
    #[arg(long, default_value = "127.0.0.1:8041")]
    address: String,
    /// What to measure
    #[arg(long, value_enum, default_value = "step")]
    part: Part,
    /// How many environments at once
    #[arg(long, default_value_t = 1)]
    environments: usize,
    /// How long
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// The server's process, whose processor time and memory are wanted too
    #[arg(long)]
    pid: Option<u32>,
}

/// The number of connections that open environments.
const OPENERS: usize = 16;

/// Steps between two resets. The dummy environment keeps all messages, so its episodes must not grow without bound.
const EPISODE: usize = 100;

const STORY: &str = r#"{"role":"assistant","content":null,"content_is_json_str":false,"tool_calls":[{"id":"abcdefghi","type":"function","function":{"arguments":"{\"story\": \"Once upon a time done\"}","name":"print_story"}}]}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let before = options.pid.map(processor_seconds).transpose()?;
    let start = Instant::now();
    let mut latencies = match options.part {
        Part::Step => spread(&options, options.environments, steps).await?,
        Part::Cycle => spread(&options, options.environments, cycles).await?,
        Part::Soak => {
            tokio::spawn(look_early(options.clone()));
            spread(&options, options.environments, episodes).await?
        }
        Part::Open => return open(&options).await,
    };
    let elapsed = start.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let count = latencies.len();
    if count == 0 {
        bail!("not one request was answered");
    }
    let at = |share: f64| -> u128 {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a list"
        )]
        let place = (share * count as f64) as usize;
        latencies
            .get(place.min(count - 1))
            .map_or(0, Duration::as_micros)
    };
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let requests = count as f64;
    println!("requests_per_second {:.0}", requests / elapsed);
    println!("p50_microseconds {}", at(0.5));
    println!("p99_microseconds {}", at(0.99));
    println!("worst_microseconds {}", at(1.0));
    if let (Some(pid), Some(before)) = (options.pid, before) {
        let spent = processor_seconds(pid)? - before;
        println!(
            "processor_microseconds_per_request {:.1}",
            spent / requests * 1e6
        );
        println!("resident_bytes {}", resident_bytes(pid)?);
    }
    Ok(())
}

/// Runs `work` on this many connections at once. Returns all latencies.
async fn spread<W>(
    options: &Options,
    connections: usize,
    work: fn(Connection, Duration) -> W,
) -> anyhow::Result<Vec<Duration>>
where
    W: Future<Output = anyhow::Result<Vec<Duration>>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let connection = Connection::open(&options.address).await?;
        tasks.spawn(work(connection, Duration::from_secs_f64(options.seconds)));
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    Ok(latencies)
}

async fn steps(mut connection: Connection, limit: Duration) -> anyhow::Result<Vec<Duration>> {
    let id = start(&mut connection).await?;
    let named = format!(r#"{{"env_id":"{id}"}}"#);
    let reset = post("/reset", &named);
    let step = post("/step", &format!(r#"{{"env_id":"{id}","action":{STORY}}}"#));
    let mut latencies = Vec::new();
    let began = Instant::now();
    while began.elapsed() < limit {
        connection.ask(&reset).await?;
        for _ in 0..EPISODE {
            let sent = Instant::now();
            connection.ask(&step).await?;
            latencies.push(sent.elapsed());
            if began.elapsed() >= limit {
                break;
            }
        }
    }
    connection.ask(&post("/close", &named)).await?;
    Ok(latencies)
}

async fn cycles(mut connection: Connection, limit: Duration) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    let began = Instant::now();
    while began.elapsed() < limit {
        let sent = Instant::now();
        let id = start(&mut connection).await?;
        latencies.push(sent.elapsed());
        let named = format!(r#"{{"env_id":"{id}"}}"#);
        for path in ["/reset", "/close"] {
            let request = post(path, &named);
            let sent = Instant::now();
            connection.ask(&request).await?;
            latencies.push(sent.elapsed());
        }
    }
    Ok(latencies)
}

/// Whole episodes; each step counts.
async fn episodes(mut connection: Connection, limit: Duration) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    let began = Instant::now();
    while began.elapsed() < limit {
        let id = start(&mut connection).await?;
        let named = format!(r#"{{"env_id":"{id}"}}"#);
        connection.ask(&post("/reset", &named)).await?;
        let step = post("/step", &format!(r#"{{"env_id":"{id}","action":{STORY}}}"#));
        for _ in 0..EPISODE / 10 {
            let sent = Instant::now();
            connection.ask(&step).await?;
            latencies.push(sent.elapsed());
        }
        connection.ask(&post("/close", &named)).await?;
    }
    Ok(latencies)
}

/// Prints the server's memory after the first quarter.
async fn look_early(options: Options) {
    tokio::time::sleep(Duration::from_secs_f64(options.seconds / 4.0)).await;
    if let Some(Ok(bytes)) = options.pid.map(resident_bytes) {
        println!("early_resident_bytes {bytes}");
    }
}

async fn start(connection: &mut Connection) -> anyhow::Result<String> {
    let body = connection.ask(&post("/start", "{}")).await?;
    let id = body.split('"').nth(3).context("no env_id")?;
    Ok(id.to_owned())
}

async fn open(options: &Options) -> anyhow::Result<()> {
    let memory = || options.pid.map(resident_bytes).transpose();
    let before = memory()?;
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for opener in 0..OPENERS {
        let mut connection = Connection::open(&options.address).await?;
        let count =
            options.environments / OPENERS + usize::from(opener < options.environments % OPENERS);
        tasks.spawn(async move {
            let mut ids = Vec::with_capacity(count);
            for _ in 0..count {
                let id = start(&mut connection).await?;
                connection
                    .ask(&post("/reset", &format!(r#"{{"env_id":"{id}"}}"#)))
                    .await?;
                ids.push(id);
            }
            anyhow::Ok((connection, ids))
        });
    }
    let opened = tasks
        .join_all()
        .await
        .into_iter()
        .collect::<anyhow::Result<Vec<_>>>()?;
    println!("open_seconds {:.2}", began.elapsed().as_secs_f64());
    if let (Some(before), Some(after)) = (before, memory()?) {
        println!("resident_bytes {after}");
        println!(
            "bytes_per_environment {}",
            after.saturating_sub(before) / options.environments.max(1) as u64
        );
    }
    let began = Instant::now();
    for (mut connection, ids) in opened {
        for id in ids {
            connection
                .ask(&post("/close", &format!(r#"{{"env_id":"{id}"}}"#)))
                .await?;
        }
    }
    println!("close_seconds {:.2}", began.elapsed().as_secs_f64());
    Ok(())
}

/// The CPU time of a process, user and kernel.
fn processor_seconds(pid: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // After the name in parentheses, which may contain anything; times are in hundredths of a second.
    let fields = stat.rsplit(')').next().context("no such process")?;
    let ticks: Result<Vec<f64>, _> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse)
        .collect();
    Ok(ticks?.iter().sum::<f64>() / 100.0)
}

fn resident_bytes(pid: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}
