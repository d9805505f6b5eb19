//! What is wrong in the behaviour of an agent, each with its step. Deterministic, without a model.
//!
//! Invariants: the same episode has the same diagnostics. Each names what a reader sees at its step. They are hints: what a tool
//! does is inferred from its name, and what an agent claims from a few phrases in English.

use std::collections::{BTreeMap, HashMap, HashSet};

use memchr::memmem;
use volary_core::json::{Json, Object};
use volary_core::{AnyMessage, Role};
use volary_episode::episode::Episode;
use volary_episode::inline_reasoning;
use volary_episode::passages::content;

use super::acts::{Act, ActEffect, acts, words_of};
use crate::consistency::{Consistency, FindingKind};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticKind {
    /// More steps than the shortest success of the same task.
    ExtraSteps,
    /// A call with the same arguments as an earlier one, with no change of state between them.
    RepeatedCall,
    /// A change of something that was not read before.
    BlindWrite,
    /// "I have changed …" without a call that did.
    UnfoundedClaim,
    /// An error after which the agent did the same again, or went on as if there was none.
    IgnoredError,
    /// Text with broken encoding, tokens of a chat template, or endless repetition.
    GarbledText,
    /// A call without a result, or a result without a call.
    UnpairedCall,
    /// The agent neither said nor called anything.
    EmptyAnswer,
}

impl DiagnosticKind {
    /// All kinds, in the order of display.
    pub const ALL: [DiagnosticKind; 8] = [
        DiagnosticKind::ExtraSteps,
        DiagnosticKind::RepeatedCall,
        DiagnosticKind::BlindWrite,
        DiagnosticKind::UnfoundedClaim,
        DiagnosticKind::IgnoredError,
        DiagnosticKind::GarbledText,
        DiagnosticKind::UnpairedCall,
        DiagnosticKind::EmptyAnswer,
    ];

    /// The name of its column.
    pub const fn as_str(self) -> &'static str {
        match self {
            DiagnosticKind::ExtraSteps => "extra steps",
            DiagnosticKind::RepeatedCall => "redundant calls",
            DiagnosticKind::BlindWrite => "writes without reading",
            DiagnosticKind::UnfoundedClaim => "claims without a call",
            DiagnosticKind::IgnoredError => "ignored errors",
            DiagnosticKind::GarbledText => "garbled text",
            DiagnosticKind::UnpairedCall => "unpaired calls",
            DiagnosticKind::EmptyAnswer => "empty answers",
        }
    }

    /// The name in addresses, stored rows and files.
    pub const fn name(self) -> &'static str {
        match self {
            DiagnosticKind::ExtraSteps => "extra-steps",
            DiagnosticKind::RepeatedCall => "redundant-calls",
            DiagnosticKind::BlindWrite => "writes-without-reading",
            DiagnosticKind::UnfoundedClaim => "claims-without-a-call",
            DiagnosticKind::IgnoredError => "ignored-errors",
            DiagnosticKind::GarbledText => "garbled-text",
            DiagnosticKind::UnpairedCall => "unpaired-calls",
            DiagnosticKind::EmptyAnswer => "empty-answers",
        }
    }

    /// The kind with this [name](DiagnosticKind::name).
    pub fn read(name: &str) -> Option<DiagnosticKind> {
        DiagnosticKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// The heading of its column.
    pub fn heading(self) -> String {
        let name = self.as_str();
        let mut letters = name.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    }

    /// What it says about a step, for people.
    pub const fn explanation(self) -> &'static str {
        match self {
            DiagnosticKind::ExtraSteps => "steps beyond the shortest success of the same task",
            DiagnosticKind::RepeatedCall => {
                "the same call with the same arguments, although nothing was changed in between"
            }
            DiagnosticKind::BlindWrite => "something was changed that was not read before",
            DiagnosticKind::UnfoundedClaim => "“I have changed …” without a call that did",
            DiagnosticKind::IgnoredError => {
                "after an error, the same call again, or an answer without a word about it"
            }
            DiagnosticKind::GarbledText => {
                "broken encoding, tokens of a chat template, or endless repetition"
            }
            DiagnosticKind::UnpairedCall => "a call without a result, or a result without a call",
            DiagnosticKind::EmptyAnswer => "the agent neither said nor called anything",
        }
    }
}

/// The number of diagnostics of each kind in an episode. [`DiagnosticKind::ExtraSteps`] is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagnosticCounts([u32; 8]);

impl DiagnosticCounts {
    /// Counts diagnostics.
    pub fn of(diagnostics: &[Diagnostic]) -> DiagnosticCounts {
        let mut counts = DiagnosticCounts::default();
        for diagnostic in diagnostics {
            let number = &mut counts.0[diagnostic.kind as usize];
            *number = number.saturating_add(1);
        }
        counts
    }

    /// The number of a kind.
    pub fn of_kind(&self, kind: DiagnosticKind) -> u32 {
        self.0[kind as usize]
    }

    /// Sets the number of a kind.
    pub fn set(&mut self, kind: DiagnosticKind, number: u32) {
        self.0[kind as usize] = number;
    }
}

/// Something wrong at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub kind: DiagnosticKind,
    /// The step, from 1; 0 is the start.
    pub step: usize,
    /// What is there, for display.
    pub note: String,
}

/// The diagnostics of an episode, in the order of the steps. [`extra_steps`] needs other episodes too.
pub fn diagnostics(episode: &Episode) -> Vec<Diagnostic> {
    diagnostics_of(episode, &acts(episode))
}

/// Like [`diagnostics`], for known acts.
pub fn diagnostics_of(episode: &Episode, acts: &[Act<'_>]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    repeated(acts, &mut found);
    blind_writes(episode, acts, &mut found);
    said(episode, acts, &mut found);
    ignored_errors(episode, acts, &mut found);
    for finding in Consistency::of(episode).findings {
        let step = finding.step.unwrap_or_default();
        let (kind, note) = match finding.kind {
            FindingKind::EmptyAnswer => (DiagnosticKind::EmptyAnswer, String::new()),
            FindingKind::CallWithoutResult { tool } => (
                DiagnosticKind::UnpairedCall,
                format!("{tool} has no result"),
            ),
            FindingKind::ResultWithoutCall { tool } => (
                DiagnosticKind::UnpairedCall,
                format!("a result of {tool} without a call"),
            ),
            FindingKind::SeveralResults { tool } => (
                DiagnosticKind::UnpairedCall,
                format!("{tool} has several results"),
            ),
            _ => continue,
        };
        found.push(Diagnostic { kind, step, note });
    }
    found.sort_by_key(|diagnostic| (diagnostic.step, diagnostic.kind));
    found
}

/// An episode of a task, for [`extra_steps`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSteps<'a> {
    /// The task; `None` if it is unknown.
    pub task: Option<&'a str>,
    pub steps: usize,
    /// Whether it succeeded, if known.
    pub succeeded: Option<bool>,
}

/// For each episode, the number of steps beyond the shortest success of its task; `None` if the task or a success is unknown.
pub fn extra_steps(rows: &[TaskSteps<'_>]) -> Vec<Option<usize>> {
    let mut shortest: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        if let (Some(task), Some(true)) = (row.task, row.succeeded) {
            let known = shortest.entry(task).or_insert(row.steps);
            *known = (*known).min(row.steps);
        }
    }
    let extra = rows.iter().map(|row| {
        let least = shortest.get(row.task?)?;
        Some(row.steps.saturating_sub(*least))
    });
    extra.collect()
}

/// A call is no repetition if something was written since the earlier one: tests are run again after an edit.
fn repeated(acts: &[Act<'_>], found: &mut Vec<Diagnostic>) {
    let mut known: HashMap<u64, usize> = HashMap::new();
    for act in acts {
        if act.effect.writes() && act.error.is_none() {
            known.clear();
        }
        if let Some(first) = known.get(&act.digest) {
            found.push(Diagnostic {
                kind: DiagnosticKind::RepeatedCall,
                step: act.step,
                note: format!("{} as in step {first}", act.name),
            });
        }
        known.entry(act.digest).or_insert(act.step);
    }
}

/// The maximum number of values of a call that are searched.
const MOST_VALUES: usize = 20;
/// The maximum number of bytes of results that are searched in an episode.
const MOST_SEARCHED: usize = 32 << 20;

fn blind_writes(episode: &Episode, acts: &[Act<'_>], found: &mut Vec<Diagnostic>) {
    // Without reading tools there is nothing to read with.
    let reads = |act: &Act<'_>| act.effect == ActEffect::Read && act.error.is_none();
    let can_read = acts.iter().any(|act| act.effect == ActEffect::Read)
        || episode.tools.iter().any(|tool| {
            let words = words_of(&tool.info.name);
            words.iter().any(|word| {
                ["get", "read", "list", "search", "view", "find"].contains(&word.as_str())
            })
        });
    if !can_read {
        return;
    }
    // What is searched grows with the square of the length; of very long episodes, the beginning is checked.
    let mut left = MOST_SEARCHED;
    for (index, act) in acts.iter().enumerate() {
        if act.effect != ActEffect::Change || act.error.is_some() {
            continue;
        }
        if left == 0 {
            return;
        }
        let earlier = acts.get(..index).unwrap_or_default();
        let mut values = Vec::new();
        identifiers(act.arguments, &mut values);
        let is_seen = if values.is_empty() {
            // Nothing names what is written, so any reading or creating counts.
            earlier
                .iter()
                .any(|act| reads(act) || act.effect == ActEffect::Create)
        } else {
            values.iter().any(|value| {
                let finder = memmem::Finder::new(value.as_bytes());
                earlier.iter().any(|act| {
                    let in_result = act.result.as_deref().is_some_and(|text| {
                        left = left.saturating_sub(text.len());
                        finder.find(text.as_bytes()).is_some()
                    });
                    act.error.is_none()
                        && (in_result
                            || (act.effect != ActEffect::Change
                                && mentions(act.arguments, &finder)))
                })
            })
        };
        if !is_seen && left > 0 {
            found.push(Diagnostic {
                kind: DiagnosticKind::BlindWrite,
                step: act.step,
                note: match values.first() {
                    Some(value) => format!("{}: {value} was not read before", act.name),
                    None => format!("{} before anything was read", act.name),
                },
            });
        }
    }
}

/// The values that name something: short texts with a digit, a path or an address, and numbers of many digits.
fn identifiers(arguments: &Object, values: &mut Vec<String>) {
    fn add(value: &Json, values: &mut Vec<String>) {
        if values.len() >= MOST_VALUES {
            return;
        }
        match value {
            Json::Text(text) => {
                for word in text
                    .split(|letter: char| letter.is_whitespace() || "\"'`,;()".contains(letter))
                    .take(4)
                {
                    let is_name = word
                        .bytes()
                        .any(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'@' | b'.'))
                        && word.bytes().any(|byte| byte.is_ascii_alphabetic());
                    if is_name
                        && (4..=120).contains(&word.len())
                        && !values.iter().any(|known| known == word)
                    {
                        values.push(word.to_owned());
                    }
                }
            }
            Json::Integer(_) => {
                let digits = value.to_compact_text();
                if digits.len() >= 4 {
                    values.push(digits);
                }
            }
            Json::List(list) => list.iter().for_each(|value| add(value, values)),
            Json::Object(object) => object.values().for_each(|value| add(value, values)),
            _ => {}
        }
    }
    arguments.values().for_each(|value| add(value, values));
}

fn mentions(arguments: &Object, finder: &memmem::Finder<'_>) -> bool {
    fn has(value: &Json, finder: &memmem::Finder<'_>) -> bool {
        match value {
            Json::Text(text) => finder.find(text.as_bytes()).is_some(),
            Json::Integer(_) => finder.find(value.to_compact_text().as_bytes()).is_some(),
            Json::List(list) => list.iter().any(|value| has(value, finder)),
            Json::Object(object) => object.values().any(|value| has(value, finder)),
            _ => false,
        }
    }
    arguments.values().any(|value| has(value, finder))
}

/// Participles with which agents claim a change, and the stems of tools that make it.
const CLAIMS: [(&str, &[&str]); 26] = [
    ("cancelled", &["cancel", "delete", "remove"]),
    ("canceled", &["cancel", "delete", "remove"]),
    ("updated", &[]),
    ("changed", &[]),
    ("modified", &[]),
    ("booked", &["book", "reserve", "create"]),
    ("rebooked", &["book", "update", "change"]),
    ("reserved", &["book", "reserve", "create"]),
    ("sent", &["send", "mail", "post", "message"]),
    ("emailed", &["send", "mail"]),
    ("refunded", &["refund", "return", "pay", "send"]),
    ("issued", &["issue", "send", "refund", "create"]),
    ("processed", &[]),
    ("added", &[]),
    (
        "removed",
        &["remove", "delete", "cancel", "update", "edit", "rm"],
    ),
    ("deleted", &["remove", "delete", "rm"]),
    ("created", &[]),
    ("submitted", &["submit", "send", "create", "finish"]),
    ("transferred", &["transfer"]),
    ("exchanged", &["exchange", "update"]),
    ("returned", &["return"]),
    ("fixed", &[]),
    ("implemented", &[]),
    ("upgraded", &["update", "upgrade", "change"]),
    ("scheduled", &["schedule", "create", "add", "book"]),
    ("saved", &[]),
];

fn said(episode: &Episode, acts: &[Act<'_>], found: &mut Vec<Diagnostic>) {
    // The writes since the last message of a user, and all kinds of earlier ones.
    let mut next = 0;
    let mut recent = false;
    let mut done: HashSet<String> = HashSet::new();
    for (index, record) in episode.steps.iter().enumerate() {
        let step = index + 1;
        let text = content(record.action.body());
        let text = inline_reasoning::said(&text);
        if let Some(note) = garbled(text) {
            found.push(Diagnostic {
                kind: DiagnosticKind::GarbledText,
                step,
                note,
            });
        }
        // Calls of the same step count: some agents announce what they do.
        while let Some(act) = acts.get(next).filter(|act| act.step <= step) {
            if act.error.is_none() && act.effect != ActEffect::Read {
                // A command of a shell may do anything.
                recent |= act.effect.writes() || act.name.len() > act.tool.len();
                done.extend(words_of(&act.name));
            }
            next += 1;
        }
        if let Some((claim, verb)) = claim(text) {
            let stems = CLAIMS
                .iter()
                .find(|(known, _)| *known == verb)
                .map_or(&[][..], |(_, stems)| *stems);
            let is_done = recent || stems.iter().any(|stem| done.contains(*stem));
            if !is_done {
                found.push(Diagnostic {
                    kind: DiagnosticKind::UnfoundedClaim,
                    step,
                    note: claim,
                });
            }
        }
        let is_user = |message: &AnyMessage| matches!(message, AnyMessage::Plain(message) if message.role == Role::User);
        if record.messages().iter().any(is_user) {
            recent = false;
        }
    }
}

/// The first claim of a text, "I have cancelled …", and its participle.
fn claim(text: &str) -> Option<(String, &'static str)> {
    const OPENINGS: [&str; 5] = ["I have ", "I've ", "I’ve ", "successfully ", "I just "];
    let mut first: Option<(usize, &'static str)> = None;
    for opening in OPENINGS {
        for start in memmem::find_iter(text.as_bytes(), opening.as_bytes()) {
            if first.is_some_and(|(known, _)| known <= start) {
                break;
            }
            let before = text.get(..start).unwrap_or_default();
            let sentence = before
                .rfind(['.', '!', '?', '\n'])
                .map_or(before, |end| before.get(end..).unwrap_or_default());
            let sentence = sentence.to_lowercase();
            // "Once I have cancelled it" claims nothing.
            if [
                "if ", "once ", "after ", "when ", "until ", "before ", "unless ", "will be",
                "to be ", "can be", "could be", "have not",
            ]
            .iter()
            .any(|word| sentence.contains(word))
            {
                continue;
            }
            let rest = text.get(start + opening.len()..).unwrap_or_default();
            let words = rest
                .split(|letter: char| !letter.is_alphabetic())
                .filter(|word| !word.is_empty())
                .take(3);
            for word in words {
                let known = CLAIMS
                    .iter()
                    .find(|(claim, _)| claim.eq_ignore_ascii_case(word));
                if let Some((verb, _)) = known {
                    first = Some((start, verb));
                    break;
                }
                if !["successfully", "now", "just", "already", "also", "been"]
                    .contains(&word.to_lowercase().as_str())
                {
                    break;
                }
            }
        }
    }
    let (start, verb) = first?;
    let line = text.get(start..)?.lines().next()?;
    Some((line.chars().take(120).collect(), verb))
}

/// What is broken in a text.
fn garbled(text: &str) -> Option<String> {
    const TOKENS: [&str; 8] = [
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "[/INST]",
        "<|assistant|>",
        "<|user|>",
        "<｜end▁of▁sentence｜>",
    ];
    const MOJIBAKE: [&str; 5] = ["Ã©", "Ã¼", "â€™", "â€œ", "Ã¤"];
    if let Some(token) = TOKENS.iter().find(|token| text.contains(**token)) {
        return Some(format!("the token {token} of a chat template"));
    }
    if text.contains('\u{fffd}') || MOJIBAKE.iter().any(|broken| text.contains(broken)) {
        return Some("broken encoding".to_owned());
    }
    if text
        .bytes()
        .any(|byte| byte < 0x20 && !matches!(byte, b'\n' | b'\t' | b'\r' | 0x0c | 0x1b))
    {
        return Some("control characters".to_owned());
    }
    repetition(text).map(|unit| format!("“{unit}” again and again"))
}

/// A short text that is repeated many times in a row, near the end of a text: what repeats endlessly does so until it ends.
///
/// Any such run has a sample position at which the next bytes equal those one unit before, so other positions are not
/// compared.
fn repetition(text: &str) -> Option<String> {
    const TIMES: usize = 20;
    const LONGEST: usize = 60;
    const LEAST: usize = 80;
    /// The distance of sample positions, and the bytes that are compared at each. Together they fit into a run.
    const EVERY: usize = 40;
    const COMPARED: usize = 8;
    const SEARCHED: usize = 16 << 10;
    let bytes = text.as_bytes();
    let bytes = bytes.get(bytes.len().saturating_sub(SEARCHED)..)?;
    let mut sample = 2;
    while let Some(compared) = bytes.get(sample..sample + COMPARED) {
        let mut next = sample + EVERY;
        for length in 2..=LONGEST.min(sample) {
            if bytes.get(sample - length..sample - length + COMPARED) != Some(compared) {
                continue;
            }
            let needed = (length * (TIMES - 1)).max(LEAST);
            let repeats = |index: &usize| bytes[*index] == bytes[*index - length];
            let after = (sample..bytes.len()).take(needed).take_while(repeats);
            let after = after.count();
            let before = (length..sample).rev().take(needed).take_while(repeats);
            if before.count() + after < needed {
                continue;
            }
            let unit = &bytes[sample - length..sample];
            let letters = unit
                .iter()
                .filter(|byte| byte.is_ascii_alphanumeric() || **byte >= 0x80);
            // Rules and blanks in tables repeat too.
            if letters.clone().count() >= 2 && letters.collect::<HashSet<_>>().len() >= 2 {
                return Some(String::from_utf8_lossy(unit).trim().to_owned());
            }
            next = next.max(sample + after);
            break;
        }
        sample = next;
    }
    None
}

/// Words by which an agent shows that it saw an error.
const REACTIONS: [&str; 22] = [
    "error",
    "fail",
    "unable",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "sorry",
    "apolog",
    "issue",
    "problem",
    "unfortunately",
    "not available",
    "try",
    "wrong",
    "incorrect",
    "instead",
    "doesn't",
    "does not",
    "not enough",
    "it seems",
    "however",
];

fn ignored_errors(episode: &Episode, acts: &[Act<'_>], found: &mut Vec<Diagnostic>) {
    for (index, act) in acts.iter().enumerate() {
        let Some(error) = &act.error else {
            continue;
        };
        // The acts of the next step with a call, if the agent says nothing in between.
        let next = acts
            .get(index + 1..)
            .unwrap_or_default()
            .iter()
            .find(|next| next.step > act.step);
        let again = acts
            .get(index + 1..)
            .unwrap_or_default()
            .iter()
            .filter(|other| next.is_some_and(|next| next.step == other.step))
            .any(|other| other.digest == act.digest);
        let Some(answer) = episode.steps.get(act.step) else {
            // The episode ends with the error.
            continue;
        };
        let has_calls = matches!(&answer.action, AnyMessage::Request(request) if !request.tool_calls.is_empty());
        let text = content(answer.action.body()).to_lowercase();
        let thought = answer
            .details
            .reasoning
            .as_deref()
            .map(str::to_lowercase)
            .unwrap_or_default();
        let reacts = REACTIONS
            .iter()
            .any(|word| text.contains(word) || thought.contains(word));
        let note = if again && has_calls {
            format!("the same call again after: {error}")
        } else if !has_calls && !reacts && !text.trim().is_empty() {
            format!("no word about: {error}")
        } else {
            continue;
        };
        found.push(Diagnostic {
            kind: DiagnosticKind::IgnoredError,
            step: act.step + 1,
            note,
        });
    }
    found.dedup();
}

#[cfg(test)]
mod tests;
