//! Reading a streamed answer: ours against OpenAI's SDK for Python, with the same stream.

use anyhow::{Result, ensure};

use crate::project::{Project, output, run};
use crate::{Row, number};

/// Times the SDK.
const AIM: f64 = 20.0;
/// The stream, written by the SDK's side of the benchmark.
const STREAM: &str = "target/bench/answer.sse";

/// Reads the stream with the SDK, and then with ours.
pub fn measure(project: &Project) -> Result<Vec<Row>> {
    let tools = project.tools(&["sdks"])?;
    let ours = ["--release", "-p", "volary-agent", "--example", "throughput"];
    run(project.cargo("build").arg("--quiet").args(ours))?;
    std::fs::create_dir_all(project.path("target/bench"))?;
    let mut python = tools.python("VOLARY_SDKS")?;
    let script = project.path("tests/bench/sdk_stream.py");
    let theirs = output(python.arg(script).arg(project.path(STREAM)))?;
    let mut cargo = project.cargo("run");
    cargo.arg("--quiet").args(ours);
    let ours = output(cargo.args(["--", "openai-chat"]).arg(project.path(STREAM)))?;
    for told in ["characters", "calls"] {
        let same = number(&ours, told)? == number(&theirs, told)?;
        ensure!(same, "both must read the same: {ours} {theirs}");
    }
    let key = "megabytes_a_second";
    let (ours, theirs) = (number(&ours, key)?, number(&theirs, key)?);
    Ok(vec![Row {
        what: "streamed answers read, MB a second".to_owned(),
        ours: format!("{ours:.0}"),
        against: format!("{theirs:.1} (OpenAI's SDK, CPython)"),
        ratio: format!("{:.0} times", ours / theirs),
        aim: format!("at least {AIM:.0} times"),
        met: ours >= AIM * theirs,
    }])
}
