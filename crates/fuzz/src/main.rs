//! `volary-fuzz`: runs many cases of each format and reports the result, one line per format.
//!
//! - `--only FORMAT`: this format only; may be repeated. `--inputs N`: cases per format (default 10,000).
//! - `--from N`: the number of the first case. `--out DIR`: where failing cases are written.
//!
//! Then it runs expanding files ([`growth`]): each hand-written attack, files of each format that grow into as many episodes
//! as possible, and one generated case in a few hundred. A case that takes too much memory, work or time is written and
//! counted.
//!
//! A case that panics is written and counted; one that takes ten seconds is written and ends the run.
//! Everything runs on a stack as small as that of a browser's worker, so a stack overflow ends the run as well:
//! the last line then names the thousand of cases it was in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use volary_formats::import::InputFile;
use volary_fuzz::growth::{self, Cost, MOST_TIME};
use volary_fuzz::judge::{Depth, judge};
use volary_fuzz::mutate::case;
use volary_fuzz::seeds::{Format, formats};

/// The stack of a worker in a browser, in bytes.
const STACK: usize = 1 << 20;
/// The time limit of a case.
const LONGEST: Duration = Duration::from_secs(10);
/// One case in this many is checked completely.
const FULL: u64 = 10;
/// One expanding case is made for this many cases.
const GROWING: u64 = 200;
/// The number of cases between two progress lines.
const REPORTED: u64 = 100_000;

struct Options {
    only: Vec<String>,
    inputs: u64,
    from: u64,
    out: PathBuf,
}

fn main() -> ExitCode {
    quieten();
    let formats = match (options(), formats()) {
        (Ok(options), Ok(formats)) => run(&options, formats),
        (Err(error), _) => Err(error),
        (_, Err(error)) => Err(format!("the fixtures cannot be read: {error}")),
    };
    match formats {
        Ok(0) => ExitCode::SUCCESS,
        Ok(broken) => {
            eprintln!("{broken} cases break something.");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The crate `parquet` panics on some damaged files. Its caller returns an error, so the message is not printed.
fn quieten() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let file = info.location().map(std::panic::Location::file);
        if !file.is_some_and(|file| file.contains("/parquet-")) {
            print(info);
        }
    }));
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        only: Vec::new(),
        inputs: 10_000,
        from: 0,
        out: PathBuf::from("target/fuzz"),
    };
    let mut line = std::env::args().skip(1);
    while let Some(name) = line.next() {
        let value = line.next().ok_or(format!("{name} lacks its value"))?;
        let number = || value.replace('_', "").parse::<u64>();
        match name.as_str() {
            "--only" => options.only.push(value),
            "--inputs" => options.inputs = number().map_err(|error| error.to_string())?,
            "--from" => options.from = number().map_err(|error| error.to_string())?,
            "--out" => options.out = value.into(),
            other => return Err(format!("{other} is not understood")),
        }
    }
    Ok(options)
}

fn run(options: &Options, mut formats: Vec<Format>) -> Result<u64, String> {
    let known = |name: &str| formats.iter().any(|format| format.name == name);
    if let Some(unknown) = options.only.iter().find(|name| !known(name)) {
        let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
        return Err(format!(
            "there is no format {unknown}; there are {}",
            names.join(", ")
        ));
    }
    if !options.only.is_empty() {
        formats.retain(|format| options.only.iter().any(|name| name == format.name));
    }
    println!("| format | inputs | imported | episodes | inputs a second | slowest | peak memory |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut broken = 0;
    let growing = formats.clone();
    for format in formats {
        let options = (options.from, options.inputs, options.out.clone());
        let thread = std::thread::Builder::new().stack_size(STACK);
        let name = format.name;
        let tried = thread.spawn(move || try_format(&format, options.0, options.1, &options.2));
        let tried = tried.map_err(|error| error.to_string())?.join();
        broken += tried.map_err(|_| format!("the run of {name} broke off"))?;
    }
    // Sequentially: the allocator counts for all threads.
    let (from, count, out) = (options.from, options.inputs / GROWING, options.out.clone());
    let thread = std::thread::Builder::new().stack_size(STACK);
    let tried = thread.spawn(move || try_growth(&growing, from, count, &out));
    let tried = tried.map_err(|error| error.to_string())?.join();
    Ok(broken + tried.map_err(|_| "the run of files that grow broke off".to_owned())?)
}

/// Runs expanding cases; returns the number of those that exceed a limit.
fn try_growth(formats: &[Format], from: u64, count: u64, out: &Path) -> u64 {
    println!("\n| small files of | inputs | most memory | most allocated | longest |");
    println!("|---|---:|---:|---:|---:|");
    let mut broken = 0;
    let mut try_one = |name: &str, number: u64, files: &[InputFile]| {
        let cost = growth::cost(files);
        if cost.is_too_much() || cost.time > MOST_TIME {
            broken += 1;
            eprintln!("{name} {number} takes too much: {cost:?}");
            keep(files, &format!("growth-{name}"), number, out);
        }
        cost
    };
    let line = |name: &str, count: u64, cost: Cost| {
        println!(
            "| {name} | {count} | {} MB | {} MB | {} ms |",
            cost.memory >> 20,
            cost.allocated >> 20,
            cost.time.as_millis()
        );
    };
    for (name, make) in growth::attacks().into_iter().chain(growth::many()) {
        line(name, 1, try_one(name, 0, &make()));
    }
    for format in formats {
        let cases = growth::multiples(format);
        let name = format!("many of {}", format.name);
        let costs = (0..).zip(&cases);
        let costs = costs.map(|(number, files)| try_one(&name, number, files));
        let most = costs.fold(Cost::default(), Cost::most);
        line(&name, cases.len() as u64, most);
    }
    for format in formats {
        let costs = (from..from + count).map(|number| {
            let files = growth::case(format, number);
            try_one(format.name, number, &files)
        });
        line(format.name, count, costs.fold(Cost::default(), Cost::most));
    }
    broken
}

/// Runs the cases of a format; returns the number of failures.
fn try_format(format: &Format, from: u64, inputs: u64, out: &Path) -> u64 {
    let watch = Watch::start(format.clone(), out.to_owned());
    let (mut imported, mut episodes, mut broken) = (0_u64, 0, 0);
    let mut slowest = (Duration::ZERO, 0);
    let began = Instant::now();
    for number in from..from + inputs {
        if number.is_multiple_of(1000) && std::env::var_os("VOLARY_FUZZ_TRACE").is_some() {
            eprintln!("{} {number}", format.name);
        }
        let files = case(format, number);
        let depth = if number.is_multiple_of(FULL) {
            Depth::All
        } else {
            Depth::Import
        };
        watch.begins(number);
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| judge(&files, depth))) {
            Ok(count) => {
                imported += u64::from(count > 0);
                episodes += count;
            }
            Err(_) => {
                broken += 1;
                eprintln!("{} {number} breaks something", format.name);
                keep(&files, format.name, number, out);
            }
        }
        slowest = slowest.max((start.elapsed(), number));
        if (number + 1 - from).is_multiple_of(REPORTED) {
            eprintln!("{}: {} tried", format.name, number + 1 - from);
        }
    }
    watch.ends();
    println!(
        "| {} | {inputs} | {:.0}% | {episodes} | {:.0} | {:.0} ms (case {}) | {} |",
        format.name,
        100.0 * imported as f64 / inputs.max(1) as f64,
        inputs as f64 / began.elapsed().as_secs_f64(),
        slowest.0.as_secs_f64() * 1000.0,
        slowest.1,
        peak(),
    );
    broken
}

/// A watchdog thread with the time limit of a case.
struct Watch {
    current: std::sync::Arc<AtomicU64>,
}

const NOTHING: u64 = u64::MAX;

impl Watch {
    fn start(format: Format, out: PathBuf) -> Watch {
        let current = std::sync::Arc::new(AtomicU64::new(0));
        let seen = current.clone();
        std::thread::spawn(move || {
            let mut last = (NOTHING, Instant::now());
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let now = seen.load(Ordering::Relaxed);
                if now == NOTHING {
                    return;
                }
                if now != last.0 {
                    last = (now, Instant::now());
                } else if last.1.elapsed() > LONGEST {
                    eprintln!("{} {now} takes more than {LONGEST:?}", format.name);
                    keep(&case(&format, now), format.name, now, &out);
                    std::process::exit(1);
                }
            }
        });
        Watch { current }
    }

    fn begins(&self, number: u64) {
        self.current.store(number, Ordering::Relaxed);
    }

    fn ends(&self) {
        self.current.store(NOTHING, Ordering::Relaxed);
    }
}

/// Writes the files of a case for inspection.
fn keep(files: &[InputFile], format: &str, number: u64, out: &Path) {
    let folder = out.join(format!("{format}-{number}"));
    let made = std::fs::create_dir_all(&folder);
    for (index, file) in files.iter().enumerate() {
        let name = file.name.as_deref().unwrap_or_default();
        let name: String = name
            .chars()
            .map(|character| match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' => character,
                _ => '_',
            })
            .collect();
        let path = folder.join(format!("{index}-{name}"));
        if let Err(error) = made.as_ref().map(|()| std::fs::write(&path, &file.bytes)) {
            eprintln!("{} is not kept: {error}", path.display());
        }
    }
}

/// The peak memory of the process, if the system reports it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.map_or("unknown".to_owned(), |kilobytes| {
        format!("{} MB", kilobytes >> 10)
    })
}
