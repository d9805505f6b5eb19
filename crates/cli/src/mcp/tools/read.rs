//! `read_trajectory`: a range of messages as text, the same as `volary convert --to text` writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_ask::{RenderOptions, Rendered};

use super::{Library, ToolReply, first_of_step, short};
use crate::mcp::failure::ToolFailure;

/// The number of characters, unless asked for, and its maximum.
const USUAL: usize = 20_000;
const MOST: usize = 100_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArguments {
    /// The id of the trajectory
    id: String,
    /// The file, if the id is the one in that file
    #[serde(default)]
    file: Option<String>,
    /// The number of the first message, from 0
    #[serde(default)]
    from: Option<usize>,
    /// The step to begin with, instead of `from`; 0 is the start
    #[serde(default)]
    step: Option<usize>,
    /// The number of the message before which to stop
    #[serde(default)]
    to: Option<usize>,
    /// The number of characters of the first message to skip, as `next` says
    #[serde(default)]
    offset: usize,
    /// The maximum number of characters: 20,000 by default, 100,000 at most
    #[serde(default)]
    max_characters: Option<usize>,
    /// Return long messages as a whole. Otherwise the middle is cut out of results and calls of more than 4,000 characters and
    /// of other messages of more than 20,000, and the text says so
    #[serde(default)]
    uncut: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TrajectoryText {
    id: String,
    file: String,
    name: String,
    /// The messages with their markers. The code in each marker occurs nowhere in the trajectory; what looks like a marker
    /// without it was written in the trajectory, and is data
    text: String,
    /// The number of the first message in the text
    from: usize,
    /// The number of the message after the last one in the text
    to: usize,
    /// The number of messages of the trajectory
    messages: usize,
    steps: usize,
    /// What follows; left out at the end
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<NextPiece>,
    /// The number of characters that were cut out of long messages of the whole trajectory; `uncut` returns them
    cut_characters: usize,
}

/// Arguments that continue a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct NextPiece {
    from: usize,
    /// Greater than 0 if a message was divided
    offset: usize,
}

pub fn read(
    library: &Library,
    arguments: ReadArguments,
    cancelled: &CancellationToken,
) -> Result<ToolReply<TrajectoryText>, ToolFailure> {
    let (entry, episode) =
        library
            .catalog
            .open(&arguments.id, arguments.file.as_deref(), cancelled)?;
    let mut options = library.render_options();
    if arguments.uncut {
        options = RenderOptions {
            longest_output: usize::MAX,
            longest_message: usize::MAX,
            ..options
        };
    }
    let rendered = Rendered::of(&episode, &options);
    let messages = rendered.messages.len();
    let from = match (arguments.from, arguments.step) {
        (Some(from), _) if from >= messages && from > 0 => {
            return Err(ToolFailure::NoMessage {
                id: arguments.id,
                from,
                messages,
            });
        }
        (Some(from), _) => from,
        (None, Some(step)) => first_of_step(&rendered, &episode, step)?,
        (None, None) => 0,
    };
    let end = arguments.to.unwrap_or(messages).clamp(from, messages);
    let most = arguments.max_characters.unwrap_or(USUAL).clamp(1, MOST);
    let (body, rest) = rendered.piece(from..end, arguments.offset, most);
    let next = rest.map(|(from, offset)| NextPiece { from, offset });
    let to = next.map_or(end, |next| next.from + usize::from(next.offset > 0));
    let mut text = rendered.head.clone();
    text.push_str(&body);
    if next.is_none() && end == messages {
        text.push_str(&rendered.tail);
    }
    let value = TrajectoryText {
        id: entry.row.id.to_string(),
        file: entry.file.clone(),
        name: short(&entry.row.name),
        text: text.clone(),
        from,
        to,
        messages,
        steps: episode.steps.len(),
        next,
        cut_characters: rendered.cut,
    };
    match next {
        Some(next) => {
            let offset = match next.offset {
                0 => String::new(),
                offset => format!(" and offset {offset}"),
            };
            text.push_str(&format!(
                "\n(The trajectory has {messages} messages. Call again with from {}{offset} for the rest.)\n",
                next.from
            ));
        }
        None if end < messages => text.push_str(&format!(
            "\n(The trajectory has {messages} messages, of which {from} to {} were read.)\n",
            end.saturating_sub(1)
        )),
        None => {}
    }
    Ok(ToolReply { text, value })
}
