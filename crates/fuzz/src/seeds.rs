//! Valid files of every format, as seeds.

use std::io;
use std::path::Path;

use volary_episode::{Episode, native};
use volary_formats::import::{InputFile, import};
use volary_formats::renderer_files;

/// A format with its seeds. The name is that of its importer.
#[derive(Clone, Debug)]
pub struct Format {
    /// The name of its reader.
    pub name: &'static str,
    /// Seeds, each a group of files that belong together.
    pub seeds: Vec<Vec<InputFile>>,
}

/// The files of each format, in the folder of fixtures.
const FIXTURES: &[(&str, &[&[&str]])] = &[
    (
        "inspect",
        &[
            &["inspect.json"],
            &["inspect-stored.eval"],
            &["inspect-zstd.eval"],
            &["inspect-chunked.eval"],
        ],
    ),
    (
        "atif",
        &[&["atif.json"], &["atif.json", "atif-continued.json"]],
    ),
    ("ldp", &[&["ldp.jsonl"]]),
    (
        "claude-code",
        &[&["claude-code.jsonl"], &["claude-code-printed.jsonl"]],
    ),
    ("codex", &[&["codex.jsonl"], &["codex-old.jsonl"]]),
    ("copilot-cli", &[&["copilot-cli.jsonl"]]),
    ("cline", &[&["cline.json"], &["cline-session.json"]]),
    ("aider", &[&["aider.md"]]),
    ("specstory", &[&["specstory.md"]]),
    ("kimi", &[&["kimi.jsonl"], &["kimi-old.jsonl"]]),
    ("iflow", &[&["iflow.jsonl"]]),
    ("gptme", &[&["gptme.jsonl"]]),
    ("browser-use", &[&["browser-use.json"]]),
    ("terminal-bench", &[&["terminal-bench.json"]]),
    ("evalscope", &[&["evalscope.jsonl"]]),
    ("toolbench", &[&["toolbench.json"]]),
    (
        "mt-bench",
        &[
            &["mt-bench.jsonl"],
            &["mt-bench.jsonl", "mt-bench-questions.jsonl"],
        ],
    ),
    (
        "google-adk",
        &[&["google-adk.json"], &["google-adk-evalset.json"]],
    ),
    ("openai-agents-state", &[&["openai-agents-state.json"]]),
    ("gemini-cli", &[&["gemini-cli.jsonl"]]),
    ("opencode", &[&["opencode.json"]]),
    ("session-trace", &[&["session-trace.jsonl"], &["pi.jsonl"]]),
    ("tau2", &[&["tau2.json"]]),
    (
        "tau-bench",
        &[&["tau-bench.json"], &["tau-bench-display.jsonl"]],
    ),
    (
        "verifiers-traces",
        &[
            &["verifiers-traces.jsonl"],
            &["verifiers-traces-tokens.jsonl"],
            &[
                "verifiers-traces-tokens.jsonl",
                "prime-rl-annotations.jsonl",
            ],
        ],
    ),
    (
        "verifiers-results",
        &[
            &["verifiers-results.jsonl"],
            &["verifiers-results-tokens.jsonl"],
            &["verifiers-columns.json"],
        ],
    ),
    ("swe-agent", &[&["swe-agent.traj"], &["swe-agent-old.traj"]]),
    (
        "mini-swe-agent",
        &[&["mini-swe-agent.json"], &["mini-swe-agent-text.json"]],
    ),
    (
        "openhands",
        &[
            &["openhands.json"],
            &["openhands-output.jsonl"],
            &["openhands-sdk.jsonl"],
            &["openhands-resolver.jsonl"],
        ],
    ),
    (
        "slime",
        &[
            &["slime.jsonl"],
            &["slime-nested.json"],
            &["slime-rollout.pt", "slime-train.pt"],
            &["slime-train-v1.pt"],
        ],
    ),
    (
        "torch",
        &[
            &["slime-rollout.pt"],
            &["slime-numpy.pt"],
            &["slime-legacy.pt"],
            &["slime-objects-2.pt"],
            &["slime-objects-4.pt"],
            &["slime-nested.pt"],
            &["slime-train.pt"],
            &["slime-train-v1.pt"],
            &["slime-rollout.pt", "slime-train.pt"],
            &["slime-siblings.pt", "slime-siblings-v1-0.pt"],
        ],
    ),
    (
        "nemo-rl",
        &[&["nemo-rl.jsonl"], &["nemo-rl-versions.jsonl"]],
    ),
    ("nemo-gym", &[&["nemo-gym.jsonl"]]),
    ("areal", &[&["areal.jsonl"]]),
    ("open-instruct", &[&["open-instruct.jsonl"]]),
    ("rllm", &[&["rllm.json"]]),
    ("prime-rl-rank", &[&["rank_0.bin"]]),
    ("prime-rl-token-export", &[&["prime-rl-token-export.jsonl"]]),
    ("verl", &[&["verl.jsonl"]]),
    ("skyrl", &[&["skyrl.jsonl"], &["skyrl-ids.jsonl"]]),
    ("tinker-cookbook", &[&["tinker.jsonl"]]),
    ("tinker-cookbook-capture", &[&["tinker-capture.jsonl"]]),
    (
        "tinker-cookbook-evaluation",
        &[&["tinker-evaluation.jsonl"]],
    ),
    ("trl", &[&["trl.jsonl"]]),
    (
        "lm-eval",
        &[&["samples_birds_2026-01-02T03-04-05.123456.jsonl"]],
    ),
    ("openai-chat", &[&["chat.jsonl"]]),
    ("langfuse", &[&["langfuse.json"]]),
    ("openai-agents", &[&["openai-agents.jsonl"]]),
    ("langsmith", &[&["langsmith.jsonl"]]),
    (
        "openai-batch",
        &[
            &["openai-batch-input.jsonl"],
            &["openai-batch-output.jsonl"],
            &["openai-batch-input.jsonl", "openai-batch-output.jsonl"],
        ],
    ),
    ("pydantic-ai", &[&["pydantic-ai.json"]]),
    ("docent", &[&["docent.jsonl"]]),
    (
        "autogen",
        &[
            &["autogen.json"],
            &["autogen-team.json"],
            &["autogen-recorded.json"],
        ],
    ),
    (
        "open-telemetry",
        &[
            &["open-telemetry.json"],
            &["open-telemetry-events.json"],
            &["open-inference.json"],
            &["traceloop.jsonl"],
            &["vercel-spans.json"],
        ],
    ),
];

/// The Parquet files, in the folder of that reader's fixtures.
const PARQUET: &[&str] = &[
    "trl.parquet",
    "chat-none.parquet",
    "chat-snappy.parquet",
    "chat-gzip.parquet",
    "chat-zstd.parquet",
    "chat-lz4.parquet",
];

/// Every format with its seeds: the fixtures of the importers, and files written by Volary itself.
pub fn formats() -> io::Result<Vec<Format>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let mut formats = Vec::new();
    for &(name, bundles) in FIXTURES {
        let mut seeds = Vec::new();
        for bundle in bundles {
            let files = bundle.iter().map(|file| read(&folder.join(file)));
            seeds.push(files.collect::<io::Result<Vec<_>>>()?);
        }
        formats.push(Format { name, seeds });
    }
    let tables = folder.join("../../../parquet/tests/fixtures");
    let seeds = PARQUET
        .iter()
        .map(|name| Ok(vec![read(&tables.join(name))?]));
    formats.push(Format {
        name: "parquet",
        seeds: seeds.collect::<io::Result<_>>()?,
    });
    let whole: Vec<Episode> = formats
        .iter()
        .flat_map(|format| &format.seeds)
        .filter_map(|files| import(files).ok()?.episodes.into_iter().next())
        .collect();
    formats.push(own(&whole));
    formats.push(renderer(&whole));
    Ok(formats)
}

fn read(path: &Path) -> io::Result<InputFile> {
    let name = path.file_name();
    Ok(InputFile {
        name: name.map(|name| name.to_string_lossy().into_owned()),
        bytes: std::fs::read(path)?,
    })
}

fn file(name: &str, bytes: Vec<u8>) -> Vec<InputFile> {
    vec![InputFile {
        name: Some(name.to_owned()),
        bytes,
    }]
}

/// Volary's own format: one episode of each other format.
fn own(whole: &[Episode]) -> Format {
    let texts = whole.iter().map(|one| native::to_text(one).into_bytes());
    Format {
        name: "volary",
        seeds: texts.map(|text| file("episode.json", text)).collect(),
    }
}

/// Renderer files of all episodes with frames: as a zip file, and as single files.
fn renderer(whole: &[Episode]) -> Format {
    let mut seeds = Vec::new();
    for episode in whole {
        let bare = Episode {
            frames: episode.frames.clone(),
            id: "one_7".into(),
            name: "A run".into(),
            ..Episode::default()
        };
        for one in [episode, &bare] {
            if let Ok(zip) = renderer_files::to_zip(one) {
                let members = crate::packing::members(&zip).unwrap_or_default();
                let loose = members
                    .into_iter()
                    .flat_map(|(name, bytes)| file(&name, bytes));
                seeds.push(loose.collect());
                seeds.push(file("run.zip", zip));
            }
        }
    }
    Format {
        name: "aviary-renderer",
        seeds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::as_lines;

    /// Formats that contain what another reader reads, and are not named as that one.
    const CONTAINERS: [&str; 4] = ["volary", "aviary-renderer", "torch", "parquet"];

    #[test]
    fn each_seed_is_read_by_its_format() {
        for format in formats().unwrap() {
            assert!(!format.seeds.is_empty(), "{}", format.name);
            for files in &format.seeds {
                let outcome = import(&as_lines(files, 1 << 20).unwrap()).unwrap();
                let source = outcome.episodes[0].source.as_ref();
                let found = source.map_or("", |source| &source.format);
                let own = CONTAINERS.contains(&format.name);
                assert!(own || found == format.name, "{found} for {}", format.name);
            }
        }
    }
}
