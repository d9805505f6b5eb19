//! Reads records of a shape that no reader recognises, with a mapping of the user ([`FieldMapping`]).
//!
//! A record is one episode, or several if its answer is a list of texts: one per text, with the reward at the same
//! index. Unmapped members are metadata if they are short, and preserved unread otherwise.

use volary_analysis::timeline::first_line;
use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::chat_file::turn;
use super::describe::counted;
use super::fields::{Field, FieldMapping, at_path, take_path};
use super::members::{id, keep_rest, reward, unpacked};
use super::reader::{Document, Line, Reader, Sink};
use super::transcript::{ImportedMessage, Transcript};
use super::{ImportOutcome, NoteLevel};

/// Reads records with a mapping.
#[derive(Clone)]
pub(super) struct Mapped {
    pub fields: FieldMapping,
}

impl Reader for Mapped {
    fn id(&self) -> &'static str {
        "mapped"
    }

    fn name(&self) -> &'static str {
        "records with mapped members"
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        for Line { number, value } in records(document, self.fields.records.as_deref()) {
            match value {
                Json::Object(record) => self.record(record, number, sink),
                _ => sink.lost(format!("Record {number} has no members.")),
            }
        }
        let count = sink.episodes() - before;
        if count > 0 {
            sink.understood(format!(
                "Records with mapped members: {}.",
                counted(count, "episode")
            ));
        }
    }
}

/// The records of a document: its values, or the elements of a list within its only value.
fn records(document: Document, list: Option<&str>) -> Vec<Line> {
    if let (Document::Value(value), Some(path)) = (&document, list)
        && let Some(Json::List(list)) = at_path(value, path)
    {
        return Document::Value(Json::List(list)).into_records();
    }
    document.into_records()
}

impl Mapped {
    fn record(&self, record: Object, number: usize, sink: &mut Sink<'_>) {
        let mut rest = record.clone();
        let record = Json::Object(record);
        let mut taken = |field: Field| {
            let path = self.fields.get(field)?;
            let value = at_path(&record, path)?;
            take_path(&mut rest, path);
            Some(value)
        };
        let prompt = taken(Field::Prompt);
        let messages = taken(Field::Messages);
        let answer = taken(Field::Answer);
        let worth = taken(Field::Reward);
        let task = taken(Field::Task).and_then(|task| short_text(&task));
        let (group, step) = (taken(Field::Group), taken(Field::Step));
        let model = taken(Field::Model).and_then(|model| short_text(&model));
        let mut asked: Vec<ImportedMessage> = prompt
            .map(|value| said(value, Role::User))
            .unwrap_or_default();
        asked.extend(
            messages
                .map(|value| said(value, Role::User))
                .unwrap_or_default(),
        );
        let answers = answers(answer);
        if asked.is_empty() && answers.iter().all(Vec::is_empty) {
            return sink.lost(format!("Record {number} has none of the mapped members."));
        }
        let mut rewards = match (&worth, answers.len()) {
            (Some(Json::List(list)), count) if count > 1 && list.len() == count => {
                list.iter().map(reward).collect()
            }
            (Some(value), _) => vec![reward(value)],
            (None, _) => vec![None],
        };
        rewards.resize(answers.len(), rewards.first().copied().flatten());
        let named = ["id", "uuid", "custom_id"].iter();
        let named = named.filter_map(|key| id(rest.get(key)?)).next();
        let count = answers.len();
        for (index, (answer, reward)) in answers.into_iter().zip(rewards).enumerate() {
            if sink.is_full() {
                return;
            }
            let mut transcript = Transcript::default();
            asked.iter().cloned().for_each(|said| transcript.push(said));
            answer.into_iter().for_each(|said| transcript.push(said));
            let mut episode = Episode {
                rewards: reward.map_or(Rewards::Unknown, Rewards::Whole),
                ending: Ending::Done,
                model: model.clone(),
                task: task.clone().map(|id| TaskReference {
                    dataset: sink.stem(),
                    id,
                }),
                ..Episode::default()
            };
            transcript.finish(&mut episode);
            let stem = named
                .clone()
                .unwrap_or_else(|| format!("{}-{number}", sink.stem()).into());
            episode.id = match count {
                1 => stem,
                _ => format!("{stem}-{}", index + 1).into(),
            };
            episode.name = named.clone().unwrap_or_else(|| name(&episode));
            for (key, value) in [("group", &group), ("step", &step)] {
                if let Some(value) = value {
                    episode.metadata.insert(key, value.clone());
                }
            }
            if let (None, Some(worth)) = (reward, &worth) {
                unread_reward(&mut episode, worth, number, sink);
            }
            let mut rest = rest.clone();
            episode.metadata.extend_missing(short(&mut rest));
            keep_rest(&mut episode, rest, sink);
            sink.episode(episode);
        }
    }
}

/// Handles a reward that is not a number: the numbers in it become scores.
fn unread_reward(episode: &mut Episode, worth: &Json, number: usize, sink: &mut Sink<'_>) {
    let parts = worth.as_object().into_iter().flat_map(Object::iter);
    let parts = parts.filter(|(_, value)| reward(value).is_some());
    let scores = parts.map(|(key, value)| Score {
        name: key.as_ref().into(),
        value: value.clone(),
        ..Score::default()
    });
    episode.scores.extend(scores);
    if episode.scores.is_empty() {
        sink.lost(format!("The reward of record {number} is not a number."));
        episode.metadata.insert("reward", worth.clone());
    }
}

/// Reads a member as messages, or as a text of this role.
fn said(value: Json, role: Role) -> Vec<ImportedMessage> {
    match unpacked(value) {
        Json::List(list) => chat::read_all(list.into_iter().map(turn).collect()).collect(),
        Json::Text(text) if text.is_empty() => Vec::new(),
        Json::Text(text) => vec![Message::new(role, text).into()],
        message @ Json::Object(_) if message.get("role").is_some() => chat::read(&message),
        Json::Null => Vec::new(),
        other => vec![Message::new(role, Text::from(other.to_compact_text())).into()],
    }
}

/// The replies of a record; one empty reply if it has none.
fn answers(value: Option<Json>) -> Vec<Vec<ImportedMessage>> {
    match value.map(unpacked) {
        None => vec![Vec::new()],
        Some(Json::List(list)) if is_several(&list) => {
            let each = list.into_iter();
            each.map(|one| said(one, Role::Assistant)).collect()
        }
        Some(one) => vec![said(one, Role::Assistant)],
    }
}

/// Whether a list contains several replies: texts, or lists of messages.
fn is_several(list: &[Json]) -> bool {
    let is = |one: &Json| matches!(one, Json::Text(_) | Json::List(_));
    !list.is_empty() && list.iter().all(is)
}

/// A text or a number; other values as JSON text.
fn short_text(value: &Json) -> Option<Text> {
    const LONGEST: usize = 200;
    let text = id(value).unwrap_or_else(|| value.to_compact_text().into());
    let text: String = text.chars().take(LONGEST).collect();
    (!text.trim().is_empty()).then(|| text.into())
}

/// The name of an unnamed episode: its task, or the start of the prompt.
fn name(episode: &Episode) -> Text {
    const LONGEST: usize = 80;
    if let Some(task) = &episode.task {
        return task.id.clone();
    }
    let asked = episode
        .messages()
        .find(|message| message.role() == Role::User);
    let line = asked.or_else(|| episode.messages().next());
    line.map(|message| first_line(message, LONGEST).into())
        .unwrap_or_default()
}

/// Removes and returns the members that are short enough for a column of a table.
fn short(rest: &mut Object) -> Object {
    const LONGEST: usize = 200;
    let mut found = Vec::new();
    rest.retain(|key, value| {
        let is_short = match value {
            Json::Text(text) => text.len() <= LONGEST,
            Json::Bool(_) | Json::Integer(_) | Json::Float(_) => true,
            Json::Object(object) => {
                let is_plain = |value: &Json| match value {
                    Json::Text(text) => text.len() <= LONGEST,
                    Json::List(_) | Json::Object(_) => false,
                    _ => true,
                };
                object.values().all(is_plain)
            }
            Json::List(_) | Json::Null => false,
        };
        if is_short {
            found.push((key.clone(), value.clone()));
        }
        !is_short
    });
    Object::from_distinct(found)
}

/// A mapping finds no episode in a record. The text says what is wrong with the record; it is empty if nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoEpisodeMapped {
    why: Text,
}

/// The episodes that a mapping produces from a file's first value, for a preview.
pub fn preview(head: &Json, fields: &FieldMapping) -> Result<Vec<Episode>, NoEpisodeMapped> {
    let mut outcome = ImportOutcome::default();
    let reader = Mapped {
        fields: FieldMapping {
            records: None,
            ..fields.clone()
        },
    };
    let record = fields.first_record(head).clone();
    let mut sink = super::reader::Sink::new(&mut outcome, reader.id(), "");
    reader.read(Document::Value(record), &mut sink);
    let lost = |note: &&super::Note| note.level == NoteLevel::Unreadable;
    if outcome.episodes.is_empty() {
        let lost = outcome.notes.iter().find(lost);
        Err(lost
            .map(|note| NoEpisodeMapped {
                why: note.text.clone(),
            })
            .unwrap_or_default())
    } else {
        Ok(outcome.episodes)
    }
}
