//! The readers of all formats, and the choice among them.

use super::fields::{Mappings, Unmapped};
use super::files::{FileError, Files};
use super::mapped::Mapped;
use super::reader::{Confidence, Document, Reader, Sink};
use super::{ImportOutcome, NoteLevel};
use super::{
    aider, areal, atif, autogen, browser_use, chat_file, claude_code, cline, codex, copilot_cli,
    docent, evalscope, gemini_cli, google_adk, gptme, iflow, inspect, kimi, ldp, lm_eval,
    mini_swe_agent, mt_bench, native, nemo_gym, nemo_rl, open_instruct, open_telemetry,
    openai_batch, opencode, openhands, prime_cli, prime_rl, pydantic_ai, renderer, rllm, run_state,
    session_trace, skyrl, slime, specstory, swe_agent, tau_bench, tau2, terminal_bench, tinker,
    toolbench, traces, training_rows, trl, verifiers, verl,
};

/// All readers. Of two with equal confidence, the first one reads; folders are gathered in this order.
pub(super) const READERS: &[&dyn Reader] = &[
    &native::Native,
    &training_rows::TRAINING_ROWS,
    &inspect::Inspect,
    &atif::Atif,
    &ldp::Ldp,
    &iflow::IFlow,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini_cli::GeminiCli,
    &copilot_cli::CopilotCli,
    &opencode::OpenCode,
    &cline::Cline,
    &aider::Aider,
    &specstory::SpecStory,
    &kimi::Kimi,
    &gptme::Gptme,
    &browser_use::BrowserUse,
    &terminal_bench::TerminalBench,
    &evalscope::EVALSCOPE,
    &toolbench::TOOLBENCH,
    &mt_bench::MtBench,
    &google_adk::GoogleAdk,
    &session_trace::SessionTrace,
    &renderer::Renderer,
    &tau2::Tau2,
    &tau_bench::TauBench,
    &verifiers::Traces,
    &trl::Trl,
    &verifiers::Rollouts,
    &prime_cli::PrimeCli,
    &swe_agent::SWE_AGENT,
    &mini_swe_agent::MiniSweAgent,
    &openhands::OpenHands,
    &slime::Slime,
    &verl::VERL,
    &skyrl::SKYRL,
    &tinker::ROLLOUT_SUMMARIES,
    &tinker::EVALUATION,
    &tinker::SAMPLES,
    &tinker::TokenDb,
    &nemo_rl::NEMO_RL,
    &nemo_gym::NEMO_GYM,
    &areal::AREAL,
    &open_instruct::OPEN_INSTRUCT,
    &open_instruct::RunMetadata,
    &rllm::RLLM,
    &prime_rl::TOKEN_EXPORT,
    &prime_rl::RankFiles,
    &prime_rl::Annotations,
    &prime_rl::MonitorIndex,
    &lm_eval::LM_EVAL,
    &openai_batch::OpenAiBatch,
    &pydantic_ai::PydanticAi,
    &autogen::AutoGen,
    &docent::DOCENT,
    &run_state::RunStates,
    &traces::openai_agents::OpenAiAgents,
    &traces::langfuse::Langfuse,
    &traces::langsmith::LangSmith,
    &open_telemetry::OpenTelemetry,
    &chat_file::ChatFile,
];

/// Reads all files that can be read. Returns those whose members can be mapped, with their indices.
pub(super) fn read_all(
    files: &mut Files<'_>,
    mappings: &Mappings,
    outcome: &mut ImportOutcome,
) -> Vec<(usize, Unmapped)> {
    let mut unmapped = Vec::new();
    for reader in READERS {
        reader.gather(files, outcome);
    }
    for index in files.open() {
        let name = files.name(index).to_owned();
        let read = match files.read_document(index) {
            Ok(read) => read,
            Err(error @ (FileError::Archive { .. } | FileError::TooMuchMemory { .. })) => {
                files.take(index);
                outcome.refuse(&name, &error);
                continue;
            }
            Err(FileError::NotText | FileError::NotJson { .. }) => continue,
        };
        let Some(reader) = choose(&read.document, mappings) else {
            let found = Unmapped::of(&name, &read.document);
            unmapped.extend(found.map(|found| (index, found)));
            continue;
        };
        files.take(index);
        for remark in read.remarks {
            outcome.note(NoteLevel::Read, &name, remark);
        }
        for loss in read.losses {
            outcome.note(NoteLevel::Unreadable, &name, loss);
        }
        read_with(reader.get(), read.document, &name, outcome);
    }
    unmapped
}

/// A reader of a known format, or of a mapping.
#[derive(Clone)]
pub(super) enum Chosen {
    Known(&'static dyn Reader),
    Mapped(Mapped),
}

impl Chosen {
    pub fn get(&self) -> &dyn Reader {
        match self {
            Chosen::Known(reader) => *reader,
            Chosen::Mapped(mapped) => mapped,
        }
    }
}

/// Chooses the reader of a document. A mapping of the user precedes readers with low confidence.
pub(super) fn choose(document: &Document, mappings: &Mappings) -> Option<Chosen> {
    let (confidence, reader) = surest(document);
    let fields = if confidence <= Confidence::Possible {
        mappings.of(document).cloned()
    } else {
        None
    };
    match fields {
        Some(fields) => Some(Chosen::Mapped(Mapped { fields })),
        None => reader.map(Chosen::Known),
    }
}

/// The reader with the highest confidence.
fn surest(document: &Document) -> (Confidence, Option<&'static dyn Reader>) {
    let mut best = (Confidence::No, None);
    for reader in READERS {
        let confidence = reader.recognise(document);
        if confidence > best.0 {
            best = (confidence, Some(*reader));
        }
    }
    best
}

/// The reader with this id.
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
