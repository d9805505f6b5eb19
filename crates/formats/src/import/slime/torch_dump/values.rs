//! Converts values of a dump: lists of numbers to streams, other values to JSON.

use volary_core::TokenStream;
use volary_core::json::{Json, Key, Object};
use volary_core::object;
use volary_torch::heap::{List, Node};
use volary_torch::{DType, Heap, Tensor, Value};

use super::super::tokens::Lists;
use super::state;
use crate::import::describe::counted;
use crate::import::files::Files;

/// The maximum nesting depth of values. Deeper ones are replaced by a text that mentions it.
const DEPTH: usize = 32;
/// The maximum number of elements of a tensor that is converted. Larger ones become their type and shape.
const LARGEST_TENSOR: u64 = 1 << 20;
/// The ids that top-p sampling kept are several for each token; their number is a stream.
pub(super) const KEPT_IDS: &str = "rollout_top_p_token_ids";

/// Converts values of a dump: lists of numbers to streams, other values to JSON.
pub(in crate::import::slime) struct Dump<'a, 'b> {
    pub heap: &'a Heap,
    files: &'a mut Files<'b>,
    /// The folder of all members in the zip file, with a trailing slash.
    top: String,
    is_big_endian: bool,
    /// The last storage that was read: many tensors can be views of one.
    storage: Option<(String, Vec<u8>)>,
    /// The number of tensors of which only the shape is kept.
    pub(super) shapes: usize,
    /// The number of tensors that could not be read.
    pub(super) unread: usize,
    /// The remaining number of values that may be created. Shared values are expanded each time.
    pub(super) left: usize,
}

impl<'a, 'b> Dump<'a, 'b> {
    /// The values of `heap`, whose tensors are in the members of `files` in the folder `top`. At most `left` values are made.
    pub(super) fn new(
        heap: &'a Heap,
        files: &'a mut Files<'b>,
        top: String,
        is_big_endian: bool,
        left: usize,
    ) -> Dump<'a, 'b> {
        Dump {
            heap,
            files,
            top,
            is_big_endian,
            storage: None,
            shapes: 0,
            unread: 0,
            left,
        }
    }
}

impl Dump<'_, '_> {
    /// A sample: its numeric lists, and its other members.
    pub(super) fn sample(&mut self, value: Value) -> Option<(Object, Lists)> {
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

    /// A number or a text.
    pub fn scalar(&mut self, value: Value) -> Option<Json> {
        match self.heap.text(value) {
            Some(text) => Some(text.into()),
            None => self.number_of(value).map(Json::from),
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
                if tensor.shape.is_empty() || tensor.is_vector() {
                    self.unread += 1
                } else {
                    self.shapes += 1
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

/// Whether the numbers of a tensor are read: those of scalars and vectors.
pub(super) fn is_read(tensor: &Tensor) -> bool {
    (tensor.shape.is_empty() || tensor.is_vector()) && tensor.count() <= u128::from(LARGEST_TENSOR)
}
