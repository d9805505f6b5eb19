//! The values of a pickle, in one arena.

use num_bigint::BigInt;

use crate::tensor::Tensor;

/// A value: small ones are stored inline, all others are in the [`Heap`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Python's `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i64),
    Float(f64),
    /// A value in the heap.
    Node(NodeId),
}

/// The index of a node in its heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// A value that is not stored inline.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A string.
    Text(String),
    /// Bytes or a byte array.
    Bytes(Vec<u8>),
    /// An integer of more than 64 bits.
    BigInt(BigInt),
    List(List),
    Tuple(Vec<Value>),
    /// A dictionary, in insertion order. Keys may be any value.
    Dict(Vec<(Value, Value)>),
    /// A set or a frozen set.
    Set(Vec<Value>),
    /// A class or a function, by name.
    Global(Global),
    /// A tensor or a numpy array.
    Tensor(Tensor),
    /// An instance of a class that is not on the list.
    Object(Object),
}

/// A list. Lists of numbers, most of a rollout dump, take eight bytes per element.
#[derive(Clone, Debug, PartialEq)]
pub enum List {
    /// Integers only.
    Ints(Vec<i64>),
    /// Floats only.
    Floats(Vec<f64>),
    /// Any values.
    Values(Vec<Value>),
}

/// The name of a class or a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Global {
    /// The module, with dots.
    pub module: String,
    /// The name, with dots if it is nested.
    pub name: String,
}

/// An instance of a class that is not on the list, with all information that the pickle contains about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The class or function.
    pub class: Global,
    /// The arguments of its constructor.
    pub arguments: Value,
    /// The state that was set afterwards; [`Value::None`] if there is none.
    pub state: Value,
    /// The appended elements, for subclasses of `list`.
    pub elements: Vec<Value>,
    /// The items that were set, for subclasses of `dict`.
    pub items: Vec<(Value, Value)>,
}

/// The nodes of all values of a pickle.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    nodes: Vec<Node>,
    /// The number of bytes and elements that constructors may still copy from other values. A few bytes of
    /// a pickle can copy a long list, again and again.
    copies_left: usize,
}

impl Heap {
    /// A heap for a pickle of this many bytes.
    pub(crate) fn for_pickle(bytes: usize) -> Heap {
        let mut heap = Heap::default();
        heap.allow_copies(bytes);
        heap
    }

    /// Sets how much may be copied while a pickle of this many bytes is read.
    pub(crate) fn allow_copies(&mut self, bytes: usize) {
        self.copies_left = bytes.saturating_mul(4).saturating_add(1 << 20);
    }

    /// Drops all nodes but the first ones.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.nodes.truncate(count);
    }

    /// Whether the elements or bytes of a value may be copied. If so, the copy is counted.
    pub(crate) fn may_copy(&mut self, value: Value) -> bool {
        let size = match self.node(value) {
            Some(Node::Text(text)) => text.len(),
            Some(Node::Bytes(bytes)) => bytes.len(),
            Some(Node::Dict(items)) => items.len(),
            _ => self.length(value).unwrap_or(0),
        };
        let left = self.copies_left.checked_sub(size);
        self.copies_left = left.unwrap_or(self.copies_left);
        left.is_some()
    }

    /// Stores a node.
    pub(crate) fn add(&mut self, node: Node) -> Value {
        // The input has fewer than 2^32 bytes, and a node takes at least one of them.
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(node);
        Value::Node(NodeId(id))
    }

    /// The node of a value; `None` if the value is stored inline.
    pub fn node(&self, value: Value) -> Option<&Node> {
        match value {
            Value::Node(NodeId(id)) => self.nodes.get(id as usize),
            _ => None,
        }
    }

    pub(crate) fn node_mut(&mut self, value: Value) -> Option<&mut Node> {
        match value {
            Value::Node(NodeId(id)) => self.nodes.get_mut(id as usize),
            _ => None,
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the heap has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The string of a value.
    pub fn text(&self, value: Value) -> Option<&str> {
        match self.node(value)? {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a dictionary, or of an instance of a subclass of `dict`.
    pub fn items(&self, value: Value) -> Option<&[(Value, Value)]> {
        match self.node(value)? {
            Node::Dict(items) => Some(items),
            Node::Object(object) if !object.items.is_empty() => Some(&object.items),
            _ => None,
        }
    }

    /// The member of a dictionary with a string key.
    pub fn get(&self, value: Value, key: &str) -> Option<Value> {
        let items = self.items(value)?;
        let found = items
            .iter()
            .rev()
            .find(|(name, _)| self.text(*name) == Some(key));
        found.map(|(_, value)| *value)
    }

    /// The number of elements of a list or tuple.
    pub fn length(&self, value: Value) -> Option<usize> {
        match self.node(value)? {
            Node::List(list) => Some(list.len()),
            Node::Tuple(elements) | Node::Set(elements) => Some(elements.len()),
            Node::Object(object) => Some(object.elements.len()),
            _ => None,
        }
    }

    /// An element of a list or tuple.
    pub fn element(&self, value: Value, index: usize) -> Option<Value> {
        match self.node(value)? {
            Node::List(list) => list.get(index),
            Node::Tuple(elements) | Node::Set(elements) => elements.get(index).copied(),
            Node::Object(object) => object.elements.get(index).copied(),
            _ => None,
        }
    }
}

impl List {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            List::Ints(ints) => ints.len(),
            List::Floats(floats) => floats.len(),
            List::Values(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            List::Ints(ints) => ints.get(index).map(|int| Value::Int(*int)),
            List::Floats(floats) => floats.get(index).map(|float| Value::Float(*float)),
            List::Values(values) => values.get(index).copied(),
        }
    }

    /// Appends an element. The list keeps its compact form as long as all elements have its type.
    pub fn push(&mut self, value: Value) {
        match (&mut *self, value) {
            (List::Ints(ints), Value::Int(int)) => ints.push(int),
            (List::Floats(floats), Value::Float(float)) => floats.push(float),
            (List::Values(values), value) => values.push(value),
            (List::Ints(ints), Value::Float(float)) if ints.is_empty() => {
                *self = List::Floats(vec![float]);
            }
            (List::Ints(ints), value) => {
                let mut values: Vec<Value> = ints.drain(..).map(Value::Int).collect();
                values.push(value);
                *self = List::Values(values);
            }
            (List::Floats(floats), value) => {
                let mut values: Vec<Value> = floats.drain(..).map(Value::Float).collect();
                values.push(value);
                *self = List::Values(values);
            }
        }
    }
}

impl Default for List {
    fn default() -> Self {
        List::Ints(Vec::new())
    }
}

impl Global {
    /// The module and the name, joined by a dot.
    pub fn path(&self) -> String {
        format!("{}.{}", self.module, self.name)
    }
}
