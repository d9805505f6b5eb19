//! Reads MessagePack. Lists of numbers become typed arrays while they are read.
//!
//! Invariants: nothing is allocated from a claimed length; the depth is limited; of truncated input the complete elements
//! of the outermost list are returned.

use volary_core::json::Text;

/// The maximum nesting depth.
const DEPTH: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number, a boolean or nil, and which of them.
    Scalar(Option<f64>, Kind),
    Text(Text),
    /// Bytes or an extension, of which the length is kept.
    Bytes(usize),
    /// A list of scalars of one kind.
    Numbers(Vec<f64>, Kind),
    Texts(Vec<Text>),
    List(Vec<Value>),
    /// A map, of which the number of members is kept.
    Map(usize),
}

/// The kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nil,
    Bool,
    Int,
    Float,
}

/// Why input cannot be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("it is cut off")]
    Truncated,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("byte {0:#04x} is not MessagePack")]
    Unknown(u8),
}

/// Whether bytes start like a list that contains a list.
pub(super) fn starts_with_lists(start: &[u8]) -> bool {
    let skip = |bytes: &[u8]| match bytes.first()? {
        0x90..=0x9f => Some(1),
        0xdc => Some(3),
        0xdd => Some(5),
        _ => None,
    };
    let inner =
        |bytes: &[u8]| skip(bytes).and_then(|length| bytes.get(length..).map(<[u8]>::to_vec));
    inner(start)
        .and_then(|rest| inner(&rest))
        .and_then(|rest| inner(&rest))
        .is_some()
}

/// The elements of the outermost list, and the problem after them.
pub(super) fn elements(bytes: &[u8]) -> (Vec<Value>, Option<Problem>) {
    let mut cursor = Cursor { bytes, at: 0 };
    let mut elements = Vec::new();
    let count = match cursor.byte().and_then(|head| cursor.list_length(head)) {
        Ok(Some(count)) => count,
        Ok(None) => {
            return (
                elements,
                Some(Problem::Unknown(bytes.first().copied().unwrap_or_default())),
            );
        }
        Err(problem) => return (elements, Some(problem)),
    };
    for _ in 0..count {
        match cursor.value(DEPTH) {
            Ok(value) => elements.push(value),
            Err(problem) => return (elements, Some(problem)),
        }
    }
    (elements, None)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Result<u8, Problem> {
        let byte = self.bytes.get(self.at).copied().ok_or(Problem::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, length: usize) -> Result<&[u8], Problem> {
        let end = self.at.checked_add(length).ok_or(Problem::Truncated)?;
        let bytes = self.bytes.get(self.at..end).ok_or(Problem::Truncated)?;
        self.at = end;
        Ok(bytes)
    }

    /// A big-endian number of up to eight bytes.
    fn number(&mut self, size: usize) -> Result<u64, Problem> {
        let bytes = self.take(size)?;
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, size: usize) -> Result<usize, Problem> {
        // A length that does not fit is past the end as well.
        Ok(usize::try_from(self.number(size)?).unwrap_or(usize::MAX))
    }

    /// The length of a list with this first byte; `None` if it is no list.
    fn list_length(&mut self, head: u8) -> Result<Option<usize>, Problem> {
        Ok(Some(match head {
            0x90..=0x9f => usize::from(head & 15),
            0xdc => self.length(2)?,
            0xdd => self.length(4)?,
            _ => return Ok(None),
        }))
    }

    fn value(&mut self, depth: usize) -> Result<Value, Problem> {
        let depth = depth.checked_sub(1).ok_or(Problem::TooDeep)?;
        let head = self.byte()?;
        if let Some(count) = self.list_length(head)? {
            return self.list(count, depth);
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            clippy::cast_precision_loss,
            reason = "token ids and counts are far below 2^53; the casts restore the sign"
        )]
        let int = |number: u64, size: usize| match size {
            1 => f64::from(number as i8),
            2 => f64::from(number as i16),
            4 => f64::from(number as i32),
            _ => number as i64 as f64,
        };
        #[allow(clippy::cast_precision_loss, reason = "token ids are far below 2^53")]
        let natural = |number: u64| Value::Scalar(Some(number as f64), Kind::Int);
        Ok(match head {
            0x00..=0x7f => natural(u64::from(head)),
            0xe0..=0xff => Value::Scalar(Some(f64::from(i16::from(head) - 256)), Kind::Int),
            0xc0 => Value::Scalar(None, Kind::Nil),
            0xc2 | 0xc3 => Value::Scalar(Some(f64::from(head & 1)), Kind::Bool),
            0xcc..=0xcf => natural(self.number(1 << (head - 0xcc))?),
            0xd0..=0xd3 => {
                let size = 1 << (head - 0xd0);
                Value::Scalar(Some(int(self.number(size)?, size)), Kind::Int)
            }
            0xca => {
                let bits = u32::try_from(self.number(4)?).unwrap_or_default();
                Value::Scalar(Some(f64::from(f32::from_bits(bits))), Kind::Float)
            }
            0xcb => Value::Scalar(Some(f64::from_bits(self.number(8)?)), Kind::Float),
            0xa0..=0xbf => self.text(usize::from(head & 31))?,
            0xd9..=0xdb => {
                let length = self.length(1 << (head - 0xd9))?;
                self.text(length)?
            }
            0xc4..=0xc6 => {
                let length = self.length(1 << (head - 0xc4))?;
                Value::Bytes(self.take(length)?.len())
            }
            0xc7..=0xc9 => {
                let length = self.length(1 << (head - 0xc7))?;
                self.byte()?;
                Value::Bytes(self.take(length)?.len())
            }
            0xd4..=0xd8 => Value::Bytes(self.take(1 + (1 << (head - 0xd4)))?.len()),
            0x80..=0x8f => self.map(usize::from(head & 15), depth)?,
            0xde | 0xdf => {
                let count = self.length(2 << (head - 0xde))?;
                self.map(count, depth)?
            }
            unknown => return Err(Problem::Unknown(unknown)),
        })
    }

    fn text(&mut self, length: usize) -> Result<Value, Problem> {
        let bytes = self.take(length)?;
        Ok(Value::Text(
            String::from_utf8_lossy(bytes).into_owned().into(),
        ))
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value, Problem> {
        for _ in 0..count {
            self.value(depth)?;
            self.value(depth)?;
        }
        Ok(Value::Map(count))
    }

    fn list(&mut self, count: usize, depth: usize) -> Result<Value, Problem> {
        let mut list = Value::List(Vec::new());
        for _ in 0..count {
            let element = self.value(depth)?;
            list = list.with(element);
        }
        Ok(list)
    }
}

impl Value {
    /// The list with one more element. It has the compact form as long as all elements are of one kind.
    fn with(self, element: Value) -> Value {
        match (self, element) {
            (Value::List(list), Value::Scalar(Some(number), kind)) if list.is_empty() => {
                Value::Numbers(vec![number], kind)
            }
            (Value::List(list), Value::Text(text)) if list.is_empty() => Value::Texts(vec![text]),
            (Value::Numbers(mut numbers, kind), Value::Scalar(Some(number), other))
                if kind == other =>
            {
                numbers.push(number);
                Value::Numbers(numbers, kind)
            }
            // One whole number among floats is written as a float, yet other writers differ.
            (
                Value::Numbers(mut numbers, _),
                Value::Scalar(Some(number), Kind::Int | Kind::Float),
            ) => {
                numbers.push(number);
                Value::Numbers(numbers, Kind::Float)
            }
            (Value::Texts(mut texts), Value::Text(text)) => {
                let text = texts
                    .last()
                    .filter(|last| **last == text)
                    .cloned()
                    .unwrap_or(text);
                texts.push(text);
                Value::Texts(texts)
            }
            (Value::List(mut list), element) => {
                list.push(element);
                Value::List(list)
            }
            (Value::Numbers(numbers, kind), element) => {
                let numbers = numbers
                    .into_iter()
                    .map(|number| Value::Scalar(Some(number), kind));
                Value::List(numbers.chain([element]).collect())
            }
            (Value::Texts(texts), element) => Value::List(
                texts
                    .into_iter()
                    .map(Value::Text)
                    .chain([element])
                    .collect(),
            ),
            (other, _) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_kinds() {
        let bytes = [
            0x97, 0x93, 0x01, 0xcd, 0x01, 0x00, 0xff, 0x92, 0xc3, 0xc2, 0x92, 0xca, 0x3f, 0x00, 0,
            0, 0xcb, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 0x92, 0xa1, b'a', 0xd9, 1, b'b', 0x81, 0xa1,
            b'k', 0xc0, 0xc4, 2, 1, 2, 0xd6, 5, 1, 2, 3, 4,
        ];
        let (values, problem) = elements(&bytes);
        assert_eq!(problem, None);
        assert_eq!(
            values,
            [
                Value::Numbers(vec![1.0, 256.0, -1.0], Kind::Int),
                Value::Numbers(vec![1.0, 0.0], Kind::Bool),
                Value::Numbers(vec![0.5, -1.0], Kind::Float),
                Value::Texts(vec!["a".into(), "b".into()]),
                Value::Map(1),
                Value::Bytes(2),
                Value::Bytes(5),
            ]
        );
        for length in 0..bytes.len() {
            let (values, problem) = elements(&bytes[..length]);
            assert!(problem.is_some() && values.len() < 7);
        }
    }

    #[test]
    fn claims_and_depth_are_limited() {
        assert_eq!(
            elements(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1]).1,
            Some(Problem::Truncated)
        );
        assert_eq!(
            elements(&[0x91, 0xc6, 0xff, 0xff, 0xff, 0xff]).1,
            Some(Problem::Truncated)
        );
        assert_eq!(elements(&[0x91; 100]).1, Some(Problem::TooDeep));
        assert_eq!(elements(&[0x91, 0xc1]).1, Some(Problem::Unknown(0xc1)));
        assert_eq!(elements(b"{}").1, Some(Problem::Unknown(b'{')));
    }
}
