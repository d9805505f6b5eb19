//! Volary's own format, also used between page and worker: an episode as one JSON object, several as `{"episodes":
//! [...]}` or JSON Lines.
//!
//! ```text
//! {"format": "volary-episode", "version": 1, "id", "name", "recipe", "policy", "tools",
//!  "start": [message], "steps": [step], "frames": [patch], "ending", "metadata"}
//! ```
//!
//! Further members are described in `details`.
//!
//! - `message`: messages and tools. `step`: recipes, steps, frames, endings. `patch`: the delta of each frame from the
//!   previous one. `tokens`: recorded tokens.
//!
//! Invariants: an episode reads back equal, including special floats, integers of any size, infos and flags. Unknown
//! members are preserved, in the extras of their step or the metadata of the episode. A read error contains its
//! position.

mod details;
mod message;
pub mod node;
mod patch;
mod step;
mod tokens;

pub use message::{
    message_from_json, message_to_json, messages_from_json, messages_to_json, tools_to_json,
};
pub use step::{
    SEED_LIMIT, frame_from_json, frame_to_json, recipe_from_json, recipe_to_json, step_from_json,
    step_to_json,
};

use volary_core::json::read::{ReadError, ReadProblem};
use volary_core::json::value_writer::{ValueWriter, append, tree};
use volary_core::json::{Json, Key, Object};

use crate::episode::Episode;
use crate::frames::FrameHistory;
use node::{Fault, Node};

pub use node::Misfit;

/// The value of `format`.
pub const FORMAT: &str = "volary-episode";

/// The version that is written, and the newest one that can be read.
pub const VERSION: i64 = 1;

/// Error reading the native format.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NativeError {
    /// The text is not JSON.
    #[error("This is not valid JSON: {error}.")]
    NotJson {
        /// The error and its position.
        error: ReadError,
    },
    /// `format` has another value.
    #[error("This is not a Volary episode: it lacks \"format\": \"{FORMAT}\".")]
    OtherFormat,
    /// The file was written by a later version of Volary.
    #[error(
        "This Volary episode has version {version}; the newest supported version is {VERSION}. A \
         newer Volary can open it."
    )]
    Newer {
        /// The version of the file.
        version: i64,
    },
    /// A value does not match the format.
    #[error(transparent)]
    Misfit(#[from] Box<Misfit>),
    /// One of several lines could not be read.
    #[error("Line {line}: {error}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        error: Box<NativeError>,
    },
    /// An element of `episodes` could not be read.
    #[error("Episode {number}: {error}")]
    Episode {
        /// The number of the element, from 1.
        number: usize,
        error: Box<NativeError>,
    },
}

/// The result of reading a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadEpisodes {
    pub episodes: Vec<Episode>,
    /// The errors of episodes that could not be read.
    pub faults: Vec<NativeError>,
}

/// Serializes an episode as the text of a file.
pub fn to_text(episode: &Episode) -> String {
    let mut text = String::new();
    write_text(&mut text, episode);
    text
}

/// Like [`to_text`], but appends to `out`.
pub fn write_text(out: &mut String, episode: &Episode) {
    append(out, |writer| put_episode(writer, episode));
}

/// Parses a text with one episode, an object with several, or one episode per line. Fails if no episode can be read.
pub fn read(text: &str) -> Result<ReadEpisodes, NativeError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let readings: Vec<Result<Episode, NativeError>> = match Json::parse(text) {
        Ok(value) => match value.get("episodes").and_then(Json::as_list) {
            Some(episodes) => each_numbered(episodes),
            None => {
                return episode_from_json(&value).map(|episode| ReadEpisodes {
                    episodes: vec![episode],
                    faults: Vec::new(),
                });
            }
        },
        Err(error) if error.problem == ReadProblem::ExtraData => each_line(text),
        Err(error) => return Err(NativeError::NotJson { error }),
    };
    let mut reading = ReadEpisodes::default();
    for result in readings {
        match result {
            Ok(episode) => reading.episodes.push(episode),
            Err(error) => reading.faults.push(error),
        }
    }
    match (reading.episodes.is_empty(), reading.faults.first()) {
        (true, Some(first)) => Err(first.clone()),
        (true, None) => Err(NativeError::OtherFormat),
        (false, _) => Ok(reading),
    }
}

fn each_numbered(episodes: &[Json]) -> Vec<Result<Episode, NativeError>> {
    let episodes = episodes.iter().enumerate();
    episodes
        .map(|(index, value)| {
            episode_from_json(value).map_err(|error| NativeError::Episode {
                number: index + 1,
                error: Box::new(error),
            })
        })
        .collect()
}

fn each_line(text: &str) -> Vec<Result<Episode, NativeError>> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            Json::parse(line)
                .map_err(|error| NativeError::NotJson { error })
                .and_then(|value| episode_from_json(&value))
                .map_err(|error| NativeError::Line {
                    line: index + 1,
                    error: Box::new(error),
                })
        })
        .collect()
}

/// Serializes an episode.
pub fn episode_to_json(episode: &Episode) -> Json {
    tree(|writer| put_episode(writer, episode))
}

fn put_episode(writer: ValueWriter<'_>, episode: &Episode) {
    writer.object(|members| {
        members.at("format").word(FORMAT);
        members.at("version").integer(VERSION);
        members.at("id").text(&episode.id);
        members.at("name").text(&episode.name);
        if let Some(recipe) = &episode.recipe {
            step::put_recipe(members.at("recipe"), recipe);
        }
        if let Some(policy) = &episode.policy {
            members.at("policy").text(policy);
        }
        let frames = (0..episode.frames.len()).filter_map(|index| episode.frames.patch(index));
        members.at("tools").list(&episode.tools, message::put_tool);
        let start = members.at("start");
        start.list(&episode.start, message::put_message);
        members.at("steps").list(&episode.steps, step::put_step);
        members
            .at("frames")
            .list(frames, |writer, frame| frame.put(writer));
        step::put_ending(members.at("ending"), &episode.ending);
        members.at("metadata").members(&episode.metadata);
        details::put_of_episode(members, episode);
    });
}

/// Deserializes an episode.
pub fn episode_from_json(value: &Json) -> Result<Episode, NativeError> {
    const KNOWN: [&str; 12] = [
        "format", "version", "id", "name", "recipe", "policy", "tools", "start", "steps", "frames",
        "ending", "metadata",
    ];
    if value
        .get("format")
        .and_then(Json::as_text)
        .map(AsRef::as_ref)
        != Some(FORMAT)
    {
        return Err(NativeError::OtherFormat);
    }
    let node = Node::root(value);
    let version = node.member("version", |node| {
        let version = node.value().as_i64();
        version.ok_or_else(|| node.refuse("must be a whole number"))
    })?;
    if version > VERSION {
        return Err(NativeError::Newer { version });
    }
    let text = |key| node.optional(key, |node| node.text());
    let metadata = node.optional("metadata", |node| Ok(node.object()?.clone()))?;
    let mut metadata = metadata.unwrap_or_default();
    let mut unknown = node.unknown(&KNOWN)?;
    unknown.retain(|(key, _)| !details::OF_EPISODE.contains(&key.as_ref()));
    keep(&mut metadata, unknown);
    let mut episode = Episode {
        id: text("id")?.unwrap_or_default(),
        name: text("name")?.unwrap_or_default(),
        recipe: node.optional("recipe", step::recipe)?,
        policy: text("policy")?,
        tools: node
            .optional("tools", |node| node.each(message::tool))?
            .unwrap_or_default(),
        start: node
            .optional("start", |node| node.each(message::message))?
            .unwrap_or_default(),
        steps: node
            .optional("steps", |node| node.each(step::step))?
            .unwrap_or_default(),
        frames: node.optional("frames", frames)?.unwrap_or_default(),
        ending: node.optional("ending", step::ending)?.unwrap_or_default(),
        metadata,
        ..Episode::default()
    };
    details::of_episode(node, &mut episode)?;
    Ok(episode)
}

fn frames(node: Node<'_>) -> Result<FrameHistory, Fault> {
    let mut history = FrameHistory::default();
    node.each(|node| {
        let pushed = history.push_patch_within(patch::frame_patch(node)?);
        pushed.map_err(|error| node.refuse(error.to_string().trim_end_matches('.')))
    })?;
    Ok(history)
}

/// Preserves members that the format does not know, unless their names are taken.
fn keep(aside: &mut Object, unknown: Vec<(Key, Json)>) {
    if !unknown.is_empty() {
        let known = std::mem::take(aside).into_iter();
        *aside = Object::from_pairs(unknown.into_iter().chain(known).collect());
    }
}
