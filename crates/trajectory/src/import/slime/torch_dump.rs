//! slime's rollout dumps: torch files `{rollout_id, samples: [sample]}`.
//!
//! A dump is parsed by `volary_torch`, which executes nothing, and each sample is converted to the JSON object that
//! slime writes to JSON Lines. Tensors are loaded from their zip members on demand.

use std::collections::{BTreeMap, HashSet};

use volary_core::TokenStream;
use volary_core::json::{Json, Key, Object};
use volary_core::object;
use volary_torch::heap::{List, Node};
use volary_torch::legacy::LegacyFile;
use volary_torch::pickle::Fragments;
use volary_torch::{DType, Heap, PickleError, Tensor, Unpickled, Value};

use super::nested::{PickledSample, pickled, set_place};
use super::tokens::Lists;
use super::train_dump::TrainingDump;
use super::{interaction, train_dump};
use crate::episode::Episode;
use crate::import::describe::counted;
use crate::import::expansion::{Expansion, size_of_episode};
use crate::import::files::Files;
use crate::import::index::torch_dump::DumpKind;
use crate::import::reader::Sink;
use crate::import::{ImportOutcome, NoteLevel};

/// The maximum nesting depth of values. Deeper ones are replaced by a text that mentions it.
const DEPTH: usize = 32;
/// The maximum number of elements of a tensor that is converted. Larger ones become their type and shape.
const LARGEST_TENSOR: u64 = 1 << 20;
/// The ids that top-p sampling kept are several for each token; their number is a stream.
const KEPT_IDS: &str = "rollout_top_p_token_ids";
/// The number of samples by which a dump is recognised.
const LOOKED_AT: usize = 64;
/// The number of keys of an unknown file that are listed.
const NAMED: usize = 8;

/// The members that a file of an old version of torch would have if it were a zip file.
pub(in crate::import) fn legacy_members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let Some(file) = LegacyFile::of(bytes) else {
        return Vec::new();
    };
    let order: &[u8] = if file.is_big_endian {
        b"big"
    } else {
        b"little"
    };
    let head = [("data.pkl", file.pickle), ("byteorder", order)];
    let head = head.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    let storages = file.storages.into_iter();
    let storages = storages.map(|(key, bytes)| (format!("data/{key}"), bytes.to_vec()));
    head.into_iter().chain(storages).collect()
}

/// Reads a torch file of `size` bytes.
pub(in crate::import) fn read(
    mut files: Files<'_>,
    name: &str,
    size: usize,
    outcome: &mut ImportOutcome,
) {
    let is_pickle = |index: &usize| {
        let name = files.name(*index);
        name == "data.pkl" || name.ends_with("/data.pkl")
    };
    let Some(index) = files.open().into_iter().find(is_pickle) else {
        return;
    };
    let top = files
        .name(index)
        .strip_suffix("data.pkl")
        .unwrap_or_default();
    let top = top.to_owned();
    let bytes = match files.take_bytes(index) {
        Ok(bytes) => bytes.into_owned(),
        Err((error, bytes)) => {
            outcome.refuse(name, &error);
            bytes
        }
    };
    let pickle = volary_torch::read(&bytes);
    let is_big_endian = files
        .find(&format!("{top}byteorder"))
        .is_some_and(|index| files.start(index).starts_with(b"big"));
    let mut dump = Dump {
        heap: &pickle.heap,
        files: &mut files,
        top,
        is_big_endian,
        storage: None,
        shapes: 0,
        unread: 0,
        left: most_values(size.max(bytes.len())),
    };
    let count = if let Some(columns) = train_dump::Columns::of(&pickle) {
        train_dump::read(&columns, &mut dump, name, step(&pickle), outcome)
    } else if let Some(samples) = samples(&pickle) {
        let count = samples.len();
        let step = step(&pickle);
        let mut sink = Sink::new(outcome, "slime", name).within(size.max(bytes.len()));
        read_rollouts(samples, step, &mut dump, &mut sink);
        count
    } else {
        return outcome.note(NoteLevel::Unreadable, name, unknown(&pickle));
    };
    let mut sink = Sink::new(outcome, "slime", name);
    report_tensors(dump.unread, dump.shapes, &mut sink);
    report_pickle(
        pickle.error.as_ref(),
        &pickle.placeholders,
        count,
        &mut sink,
    );
}

fn read_rollouts(
    samples: Vec<PickledSample>,
    step: Option<i64>,
    dump: &mut Dump<'_, '_>,
    sink: &mut Sink<'_>,
) {
    let mut count = 0;
    let step = step.map(Json::from);
    for (number, PickledSample { value, group }) in samples.into_iter().enumerate() {
        if sink.is_full() {
            sink.leave_out();
            continue;
        }
        let Some((mut sample, lists)) = dump.sample(value) else {
            sink.lost(format!("Sample {number} is not a dictionary."));
            continue;
        };
        set_place(&mut sample, step.as_ref(), group);
        let episode = interaction(sample, lists, &number.to_string(), sink);
        sink.episode(episode);
        count += 1;
    }
    sink.understood(format!(
        "slime rollout dump: {}.",
        counted(count, "episode")
    ));
}

/// The samples: `{samples: […]}`, or a bare list of dictionaries with `response`, or of groups of them.
fn samples(pickle: &Unpickled) -> Option<Vec<PickledSample>> {
    let heap = &pickle.heap;
    let samples = heap.get(pickle.root, "samples").unwrap_or(pickle.root);
    let samples = pickled(heap, samples)?;
    // Samples may be missing.
    let mut known = samples.iter().take(LOOKED_AT).map(|sample| sample.value);
    let first = known.find(|sample| *sample != Value::None)?;
    let first = state(heap, first);
    heap.get(first, "response").map(|_| samples)
}

/// What a dump is, and its step, by the first keys of its pickle.
pub(in crate::import) fn dump_kind(beginning: &[u8]) -> Option<(DumpKind, i64)> {
    let pickle = volary_torch::read(beginning);
    let has = |key| pickle.heap.get(pickle.root, key).is_some();
    let kind = match has("format_version") || has("rollout_data") {
        true => DumpKind::Training,
        false if has("samples") => DumpKind::Rollout,
        false => return None,
    };
    Some((kind, step(&pickle)?))
}

/// The step of a dump.
pub(super) fn step(pickle: &Unpickled) -> Option<i64> {
    match pickle.heap.get(pickle.root, "rollout_id")? {
        Value::Int(step) => Some(step),
        step => pickle.heap.text(step)?.parse().ok(),
    }
}

/// Replaces a pickled `Sample` object by the dictionary of its attributes. A subclass of `dict` has items of its own; a class
/// with `__slots__` has them in the second element of its state, a model of pydantic in `__dict__`.
fn state(heap: &Heap, value: Value) -> Value {
    let Some(Node::Object(object)) = heap.node(value) else {
        return value;
    };
    match heap.node(object.state) {
        _ if !object.items.is_empty() => value,
        Some(Node::Tuple(parts)) => match parts.as_slice() {
            [Value::None, slots] => *slots,
            [attributes, _] => *attributes,
            _ => object.state,
        },
        Some(Node::Dict(_)) => heap.get(object.state, "__dict__").unwrap_or(object.state),
        _ if object.state == Value::None => value,
        _ => object.state,
    }
}

fn unknown(pickle: &Unpickled) -> String {
    let heap = &pickle.heap;
    let samples = heap.get(pickle.root, "samples");
    let samples = samples.and_then(|samples| pickled(heap, samples));
    if pickle.error.is_none() && samples.is_some_and(|samples| samples.is_empty()) {
        return "This rollout dump has no samples.".to_owned();
    }
    if let (Some(_), Some(PickleError::Truncated { .. })) =
        (heap.get(pickle.root, "samples"), &pickle.error)
    {
        return "This rollout dump ends early, before its first sample is complete. Copy it again."
            .to_owned();
    }
    let items = heap.items(pickle.root).unwrap_or_default();
    let keys = items.iter().filter_map(|(key, _)| heap.text(*key));
    let keys: Vec<String> = keys.take(NAMED).map(|key| format!("`{key}`")).collect();
    let contents = match (keys.is_empty(), &pickle.error) {
        (false, _) => format!("its keys are {}", keys.join(", ")),
        (true, Some(error)) => error.to_string(),
        (true, None) => "it is not a dictionary".to_owned(),
    };
    format!("This is a PyTorch file, but not a rollout dump with `samples`: {contents}.")
}

/// Members of a torch file other than its pickle.
pub(in crate::import) struct Storages<'a> {
    /// The folder of all members in the zip file, with a trailing slash.
    pub top: &'a str,
    pub members: Vec<(String, Vec<u8>)>,
    pub is_big_endian: bool,
}

/// Reads the samples of a dump one by one, each with the storages that it refers to.
pub(super) struct SampleReader {
    pub step: Option<i64>,
    /// The remaining number of values that may be created.
    left: usize,
    /// The remaining number of bytes of episodes.
    expansion: Expansion,
    shapes: usize,
    unread: usize,
}

impl SampleReader {
    /// A reader for a file of `size` bytes.
    pub fn new(step: Option<i64>, size: usize) -> SampleReader {
        SampleReader {
            step,
            left: most_values(size),
            expansion: Expansion::of(size),
            shapes: 0,
            unread: 0,
        }
    }

    /// Reads the sample with this number into `sink`; `storages` are the bytes of its tensors.
    fn read(
        &mut self,
        heap: &Heap,
        PickledSample { value, group }: PickledSample,
        number: usize,
        storages: Storages<'_>,
        sink: &mut Sink<'_>,
    ) {
        if self.expansion.is_over() {
            return sink.leave_out();
        }
        let Some((mut sample, lists)) = self.dump(heap, storages, |dump| dump.sample(value)) else {
            return sink.lost(format!("Sample {number} is not a dictionary."));
        };
        let step = self.step.map(Json::from);
        set_place(&mut sample, step.as_ref(), group);
        let episode = interaction(sample, lists, &number.to_string(), sink);
        self.pass_on(episode, sink);
    }

    /// Converts values; `storages` are the bytes of their tensors.
    pub fn dump<T>(
        &mut self,
        heap: &Heap,
        storages: Storages<'_>,
        read: impl FnOnce(&mut Dump<'_, '_>) -> T,
    ) -> T {
        let mut unnoted = ImportOutcome::default();
        let mut files = Files::unpacked("", storages.members, &mut unnoted);
        let mut dump = Dump {
            heap,
            files: &mut files,
            top: storages.top.to_owned(),
            is_big_endian: storages.is_big_endian,
            storage: None,
            shapes: 0,
            unread: 0,
            left: self.left,
        };
        let read = read(&mut dump);
        self.left = dump.left;
        self.shapes += dump.shapes;
        self.unread += dump.unread;
        read
    }

    /// Passes on an episode, unless the file expands to too much.
    pub fn pass_on(&mut self, episode: Episode, sink: &mut Sink<'_>) {
        if !self.expansion.take(size_of_episode(&episode)) {
            self.expansion.end();
            return sink.leave_out();
        }
        sink.episode(episode);
    }

    /// Reports the tensors that are not in the episodes.
    pub fn report(&self, sink: &mut Sink<'_>) {
        report_tensors(self.unread, self.shapes, sink);
    }
}

/// The keys of the storages that the tensors of a sample are views of, as far as they are read.
fn storages(heap: &Heap, sample: Value) -> Vec<&str> {
    let items = heap.items(state(heap, sample)).unwrap_or_default().iter();
    let is_kept_ids = |name: &Value| heap.text(*name) == Some(KEPT_IDS);
    let items = items.filter(|(name, _)| !is_kept_ids(name));
    storages_of(heap, items.map(|(_, value)| *value).collect())
}

/// The keys of the storages that the tensors in some values are views of, as far as they are read.
pub(super) fn storages_of(heap: &Heap, mut pending: Vec<Value>) -> Vec<&str> {
    /// The maximum number of values that are looked at.
    const MOST: usize = 20_000;
    let mut seen = HashSet::new();
    let mut keys: Vec<&str> = Vec::new();
    while let Some(value) = pending.pop() {
        let Value::Node(id) = value else { continue };
        if seen.len() == MOST || !seen.insert(id) {
            continue;
        }
        match heap.node(value) {
            Some(Node::Tensor(tensor)) => {
                let key = tensor.storage.as_deref().filter(|_| is_read(tensor));
                keys.extend(key.filter(|key| !keys.contains(key)));
            }
            Some(Node::List(List::Values(values)) | Node::Tuple(values) | Node::Set(values)) => {
                pending.extend(values.iter().take(MOST));
            }
            Some(Node::Dict(items)) => {
                pending.extend(items.iter().take(MOST).map(|(_, value)| *value));
            }
            Some(Node::Object(object)) => {
                pending.extend([object.arguments, object.state]);
                pending.extend(object.elements.iter().take(MOST));
                pending.extend(object.items.iter().take(MOST).map(|(_, value)| *value));
            }
            _ => {}
        }
    }
    keys
}

/// A dump whose pickle is read as a whole.
pub(in crate::import) enum WholeDump {
    Rollout(RolloutDump),
    Training(TrainingDump),
}

impl WholeDump {
    /// Reads the pickle of a torch file; `None` if it is no dump.
    pub fn of(bytes: &[u8]) -> Option<WholeDump> {
        let rollout = RolloutDump::of(bytes).map(WholeDump::Rollout);
        rollout.or_else(|| TrainingDump::of(bytes).map(WholeDump::Training))
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        match self {
            WholeDump::Rollout(dump) => dump.len(),
            WholeDump::Training(dump) => dump.len(),
        }
    }

    /// The keys of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<&str> {
        match self {
            WholeDump::Rollout(dump) => dump.storages(number),
            WholeDump::Training(dump) => dump.storages(number),
        }
    }

    /// Reads a sample; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        match self {
            WholeDump::Rollout(dump) => dump.read_sample(number, storages, sink),
            WholeDump::Training(dump) => dump.read_sample(number, storages, sink),
        }
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        match self {
            WholeDump::Rollout(dump) => dump.report(count, sink),
            WholeDump::Training(dump) => dump.report(count, sink),
        }
    }
}

/// A rollout dump whose pickle is read as a whole.
pub(in crate::import) struct RolloutDump {
    pickle: Unpickled,
    samples: Vec<PickledSample>,
    reader: SampleReader,
}

impl RolloutDump {
    /// Reads the pickle of a torch file; `None` if it is no rollout dump.
    pub fn of(bytes: &[u8]) -> Option<RolloutDump> {
        let pickle = volary_torch::read(bytes);
        if train_dump::Columns::of(&pickle).is_some() {
            return None;
        }
        Some(RolloutDump {
            samples: samples(&pickle)?,
            reader: SampleReader::new(step(&pickle), bytes.len()),
            pickle,
        })
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// The keys of the storages of a sample.
    pub fn storages(&self, number: usize) -> Vec<&str> {
        let sample = self.samples.get(number);
        sample.map_or_else(Vec::new, |sample| storages(&self.pickle.heap, sample.value))
    }

    /// Reads a sample; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        let heap = &self.pickle.heap;
        if let Some(sample) = self.samples.get(number) {
            self.reader.read(heap, *sample, number, storages, sink);
        }
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        report_rollouts(count, &self.reader, sink);
        let error = self.pickle.error.as_ref();
        report_pickle(error, &self.pickle.placeholders, count, sink);
    }
}

/// A rollout dump whose samples are parts of its pickle, read one after the other.
pub(in crate::import) struct RolloutParts {
    parts: Fragments,
    /// The sample that was parsed last.
    sample: Value,
    reader: SampleReader,
    error: Option<PickleError>,
    placeholders: BTreeMap<String, usize>,
}

impl RolloutParts {
    /// Recognises a rollout dump in a file of `size` bytes by the beginning of its pickle, which includes the first sample;
    /// `first` is its position. `None` if it is something else, or if its step comes later.
    pub fn of(beginning: &[u8], first: usize, size: usize) -> Option<RolloutParts> {
        let pickle = volary_torch::read(beginning);
        // The elements of the list would be groups.
        if samples(&pickle)?
            .iter()
            .any(|sample| sample.group.is_some())
        {
            return None;
        }
        let is_list = pickle.heap.items(pickle.root).is_none();
        let is_rollout = is_list || step(&pickle).is_some();
        (is_rollout && train_dump::Columns::of(&pickle).is_none())
            .then(|| RolloutParts::opened(beginning.get(..first).unwrap_or(beginning), size))
    }

    /// The dump whose pickle has this beginning before its first sample.
    pub fn opened(beginning: &[u8], size: usize) -> RolloutParts {
        let mut parts = Fragments::default();
        parts.share(beginning);
        RolloutParts {
            parts,
            sample: Value::None,
            reader: SampleReader::new(step(&volary_torch::read(beginning)), size),
            error: None,
            placeholders: BTreeMap::new(),
        }
    }

    /// Reads a value that samples refer to.
    pub fn share(&mut self, bytes: &[u8]) {
        self.parts.share(bytes);
    }

    /// Parses a sample. Returns the keys of its storages.
    pub fn parse(&mut self, bytes: &[u8]) -> Vec<&str> {
        let part = self.parts.read(bytes);
        self.sample = part.value;
        self.error = self.error.take().or(part.error);
        for (class, count) in part.placeholders {
            *self.placeholders.entry(class).or_default() += count;
        }
        storages(self.parts.heap(), self.sample)
    }

    /// Reads the sample that was parsed; `storages` are the bytes of its tensors.
    pub fn read_sample(&mut self, number: usize, storages: Storages<'_>, sink: &mut Sink<'_>) {
        let heap = self.parts.heap();
        let sample = PickledSample {
            value: self.sample,
            group: None,
        };
        self.reader.read(heap, sample, number, storages, sink);
    }

    /// Notes why the pickle cannot be read further.
    pub fn damaged(&mut self, error: PickleError) {
        self.error.get_or_insert(error);
    }

    /// Reports what is not in the episodes.
    pub fn report(&self, count: usize, sink: &mut Sink<'_>) {
        report_rollouts(count, &self.reader, sink);
        report_pickle(self.error.as_ref(), &self.placeholders, count, sink);
    }
}

fn report_rollouts(count: usize, reader: &SampleReader, sink: &mut Sink<'_>) {
    sink.understood(format!(
        "slime rollout dump: {}.",
        counted(count, "episode")
    ));
    reader.report(sink);
}

/// The number of values that may be created from a file. Shared values are expanded each time.
fn most_values(size: usize) -> usize {
    size.saturating_mul(8).saturating_add(1 << 20)
}

/// Reports why a pickle ended early, and what was not understood of it. `count` samples were read.
pub(super) fn report_pickle(
    error: Option<&PickleError>,
    placeholders: &BTreeMap<String, usize>,
    count: usize,
    sink: &mut Sink<'_>,
) {
    let samples = counted(count, "sample");
    match error {
        Some(PickleError::Truncated { .. }) => sink.lost(format!(
            "The file ends early: {samples} could be read, the last of which may be incomplete. Copy it again."
        )),
        Some(error) => sink.lost(format!(
            "The file is damaged: {error}. {samples} before it could be read."
        )),
        None => {}
    }
    for (class, count) in placeholders {
        let objects = counted(*count, "object");
        sink.kept(format!(
            "{objects} of {class}: only the contents are shown."
        ));
    }
}

/// Reports the tensors that are not in the episodes.
fn report_tensors(unread: usize, shapes: usize, sink: &mut Sink<'_>) {
    if unread > 0 {
        let tensors = counted(unread, "tensor");
        sink.lost(format!(
            "{tensors} could not be read: the bytes are missing, or the tensor is too large."
        ));
    }
    if shapes > 0 {
        let tensors = counted(shapes, "tensor");
        sink.kept(format!("{tensors}: only type and shape are kept."));
    }
}

/// Whether the numbers of a tensor are read: those of scalars and vectors.
fn is_read(tensor: &Tensor) -> bool {
    (tensor.shape.is_empty() || tensor.is_vector()) && tensor.count() <= u128::from(LARGEST_TENSOR)
}

/// Converts values of a dump: lists of numbers to streams, other values to JSON.
pub(super) struct Dump<'a, 'b> {
    pub heap: &'a Heap,
    files: &'a mut Files<'b>,
    /// The folder of all members in the zip file, with a trailing slash.
    top: String,
    is_big_endian: bool,
    /// The last storage that was read: many tensors can be views of one.
    storage: Option<(String, Vec<u8>)>,
    /// The number of tensors of which only the shape is kept.
    shapes: usize,
    /// The number of tensors that could not be read.
    unread: usize,
    /// The remaining number of values that may be created. Shared values are expanded each time.
    left: usize,
}

impl Dump<'_, '_> {
    /// A sample: its numeric lists, and its other members.
    fn sample(&mut self, value: Value) -> Option<(Object, Lists)> {
        let heap = self.heap;
        let items = heap.items(state(heap, value))?;
        let mut lists = Lists::default();
        let mut others = Vec::new();
        for (key, value) in items {
            match (heap.text(*key), self.numbers_of(*value)) {
                (Some(KEPT_IDS), _) => {}
                (Some(name), Some(numbers)) => {
                    lists.push(name, numbers);
                    // Lists that are no streams stay as they are.
                    if !is_list_of_tokens(name) {
                        others.push((*key, *value));
                    }
                }
                _ => others.push((*key, *value)),
            }
        }
        let mut sample = self.object(&others, 0);
        if let Some(status) = sample.get("status").and_then(enumerated) {
            sample.insert("status", status);
        }
        Some((sample, lists))
    }

    /// The numbers of a list, tuple or vector, with gaps where it has `None`; `None` for other values.
    pub fn numbers_of(&mut self, value: Value) -> Option<TokenStream> {
        let heap = self.heap;
        let number = |value: &Value| number_in(*value);
        let values = match heap.node(value)? {
            Node::List(List::Values(values)) | Node::Tuple(values) => Some(values),
            // A subclass of `list`.
            Node::Object(object) if object.items.is_empty() => Some(&object.elements),
            _ => None,
        };
        if let Some(values) = values
            && values.iter().any(|value| matches!(value, Value::Node(_)))
        {
            return self.scalars(values);
        }
        let numbers: TokenStream = match heap.node(value)? {
            #[allow(clippy::cast_precision_loss, reason = "token ids are far below 2^53")]
            Node::List(List::Ints(ints)) => ints.iter().map(|int| *int as f64).collect(),
            Node::List(List::Floats(floats)) => floats.iter().copied().collect(),
            Node::List(List::Values(_)) | Node::Tuple(_) | Node::Object(_) => {
                values?.iter().map(number).collect::<Option<_>>()?
            }
            Node::Tensor(tensor) if tensor.is_vector() => {
                self.elements(tensor)?.into_iter().collect()
            }
            _ => return None,
        };
        self.left = self.left.checked_sub(numbers.len())?;
        Some(numbers).filter(|numbers| !numbers.is_empty())
    }

    /// Counts a value that has no numbers, if it is a tensor that could not be read.
    pub fn count_unread(&mut self, value: Value) {
        if let Some(Node::Tensor(tensor)) = self.heap.node(value)
            && (tensor.shape.is_empty() || tensor.is_vector())
            && tensor.count() > 0
        {
            self.unread += 1;
        }
    }

    /// The numbers of a list of scalar tensors, among which there may be numbers and `None`.
    fn scalars(&mut self, values: &[Value]) -> Option<TokenStream> {
        let heap = self.heap;
        let is_scalar = |value: &Value| match heap.node(*value) {
            Some(Node::Tensor(tensor)) => tensor.shape.is_empty(),
            Some(_) => false,
            None => true,
        };
        if !values.iter().all(is_scalar) {
            return None;
        }
        self.left = self.left.checked_sub(values.len())?;
        let numbers = values.iter().map(|value| match heap.node(*value) {
            Some(Node::Tensor(tensor)) => self.elements(tensor)?.first().copied().map(Some),
            _ => number_in(*value),
        });
        numbers.collect()
    }

    /// The number of a value or a tensor with one element.
    pub fn number_of(&mut self, value: Value) -> Option<f64> {
        match self.json(value, 0) {
            Json::List(list) => match list.as_slice() {
                [only] => only.as_f64(),
                _ => None,
            },
            Json::Bool(flag) => Some(f64::from(u8::from(flag))),
            other => other.as_f64(),
        }
    }

    pub fn json(&mut self, value: Value, depth: usize) -> Json {
        let Some(left) = self.left.checked_sub(1) else {
            return "(left out: too large)".into();
        };
        self.left = left;
        let heap = self.heap;
        let node = match value {
            Value::None => return Json::Null,
            Value::Bool(flag) => return flag.into(),
            Value::Int(int) => return int.into(),
            Value::Float(float) => return float.into(),
            Value::Node(_) => heap.node(value),
        };
        if depth >= DEPTH {
            return "(nested too deeply)".into();
        }
        match node {
            None => Json::Null,
            Some(Node::Text(text)) => text.as_str().into(),
            Some(Node::Bytes(bytes)) => format!("({})", counted(bytes.len(), "byte")).into(),
            Some(Node::BigInt(number)) => Json::parse(&number.to_string()).unwrap_or_default(),
            Some(Node::List(List::Values(values)) | Node::Tuple(values) | Node::Set(values)) => {
                Json::List(
                    values
                        .iter()
                        .map(|value| self.json(*value, depth + 1))
                        .collect(),
                )
            }
            Some(Node::List(List::Ints(ints))) => self.numbers(ints),
            Some(Node::List(List::Floats(floats))) => self.numbers(floats),
            Some(Node::Dict(items)) => Json::Object(self.object(items, depth)),
            Some(Node::Global(global)) => object!({ "@": (global.path()) }).into(),
            Some(Node::Tensor(tensor)) => self.tensor(tensor),
            Some(Node::Object(object)) => {
                let mut shown = object!({ "@": (object.class.path()) });
                shown.insert("args", self.json(object.arguments, depth + 1));
                if object.state != Value::None {
                    shown.insert("state", self.json(object.state, depth + 1));
                }
                if !object.elements.is_empty() {
                    let elements = object.elements.iter();
                    let elements = elements.map(|value| self.json(*value, depth + 1)).collect();
                    shown.insert("elements", Json::List(elements));
                }
                if !object.items.is_empty() {
                    shown.insert("items", Json::Object(self.object(&object.items, depth)));
                }
                shown.into()
            }
        }
    }

    fn numbers<T: Copy + Into<Json>>(&mut self, numbers: &[T]) -> Json {
        let Some(left) = self.left.checked_sub(numbers.len()) else {
            return "(left out: too large)".into();
        };
        self.left = left;
        Json::List(numbers.iter().map(|number| (*number).into()).collect())
    }

    fn object(&mut self, items: &[(Value, Value)], depth: usize) -> Object {
        let mut pairs: Vec<(Key, Json)> = Vec::new();
        for (key, value) in items {
            let key = match self.heap.text(*key) {
                Some(text) => text.to_owned(),
                // Keys may also be numbers and tuples. A key may contain itself, so it counts as nested, too.
                None => self.json(*key, (DEPTH - 2).max(depth + 1)).to_python_text(),
            };
            pairs.push((Key::from(key), self.json(*value, depth + 1)));
        }
        Object::from_pairs(pairs)
    }

    fn tensor(&mut self, tensor: &Tensor) -> Json {
        let is_big_endian = self.is_big_endian;
        // Seeds and ids may have more digits than a float.
        if tensor.shape.is_empty()
            && tensor.dtype != DType::Bool
            && let Some(storage) = self.storage_of(tensor)
            && let Some(whole) = tensor.integer(storage, 0, is_big_endian)
        {
            return Json::Integer(whole.into());
        }
        let numbers = self.elements(tensor);
        match numbers {
            Some(numbers) if tensor.shape.is_empty() => match (numbers.first(), tensor.dtype) {
                (Some(number), DType::Bool) => (*number != 0.0).into(),
                (number, _) => number.copied().map_or(Json::Null, Json::from),
            },
            Some(numbers) if tensor.dtype.is_integer() => {
                #[allow(clippy::cast_possible_truncation, reason = "the elements are integers")]
                let ints: Vec<i64> = numbers.iter().map(|number| *number as i64).collect();
                self.numbers(&ints)
            }
            Some(numbers) => self.numbers(&numbers),
            None => {
                match tensor.shape.is_empty() || tensor.is_vector() {
                    true => self.unread += 1,
                    false => self.shapes += 1,
                }
                let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
                format!("(tensor {:?} [{}])", tensor.dtype, shape.join(", ")).into()
            }
        }
    }

    /// The elements of a vector or scalar; `None` for larger tensors and missing bytes.
    fn elements(&mut self, tensor: &Tensor) -> Option<Vec<f64>> {
        if !is_read(tensor) {
            return None;
        }
        let is_big_endian = self.is_big_endian;
        let storage = self.storage_of(tensor)?;
        tensor.read(storage, 0, is_big_endian, LARGEST_TENSOR).ok()
    }

    /// The bytes that a tensor is a view of; empty if it has its own. `None` if they are missing.
    fn storage_of(&mut self, tensor: &Tensor) -> Option<&[u8]> {
        let Some(key) = &tensor.storage else {
            return Some(&[]);
        };
        if self.storage.as_ref().is_none_or(|(known, _)| known != key) {
            let index = self.files.find(&format!("{}data/{key}", self.top))?;
            let bytes = self.files.bytes(index).ok()?.into_owned();
            self.storage = Some((key.clone(), bytes));
        }
        self.storage.as_ref().map(|(_, bytes)| bytes.as_slice())
    }
}

/// The number of a value that is none of the heap, or a gap for `None`.
fn number_in(value: Value) -> Option<Option<f64>> {
    match value {
        Value::None => Some(None),
        Value::Bool(flag) => Some(Some(f64::from(u8::from(flag)))),
        #[allow(clippy::cast_precision_loss, reason = "token ids are far below 2^53")]
        Value::Int(int) => Some(Some(int as f64)),
        Value::Float(float) => Some(Some(float)),
        Value::Node(_) => None,
    }
}

/// The value of an enumeration: its class applied to the value; or the name of a member, as newer versions of Python write
/// it, which is the value in capital letters.
fn enumerated(value: &Json) -> Option<Json> {
    let path = value.get("@")?.as_text()?;
    match value.get("args") {
        Some(Json::List(arguments)) => match arguments.as_slice() {
            [value @ Json::Text(_)] => Some(value.clone()),
            _ => None,
        },
        _ => {
            let (_, name) = path.rsplit_once('.')?;
            Some(name.to_lowercase().into())
        }
    }
}

/// Whether a list always has values for tokens, so that it needs no other form.
fn is_list_of_tokens(name: &str) -> bool {
    [
        "tokens",
        "loss_mask",
        "rollout_log_probs",
        "teacher_log_probs",
        "rollout_top_p_token_offsets",
    ]
    .contains(&name)
}
