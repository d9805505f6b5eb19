//! The stack machine of pickles, protocols 0 to 5.
//!
//! What runs rarely, and what has a hot loop of its own, is not inlined into [`Machine::step`]: a browser optimises each hot
//! function as a whole, which takes longer than reading a dump's first samples if that function is large.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::reader::Reader;
use super::{PickleError, Unpickled, construct};
use crate::heap::{Global, Heap, List, Node, Object, Value};

/// The state of the machine.
pub(super) struct Machine<'a> {
    reader: Reader<'a>,
    heap: Heap,
    stack: Vec<Value>,
    /// The stack heights at the open marks.
    marks: Vec<usize>,
    memo: BTreeMap<u64, Value>,
    /// The numbers of the values in the memo that were read by this machine.
    numbers: Vec<u64>,
    /// The number of nodes that were there before.
    before: usize,
    /// The position of the current opcode.
    at: usize,
}

/// What a part of a pickle leaves behind.
pub(super) struct Part {
    pub value: Value,
    pub heap: Heap,
    pub memo: BTreeMap<u64, Value>,
    /// The numbers of the values that it added to the memo.
    pub numbers: Vec<u64>,
    pub error: Option<PickleError>,
    pub placeholders: BTreeMap<String, usize>,
}

impl<'a> Machine<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Machine {
            reader: Reader::new(bytes),
            heap: Heap::for_pickle(bytes.len()),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: BTreeMap::new(),
            numbers: Vec::new(),
            before: 0,
            at: 0,
        }
    }

    /// A machine for a part of a pickle, with the values before it.
    pub fn within(bytes: &'a [u8], mut heap: Heap, memo: BTreeMap<u64, Value>) -> Self {
        heap.allow_copies(bytes.len());
        Machine {
            before: heap.len(),
            heap,
            memo,
            ..Machine::new(bytes)
        }
    }

    /// Runs until the end, or until the first error.
    pub fn run(mut self) -> Unpickled {
        let error = loop {
            match self.step() {
                Ok(true) => break None,
                Ok(false) => {}
                Err(error) => break Some(error),
            }
        };
        if error.is_some() {
            self.recover();
        }
        let placeholders = self.placeholders();
        Unpickled {
            root: match error {
                None => self.stack.pop().unwrap_or(Value::None),
                Some(_) => self.stack.first().copied().unwrap_or(Value::None),
            },
            heap: self.heap,
            error,
            length: self.reader.position(),
            placeholders,
        }
    }

    /// Runs until the end of the bytes, which are a part of a pickle, or until the first error.
    pub fn run_part(mut self) -> Part {
        let mut error = None;
        while error.is_none() && !self.reader.rest().is_empty() {
            error = self.step().err();
        }
        if error.is_some() {
            self.recover();
        }
        Part {
            placeholders: self.placeholders(),
            value: self.stack.first().copied().unwrap_or(Value::None),
            heap: self.heap,
            memo: self.memo,
            numbers: self.numbers,
            error,
        }
    }

    /// The objects that were read, by their names. Types of arrays are no objects of their own.
    fn placeholders(&self) -> BTreeMap<String, usize> {
        let mut placeholders = BTreeMap::new();
        for node in self.heap.nodes().iter().skip(self.before) {
            if let Node::Object(object) = node
                && !construct::is_array_type(&object.class)
            {
                *placeholders.entry(object.class.path()).or_default() += 1;
            }
        }
        placeholders
    }

    /// Moves the values on the stack into the containers below them, from the top down, as their closing
    /// opcodes would have done.
    fn recover(&mut self) {
        while let Some(mark) = self.marks.pop() {
            let pending = self.stack.split_off(mark.min(self.stack.len()));
            let Some(container) = self.stack.last().copied() else {
                // A tuple or a list that has no container yet: its elements become a list.
                let mut list = List::default();
                pending.into_iter().for_each(|value| list.push(value));
                let list = self.heap.add(Node::List(list));
                self.stack.push(list);
                continue;
            };
            match self.heap.node_mut(container) {
                Some(Node::List(list)) => pending.into_iter().for_each(|value| list.push(value)),
                Some(Node::Dict(items)) => items.extend(pairs(&pending)),
                Some(Node::Object(object)) => object.items.extend(pairs(&pending)),
                _ => {}
            }
        }
    }

    /// Runs one opcode. Returns whether it was the last one.
    fn step(&mut self) -> Result<bool, PickleError> {
        self.at = self.reader.position();
        let opcode = self.reader.byte()?;
        match opcode {
            b'.' => return Ok(true),
            // PROTO, FRAME, and opcodes of out-of-band buffers that change no value.
            0x80 => drop(self.reader.byte()?),
            0x95 => drop(self.reader.array::<8>()?),
            0x98 => {}
            b'(' if self.append_numbers() => {}
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.stack.push(Value::None),
            0x88 => self.stack.push(Value::Bool(true)),
            0x89 => self.stack.push(Value::Bool(false)),
            b'J' | b'K' | b'M' | 0x8a | 0x8b | b'G' | b'I' | b'L' | b'F' => self.number(opcode)?,
            b'X' | 0x8c | 0x8d | b'V' | b'S' | b'T' | b'U' | b'B' | b'C' | 0x8e | 0x96 => {
                self.text(opcode)?;
            }
            b'}' | b']' | b')' | b't' | b'l' | b'd' | 0x85 | 0x86 | 0x87 | 0x8f | 0x91 => {
                self.container(opcode)?;
            }
            b'a' | b'e' | b's' | b'u' | 0x90 => self.fill(opcode)?,
            b'q' | b'r' | b'p' | b'h' | b'j' | b'g' | 0x94 => self.memoize(opcode)?,
            b'c' | 0x93 | b'R' | 0x81 | 0x92 | b'b' | b'i' | b'o' => self.object(opcode)?,
            b'Q' | b'P' => self.persistent(opcode)?,
            _ => {
                let at = self.at;
                return Err(PickleError::Opcode { opcode, at });
            }
        }
        Ok(false)
    }

    fn invalid(&self, problem: &'static str) -> PickleError {
        let at = self.at;
        PickleError::Invalid { problem, at }
    }

    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value, PickleError> {
        if self.stack.len() <= self.floor() {
            return Err(self.invalid("an operand is missing"));
        }
        let popped = self.stack.pop();
        popped.ok_or_else(|| self.invalid("an operand is missing"))
    }

    fn top(&self) -> Result<Value, PickleError> {
        let top = self.stack.last().copied();
        top.ok_or_else(|| self.invalid("an operand is missing"))
    }

    /// Pops everything above the last mark, and the mark.
    fn pop_mark(&mut self) -> Result<Vec<Value>, PickleError> {
        let mark = self.marks.pop();
        let mark = mark.ok_or_else(|| self.invalid("a mark is missing"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn add(&mut self, node: Node) {
        let value = self.heap.add(node);
        self.stack.push(value);
    }

    #[inline(never)]
    fn number(&mut self, opcode: u8) -> Result<(), PickleError> {
        let value = match opcode {
            b'J' => Value::Int(i64::from(i32::from_le_bytes(self.reader.array()?))),
            b'K' => Value::Int(i64::from(self.reader.byte()?)),
            b'M' => Value::Int(i64::from(u16::from_le_bytes(self.reader.array()?))),
            b'G' => Value::Float(f64::from_be_bytes(self.reader.array()?)),
            0x8a | 0x8b => {
                let bytes = match opcode {
                    0x8a => self.reader.counted::<1>()?,
                    _ => self.reader.counted::<4>()?,
                };
                self.integer(BigInt::from_signed_bytes_le(bytes))
            }
            b'I' => match self.reader.line()? {
                b"00" => Value::Bool(false),
                b"01" => Value::Bool(true),
                digits => self.parsed(digits)?,
            },
            b'L' => {
                let line = self.reader.line()?;
                self.parsed(line.strip_suffix(b"L").unwrap_or(line))?
            }
            _ => {
                let line = self.reader.line()?;
                let float = std::str::from_utf8(line)
                    .ok()
                    .and_then(|text| text.parse().ok());
                Value::Float(float.ok_or_else(|| self.invalid("this is not a number"))?)
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn parsed(&mut self, digits: &[u8]) -> Result<Value, PickleError> {
        let number = BigInt::parse_bytes(digits, 10);
        let number = number.ok_or_else(|| self.invalid("this is not a number"))?;
        Ok(self.integer(number))
    }

    fn integer(&mut self, number: BigInt) -> Value {
        match i64::try_from(&number) {
            Ok(small) => Value::Int(small),
            Err(_) => self.heap.add(Node::BigInt(number)),
        }
    }

    #[inline(never)]
    fn text(&mut self, opcode: u8) -> Result<(), PickleError> {
        let node = match opcode {
            b'X' => text(self.reader.counted::<4>()?),
            0x8c => text(self.reader.counted::<1>()?),
            0x8d => text(self.reader.counted::<8>()?),
            b'V' => text(self.reader.line()?),
            b'S' => {
                let line = self.reader.line()?;
                let inner = line.get(1..line.len().saturating_sub(1));
                text(inner.unwrap_or_default())
            }
            b'T' => text(self.reader.counted::<4>()?),
            b'U' => text(self.reader.counted::<1>()?),
            b'B' => Node::Bytes(self.reader.counted::<4>()?.to_vec()),
            b'C' => Node::Bytes(self.reader.counted::<1>()?.to_vec()),
            _ => Node::Bytes(self.reader.counted::<8>()?.to_vec()),
        };
        self.add(node);
        Ok(())
    }

    #[inline(never)]
    fn container(&mut self, opcode: u8) -> Result<(), PickleError> {
        let node = match opcode {
            b'}' => Node::Dict(Vec::new()),
            b']' => Node::List(List::default()),
            b')' => Node::Tuple(Vec::new()),
            0x8f => Node::Set(Vec::new()),
            0x85..=0x87 => {
                let mut elements = Vec::with_capacity(3);
                for _ in 0x84..opcode {
                    elements.push(self.pop()?);
                }
                elements.reverse();
                Node::Tuple(elements)
            }
            b't' => Node::Tuple(self.pop_mark()?),
            0x91 => Node::Set(self.pop_mark()?),
            b'l' => {
                let mut list = List::default();
                self.pop_mark()?
                    .into_iter()
                    .for_each(|value| list.push(value));
                Node::List(list)
            }
            _ => Node::Dict(pairs(&self.pop_mark()?).collect()),
        };
        self.add(node);
        Ok(())
    }

    /// Adds values to the container below them.
    fn fill(&mut self, opcode: u8) -> Result<(), PickleError> {
        let values = match opcode {
            b'a' => vec![self.pop()?],
            b's' => {
                let value = self.pop()?;
                vec![self.pop()?, value]
            }
            _ => self.pop_mark()?,
        };
        let container = self.top()?;
        let is_items = matches!(opcode, b's' | b'u');
        match (self.heap.node_mut(container), is_items) {
            (Some(Node::List(list)), false) => {
                values.into_iter().for_each(|value| list.push(value))
            }
            (Some(Node::Set(elements)), false) => elements.extend(values),
            (Some(Node::Object(object)), false) => object.elements.extend(values),
            (Some(Node::Dict(items)), true) => items.extend(pairs(&values)),
            (Some(Node::Object(object)), true) => object.items.extend(pairs(&values)),
            _ => return Err(self.invalid("the container has another type")),
        }
        Ok(())
    }

    /// Appends what follows a mark to the list on top of the stack, if it consists of numbers of one type and ends with
    /// APPENDS. Otherwise nothing changes, and the opcodes run one by one. Most bytes of a rollout dump are such runs.
    fn append_numbers(&mut self) -> bool {
        let start = self.reader.position();
        let rest = self.reader.rest();
        let list = match self.stack.last() {
            Some(top) if self.stack.len() > self.floor() => self.heap.node_mut(*top),
            _ => None,
        };
        let Some(Node::List(list)) = list else {
            return false;
        };
        let length = match (&mut *list, rest.first()) {
            (List::Ints(ints), Some(b'K' | b'M' | b'J')) => append_ints(ints, rest),
            (List::Floats(floats), Some(b'G')) => append_floats(floats, rest),
            (List::Ints(ints), Some(b'G')) if ints.is_empty() => {
                let mut floats = Vec::new();
                let length = append_floats(&mut floats, rest);
                if length.is_some() {
                    *list = List::Floats(floats);
                }
                length
            }
            _ => None,
        };
        match length {
            Some(length) => self.reader.skip_to(start + length),
            None => return false,
        }
        true
    }

    fn memoize(&mut self, opcode: u8) -> Result<(), PickleError> {
        let key = match opcode {
            b'q' | b'h' => u64::from(self.reader.byte()?),
            b'r' | b'j' => u64::from(u32::from_le_bytes(self.reader.array()?)),
            0x94 => self.memo.len() as u64,
            _ => {
                let line = std::str::from_utf8(self.reader.line()?).ok();
                let key = line.and_then(|line| line.parse().ok());
                key.ok_or_else(|| self.invalid("this is not a number"))?
            }
        };
        if matches!(opcode, b'h' | b'j' | b'g') {
            let known = self.memo.get(&key).copied();
            let known = known.ok_or_else(|| self.invalid("the memo has no such value"))?;
            self.stack.push(known);
        } else {
            let top = self.top()?;
            self.memo.insert(key, top);
            self.numbers.push(key);
        }
        Ok(())
    }

    #[inline(never)]
    fn object(&mut self, opcode: u8) -> Result<(), PickleError> {
        match opcode {
            b'c' => {
                let global = self.named()?;
                self.add(Node::Global(global));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let part = |value| self.heap.text(value).map(str::to_owned);
                let (Some(module), Some(name)) = (part(module), part(name)) else {
                    return Err(self.invalid("a name is not a string"));
                };
                self.add(Node::Global(Global { module, name }));
            }
            b'R' | 0x81 => {
                let (arguments, class) = (self.pop()?, self.pop()?);
                let made = construct::call(&mut self.heap, class, arguments);
                self.stack.push(made);
            }
            0x92 => {
                let (_keywords, arguments, class) = (self.pop()?, self.pop()?, self.pop()?);
                let made = construct::call(&mut self.heap, class, arguments);
                self.stack.push(made);
            }
            b'b' => {
                let (state, target) = (self.pop()?, self.top()?);
                construct::build(&mut self.heap, target, state);
            }
            b'i' => {
                let class = self.named()?;
                let arguments = self.pop_mark()?;
                let arguments = self.heap.add(Node::Tuple(arguments));
                self.add(Node::Object(Object {
                    class,
                    arguments,
                    state: Value::None,
                    elements: Vec::new(),
                    items: Vec::new(),
                }));
            }
            _ => {
                let mut operands = self.pop_mark()?;
                if operands.is_empty() {
                    return Err(self.invalid("a class is missing"));
                }
                let class = operands.remove(0);
                let arguments = self.heap.add(Node::Tuple(operands));
                let made = construct::call(&mut self.heap, class, arguments);
                self.stack.push(made);
            }
        }
        Ok(())
    }

    fn named(&mut self) -> Result<Global, PickleError> {
        let mut part = || {
            let line = self.reader.line()?;
            Ok(String::from_utf8_lossy(line).into_owned())
        };
        let (module, name) = (part()?, part()?);
        Ok(Global { module, name })
    }

    /// A persistent id is a value that the file stores elsewhere: the storage of a tensor.
    #[inline(never)]
    fn persistent(&mut self, opcode: u8) -> Result<(), PickleError> {
        if opcode == b'P' {
            let node = text(self.reader.line()?);
            self.add(node);
            return Ok(());
        }
        // The tuple represents the storage until a tensor is constructed from it.
        let id = self.pop()?;
        self.stack.push(id);
        Ok(())
    }
}

/// A string. Pickles encode a lone surrogate as three bytes, which are not valid UTF-8: it becomes one U+FFFD.
fn text(bytes: &[u8]) -> Node {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Node::Text(text.to_owned());
    }
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = surrogate(rest) {
        text.push_str(&String::from_utf8_lossy(&rest[..at]));
        text.push(char::REPLACEMENT_CHARACTER);
        rest = &rest[at + 3..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Node::Text(text)
}

/// The position of the first surrogate that is encoded in three bytes.
fn surrogate(bytes: &[u8]) -> Option<usize> {
    let mut all = bytes.windows(3);
    all.position(|three| matches!(three, [0xed, 0xa0..=0xbf, 0x80..=0xbf]))
}

/// Keys and values in turn. A key without a value is dropped.
fn pairs(values: &[Value]) -> impl Iterator<Item = (Value, Value)> {
    let (pairs, _) = values.as_chunks::<2>();
    pairs.iter().map(|[key, value]| (*key, *value))
}

/// Appends integers up to APPENDS. Returns the number of bytes; `None` if something else follows, and then nothing is
/// appended.
#[inline(never)]
fn append_ints(ints: &mut Vec<i64>, bytes: &[u8]) -> Option<usize> {
    let (before, mut at) = (ints.len(), 0);
    loop {
        let (int, length) = match bytes.get(at..) {
            Some([b'K', a, ..]) => (i64::from(*a), 2),
            Some([b'M', a, b, ..]) => (i64::from(u16::from_le_bytes([*a, *b])), 3),
            Some([b'J', a, b, c, d, ..]) => (i64::from(i32::from_le_bytes([*a, *b, *c, *d])), 5),
            Some([b'e', ..]) => return Some(at + 1),
            _ => {
                ints.truncate(before);
                return None;
            }
        };
        ints.push(int);
        at += length;
    }
}

/// The same for floats.
#[inline(never)]
fn append_floats(floats: &mut Vec<f64>, bytes: &[u8]) -> Option<usize> {
    let (before, mut at) = (floats.len(), 0);
    loop {
        match bytes.get(at..) {
            Some([b'G', a, b, c, d, e, f, g, h, ..]) => {
                floats.push(f64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]));
                at += 9;
            }
            Some([b'e', ..]) => return Some(at + 1),
            _ => {
                floats.truncate(before);
                return None;
            }
        }
    }
}
