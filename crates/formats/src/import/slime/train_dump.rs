//! slime's training dumps (`.pt`): what the trainer made of each sample of a step, with streams for each token of the
//! response.
//!
//! Version 2 is `{format_version, rollout_id, samples: [sample]}`, version 1 a file for each rank, `{rollout_id, rank,
//! rollout_data: {column: list}}`. `training_join` joins the samples with those of the rollout dump of the same step.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Episode, Rewards};
use volary_episode::token_record::StreamMisfit;
use volary_torch::{Heap, Unpickled, Value};

use super::tokens::Lists;
use super::torch_dump::{Dump, SampleReader, Storages, report_pickle, step, storages_of};
use super::training_join::{NotJoined, attach};
use crate::import::describe::counted;
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel};

/// The scalar members of a sample that are shown with the episode.
const FIGURES: [(&str, &str); 6] = [
    ("rewards", "normalised_reward"),
    ("raw_reward", "raw_reward"),
    ("local_raw_reward", "raw_reward"),
    ("truncated", "is_truncated"),
    ("data_parallel_rank", "data_parallel_rank"),
    ("rollout_mask_sums", "mask_sum"),
];

/// The members that say which sample of the rollout dump a sample is: by its index…
const INDICES: [&str; 2] = ["sample_index", "sample_indices"];
/// …or by its position in the list.
const POSITION: &str = "rollout_position";

/// Which sample of the rollout dump a sample of a training dump is, in one or both ways. Samples that were cut from one
/// rollout have its index in common, so the position says more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::import) struct SampleKey {
    pub index: Option<i64>,
    /// The position in the list.
    pub position: Option<usize>,
}

/// The keys of all samples of one of two dumps, to find the one that a sample of the other dump is.
#[derive(Clone, Debug, Default)]
pub(in crate::import) struct SampleKeys {
    keys: Vec<SampleKey>,
    by_position: HashMap<usize, usize>,
    by_index: HashMap<i64, Vec<usize>>,
}

impl SampleKeys {
    /// The keys of samples, in the order of their numbers.
    pub fn of(keys: Vec<SampleKey>) -> SampleKeys {
        let mut by_index: HashMap<i64, Vec<usize>> = HashMap::new();
        let mut by_position = HashMap::new();
        for (number, key) in keys.iter().enumerate() {
            if let Some(index) = key.index {
                by_index.entry(index).or_default().push(number);
            }
            if let Some(position) = key.position {
                by_position.insert(position, number);
            }
        }
        SampleKeys {
            keys,
            by_position,
            by_index,
        }
    }

    /// The numbers of the samples that may have a key: the one at its position, unless that one has another index;
    /// otherwise all with its index, as both dumps have them in the same order.
    pub fn find(&self, key: SampleKey) -> &[usize] {
        let at_position = key
            .position
            .and_then(|position| self.by_position.get(&position));
        let fits = |number: &&usize| {
            let index = self.keys.get(**number).and_then(|found| found.index);
            index.zip(key.index).is_none_or(|(one, other)| one == other)
        };
        match at_position.filter(fits) {
            Some(number) => std::slice::from_ref(number),
            None => {
                let with_index = key.index.and_then(|index| self.by_index.get(&index));
                with_index.map_or(&[], Vec::as_slice)
            }
        }
    }
}

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
    pub(super) file: Text,
    pub(super) step: Option<i64>,
    pub(super) key: SampleKey,
    length: Option<i64>,
    pub(super) lists: Lists,
    pub(super) figures: Object,
}

/// Reads a training dump, and returns the number of its samples. They are joined later, when all files are read.
pub(super) fn read(
    columns: &Columns,
    dump: &mut Dump<'_, '_>,
    name: &str,
    step: Option<i64>,
    outcome: &mut ImportOutcome,
) -> usize {
    let count = columns.len(dump.heap);
    for number in 0..count {
        let sample = TrainSample::read(columns, number, dump, name, step);
        outcome.train.push(sample);
    }
    outcome.note(NoteLevel::Read, name, summary(count));
    count
}

/// Why samples have no messages.
pub(super) const ALONE: &str = "Samples of training data without the rollout dump of their step have tokens and no messages. Import both \
                     files at once to join them.";

fn summary(count: usize) -> String {
    format!("slime training dump: {}.", counted(count, "sample"))
}

/// A training dump whose samples are read one by one. Its pickle is read as a whole: it has few numbers of its own, and the
/// references to the tensors.
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

    /// The step of training, by its number.
    pub fn step(&self) -> Option<i64> {
        self.reader.step
    }

    /// Where the samples belong in the rollout dump of their step. `None` if some say that in tensors, or not at all.
    pub fn keys(&self) -> Option<SampleKeys> {
        let heap = &self.pickle.heap;
        let key = |number| {
            let members = self.columns.sample(heap, number);
            let whole = |keys: &[&str]| {
                let (_, value) = members.iter().find(|(key, _)| keys.contains(&&**key))?;
                match value {
                    Value::Int(int) => Some(*int),
                    _ => None,
                }
            };
            let key = SampleKey {
                index: whole(&INDICES),
                position: whole(&[POSITION]).and_then(|it| usize::try_from(it).ok()),
            };
            (key != SampleKey::default()).then_some(key)
        };
        let keys: Option<Vec<SampleKey>> = (0..self.len()).map(key).collect();
        Some(SampleKeys::of(keys?))
    }

    /// Adds the data of a sample to its episode. Returns what could not be aligned.
    pub fn join_sample(
        &mut self,
        number: usize,
        storages: Storages<'_>,
        episode: &mut Episode,
    ) -> Result<Vec<StreamMisfit>, NotJoined> {
        let sample = self.sample(number, storages);
        attach(episode, sample)
    }

    /// The keys of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<&str> {
        let heap = &self.pickle.heap;
        let members = self.columns.sample(heap, number).into_iter();
        storages_of(heap, members.map(|(_, value)| value).collect())
    }

    /// Reads a sample; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        let sample = self.sample(number, storages);
        self.reader.pass_on(sample.into_episode(sink), sink);
    }

    fn sample(&mut self, number: usize, storages: Storages<'_>) -> TrainSample {
        let (heap, columns) = (&self.pickle.heap, &self.columns);
        let step = self.reader.step;
        self.reader.dump(heap, storages, |dump| {
            TrainSample::read(columns, number, dump, "", step)
        })
    }

    /// Reports what is not in the episodes, `alone` of which have no rollout.
    pub fn report(&self, alone: usize, sink: &mut Sink<'_>) {
        sink.understood(summary(self.len()));
        if alone > 0 {
            sink.kept(ALONE);
        }
        self.reader.report(sink);
        let Unpickled {
            error,
            placeholders,
            ..
        } = &self.pickle;
        report_pickle(error.as_ref(), placeholders, self.len(), sink);
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
            key: SampleKey::default(),
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
                key if INDICES.contains(&key) => {
                    sample.key.index = whole(dump.number_of(value));
                }
                POSITION => {
                    let position = whole(dump.number_of(value));
                    sample.key.position = position.and_then(|it| usize::try_from(it).ok());
                }
                "response_lengths" => sample.length = whole(dump.number_of(value)),
                key => {
                    let figure = FIGURES.iter().find(|(known, _)| *known == key);
                    match figure {
                        Some((_, name)) => {
                            let number = dump.number_of(value);
                            number.map(|number| sample.figures.insert(*name, number));
                        }
                        None => match dump.scalar(value) {
                            Some(scalar) => drop(sample.figures.insert(key.to_owned(), scalar)),
                            None => dump.count_unread(value),
                        },
                    }
                }
            }
        }
        sample
    }

    /// An episode that has tokens, and no messages.
    pub(super) fn into_episode(self, sink: &mut Sink<'_>) -> Episode {
        let number =
            |number: Option<i64>| number.map_or_else(|| "?".to_owned(), |it| it.to_string());
        let (step, sample) = (number(self.step), number(self.key.index));
        let mut episode = Episode {
            id: format!("train-{step}-{sample}").into(),
            name: format!("Step {step}, sample {sample}, training data").into(),
            rewards: match self.figures.get("raw_reward").and_then(Json::as_f64) {
                Some(reward) => Rewards::Whole(reward),
                None => Rewards::Unknown,
            },
            ..Episode::default()
        };
        let members = [("step", self.step), ("sample", self.key.index)];
        for (key, value) in members {
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
