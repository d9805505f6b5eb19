//! Chat histories of Aider (`.aider.chat.history.md`): Markdown in which `# aider chat started at` starts a session,
//! `#### ` begins the lines of the user, `> ` those of Aider itself, and everything else is the model's.
//!
//! The file has no other marks, so a heading of the fourth level within a reply looks like a line of the user. Aider
//! writes lines of its own after each reply: a heading is the user's only if nothing of the reply precedes it, or if it
//! ends with the two spaces that Aider appends.

use volary_core::json::{Json, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Usage};
use volary_episode::time;

use super::ImportOutcome;
use super::chat;
use super::describe::counted;
use super::files::Files;
use super::reader::{Reader, Sink};
use super::transcript::Transcript;

/// The heading that starts a session, before its time.
const STARTED: &str = "# aider chat started at ";

pub(super) struct Aider;

impl Reader for Aider {
    fn id(&self) -> &'static str {
        "aider"
    }

    fn name(&self) -> &'static str {
        "chat histories of Aider (.aider.chat.history.md)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        for index in files.open() {
            let is_history = files
                .start(index)
                .trim_ascii_start()
                .starts_with(STARTED.as_bytes());
            if !is_history {
                continue;
            }
            let Ok(text) = files.take_text(index) else {
                continue;
            };
            let name = files.name(index).to_owned();
            let mut sink = Sink::new(outcome, self.id(), &name).within(text.len());
            history(&text, &mut sink);
        }
    }
}

/// Whose a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Aider,
    Model,
}

/// Lines of one speaker.
struct Block {
    speaker: Speaker,
    text: String,
}

fn history(text: &str, sink: &mut Sink<'_>) {
    let mut sessions = 0;
    let mut empty = 0;
    let mut rest = text.trim_start();
    while let Some(session) = rest.strip_prefix(STARTED) {
        let end = session.find(&format!("\n{STARTED}")).map(|end| end + 1);
        let (session, after) = session.split_at(end.unwrap_or(session.len()));
        rest = after;
        sessions += 1;
        let (started, lines) = session.split_once('\n').unwrap_or((session, ""));
        let blocks = blocks(lines);
        if blocks.iter().all(|block| block.speaker == Speaker::Aider) {
            empty += 1;
            continue;
        }
        let mut episode = conversation(blocks);
        episode.id = format!("{}-{sessions}", sink.stem()).into();
        episode.started = time::parse(started.trim());
        sink.episode(episode);
    }
    let count = counted(sessions - empty, "session");
    sink.understood(match empty {
        0 => format!("Aider: {count}."),
        _ => format!("Aider: {count}; {empty} without messages."),
    });
}

fn blocks(lines: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence = None;
    for line in lines.lines() {
        let trimmed = line.trim_end();
        let is_after_reply = blocks
            .last()
            .is_some_and(|block| block.speaker == Speaker::Model);
        let speaker = if fence.is_some() {
            Speaker::Model
        } else if trimmed.starts_with("#### ") && (!is_after_reply || line.ends_with("  ")) {
            Speaker::User
        } else if trimmed == ">" || trimmed.starts_with("> ") {
            Speaker::Aider
        } else if trimmed.is_empty() {
            // Between blocks, or an empty line of the reply.
            if let Some(block) = blocks
                .last_mut()
                .filter(|block| block.speaker == Speaker::Model)
            {
                block.text.push('\n');
            }
            continue;
        } else {
            Speaker::Model
        };
        let content = match speaker {
            Speaker::User => trimmed.trim_start_matches("#### "),
            Speaker::Aider => trimmed.trim_start_matches('>').trim_start(),
            Speaker::Model => {
                let mark = ["```", "~~~"]
                    .into_iter()
                    .find(|mark| trimmed.starts_with(mark));
                match (fence, mark) {
                    (Some(open), Some(mark)) if open == mark => fence = None,
                    (None, Some(mark)) => fence = Some(mark),
                    _ => {}
                }
                line
            }
        };
        match blocks.last_mut().filter(|block| block.speaker == speaker) {
            Some(block) => {
                block.text.push('\n');
                block.text.push_str(content);
            }
            None => blocks.push(Block {
                speaker,
                text: content.to_owned(),
            }),
        }
    }
    blocks
}

fn conversation(blocks: Vec<Block>) -> Episode {
    let mut episode = Episode {
        policy: Some("Aider".into()),
        rewards: Rewards::Unknown,
        ending: Ending::Open,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    for block in blocks {
        let text: Text = block.text.trim_end().into();
        match block.speaker {
            Speaker::User => transcript.push(Message::new(Role::User, text).into()),
            Speaker::Model => {
                let mut said = chat::acted(Json::Text(text), Vec::new());
                said.details.model = episode.model.clone();
                transcript.push(said);
            }
            Speaker::Aider => {
                for line in text.lines() {
                    episode.model = model(line).or(episode.model.take());
                    if let Some(step) = transcript.last_mut()
                        && let Some(usage) = usage(line)
                    {
                        step.details.usage = Some(usage);
                    }
                }
                // What Aider did is an observation; before the first message, it is about the session.
                let role = if transcript.position().is_none() {
                    Role::System
                } else {
                    Role::Tool
                };
                transcript.observe(Message::new(role, text).into());
            }
        }
    }
    transcript.finish(&mut episode);
    episode
}

/// The model in a line that names it: `Main model: m with diff edit format`.
fn model(line: &str) -> Option<Text> {
    let rest = line
        .strip_prefix("Main model: ")
        .or_else(|| line.strip_prefix("Model: "))?;
    let name = rest.split(" with ").next()?.trim();
    (!name.is_empty()).then(|| name.into())
}

/// The usage in a line such as `Tokens: 2.7k sent, 113 received. Cost: $0.01 message, $0.02 session.`
fn usage(line: &str) -> Option<Usage> {
    let rest = line.strip_prefix("Tokens: ")?;

    let number = |text: &str| -> Option<f64> {
        let text = text.trim();
        let (digits, factor) = match text.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1000.0),
            None => match text.strip_suffix('M') {
                Some(digits) => (digits, 1e6),
                None => (text, 1.0),
            },
        };
        let value: f64 = digits.trim().replace(',', "").parse().ok()?;
        Some(value * factor)
    };
    let before = |word: &str| {
        let (head, _) = rest.split_once(word)?;
        number(head.rsplit([' ', '\u{a0}']).next()?)
    };
    let tokens = |word: &str| before(word).map(|count| count as u64);
    let cost = rest.split_once("Cost: $").and_then(|(_, cost)| {
        let cost = cost.split_whitespace().next()?;
        number(cost)
    });
    let usage = Usage {
        input: tokens(" sent"),
        output: tokens(" received"),
        cached: tokens(" cache hit"),
        reasoning: None,
        cost,
    };
    (!usage.is_empty()).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_cost_are_numbers() {
        let line = "Tokens: 2.7k sent, 113 received. Cost: $0.01 message, $0.02 session.";
        let usage = usage(line).unwrap();
        assert_eq!(
            (usage.input, usage.output, usage.cost),
            (Some(2700), Some(113), Some(0.01))
        );
        let line = "Tokens: 14k sent, 1.2k cache hit, 1,024 received.";
        let usage = super::usage(line).unwrap();
        assert_eq!(
            (usage.input, usage.cached, usage.output),
            (Some(14_000), Some(1200), Some(1024))
        );
    }

    #[test]
    fn models_are_named() {
        assert_eq!(
            model("Main model: model-a with diff edit format").as_deref(),
            Some("model-a")
        );
        assert_eq!(model("Weak model: model-b"), None);
    }
}
