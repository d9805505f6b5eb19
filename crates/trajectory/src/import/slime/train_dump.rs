//! slime's training dumps (`.pt`): what the trainer made of each sample of a step, with streams for each token of the
//! response.
//!
//! Version 2 is `{format_version, rollout_id, samples: [sample]}`, version 1 a file for each rank, `{rollout_id, rank,
//! rollout_data: {column: list}}`. The samples are joined with those of the rollout dump of the same step, by their
//! index or their position. Invariant: a pair whose tokens differ is refused and reported, never merged.

use std::collections::HashMap;
use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_torch::{Heap, Unpickled, Value};

use super::tokens::{Lists, token_id};
use super::torch_dump::{Dump, SampleReader, Storages, report_pickle, step, storages_of};
use crate::episode::{Episode, Rewards};
use crate::import::describe::counted;
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel};
use crate::token_record::Alignment;

/// The scalar members of a sample that are shown with the episode.
const FIGURES: [(&str, &str); 5] = [
    ("rewards", "normalised_reward"),
    ("local_raw_reward", "raw_reward"),
    ("truncated", "is_truncated"),
    ("data_parallel_rank", "data_parallel_rank"),
    ("rollout_mask_sums", "mask_sum"),
];

/// Where the samples of a dump are.
pub(super) enum Columns {
    /// A list of dictionaries.
    Samples(Value),
    /// A dictionary of lists.
    Lists(Value),
}

impl Columns {
    /// The samples of a training dump; `None` if the pickle is something else.
    pub fn of(pickle: &Unpickled) -> Option<Columns> {
        let heap = &pickle.heap;
        if let Some(data) = heap.get(pickle.root, "rollout_data") {
            return heap.get(data, "tokens").map(|_| Columns::Lists(data));
        }
        let samples = heap.get(pickle.root, "samples")?;
        let first = heap.element(samples, 0)?;
        let is_train = heap.get(pickle.root, "format_version").is_some()
            && heap.get(first, "sample_index").is_some();
        is_train.then_some(Columns::Samples(samples))
    }

    fn len(&self, heap: &Heap) -> usize {
        let list = match self {
            Columns::Samples(samples) => Some(*samples),
            Columns::Lists(data) => heap.get(*data, "tokens"),
        };
        list.and_then(|list| heap.length(list)).unwrap_or_default()
    }

    /// The members of a sample. A column of another length has values of other samples too, so it is left out.
    fn sample(&self, heap: &Heap, number: usize) -> Vec<(Text, Value)> {
        let named = |(key, value): &(Value, Value)| Some((Text::from(heap.text(*key)?), *value));
        match self {
            Columns::Samples(samples) => {
                let sample = heap.element(*samples, number);
                let items = sample.and_then(|sample| heap.items(sample));
                items.unwrap_or_default().iter().filter_map(named).collect()
            }
            Columns::Lists(data) => {
                let count = self.len(heap);
                let columns = heap.items(*data).unwrap_or_default().iter();
                let columns = columns.filter_map(named);
                columns
                    .filter(|(_, column)| heap.length(*column) == Some(count))
                    .filter_map(|(name, column)| Some((name, heap.element(column, number)?)))
                    .collect()
            }
        }
    }
}

/// A sample of a training dump.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) struct TrainSample {
    file: Text,
    step: Option<i64>,
    index: Option<i64>,
    /// The position in the list of the rollout dump.
    position: Option<usize>,
    length: Option<i64>,
    lists: Lists,
    figures: Object,
}

/// Reads a training dump. Its samples are joined later, when all files are read.
pub(super) fn read(
    columns: &Columns,
    dump: &mut Dump<'_, '_>,
    name: &str,
    step: Option<i64>,
    outcome: &mut ImportOutcome,
) {
    let count = columns.len(dump.heap);
    for number in 0..count {
        let sample = TrainSample::read(columns, number, dump, name, step);
        outcome.train.push(sample);
    }
    outcome.note(NoteLevel::Read, name, in_words(count));
}

/// Why samples have no messages.
const ALONE: &str = "Samples of training data without the rollout dump of their step have tokens and no messages. Import both \
                     files at once to join them.";

fn in_words(count: usize) -> String {
    format!("slime training dump: {}.", counted(count, "sample"))
}

/// A training dump without its rollout dump, whose samples are read one by one. Its pickle is read as a whole: it has few
/// numbers of its own, and the places of the tensors.
pub(in crate::import) struct TrainingDump {
    pickle: Unpickled,
    columns: Columns,
    reader: SampleReader,
}

impl TrainingDump {
    /// Reads the pickle of a torch file; `None` if it is no training dump.
    pub fn of(bytes: &[u8]) -> Option<TrainingDump> {
        let pickle = volary_torch::read(bytes);
        Some(TrainingDump {
            columns: Columns::of(&pickle)?,
            reader: SampleReader::new(step(&pickle), bytes.len()),
            pickle,
        })
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.columns.len(&self.pickle.heap)
    }

    /// The keys of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<&str> {
        let heap = &self.pickle.heap;
        let members = self.columns.sample(heap, number).into_iter();
        storages_of(heap, members.map(|(_, value)| value).collect())
    }

    /// Reads a sample; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        let (heap, columns) = (&self.pickle.heap, &self.columns);
        let step = self.reader.step;
        let sample = self.reader.dump(heap, storages, |dump| {
            TrainSample::read(columns, number, dump, "", step)
        });
        self.reader.pass_on(sample.into_episode(sink), sink);
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        sink.understood(in_words(count));
        sink.kept(ALONE);
        self.reader.report(sink);
        let Unpickled {
            error,
            placeholders,
            ..
        } = &self.pickle;
        report_pickle(error.as_ref(), placeholders, sink);
    }
}

/// Joins the samples of training dumps with the episodes of rollout dumps. Those without one become episodes of tokens.
pub(in crate::import) fn join(outcome: &mut ImportOutcome) {
    let samples = std::mem::take(&mut outcome.train);
    if samples.is_empty() {
        return;
    }
    let mut by_index: HashMap<(i64, i64), usize> = HashMap::new();
    let mut by_position: HashMap<(i64, usize), usize> = HashMap::new();
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for (place, episode) in outcome.episodes.iter().enumerate() {
        let number = |key| episode.metadata.get(key).and_then(Json::as_i64);
        let is_rollout = episode
            .source
            .as_ref()
            .is_some_and(|source| &*source.format == "slime")
            && !episode.metadata.contains_key("split");
        let Some(step) = number("step").filter(|_| is_rollout) else {
            continue;
        };
        let position = counts.entry(step).or_default();
        by_position.insert((step, *position), place);
        *position += 1;
        if let Some(index) = number("sample") {
            by_index.insert((step, index), place);
        }
    }
    let (mut joined, mut refused, mut alone) = (0, 0, Vec::new());
    let mut misfits: Vec<String> = Vec::new();
    for sample in samples {
        let found = sample
            .step
            .and_then(|step| match (sample.index, sample.position) {
                (Some(index), _) => by_index.get(&(step, index)),
                (None, Some(position)) => by_position.get(&(step, position)),
                (None, None) => None,
            });
        let episode = found.and_then(|place| outcome.episodes.get_mut(*place));
        let found = episode.and_then(|episode| {
            let record = episode.tokens.take()?;
            Some((episode, record))
        });
        let Some((episode, record)) = found else {
            alone.push(sample);
            continue;
        };
        let ids = sample.lists.get("tokens");
        let is_same = ids.is_some_and(|ids| {
            let known = record.strip.ids().iter().map(|id| Some(*id));
            ids.len() == record.strip.len() && ids.iter().map(token_id).eq(known)
        });
        if !is_same {
            episode.tokens = Some(record);
            refused += 1;
            continue;
        }
        let mut record = Arc::unwrap_or_clone(record);
        let before = record.misfits.len();
        for (name, values) in sample.lists.into_streams() {
            // The sampler's stream is the same in both.
            if !record.strip.streams().contains_key(&name) {
                record.add_stream(name, &values, Alignment::Response);
            }
        }
        misfits.extend(record.misfits.iter().skip(before).map(ToString::to_string));
        episode.tokens = Some(Arc::new(record));
        episode.metadata.insert("training_data", sample.figures);
        joined += 1;
    }
    if joined > 0 {
        let text = format!(
            "Joined with their training data: {}.",
            counted(joined, "sample")
        );
        outcome.note(NoteLevel::Read, "", text);
    }
    if refused > 0 {
        let samples = counted(refused, "sample");
        let text = format!(
            "The training data of {samples} is left out: its tokens differ from those of the rollout \
             with the same index."
        );
        outcome.note(NoteLevel::Unreadable, "", text);
    }
    for misfit in &misfits {
        outcome.note(
            NoteLevel::Unreadable,
            "",
            format!("A stream is left out: {misfit}."),
        );
    }
    if let Some(first) = alone.first() {
        outcome.note(NoteLevel::KeptRaw, &first.file.clone(), ALONE);
    }
    for sample in alone {
        let file = sample.file.clone();
        let mut sink = Sink::new(outcome, "slime", &file);
        let episode = sample.into_episode(&mut sink);
        sink.episode(episode);
    }
}

impl TrainSample {
    /// Reads the sample with this number.
    fn read(
        columns: &Columns,
        number: usize,
        dump: &mut Dump<'_, '_>,
        file: &str,
        step: Option<i64>,
    ) -> TrainSample {
        let mut sample = TrainSample {
            file: file.into(),
            step,
            index: None,
            position: None,
            length: None,
            lists: Lists::default(),
            figures: Object::new(),
        };
        for (key, value) in columns.sample(dump.heap, number) {
            if let Some(list) = dump.numbers_of(value) {
                sample.lists.push(&key, list);
                continue;
            }
            #[allow(
                clippy::cast_possible_truncation,
                reason = "indices and lengths are integers"
            )]
            let whole = |number: Option<f64>| number.map(|number| number as i64);
            match &*key {
                "sample_index" | "sample_indices" => sample.index = whole(dump.number_of(value)),
                "rollout_position" => {
                    let position = whole(dump.number_of(value));
                    sample.position = position.and_then(|position| usize::try_from(position).ok());
                }
                "response_lengths" => sample.length = whole(dump.number_of(value)),
                key => {
                    let figure = FIGURES.iter().find(|(known, _)| *known == key);
                    if let Some((_, name)) = figure
                        && let Some(number) = dump.number_of(value)
                    {
                        sample.figures.insert(*name, number);
                    }
                }
            }
        }
        sample
    }

    /// An episode that has tokens, and no messages.
    fn into_episode(self, sink: &mut Sink<'_>) -> Episode {
        let number =
            |number: Option<i64>| number.map_or_else(|| "?".to_owned(), |it| it.to_string());
        let (step, sample) = (number(self.step), number(self.index));
        let mut episode = Episode {
            id: format!("train-{step}-{sample}").into(),
            name: format!("Step {step}, sample {sample}, training data").into(),
            rewards: match self.figures.get("raw_reward").and_then(Json::as_f64) {
                Some(reward) if reward.is_finite() => Rewards::Whole(reward),
                _ => Rewards::Unknown,
            },
            ..Episode::default()
        };
        let place = [("step", self.step), ("sample", self.index)];
        for (key, value) in place {
            if let Some(value) = value {
                episode.metadata.insert(key, value);
            }
        }
        episode.metadata.insert("training_data", self.figures);
        let mut rest = Object::new();
        if let Some(length) = self.length {
            rest.insert("response_length", length);
        }
        self.lists.record(&mut episode, &mut rest, sink);
        episode
    }
}
