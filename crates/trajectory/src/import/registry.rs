//! The readers of all formats, and the choice among them.

use super::files::{FileError, Files};
use super::reader::{Confidence, Document, Reader, Sink};
use super::{ImportOutcome, NoteLevel};
use super::{
    atif, autogen, chat_file, claude_code, cline, codex, copilot_cli, docent, gemini_cli, inspect,
    ldp, lm_eval, mini_swe_agent, native, open_telemetry, openai_batch, opencode, openhands,
    pydantic_ai, renderer, session_trace, skyrl, slime, swe_agent, tau_bench, tau2, tinker, traces,
    trl, verifiers, verl,
};

/// All readers. Where two are equally sure, the first one reads; folders are gathered in this order.
pub(super) const READERS: &[&dyn Reader] = &[
    &native::Native,
    &inspect::Inspect,
    &atif::Atif,
    &ldp::Ldp,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini_cli::GeminiCli,
    &copilot_cli::CopilotCli,
    &opencode::OpenCode,
    &cline::Cline,
    &session_trace::SessionTrace,
    &renderer::Renderer,
    &tau2::Tau2,
    &tau_bench::TauBench,
    &verifiers::Traces,
    &verifiers::Rollouts,
    &swe_agent::SWE_AGENT,
    &mini_swe_agent::MiniSweAgent,
    &openhands::OpenHands,
    &slime::Slime,
    &verl::VERL,
    &skyrl::SKYRL,
    &tinker::TINKER,
    &trl::TRL,
    &lm_eval::LM_EVAL,
    &openai_batch::OpenAiBatch,
    &pydantic_ai::PydanticAi,
    &autogen::AutoGen,
    &docent::DOCENT,
    &traces::openai_agents::OpenAiAgents,
    &traces::langfuse::Langfuse,
    &traces::langsmith::LangSmith,
    &open_telemetry::OpenTelemetry,
    &chat_file::ChatFile,
];

/// Reads all files that can be read.
pub(super) fn read_all(files: &mut Files<'_>, outcome: &mut ImportOutcome) {
    for reader in READERS {
        reader.gather(files, outcome);
    }
    for index in files.open() {
        let name = files.name(index).to_owned();
        let read = match files.read_document(index) {
            Ok(read) => read,
            Err(error @ FileError::Archive { .. }) => {
                files.take(index);
                outcome.refuse(&name, &error);
                continue;
            }
            Err(FileError::NotText | FileError::NotJson { .. }) => continue,
        };
        let Some(reader) = reader_of(&read.document) else {
            continue;
        };
        files.take(index);
        for remark in read.remarks {
            outcome.note(NoteLevel::Read, &name, remark);
        }
        for loss in read.losses {
            outcome.note(NoteLevel::Unreadable, &name, loss);
        }
        read_with(reader, read.document, &name, outcome);
    }
}

/// The reader that is surest.
pub(super) fn reader_of(document: &Document) -> Option<&'static dyn Reader> {
    let mut best = (Confidence::No, None);
    for reader in READERS {
        let confidence = reader.recognise(document);
        if confidence > best.0 {
            best = (confidence, Some(*reader));
        }
    }
    best.1
}

/// The reader of a format.
pub(super) fn reader(id: &str) -> Option<&'static dyn Reader> {
    READERS.iter().find(|reader| reader.id() == id).copied()
}

fn read_with(reader: &dyn Reader, document: Document, name: &str, outcome: &mut ImportOutcome) {
    let before = outcome.notes.len();
    let mut sink = Sink::new(outcome, reader.id(), name).within(document.size());
    reader.read(document, &mut sink);
    if sink.episodes() == 0 && outcome.notes.len() == before {
        let text = format!(
            "This looks like {}, but it contains no episode.",
            reader.name()
        );
        outcome.note(NoteLevel::Unreadable, name, text);
    }
}
