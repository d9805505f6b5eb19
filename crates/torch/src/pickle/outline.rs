//! Finds the elements of a list in a pickle while its bytes arrive, without making values. A rollout dump is such a list,
//! most of a file that need not be in memory as a whole.
//!
//! The list is the root, or the member `samples` of a dictionary that is the root. An element is a range of bytes, which
//! [`Fragments`](super::Fragments) reads by itself. Python writes a value once and refers to it afterwards, so an element
//! also needs the values outside of it that it refers to ([`Outline::shared`]).
//!
//! Invariant: only the byte ranges of values are kept, not their bytes. Pickles that count their values instead of
//! numbering them (protocol 4 and later) have no outline, because the number of a value depends on all bytes before it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::PickleError;
use super::reader::Reader;

/// The key of the list in a dictionary.
const KEY: &[u8] = b"samples";
/// The maximum number of values outside of an element that are looked up.
const MOST_SHARED: usize = 10_000;

/// The outline of a pickle, as far as its bytes have arrived. Positions are offsets in the pickle.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The position of the next opcode.
    at: u64,
    stack: Vec<Slot>,
    marks: Vec<Mark>,
    /// The ranges of the numbered values.
    memo: HashMap<u64, Range<u64>>,
    /// The references to them: the position, and the number.
    references: Vec<(u64, u64)>,
    /// The list, as long as it is on the stack.
    list: Option<ListOfElements>,
    had_list: bool,
    elements: Vec<Range<u64>>,
    is_over: bool,
}

/// A value on the stack.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The position of its first opcode.
    start: u64,
    /// Its number in the memo.
    number: Option<u64>,
    kind: Kind,
    /// Whether it has the members of a sample, so that what follows is another value: Python writes the items of a
    /// dictionary, and the state of an object, at once.
    is_complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Dict,
    /// The text that is the key of the list.
    Key,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Its position in the pickle.
    at: u64,
    /// The number of values below it.
    height: usize,
}

/// Where the list is on the stack.
#[derive(Clone, Copy, Debug)]
struct ListOfElements {
    slot: usize,
    /// The number of marks below its elements, without their own.
    marks: usize,
    /// The number of its values on the stack that were found.
    found: usize,
}

impl Outline {
    /// Reads the bytes that follow what was read so far. Returns how many were read: an incomplete opcode is left, and must
    /// be passed again with the bytes that follow it.
    ///
    /// # Errors
    ///
    /// If the pickle is invalid, or cannot have an outline.
    // Not inlined: a browser optimises the whole function around a hot loop, and a large caller would take it 0.2 s.
    #[inline(never)]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, PickleError> {
        let start = self.at;
        let mut reader = Reader::new(bytes);
        while !self.is_over {
            match self.step(&mut reader) {
                Ok(()) => self.at = start + reader.position() as u64,
                Err(PickleError::Truncated { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(usize::try_from(self.at - start).unwrap_or(bytes.len()))
    }

    /// The position of the next opcode.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Whether the pickle has ended.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The position from which on the bytes belong to elements that are not complete. The bytes before it are no longer
    /// needed, once the elements found so far are read.
    pub fn needed(&self) -> u64 {
        let Some(list) = self.list else {
            return self.at;
        };
        let slot = self.stack.get(list.slot + 1 + list.found);
        let slot = slot.map(|slot| slot.start);
        // An element may begin with a mark.
        let mark = self.marks.get(list.marks + 1).map(|mark| mark.at);
        [slot, mark].into_iter().flatten().fold(self.at, u64::min)
    }

    /// Whether the beginning of the list was found.
    pub fn has_list(&self) -> bool {
        self.had_list
    }

    /// Takes the elements that were found since the last call.
    pub fn take_elements(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.elements)
    }

    /// The values outside of an element that it refers to, in the order in which they must be read.
    pub fn shared(&self, element: &Range<u64>) -> Vec<Range<u64>> {
        let mut found: BTreeMap<u64, u64> = BTreeMap::new();
        let mut pending = vec![element.clone()];
        while let Some(part) = pending.pop() {
            let first = self.references.partition_point(|(at, _)| *at < part.start);
            let within = self.references.get(first..).unwrap_or_default().iter();
            for (_, number) in within.take_while(|(at, _)| *at < part.end) {
                let Some(value) = self.memo.get(number) else {
                    continue;
                };
                let is_inside = part.contains(&value.start) || element.contains(&value.start);
                if is_inside || found.len() >= MOST_SHARED {
                    continue;
                }
                // A function and what it returned start at the same position.
                let end = found.entry(value.start).or_default();
                if *end < value.end {
                    *end = value.end;
                    pending.push(value.clone());
                }
            }
        }
        let mut end = 0;
        let outermost = found.into_iter().filter(|(_, value_end)| {
            let is_outer = *value_end > end;
            end = end.max(*value_end);
            is_outer
        });
        outermost.map(|(start, end)| start..end).collect()
    }

    fn invalid(&self, problem: &'static str) -> PickleError {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        PickleError::Invalid { problem, at }
    }

    /// Runs one opcode. Nothing changes unless it is complete.
    fn step(&mut self, reader: &mut Reader<'_>) -> Result<(), PickleError> {
        let at = self.at;
        let opcode = reader.byte()?;
        match opcode {
            b'.' => self.is_over = true,
            0x80 => drop(reader.byte()?),
            0x95 => drop(reader.array::<8>()?),
            0x98 => {}
            b'(' => match numbers(reader.rest()) {
                // The list keeps its position on the stack.
                Some(length) if self.is_on_list() => {
                    reader.skip_to(reader.position() + length);
                    self.extend_top(at + 1 + length as u64)?;
                }
                _ => {
                    let height = self.stack.len();
                    self.marks.push(Mark { at, height });
                }
            },
            b'0' => drop(self.pop(1)?),
            b'1' => drop(self.pop_mark()?),
            b'N' | 0x88 | 0x89 => self.push(at, Kind::Other),
            b'K' | b'M' | b'J' | b'G' => {
                match opcode {
                    b'K' => reader.take(1)?,
                    b'M' => reader.take(2)?,
                    b'J' => reader.take(4)?,
                    _ => reader.take(8)?,
                };
                self.push(at, Kind::Other);
            }
            b'X' | 0x8c | 0x8d | b'U' | b'T' | b'B' | b'C' | 0x8e | 0x96 | 0x8a | 0x8b => {
                let value = match opcode {
                    0x8c | b'U' | b'C' | 0x8a => reader.counted::<1>()?,
                    0x8d | 0x8e | 0x96 => reader.counted::<8>()?,
                    _ => reader.counted::<4>()?,
                };
                let is_key = matches!(opcode, b'X' | 0x8c) && value == KEY;
                self.push(at, if is_key { Kind::Key } else { Kind::Other });
            }
            b'I' | b'L' | b'F' | b'V' | b'S' | b'P' => {
                reader.line()?;
                self.push(at, Kind::Other);
            }
            b'c' => {
                reader.line()?;
                reader.line()?;
                self.push(at, Kind::Other);
            }
            b'}' => self.push(at, Kind::Dict),
            b']' => self.push(at, Kind::List),
            b')' | 0x8f => self.push(at, Kind::Other),
            b't' | b'l' | b'd' | 0x91 | b'o' => {
                let start = self.pop_mark()?.at;
                self.push(start, Kind::Other);
            }
            b'i' => {
                reader.line()?;
                reader.line()?;
                let start = self.pop_mark()?.at;
                self.push(start, Kind::Other);
            }
            0x85..=0x87 => self.join(usize::from(opcode) - 0x84)?,
            b'R' | 0x81 | 0x93 => self.join(2)?,
            0x92 => self.join(3)?,
            b'Q' => self.join(1)?,
            b'a' => {
                self.appended()?;
                self.extend_top(at + 1)?;
            }
            b'e' | b'u' | 0x90 => {
                if opcode == b'e' {
                    self.elements_end();
                }
                self.pop_mark()?;
                self.extend_top(at + 1)?;
                if opcode == b'u' {
                    self.complete_top();
                }
            }
            b's' => {
                self.pop(2)?;
                self.extend_top(at + 1)?;
            }
            b'b' => {
                self.pop(1)?;
                self.extend_top(at + 1)?;
                self.complete_top();
            }
            b'q' | b'r' | b'p' | b'h' | b'j' | b'g' => self.memoize(opcode, reader)?,
            _ => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                return Err(PickleError::Opcode { opcode, at });
            }
        }
        Ok(())
    }

    fn push(&mut self, start: u64, kind: Kind) {
        self.element_ends(start);
        if kind == Kind::List && !self.had_list && self.is_at_list() {
            self.had_list = true;
            self.list = Some(ListOfElements {
                slot: self.stack.len(),
                marks: self.marks.len(),
                found: 0,
            });
        }
        self.stack.push(Slot {
            start,
            number: None,
            kind,
            is_complete: false,
        });
    }

    fn complete_top(&mut self) {
        if let Some(top) = self.stack.last_mut() {
            top.is_complete = true;
        }
    }

    /// Pops values. Returns the position of the lowest one.
    fn pop(&mut self, count: usize) -> Result<u64, PickleError> {
        let floor = self.marks.last().map_or(0, |mark| mark.height);
        let rest = self.stack.len().checked_sub(count);
        let rest = rest.filter(|rest| *rest >= floor);
        let rest = rest.ok_or_else(|| self.invalid("an operand is missing"))?;
        let start = self.stack.get(rest).map_or(self.at, |slot| slot.start);
        self.truncate(rest);
        Ok(start)
    }

    fn pop_mark(&mut self) -> Result<Mark, PickleError> {
        let mark = self.marks.pop();
        let mark = mark.ok_or_else(|| self.invalid("a mark is missing"))?;
        self.truncate(mark.height);
        Ok(mark)
    }

    fn truncate(&mut self, height: usize) {
        self.stack.truncate(height);
        self.list = self.list.filter(|list| list.slot < height);
    }

    /// Replaces the top values by one that is made of them.
    fn join(&mut self, count: usize) -> Result<(), PickleError> {
        let start = self.pop(count)?;
        self.push(start, Kind::Other);
        Ok(())
    }

    /// The value on top ends here, so far.
    fn extend_top(&mut self, end: u64) -> Result<(), PickleError> {
        let top = self.stack.last().copied();
        let top = top.ok_or_else(|| self.invalid("an operand is missing"))?;
        let value = top.number.and_then(|number| self.memo.get_mut(&number));
        if let Some(value) = value {
            value.end = end;
        }
        Ok(())
    }

    fn memoize(&mut self, opcode: u8, reader: &mut Reader<'_>) -> Result<(), PickleError> {
        let number = match opcode {
            b'q' | b'h' => u64::from(reader.byte()?),
            b'r' | b'j' => u64::from(u32::from_le_bytes(reader.array()?)),
            _ => {
                let line = std::str::from_utf8(reader.line()?).ok();
                let number = line.and_then(|line| line.parse().ok());
                number.ok_or_else(|| self.invalid("this is not a number"))?
            }
        };
        let at = self.at;
        if matches!(opcode, b'h' | b'j' | b'g') {
            if !self.memo.contains_key(&number) {
                return Err(self.invalid("the memo has no such value"));
            }
            self.push(at, Kind::Other);
            self.references.push((at, number));
            return Ok(());
        }
        let top = self.stack.last_mut();
        let Some(top) = top else {
            return Err(self.invalid("an operand is missing"));
        };
        top.number = Some(number);
        let length = match opcode {
            b'q' => 2,
            b'r' => 5,
            _ => number.to_string().len() as u64 + 2,
        };
        self.memo.insert(number, top.start..at + length);
        Ok(())
    }

    fn is_on_list(&self) -> bool {
        let floor = self.marks.last().map_or(0, |mark| mark.height);
        let top = self.stack.last().filter(|_| self.stack.len() > floor);
        top.is_some_and(|top| top.kind == Kind::List)
    }

    /// Whether a list that is pushed now is the one whose elements are wanted.
    fn is_at_list(&self) -> bool {
        match self.stack.as_slice() {
            [] => self.marks.is_empty(),
            [root, items @ ..] => {
                root.kind == Kind::Dict
                    && items.last().is_some_and(|key| key.kind == Kind::Key)
                    && items.len() % 2 == 1
                    && self.marks.iter().all(|mark| mark.height == 1)
                    && self.marks.len() <= 1
            }
        }
    }

    /// A value is pushed: if it is beside an element that is complete, that one ends.
    fn element_ends(&mut self, end: u64) {
        let Some(list) = self.list else { return };
        let is_level = self.marks.len() == list.marks + 1
            && self.marks.last().map(|mark| mark.height) == Some(list.slot + 1);
        let is_complete = self.stack.len() > list.slot + 1
            && self.stack.last().is_some_and(|top| top.is_complete);
        if is_level && is_complete {
            self.found(end);
        }
    }

    /// The values on the stack become elements of the list below them.
    fn elements_end(&mut self) {
        let Some(list) = self.list else { return };
        if self.marks.last().map(|mark| mark.height) == Some(list.slot + 1) {
            self.found(self.at);
            self.list = Some(ListOfElements { found: 0, ..list });
        }
    }

    /// Pops a value, which becomes an element of the list below it.
    fn appended(&mut self) -> Result<(), PickleError> {
        let is_element = |list: &ListOfElements| {
            self.stack.len() == list.slot + 2 && self.marks.len() == list.marks
        };
        let is_element = self.list.as_ref().is_some_and(is_element);
        let start = self.pop(1)?;
        if is_element {
            self.elements.push(start..self.at);
        }
        Ok(())
    }

    /// All values above the list are elements; the last one ends here.
    fn found(&mut self, end: u64) {
        let Some(list) = &mut self.list else { return };
        let slots = self.stack.get(list.slot + 1..).unwrap_or_default();
        let starts = slots.iter().map(|slot| slot.start);
        let ends = starts.clone().skip(1).chain([end]);
        let ranges = starts.zip(ends).map(|(start, end)| start..end);
        self.elements.extend(ranges.skip(list.found));
        list.found = slots.len();
    }
}

/// The length of each opcode in a run of numbers, with its operand; 0 for those that are in none. Looked up: the opcodes of
/// small and large token ids alternate at random, so a branch for each would be mispredicted.
const LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    lengths[b'K' as usize] = 2;
    lengths[b'M' as usize] = 3;
    lengths[b'J' as usize] = 5;
    lengths[b'G' as usize] = 9;
    lengths[b'N' as usize] = 1;
    lengths[0x88] = 1;
    lengths[0x89] = 1;
    lengths
};

/// The length of a run of numbers, booleans and `None` that ends with APPENDS. Most bytes of a rollout dump are such runs.
fn numbers(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let opcode = *bytes.get(at)?;
        match LENGTHS[usize::from(opcode)] {
            0 => return (opcode == b'e').then_some(at + 1),
            length => at += usize::from(length),
        }
    }
}
