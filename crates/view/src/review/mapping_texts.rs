//! The texts of the mapping of fields, and what its selects offer. Pure.

use crate::summary::reward_text;
use volary_analysis::timeline::first_line;
use volary_core::json::{Json, Object, Text};
use volary_core::quantity::plural;
use volary_episode::Episode;
use volary_formats::import::fields::{Field, FieldMapping, PathSample, Shape, paths};
use volary_protocol::library::UnmappedFile;

/// The maximum number of member names listed of a shape.
const MOST_NAMES: usize = 6;
/// The maximum number of messages in a preview.
const MOST_MESSAGES: usize = 6;
/// The maximum length of such a message, in characters.
const LONGEST_MESSAGE: usize = 240;

/// The offer for a file that no reader recognizes.
pub fn offer_text(file: &UnmappedFile) -> String {
    let names = names_text(&file.shape);
    format!(
        "{} contains records of an unknown shape: {names}.",
        file.file
    )
}

/// The member names of a shape as text.
pub fn names_text(shape: &Shape) -> String {
    let names = shape.names();
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>();
    let more = if names.len() > MOST_NAMES {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

/// The record whose members are mapped: the first one of the file, or one with the names of a shape.
pub fn sample(head: Option<&str>, shape: &Shape) -> Json {
    match head {
        Some(head) => Json::parse(head).unwrap_or_default(),
        None => {
            let names = shape.names().iter();
            let pairs = names.map(|name| (name.clone().into(), Json::Null));
            Json::Object(Object::from_distinct(pairs.collect()))
        }
    }
}

/// The members of a file that may hold its records.
pub fn list_paths(file: &Json) -> Vec<PathSample> {
    let mut lists = paths(file);
    lists.retain(|found| {
        let mapping = FieldMapping {
            records: Some(found.path.clone()),
            ..FieldMapping::default()
        };
        !std::ptr::eq(mapping.first_record(file), file)
    });
    lists
}

/// The label of a field.
pub fn label(field: Field) -> &'static str {
    match field {
        Field::Prompt => "Prompt",
        Field::Messages => "Messages",
        Field::Answer => "Answer",
        Field::Reward => "Reward",
        Field::Task => "Task",
        Field::Group => "Group",
        Field::Step => "Step",
        Field::Model => "Model",
    }
}

/// A member in a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceText {
    pub path: String,
    pub text: String,
    pub is_chosen: bool,
}

/// The members in a select. A chosen path that this record does not have is offered too: it was chosen for another one.
pub fn choices(mut options: Vec<PathSample>, chosen: Option<&str>) -> Vec<ChoiceText> {
    if let Some(path) = chosen
        && options.iter().all(|option| option.path != path)
    {
        options.push(PathSample {
            path: path.to_owned(),
            sample: String::new(),
        });
    }
    let options = options.into_iter().map(|PathSample { path, sample }| {
        let text = if sample.is_empty() {
            path.clone()
        } else {
            format!("{path}: {sample}")
        };
        ChoiceText {
            is_chosen: chosen == Some(path.as_str()),
            path,
            text,
        }
    });
    options.collect()
}

/// What to do where no preview can be made.
pub fn unmapped_text(has_record: bool) -> &'static str {
    if has_record {
        "Map the messages, the prompt or the answer to see the first record."
    } else {
        "Import a file with these members to see how it is read."
    }
}

/// Why a record cannot be read.
pub fn unread_text(reason: String) -> String {
    if reason.is_empty() {
        "The first record cannot be read this way.".to_owned()
    } else {
        reason
    }
}

/// The preview of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewTexts {
    /// The role and the first line of each of the first messages.
    pub messages: Vec<(&'static str, String)>,
    /// How many messages follow, if some do.
    pub more: Option<String>,
    /// The name and the value of what else was read.
    pub facts: Vec<(&'static str, String)>,
}

impl PreviewTexts {
    pub fn of(episode: &Episode) -> PreviewTexts {
        let messages = episode.messages().take(MOST_MESSAGES);
        let messages = messages.map(|message| {
            let text = first_line(message, LONGEST_MESSAGE);
            (message.role().as_str(), text)
        });
        let more = episode.messages().count().saturating_sub(MOST_MESSAGES);
        let kept = |key: &str| {
            let value = episode.metadata.get(key)?;
            let text = value.as_text().map(Text::to_string);
            Some(text.unwrap_or_else(|| value.to_compact_text()))
        };
        let facts = [
            ("Reward", episode.reward().map(reward_text)),
            ("Task", episode.task().map(|task| task.id.to_string())),
            ("Group", kept("group")),
            ("Step", kept("step")),
            ("Model", episode.model.as_ref().map(Text::to_string)),
        ];
        let facts = facts.into_iter();
        PreviewTexts {
            messages: messages.collect(),
            more: (more > 0).then(|| format!("{} more", plural(more, "message"))),
            facts: facts
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;
    use volary_core::message::Message;
    use volary_episode::Rewards;

    use super::*;

    fn shape(names: &[&str]) -> Shape {
        let pairs = names
            .iter()
            .map(|name| (name.to_string().into(), Json::Null));
        Shape::of(&Json::Object(Object::from_distinct(pairs.collect())))
            .expect("an object has a shape")
    }

    #[test]
    fn an_offer_names_the_first_members() {
        let file = |names: &[&str]| {
            offer_text(&UnmappedFile {
                file: "runs.jsonl".into(),
                shape: shape(names),
                head: "{}".into(),
            })
        };
        assert_eq!(
            file(&["answer", "prompt"]),
            "runs.jsonl contains records of an unknown shape: answer, prompt."
        );
        let many = file(&["a", "b", "c", "d", "e", "f", "g"]);
        assert!(many.ends_with(", …."), "{many}");
        assert!(!many.contains("g, "), "{many}");
    }

    #[test]
    fn a_stored_mapping_is_changed_without_its_file() {
        let shape = shape(&["answer", "prompt"]);
        let names = |record: &Json| {
            let options = paths(record).into_iter();
            options.map(|option| option.path).collect::<Vec<_>>()
        };
        assert_eq!(names(&sample(None, &shape)), ["answer", "prompt"]);
        let head = Some(r#"{"question": "Why?"}"#);
        assert_eq!(names(&sample(head, &shape)), ["question"]);
        assert_eq!(sample(Some("{"), &shape), Json::default(), "a cut record");
    }

    #[test]
    fn only_lists_can_hold_the_records() {
        let file =
            json!({"version": 1, "runs": [{"prompt": "a"}], "name": "list of runs", "none": []});
        let lists = list_paths(&file).into_iter();
        let lists: Vec<String> = lists.map(|list| list.path).collect();
        assert_eq!(lists, ["runs"]);
    }

    #[test]
    fn a_path_that_was_chosen_for_another_record_stays_chosen() {
        let options = || paths(&json!({"prompt": "Why?", "reward": 1}));
        let chosen = |path| {
            let choices = choices(options(), path).into_iter();
            let chosen = choices.filter(|choice| choice.is_chosen);
            chosen.map(|choice| choice.text).collect::<Vec<_>>()
        };
        assert_eq!(chosen(None), [""; 0]);
        assert_eq!(chosen(Some("reward")), ["reward: 1"]);
        assert_eq!(chosen(Some("score")), ["score"]);
        assert_eq!(choices(options(), Some("reward")).len(), options().len());
    }

    #[test]
    fn a_preview_shows_the_beginning_and_what_else_was_read() {
        let start = (0..MOST_MESSAGES + 2).map(|number| Message::user(number.to_string()).into());
        let mut episode = Episode {
            start: start.collect(),
            model: Some("m".into()),
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        episode.metadata.insert("group", 7);
        episode.metadata.insert("step", "warm-up");
        let texts = PreviewTexts::of(&episode);
        assert_eq!(texts.messages.len(), MOST_MESSAGES);
        assert_eq!(texts.messages[1], ("user", "1".to_owned()));
        assert_eq!(texts.more.as_deref(), Some("2 messages more"));
        let facts = [("Group", "7"), ("Step", "warm-up"), ("Model", "m")];
        let facts = facts.map(|(name, value)| (name, value.to_owned()));
        assert_eq!(texts.facts, facts);
        assert_eq!(PreviewTexts::of(&Episode::default()).more, None);
    }

    #[test]
    fn a_record_that_cannot_be_read_has_a_reason() {
        assert_eq!(unread_text("No messages.".to_owned()), "No messages.");
        assert!(unread_text(String::new()).contains("cannot be read"));
        assert_ne!(unmapped_text(true), unmapped_text(false));
    }
}
