//! Rollouts before they are flattened: lists of groups, each a list of samples, or of lists of them where a sample was
//! divided. A sample that does not name its group is of the one in whose list it is.

use volary_core::json::{Json, Object};
use volary_torch::heap::Node;
use volary_torch::{Heap, Value};

use crate::import::reader::Line;

/// The maximum depth of lists.
const DEEPEST: usize = 4;

/// A sample in JSON.
pub(super) struct Sample {
    /// The number of its line or element, from 1, and its number in the group: `3`, or `3-1`.
    pub label: String,
    /// The number of the group in whose list it is.
    pub group: Option<usize>,
    pub value: Json,
}

/// The samples of all records, some of which may be groups.
pub(super) fn samples(records: Vec<Line>) -> Vec<Sample> {
    let mut samples = Vec::new();
    for Line { number, value } in records {
        match value {
            Json::List(list) => {
                let mut members = Vec::new();
                flatten(list, DEEPEST, &mut members);
                let numbered = members.into_iter().enumerate();
                samples.extend(numbered.map(|(member, value)| Sample {
                    label: format!("{number}-{}", member + 1),
                    group: Some(number - 1),
                    value,
                }));
            }
            value => samples.push(Sample {
                label: number.to_string(),
                group: None,
                value,
            }),
        }
    }
    samples
}

fn flatten(list: Vec<Json>, depth: usize, members: &mut Vec<Json>) {
    for value in list {
        match value {
            Json::List(list) if depth > 0 => flatten(list, depth - 1, members),
            value => members.push(value),
        }
    }
}

/// The first sample in a value: that of a group, or the value itself.
pub(super) fn first(value: &Json) -> &Json {
    let mut first = value;
    for _ in 0..=DEEPEST {
        match first {
            Json::List(list) => first = list.first().unwrap_or(first),
            _ => break,
        }
    }
    first
}

/// Adds the step, and the group unless the sample names it.
pub(super) fn set_step_and_group(sample: &mut Object, step: Option<&Json>, group: Option<usize>) {
    if let Some(step) = step {
        sample.insert("step", step.clone());
    }
    if let Some(group) = group
        && sample.get("group_index").is_none_or(Json::is_null)
    {
        sample.insert("group_index", group as i64);
    }
}

/// A sample in a pickle.
#[derive(Clone, Copy, Debug)]
pub(super) struct PickledSample {
    pub value: Value,
    /// The number of the group in whose list it is.
    pub group: Option<usize>,
}

/// The samples of a pickled list, some of which may be groups; `None` if it is no list.
pub(super) fn pickled(heap: &Heap, list: Value) -> Option<Vec<PickledSample>> {
    let count = heap.length(list)?;
    let mut flat = Flat {
        heap,
        samples: Vec::new(),
        left: heap.len().saturating_add(count),
    };
    flat.add(list, None, DEEPEST);
    Some(flat.samples)
}

struct Flat<'a> {
    heap: &'a Heap,
    samples: Vec<PickledSample>,
    /// The remaining number of elements. A list may occur in several others, so there may be many more than in the file.
    left: usize,
}

impl Flat<'_> {
    fn add(&mut self, list: Value, group: Option<usize>, depth: usize) {
        let heap = self.heap;
        for index in 0..heap.length(list).unwrap_or_default() {
            let Some(left) = self.left.checked_sub(1) else {
                return;
            };
            self.left = left;
            let Some(value) = heap.element(list, index) else {
                continue;
            };
            match heap.node(value) {
                Some(Node::List(_) | Node::Tuple(_)) if depth > 0 => {
                    self.add(value, group.or(Some(index)), depth - 1);
                }
                _ => self.samples.push(PickledSample { value, group }),
            }
        }
    }
}
