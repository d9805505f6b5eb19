//! Reads the samples of a dump one by one, each with the storages of its tensors.

use std::collections::HashSet;

use volary_core::json::Json;
use volary_episode::episode::Episode;
use volary_torch::heap::{List, Node};
use volary_torch::{Heap, Value};

use super::super::interaction;
use super::super::nested::{PickledSample, set_step_and_group};
use super::state;
use super::values::{Dump, KEPT_IDS, is_read};
use crate::import::ImportOutcome;
use crate::import::describe::counted;
use crate::import::expansion::{Expansion, size_of_episode};
use crate::import::files::Files;
use crate::import::reader::Sink;

/// Members of a torch file other than its pickle.
pub(in crate::import) struct Storages<'a> {
    /// The folder of all members in the zip file, with a trailing slash.
    pub top: &'a str,
    pub members: Vec<(String, Vec<u8>)>,
    pub is_big_endian: bool,
}

/// Reads the samples of a dump one by one, each with the storages that it refers to.
pub(in crate::import::slime) struct SampleReader {
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
    pub(super) fn read(
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
        set_step_and_group(&mut sample, step.as_ref(), group);
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
        let (top, is_big_endian) = (storages.top.to_owned(), storages.is_big_endian);
        let mut dump = Dump::new(heap, &mut files, top, is_big_endian, self.left);
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
pub(super) fn storages(heap: &Heap, sample: Value) -> Vec<&str> {
    let items = heap.items(state(heap, sample)).unwrap_or_default().iter();
    let is_kept_ids = |name: &Value| heap.text(*name) == Some(KEPT_IDS);
    let items = items.filter(|(name, _)| !is_kept_ids(name));
    storages_of(heap, items.map(|(_, value)| *value).collect())
}

/// The keys of the storages that the tensors in some values are views of, as far as they are read.
pub(in crate::import::slime) fn storages_of(heap: &Heap, mut pending: Vec<Value>) -> Vec<&str> {
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

/// The number of values that may be created from a file. Shared values are expanded each time.
pub(super) fn most_values(size: usize) -> usize {
    size.saturating_mul(8).saturating_add(1 << 20)
}

/// Reports the tensors that are not in the episodes.
pub(super) fn report_tensors(unread: usize, shapes: usize, sink: &mut Sink<'_>) {
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
