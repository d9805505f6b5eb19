//! All questions that were asked, with their answers, the labels of a person and the findings.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use volary_agent::model::limits::Spent;
use volary_analysis::table::answers::{AnswerValue, AnswersByEpisode, RowAnswer};
use volary_ask::cache::{AnswerCache, AnswerRecord};
use volary_ask::calibration::{Calibration, compare};
use volary_ask::presets::QUESTION_PRESETS;
use volary_ask::rates::QuoteRates;
use volary_ask::{Question, Support};
use volary_core::json::Text;

use super::asked::{AskSetup, AskedQuestion};
use super::findings::AskFindings;

/// The maximum number of characters of a free text in a cell.
const LONGEST_CELL: usize = 200;
/// The maximum number of characters of a name that is made of a question.
const LONGEST_NAME: usize = 60;

/// Labels of a person, by the id of the episode.
pub type PersonLabels = BTreeMap<Text, Text>;

/// The questions with their answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskHistory {
    questions: BTreeMap<Text, AskedQuestion>,
    /// By the id of the question, then of the episode.
    answers: BTreeMap<Text, BTreeMap<Text, Arc<AnswerRecord>>>,
    labels: BTreeMap<Text, PersonLabels>,
    findings: BTreeMap<Text, AskFindings>,
}

/// A value with the number of answers that have it, and of those among them whose quotes do not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCount {
    pub value: Text,
    pub count: usize,
    pub unsupported: usize,
}

/// What the answers of a file changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenAnswers {
    pub questions: Vec<AskedQuestion>,
    /// Each with the id of its question.
    pub answers: Vec<(Text, Arc<AnswerRecord>)>,
}

impl AskHistory {
    /// The questions, the last asked one first.
    pub fn questions(&self) -> Vec<&AskedQuestion> {
        let mut questions: Vec<_> = self.questions.values().collect();
        questions.sort_by(|one, other| other.time.total_cmp(&one.time));
        questions
    }

    pub fn question(&self, id: &str) -> Option<&AskedQuestion> {
        self.questions.get(id)
    }

    /// The answers to a question, by the id of the episode.
    pub fn answers(&self, id: &str) -> impl ExactSizeIterator<Item = (&Text, &Arc<AnswerRecord>)> {
        static NONE: BTreeMap<Text, Arc<AnswerRecord>> = BTreeMap::new();
        self.answers.get(id).unwrap_or(&NONE).iter()
    }

    pub fn answer(&self, id: &str, episode: &str) -> Option<&Arc<AnswerRecord>> {
        self.answers.get(id)?.get(episode)
    }

    pub fn findings(&self, id: &str) -> Option<&AskFindings> {
        self.findings.get(id)
    }

    pub fn labels(&self, labels: &str) -> Option<&PersonLabels> {
        self.labels.get(labels)
    }

    pub fn put_question(&mut self, question: AskedQuestion) {
        self.questions.insert(question.id.clone(), question);
    }

    pub fn put_answer(&mut self, id: &Text, record: Arc<AnswerRecord>) {
        let answers = self.answers.entry(id.clone()).or_default();
        answers.insert(record.episode.clone(), record);
    }

    /// Adds the answers of a file. Of several to one question about one episode, the latest counts.
    pub fn give(&mut self, records: &[Arc<AnswerRecord>]) -> GivenAnswers {
        let mut by_question: BTreeMap<Text, Vec<&Arc<AnswerRecord>>> = BTreeMap::new();
        for record in records {
            let known = by_question.entry(AskSetup::of_record(record).id());
            known.or_default().push(record);
        }
        let mut given = GivenAnswers::default();
        for (id, records) in by_question {
            let mut changed: BTreeMap<&Text, &Arc<AnswerRecord>> = BTreeMap::new();
            for record in records {
                let known = changed.get(&record.episode).copied();
                let known = known.or_else(|| self.answer(&id, &record.episode));
                // Answers without an episode are about none of the table.
                let is_known = known.is_some_and(|known| known.time >= record.time);
                if !is_known && !record.episode.is_empty() {
                    changed.insert(&record.episode, record);
                }
            }
            let Some(last) = changed
                .values()
                .max_by(|one, other| one.time.total_cmp(&other.time))
            else {
                continue;
            };
            let question = self.question_with(&id, last, changed.keys().copied());
            self.put_question(question.clone());
            given.questions.push(question);
            for record in changed.into_values() {
                self.put_answer(&id, Arc::clone(record));
                given.answers.push((id.clone(), Arc::clone(record)));
            }
        }
        given
    }

    /// A question with these episodes too. One that is not known is made of an answer to it.
    fn question_with<'a>(
        &self,
        id: &Text,
        last: &AnswerRecord,
        episodes: impl Iterator<Item = &'a Text>,
    ) -> AskedQuestion {
        let mut question = self.question(id).cloned().unwrap_or_else(|| {
            let mut presets = QUESTION_PRESETS.iter();
            let preset = presets.find(|preset| preset.question() == last.question);
            let wanted = preset.map_or("", |preset| preset.title);
            AskedQuestion {
                id: id.clone(),
                name: self.free_name(wanted, id, &last.question, &last.model),
                setup: AskSetup::of_record(last),
                rows: Vec::new(),
                calibration: Vec::new(),
                labels: id.clone(),
                time: last.time,
            }
        });
        question.time = question.time.max(last.time);
        let known: BTreeSet<Text> = question.rows.iter().cloned().collect();
        let new = episodes.filter(|episode| !known.contains(*episode));
        question.rows.extend(new.cloned());
        question
    }

    pub fn put_findings(&mut self, id: &Text, findings: AskFindings) {
        self.findings.insert(id.clone(), findings);
    }

    /// Sets or removes the label of an episode. Returns all labels with this id.
    pub fn label(&mut self, labels: &Text, episode: &Text, label: Option<Text>) -> PersonLabels {
        let known = self.labels.entry(labels.clone()).or_default();
        match label {
            Some(label) => known.insert(episode.clone(), label),
            None => known.remove(episode),
        };
        known.clone()
    }

    pub fn put_labels(&mut self, labels: &Text, all: PersonLabels) {
        self.labels.insert(labels.clone(), all);
    }

    /// Removes a question with its answers. The labels stay while another question has them; returns their id if none has.
    pub fn forget(&mut self, id: &str) -> Option<Text> {
        let question = self.questions.remove(id)?;
        self.answers.remove(id);
        self.findings.remove(id);
        let mut others = self.questions.values();
        let is_used = others.any(|other| other.labels == question.labels);
        if is_used {
            return None;
        }
        self.labels.remove(&question.labels);
        Some(question.labels)
    }

    /// All answers, by what they depend on.
    pub fn cache(&self) -> AnswerCache {
        let mut cache = AnswerCache::default();
        for record in self.answers.values().flat_map(BTreeMap::values) {
            cache.insert(AnswerRecord::clone(record));
        }
        cache
    }

    /// A name for the columns of a question that no other question has.
    pub fn free_name(&self, wanted: &str, id: &str, question: &Question, model: &str) -> Text {
        let wanted = match wanted.trim() {
            "" => short(&question.text),
            wanted => short(wanted),
        };
        let is_taken = |name: &str| {
            let mut others = self.questions.values().filter(|other| *other.id != *id);
            others.any(|other| *other.name == *name)
        };
        if !is_taken(&wanted) {
            return wanted.into();
        }
        let numbered = (2..).map(|number: u32| format!("{wanted} {number}"));
        let mut names = std::iter::once(format!("{wanted} ({model})")).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or(wanted).into()
    }

    /// The answers as cells of the table.
    pub fn cells(&self) -> AnswersByEpisode {
        let mut cells: AnswersByEpisode = HashMap::new();
        for question in self.questions.values() {
            for (episode, record) in self.answers(&question.id) {
                let answer = &record.answer;
                cells.entry(episode.clone()).or_default().push(RowAnswer {
                    question: question.name.clone(),
                    value: match (&answer.label, answer.score) {
                        (Some(label), _) => AnswerValue::Text(label.clone()),
                        (None, Some(score)) => AnswerValue::Number(score),
                        (None, None) if answer.support == Support::Unreadable => {
                            AnswerValue::Text(Text::default())
                        }
                        (None, None) => {
                            let letters = answer.explanation.chars().take(LONGEST_CELL);
                            AnswerValue::Text(letters.collect::<String>().into())
                        }
                    },
                    support: answer.support.as_str().into(),
                });
            }
        }
        cells
    }

    /// How often the quotes of the answers hold, by model.
    pub fn rates(&self, id: &str) -> QuoteRates {
        let mut rates = QuoteRates::default();
        for record in self.distinct(id) {
            rates.add(&record.model, &record.answer, record.first.as_deref());
        }
        rates
    }

    /// What the answers cost. Equal trajectories share an answer, which was paid for once.
    pub fn spent(&self, id: &str) -> Spent {
        let mut spent = Spent::default();
        for record in self.distinct(id) {
            spent.add(&Spent {
                tokens: record.input_tokens + record.output_tokens,
                cost: record.cost,
                ..Spent::default()
            });
        }
        spent
    }

    fn distinct(&self, id: &str) -> impl Iterator<Item = &AnswerRecord> {
        let answers = self.answers(id);
        let by_key: BTreeMap<&Text, &AnswerRecord> = answers
            .map(|(_, record)| (&record.key, &**record))
            .collect();
        by_key.into_values()
    }

    /// The labels and scores of the answers, the most frequent first.
    pub fn values(&self, id: &str) -> Vec<ValueCount> {
        let mut counts: BTreeMap<Text, (usize, usize)> = BTreeMap::new();
        for (_, record) in self.answers(id) {
            let answer = &record.answer;
            let value = match (&answer.label, answer.score) {
                (Some(label), _) => label.clone(),
                (None, Some(score)) => score.to_string().into(),
                (None, None) => continue,
            };
            let counts = counts.entry(value).or_default();
            counts.0 += 1;
            counts.1 += usize::from(answer.support == Support::Unsupported);
        }
        let counts = counts
            .into_iter()
            .map(|(value, (count, unsupported))| ValueCount {
                value,
                count,
                unsupported,
            });
        let mut counts: Vec<ValueCount> = counts.collect();
        counts.sort_by_key(|value| std::cmp::Reverse(value.count));
        counts
    }

    /// How far the answers agree with the labels of a person. Rows are places in the list of episodes to label.
    pub fn calibration(&self, id: &str) -> Calibration {
        let Some(question) = self.question(id) else {
            return Calibration::default();
        };
        let episodes = || question.calibration.iter().enumerate();
        let person = self.labels(&question.labels);
        let person =
            episodes().filter_map(|(row, episode)| Some((row, person?.get(episode)?.to_string())));
        let model = episodes().filter_map(|(row, episode)| {
            Some((
                row,
                self.answer(id, episode)?.answer.label.clone()?.to_string(),
            ))
        });
        compare(&person.collect(), &model.collect())
    }
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() <= LONGEST_NAME {
        return text;
    }
    let cut: String = text.chars().take(LONGEST_NAME - 1).collect();
    format!("{}…", cut.trim_end())
}
