//! `show_trajectory`: the trajectory itself, for the MCP App `ui://volary/trajectory`. Hosts without apps show the text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_ask::Rendered;
use volary_ask::render::RenderedMessage;
use volary_episode::passages::TextPart;

use super::{Library, ToolReply, first_of_step, short};
use crate::mcp::failure::ToolFailure;

/// The maximum number of characters of one call. The app calls again for the rest.
const MOST: usize = 60_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowArguments {
    /// The id of the trajectory
    id: String,
    /// The file, if the id is the one in that file
    #[serde(default)]
    file: Option<String>,
    /// The step to show first; 0 is the start
    #[serde(default)]
    step: usize,
    /// The number of the first message to return. The app uses it to get what was left out
    #[serde(default)]
    from: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownTrajectory {
    id: String,
    file: String,
    name: String,
    /// The step to show first
    step: usize,
    steps: usize,
    /// The number of all messages
    total: usize,
    messages: Vec<ShownMessage>,
    /// The messages that follow: pass this as `from` to get them
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
    /// The ending, the reward and the scores, a line each
    outcome: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ShownMessage {
    number: usize,
    step: usize,
    /// The role, or the tool that answered
    speaker: String,
    parts: Vec<ShownPart>,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ShownPart {
    kind: PartKind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PartKind {
    Reasoning,
    Text,
    Call,
    Error,
}

pub fn show(
    library: &Library,
    arguments: ShowArguments,
    cancelled: &CancellationToken,
) -> Result<ToolReply<ShownTrajectory>, ToolFailure> {
    let (entry, episode) =
        library
            .catalog
            .open(&arguments.id, arguments.file.as_deref(), cancelled)?;
    let rendered = Rendered::of(&episode, &library.render_options());
    let total = rendered.messages.len();
    let first = first_of_step(&rendered, &episode, arguments.step)?;
    let from = match arguments.from {
        Some(from) if from >= total && from > 0 => {
            return Err(ToolFailure::NoMessage {
                id: arguments.id,
                from,
                messages: total,
            });
        }
        Some(from) => from,
        // All of the beginning, if the step is within it; otherwise the step and what follows.
        None if length(&rendered, 0..first) < MOST / 2 => 0,
        None => first,
    };
    let mut end = from;
    while end < total && (end == from || length(&rendered, from..end + 1) <= MOST) {
        end += 1;
    }
    let shown = rendered.messages.iter().enumerate().skip(from);
    let shown = shown.take(end - from);
    let value = ShownTrajectory {
        id: entry.row.id.to_string(),
        file: entry.file.clone(),
        name: short(&entry.row.name),
        step: arguments.step,
        steps: episode.steps.len(),
        total,
        messages: shown
            .map(|(number, message)| ShownMessage {
                number,
                step: message.step,
                speaker: message.speaker.clone(),
                parts: parts(message, &rendered.nonce),
            })
            .collect(),
        next: (end < total).then_some(end),
        // The first line is the marker of the end.
        outcome: rendered.tail.lines().skip(1).map(str::to_owned).collect(),
    };
    let text = format!(
        "Messages {from} to {} of {total} of {} are shown to the user, if this host shows apps. read_trajectory returns them \
         as text.\n{}",
        end.saturating_sub(1),
        value.id,
        value.outcome.join("\n")
    );
    Ok(ToolReply { text, value })
}

fn length(rendered: &Rendered, range: std::ops::Range<usize>) -> usize {
    let messages = rendered.messages.get(range).unwrap_or_default();
    messages.iter().map(|message| message.text.len()).sum()
}

/// The texts of a message without markers.
fn parts(message: &RenderedMessage, nonce: &str) -> Vec<ShownPart> {
    let mut parts: Vec<(
        volary_episode::passages::TextPosition,
        std::ops::Range<usize>,
    )> = Vec::new();
    for passage in &message.passages {
        match parts.last_mut() {
            // What is around a cut. The line about the cut is between.
            Some((position, range)) if *position == passage.position => {
                range.end = passage.range.end;
            }
            _ => parts.push((passage.position, passage.range.clone())),
        }
    }
    let parts = parts.into_iter().map(|(position, range)| ShownPart {
        kind: match position.part {
            TextPart::Reasoning => PartKind::Reasoning,
            TextPart::Call(_) => PartKind::Call,
            TextPart::Error(_) => PartKind::Error,
            TextPart::Name | TextPart::Content | TextPart::Score(_) => PartKind::Text,
        },
        text: message
            .text
            .get(range)
            .unwrap_or_default()
            .replace(&format!(" {nonce}]\n"), "]\n"),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use volary_ask::RenderOptions;
    use volary_core::Message;
    use volary_episode::Episode;

    use super::*;

    #[test]
    fn the_line_about_a_cut_has_no_code() {
        let episode = Episode {
            start: vec![Message::user("x".repeat(100)).into()],
            ..Episode::default()
        };
        let options = RenderOptions {
            longest_message: 10,
            ..RenderOptions::default()
        };
        let rendered = Rendered::of(&episode, &options);
        let parts = parts(&rendered.messages[0], &rendered.nonce);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].text, "xxxxxx\n[90 characters cut]\nxxxx");
    }
}
