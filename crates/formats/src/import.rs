//! Imports files of any known format, with a report of what was understood, what was preserved unread, and what could
//! not be read.
//!
//! Formats are recognised by content; names only help to order files. Each format is one reader in this module and one
//! line in `registry`.
//!
//! - From bytes to documents, once for all formats: `files` (the files of a drop or an archive), `containers`
//!   (zip, tar, gzip, Zstandard), `decode` (encodings), `document` (one JSON value or JSON Lines), `json_repair`
//!   (truncated, malformed or too deep). `describe`: what a file appears to be, for error messages.
//! - `expansion`: bounds how much data is created from a file. `memory`: bounds the memory of an import. `episode_limit`:
//!   bounds the number of its episodes.
//! - `reader`: the trait of a reader, its input and its output. `records`: the reader of formats in which each record
//!   is an episode. `registry`: all readers.
//! - From documents to episodes: `typed` reads records as derived types, `chat` reads messages, `transcript` groups them into steps. `members` removes known
//!   members from objects and preserves the rest. `links`: relations between episodes.
//! - [`index`]: large files piece by piece. [`ids`]: no two episodes have the same.
//! - `native`: Volary's own format. `renderer`: aviary Renderer files. `atif`: Harbor. `inspect`: Inspect logs.
//!   `ldp`: trajectories of ldp. `aider`, `claude_code`, `cline`, `codex`, `copilot_cli`, `gemini_cli`, `gptme`, `iflow`, `kimi`,
//!   `opencode`, `specstory`: sessions of these coding agents, or of several. `session_trace`: those of pi and of the Hugging Face Hub.
//! - `tau_bench`, `tau2`, `verifiers`, `swe_agent`, `mini_swe_agent`, `openhands`, `slime`, `verl`, `lm_eval`, `skyrl`,
//!   `tinker`, `trl`, `nemo_rl`, `nemo_gym`, `areal`, `open_instruct`, `rllm`, `prime_cli`, `prime_rl`, `pydantic_ai`, `autogen`, `docent`,
//!   `openai_batch`, `browser_use`, `google_adk`, `terminal_bench`, `evalscope`, `toolbench`, `mt_bench`, `run_state`: the
//!   formats of these tools. `token_lists`: ids, masks and streams in JSON. `said`: a prompt or a
//!   response of any kind. `call_credit`: rewards and advantages of calls.
//! - `open_telemetry`: traces of models and tools. `traces`: traces of other services. `chat_file`: OpenAI-style and
//!   ShareGPT messages.
//! - [`fields`]: mappings for JSON of unknown formats. `mapped`: reads such records.

mod aider;
mod areal;
mod atif;
mod autogen;
mod branch;
mod browser_use;
mod call_credit;
mod chat;
mod chat_file;
mod claude_code;
mod cline;
mod codex;
mod containers;
mod copilot_cli;
mod decode;
mod describe;
mod docent;
mod document;
mod episode_limit;
mod evalscope;
mod expansion;
pub mod fields;
mod files;
mod gemini_cli;
mod google_adk;
mod gptme;
pub mod ids;
mod iflow;
pub mod index;
mod inspect;
mod json_repair;
mod kimi;
mod ldp;
mod links;
mod lm_eval;
mod mapped;
mod members;
mod memory;
mod mini_swe_agent;
mod mt_bench;
mod native;
mod nemo_gym;
mod nemo_rl;
mod open_instruct;
mod open_telemetry;
mod openai_batch;
mod opencode;
mod openhands;
mod prime_cli;
mod prime_rl;
mod pydantic_ai;
mod reader;
mod records;
mod registry;
mod renderer;
mod rllm;
mod run_state;
mod said;
mod session_trace;
mod skyrl;
mod slime;
mod specstory;
mod swe_agent;
mod tau2;
mod tau_bench;
mod terminal_bench;
mod tinker;
pub mod together;
mod token_lists;
mod toolbench;
mod traces;
mod training_rows;
mod transcript;
mod trl;
mod typed;
mod verifiers;
mod verl;

use std::cell::Cell;
use std::rc::Rc;

use volary_core::json::{Json, Key, Object, Text};
use volary_episode::episode::Episode;

use crate::archive::Limits;
use containers::{Container, container, inner_name, unpack_single, untar};
use episode_limit::EpisodeLimit;
use fields::{Mappings, Unmapped};
use files::Files;
use ids::Ids;
pub use links::resolve as resolve_links;
pub use mapped::{NoEpisodeMapped, preview};
use memory::Memory;

/// A file to import, with its contents in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFile {
    /// `None` if it has no name.
    pub name: Option<String>,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOutcome {
    /// At least one episode.
    pub episodes: Vec<Episode>,
    /// The report.
    pub notes: Vec<Note>,
    /// The files whose members can be mapped.
    pub unmapped: Vec<Unmapped>,
    /// Data of trainers that belongs to episodes of other files.
    train: Vec<slime::TrainSample>,
    annotations: Vec<prime_rl::Annotation>,
    /// The memory that the import may still take.
    memory: Memory,
    /// The number of episodes that it may still add.
    episode_limit: EpisodeLimit,
}

/// An entry of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub level: NoteLevel,
    /// The file; empty if it has no name.
    pub file: Text,
    pub text: Text,
}

/// The severity of a note about a file, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteLevel {
    /// It was understood.
    Read,
    /// It was not understood, but is preserved.
    KeptRaw,
    /// It is a file of another kind, which no reader supports.
    Unsupported,
    /// It could not be read, or is missing.
    Unreadable,
}

/// Why nothing was imported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// No files were given.
    #[error("Nothing to import: no file was given.")]
    NoFiles,
    /// No file contains an episode.
    #[error("No episode was found. {}{}", seen(.notes), understood())]
    NoEpisode {
        /// The report.
        notes: Vec<Note>,
        /// The files whose members can be mapped.
        unmapped: Vec<Unmapped>,
    },
}

/// Imports files. Loose files are read together, and so are the members of each archive.
pub fn import(inputs: &[InputFile]) -> Result<ImportOutcome, ImportError> {
    import_within(inputs, Limits::default())
}

/// Imports files, with limits for archives.
pub fn import_within(inputs: &[InputFile], limits: Limits) -> Result<ImportOutcome, ImportError> {
    import_mapped(inputs, limits, &Mappings::default())
}

/// Imports files, with mappings for records that no reader recognises.
pub fn import_mapped(
    inputs: &[InputFile],
    limits: Limits,
    mappings: &Mappings,
) -> Result<ImportOutcome, ImportError> {
    if inputs.is_empty() {
        return Err(ImportError::NoFiles);
    }
    let given = inputs.iter().map(|input| input.bytes.len()).sum();
    let mut outcome = ImportOutcome {
        memory: Memory::of_given(given),
        episode_limit: EpisodeLimit::of_given(given),
        ..ImportOutcome::default()
    };
    let files = Files::loose(inputs, &mut outcome);
    let limits = limits.of_packed(given);
    let budget = Budget {
        limits,
        left: Rc::new(Cell::new(limits.total)),
        layers: LAYERS,
        mappings,
    };
    read_files(files, &budget, &mut outcome);
    slime::join(&mut outcome);
    prime_rl::join_copies(&mut outcome);
    prime_rl::fold(&mut outcome);
    evalscope::join(&mut outcome);
    Ids::default().make_differ(&mut outcome.episodes);
    links::resolve(&mut outcome.episodes);
    if outcome.episodes.is_empty() {
        return Err(ImportError::NoEpisode {
            notes: outcome.notes,
            unmapped: outcome.unmapped,
        });
    }
    Ok(outcome)
}

/// The maximum nesting depth of containers.
const LAYERS: usize = 4;

/// The remaining limits of unpacking, and the mappings of unknown records.
struct Budget<'a> {
    limits: Limits,
    left: Rc<Cell<usize>>,
    layers: usize,
    mappings: &'a Mappings,
}

/// Reads files: first the contents of containers among them, then the others together.
fn read_files(mut files: Files<'_>, budget: &Budget<'_>, outcome: &mut ImportOutcome) {
    let before = outcome.episodes.len();
    prime_rl::drop_sealed_copies(&mut files);
    for index in files.open() {
        let Some(kind) = container(&files.start(index)) else {
            continue;
        };
        let name = match files.container() {
            "" => files.name(index).to_owned(),
            around => format!("{around}/{}", files.name(index)),
        };
        if budget.layers == 0 {
            files.take(index);
            outcome.note(
                NoteLevel::Unreadable,
                &name,
                "It is nested in too many archives; unpack it first.",
            );
            continue;
        }
        match files.take_bytes(index) {
            Ok(bytes) => read_container(kind, &name, &bytes, budget, outcome),
            Err((error, bytes)) => {
                outcome.refuse(&name, &error);
                read_container(kind, &name, &bytes, budget, outcome);
            }
        }
    }
    let unmapped = registry::read_all(&mut files, budget.mappings, outcome);
    if outcome.episodes.len() == before + 1 {
        keep_others(&mut files, outcome);
    }
    let open = files.open();
    let unmapped = unmapped.into_iter();
    let unmapped = unmapped.filter(|(index, _)| open.contains(index));
    outcome.add_unmapped(unmapped.map(|(_, unmapped)| unmapped));
    leftovers(&files, outcome);
}

fn read_container(
    kind: Container,
    name: &str,
    bytes: &[u8],
    budget: &Budget<'_>,
    outcome: &mut ImportOutcome,
) {
    let inside = Budget {
        limits: budget.limits,
        left: budget.left.clone(),
        layers: budget.layers - 1,
        mappings: budget.mappings,
    };
    let (files, problem) = match kind {
        Container::Zip => {
            match Files::packed(name, bytes, budget.limits, budget.left.clone(), outcome) {
                Ok(files) if files.is_torch() => {
                    return slime::read_torch(files, name, bytes.len(), outcome);
                }
                Ok(files) => return read_files(files, &inside, outcome),
                Err(error) => return outcome.refuse(name, &error),
            }
        }
        Container::LegacyTorch => {
            let files = Files::unpacked(name, slime::legacy_members(bytes), outcome);
            return slime::read_torch(files, name, bytes.len(), outcome);
        }
        Container::Tar => untar(bytes, budget.limits),
        Container::Gzip | Container::Zstandard => {
            let limit = budget.left.get().min(budget.limits.member);
            let (bytes, problem) = unpack_single(kind, bytes, limit);
            budget
                .left
                .set(budget.left.get() - bytes.len().min(budget.left.get()));
            (vec![(inner_name(name), bytes)], problem)
        }
    };
    if let Some(problem) = problem {
        outcome.note(NoteLevel::Unreadable, name, problem);
    }
    let around = if kind == Container::Tar { name } else { "" };
    read_files(Files::unpacked(around, files, outcome), &inside, outcome);
}

/// Preserves small sibling files of the only episode.
fn keep_others(files: &mut Files<'_>, outcome: &mut ImportOutcome) {
    let mut kept: Vec<(Key, Json)> = Vec::new();
    for index in files.open() {
        if !files.is_whole(index) {
            continue;
        }
        if let Ok(text) = std::str::from_utf8(&files.start(index))
            && !text.is_empty()
        {
            let value = Json::parse(text).unwrap_or_else(|_| text.into());
            let name = files.name(index).to_owned();
            let text = "This is not part of the episode; it is kept with it unchanged.";
            outcome.note(NoteLevel::KeptRaw, &name, text);
            kept.push((name.into(), value));
        } else {
            continue;
        }
        files.take(index);
    }
    if let Some(episode) = outcome.episodes.last_mut()
        && !kept.is_empty()
    {
        episode.metadata.insert("files", Object::from_pairs(kept));
    }
}

/// Reports the files that no reader has taken.
fn leftovers(files: &Files<'_>, outcome: &mut ImportOutcome) {
    const MOST: usize = 20;
    let open = files.open();
    for &index in open.iter().take(MOST) {
        let (level, text) = match files.problem(index) {
            Some(error) => (NoteLevel::Unreadable, error.to_string()),
            None => {
                let kind = describe::describe(
                    files.name(index),
                    &files.start(index),
                    files.is_whole(index),
                );
                let level = if kind.may_hold_episodes {
                    NoteLevel::Unreadable
                } else {
                    NoteLevel::Unsupported
                };
                (
                    level,
                    format!("This is {}, which is not supported.", kind.name),
                )
            }
        };
        outcome.note(level, files.name(index), text);
    }
    if open.len() > MOST {
        let text = format!("{} more files are not supported.", open.len() - MOST);
        outcome.note(NoteLevel::Unsupported, "", text);
    }
}

impl ImportOutcome {
    /// Adds files whose members can be mapped, one for each shape.
    fn add_unmapped(&mut self, found: impl Iterator<Item = Unmapped>) {
        const MOST: usize = 8;
        for unmapped in found {
            let known = &mut self.unmapped;
            if known.len() < MOST && known.iter().all(|known| known.shape != unmapped.shape) {
                known.push(unmapped);
            }
        }
    }

    fn note(&mut self, level: NoteLevel, file: &str, text: impl Into<Text>) {
        self.notes.push(Note {
            level,
            file: file.into(),
            text: text.into(),
        });
    }

    fn refuse(&mut self, file: &str, error: &dyn std::error::Error) {
        self.note(NoteLevel::Unreadable, file, error.to_string());
    }
}

fn seen(notes: &[Note]) -> String {
    const MOST: usize = 5;
    let mut text = String::new();
    for note in notes.iter().take(MOST) {
        if !note.file.is_empty() {
            text.push_str(&format!("{}: ", note.file));
        }
        text.push_str(&format!("{} ", note.text));
    }
    match notes.len().saturating_sub(MOST) {
        0 => text,
        more => format!("{text}{more} more. "),
    }
}

fn understood() -> String {
    let names: Vec<&str> = registry::READERS
        .iter()
        .map(|reader| reader.name())
        .collect();
    format!("Supported formats: {}.", names.join("; "))
}
