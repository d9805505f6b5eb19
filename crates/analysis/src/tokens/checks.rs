//! Checks of recorded tokens. Each has a verdict, a summary, and the tokens that it is about.
//!
//! - `template`: end-of-turn tokens, headers, messages that are not the model's.
//! - `texts`: whether the tokens spell the messages, and whether encoding them again gives the same tokens.
//! - `values`: streams and policy versions.
//!
//! Invariant: what cannot be known is [`CheckResult::Unknown`], never passed.

mod template;
mod texts;
mod values;

use volary_episode::episode::Episode;
use volary_episode::token_record::TokenRecord;

pub use texts::is_of_other_model;

use super::sections::sections;
use super::vocabulary::Vocabulary;

/// The maximum number of tokens that a check names.
const MOST_TOKENS: usize = 1_000;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// The end-of-turn token of each turn is trained.
    EndOfTurn,
    /// No header, and no message of others, is trained.
    Template,
    /// The tokens spell the messages.
    Messages,
    /// Encoding the turns again gives the same tokens.
    Reencoding,
    /// One version of the policy wrote all turns.
    PolicyVersion,
    /// Each stream has the length that its format demands.
    Lengths,
    /// No value of a trained token is NaN or infinite.
    Finite,
    /// Sampler and trainer agree about the trained tokens.
    Mismatch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    Passed,
    Failed,
    /// It cannot be known; the summary says what is missing.
    Unknown,
}

/// A check with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenCheck {
    pub kind: CheckKind,
    pub verdict: CheckResult,
    /// The result as a sentence.
    pub summary: String,
    /// The tokens that the result is about, in order; at most 1,000.
    pub tokens: Vec<usize>,
}

impl CheckKind {
    /// The name of the check, which says what is right.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::EndOfTurn => "End of turn is trained",
            CheckKind::Template => "Only turns of the assistant are trained",
            CheckKind::Messages => "Tokens spell the messages",
            CheckKind::Reencoding => "Encoding again gives the same tokens",
            CheckKind::PolicyVersion => "One policy version",
            CheckKind::Lengths => "Streams have the right length",
            CheckKind::Finite => "No NaN in trained tokens",
            CheckKind::Mismatch => "Trainer and sampler agree",
        }
    }
}

impl TokenCheck {
    fn new(
        kind: CheckKind,
        verdict: CheckResult,
        summary: impl Into<String>,
        mut tokens: Vec<usize>,
    ) -> TokenCheck {
        tokens.truncate(MOST_TOKENS);
        TokenCheck {
            kind,
            verdict,
            summary: summary.into(),
            tokens,
        }
    }

    fn passed(kind: CheckKind, summary: impl Into<String>) -> TokenCheck {
        TokenCheck::new(kind, CheckResult::Passed, summary, Vec::new())
    }

    fn unknown(kind: CheckKind, summary: impl Into<String>) -> TokenCheck {
        TokenCheck::new(kind, CheckResult::Unknown, summary, Vec::new())
    }
}

/// Checks the tokens of an episode. Without a vocabulary, some results are unknown. Log-probabilities of sampler and
/// trainer may differ by `tolerance`.
pub fn checks(
    episode: &Episode,
    record: &TokenRecord,
    vocabulary: Option<&dyn Vocabulary>,
    tolerance: f64,
) -> Vec<TokenCheck> {
    // Another model's tokenizer may have the marks of this one's turns at other ids.
    let is_other = vocabulary.is_some_and(|known| is_of_other_model(episode, record, known));
    let own = vocabulary.filter(|_| !is_other);
    let sections = own.map(|known| sections(record.strip.ids(), known));
    let sections = sections.as_deref();
    vec![
        template::end_of_turn(episode, record, sections),
        template::only_turns(record, sections),
        texts::messages(episode, record, vocabulary),
        texts::reencoding(record, vocabulary, sections.unwrap_or_default()),
        values::policy_version(episode, record),
        values::lengths(record),
        values::finite(record),
        values::mismatch(record, tolerance),
    ]
}

/// A count with a noun, which takes an "s" unless it is one.
fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
