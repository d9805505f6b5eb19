//! Answers of MT-bench and of FastChat's other judged benchmarks: lines of `{question_id, answer_id, model_id, choices:
//! [{index, turns: [text]}], tstamp}`, with the questions `{question_id, category, turns}` if those are imported
//! together. Each choice is an episode.

use std::collections::HashMap;

use serde::Deserialize;
use volary_core::json::{Json, Object, Text, from_json};
use volary_core::{Message, Role};
use volary_episode::episode::{Ending, Episode, Rewards, TaskReference};

use super::ImportOutcome;
use super::describe::counted;
use super::files::Files;
use super::members::{id, keep_rest};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;
use super::typed;

/// The number of turns of a choice that become steps; MT-bench asks two. More are no answers, and a step needs far more
/// memory than an empty turn.
const MOST_TURNS: usize = 1_000;

pub(super) struct MtBench;

impl Reader for MtBench {
    fn id(&self) -> &'static str {
        "mt-bench"
    }

    fn name(&self) -> &'static str {
        "answers of MT-bench (one per line, with the questions or alone)"
    }

    /// Reads answers together with their questions, if those are present.
    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for index in files.open() {
            if !files.starts_with_quoted(index, "question_id") {
                continue;
            }
            let list = if files.starts_with_quoted(index, "answer_id") {
                &mut answered
            } else {
                &mut asked
            };
            list.push(index);
        }
        if asked.is_empty() || answered.is_empty() {
            return;
        }
        let mut questions: HashMap<Text, Question> = HashMap::new();
        for index in asked {
            let Ok(read) = files.read_document(index) else {
                continue;
            };
            if !read.document.samples().any(is_question) {
                continue;
            }
            files.take(index);
            for line in read.document.into_records() {
                if let Ok(question) = from_json::<Question>(&line.value)
                    && let Some(key) = id(&question.question_id)
                {
                    questions.insert(key, question);
                }
            }
        }
        for index in answered {
            let Ok(read) = files.read_document(index) else {
                continue;
            };
            if !read.document.samples().any(is_answer) {
                continue;
            }
            files.take(index);
            let name = files.name(index).to_owned();
            let size = read.document.size();
            let mut sink = Sink::new(outcome, self.id(), &name).within(size);
            read.losses.into_iter().for_each(|loss| sink.lost(loss));
            answers(read.document, &questions, &mut sink);
        }
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(is_answer) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        sink.lost("The questions are in another file: import it together with the answers.");
        answers(document, &HashMap::new(), sink);
    }
}

fn is_question(value: &Json) -> bool {
    value.get("question_id").is_some()
        && value.get("turns").is_some_and(|it| it.as_list().is_some())
}

fn is_answer(value: &Json) -> bool {
    let choices = value.get("choices").and_then(Json::as_list);
    let has_turns = |choice: &Json| choice.get("turns").is_some_and(|it| it.as_list().is_some());
    value.get("question_id").is_some()
        && value.get("answer_id").is_some()
        && choices.is_some_and(|choices| choices.iter().take(4).any(has_turns))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    question_id: Json,
    category: Option<Text>,
    turns: Vec<Text>,
    reference: Option<Json>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    question_id: Json,
    answer_id: Option<Text>,
    model_id: Option<Text>,
    choices: Vec<Choice>,
    tstamp: Option<f64>,
    /// The other members.
    #[serde(skip)]
    rest: Object,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    turns: Vec<Json>,
}

fn answers(document: Document, questions: &HashMap<Text, Question>, sink: &mut Sink<'_>) {
    let before = sink.episodes();
    for Line { number, value } in document.into_records() {
        if value.as_object().is_none() {
            sink.lost(format!("Line {number} is not an answer."));
            continue;
        }
        let (mut it, odd) = typed::record::<Answer>(value, "An answer", sink);
        it.rest.extend(odd);
        answer(it, questions, sink);
    }
    let count = counted(sink.episodes() - before, "episode");
    sink.understood(format!("MT-bench: {count}."));
}

fn answer(mut answer: Answer, questions: &HashMap<Text, Question>, sink: &mut Sink<'_>) {
    let key = id(&answer.question_id).unwrap_or_default();
    let question = questions.get(&key);
    let count = answer.choices.len();
    let several = count > 1;
    let base = answer.answer_id.take().unwrap_or_else(|| key.clone());
    for (index, mut choice) in std::mem::take(&mut answer.choices).into_iter().enumerate() {
        // Each choice has the members of the answer.
        if sink.is_full() {
            break;
        }
        let mut episode = Episode {
            id: if several {
                format!("{base}-{index}").into()
            } else {
                base.clone()
            },
            name: format!("Question {key}").into(),
            model: answer.model_id.clone(),
            task: Some(TaskReference {
                dataset: "mt-bench".into(),
                id: key.clone(),
            }),
            started: answer.tstamp,
            rewards: Rewards::Unknown,
            ending: Ending::Done,
            ..Episode::default()
        };
        if let Some(category) = question.and_then(|question| question.category.clone()) {
            episode.metadata.insert("category", category);
        }
        if let Some(reference) = question
            .and_then(|it| it.reference.clone())
            .filter(|it| !it.is_null())
        {
            episode.metadata.insert("reference", reference);
        }
        let asked = question
            .map(|question| question.turns.as_slice())
            .unwrap_or_default();
        let mut transcript = Transcript::default();
        let mut asked = asked.iter();
        let others = choice.turns.split_off(MOST_TURNS.min(choice.turns.len()));
        for turn in choice.turns {
            if let Some(text) = asked.next() {
                transcript.push(Message::new(Role::User, text.clone()).into());
            }
            // Newer versions write `{content, token_len}`.
            let text = turn.get("content").cloned().unwrap_or(turn);
            transcript.push(super::chat::acted(text, Vec::new()));
        }
        transcript.finish(&mut episode);
        // The last one takes them.
        let mut rest = if index + 1 == count {
            std::mem::take(&mut answer.rest)
        } else {
            answer.rest.clone()
        };
        if !others.is_empty() {
            sink.lost(format!(
                "A choice has {} turns; those after {MOST_TURNS} are among its other members.",
                MOST_TURNS + others.len()
            ));
            rest.insert("turns", Json::List(others));
        }
        keep_rest(&mut episode, rest, sink);
        sink.episode(episode);
    }
}
