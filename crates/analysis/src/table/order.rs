//! Sort order of cells. Empty ones come last in either direction.

use std::cmp::Ordering;

use super::{Cell, Row};

/// A sort direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Lowest first.
    #[default]
    Ascending,
    /// Highest first.
    Descending,
}

/// The default order of the library: newest first; rows that were added together by id, so that a later visit shows
/// them in the same order.
pub fn newest_first(one: &Row, other: &Row) -> Ordering {
    let added = |row: &Row| row.added.unwrap_or_default();
    let newest = added(other).total_cmp(&added(one));
    newest.then_with(|| natural(&one.id, &other.id))
}

/// The sort key of a cell: computed once, compared often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key {
    Number(f64),
    /// The byte range of its collation key among all keys.
    Text(u32, u32),
    Empty,
}

impl Key {
    /// The key of a cell. The bytes of texts are appended to `bytes`; they sort in natural order.
    pub fn of(cell: &Cell<'_>, bytes: &mut Vec<u8>) -> Key {
        let start = bytes.len();
        match cell {
            Cell::Empty => return Key::Empty,
            Cell::Number(number) => return Key::Number(*number),
            Cell::Text(text) => push_natural(text, bytes),
            texts => push_natural(&texts.to_text(), bytes),
        }
        // Columns of four gigabytes do not fit into the memory of a page.
        Key::Text(start as u32, bytes.len() as u32)
    }

    /// Compares two keys.
    pub fn compare(self, other: Key, bytes: &[u8], direction: Direction) -> Ordering {
        let text = |start: u32, end: u32| bytes.get(start as usize..end as usize);
        let ascending = match (self, other) {
            (Key::Empty, Key::Empty) => return Ordering::Equal,
            (Key::Empty, _) => return Ordering::Greater,
            (_, Key::Empty) => return Ordering::Less,
            (Key::Number(one), Key::Number(other)) => one.total_cmp(&other),
            (Key::Number(_), _) => Ordering::Less,
            (_, Key::Number(_)) => Ordering::Greater,
            (Key::Text(start, end), Key::Text(from, to)) => text(start, end).cmp(&text(from, to)),
        };
        match direction {
            Direction::Ascending => ascending,
            Direction::Descending => ascending.reverse(),
        }
    }
}

/// Appends bytes that sort like [`natural`].
fn push_natural(text: &str, bytes: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_digit() {
            let (number, after) = digits(rest);
            // Compared with a non-digit, any digit sorts alike; of two numbers the longer one is larger.
            bytes.push(b'0');
            bytes.extend_from_slice(&(number.len() as u32).to_be_bytes());
            bytes.extend_from_slice(number.as_bytes());
            rest = after;
        } else {
            let mut room = [0; 4];
            for small in first.to_lowercase() {
                bytes.extend_from_slice(small.encode_utf8(&mut room).as_bytes());
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    // The unchanged text as a tie-breaker.
    bytes.push(0);
    bytes.extend_from_slice(text.as_bytes());
}

/// Natural order: numbers within texts compare by value ("task 9" before "task 10"), and case is only a tie-breaker.
pub fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let (Some(first), Some(second)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| one.cmp(other));
        };
        let order = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, rest) = digits(left);
            let (number_right, rest_right) = digits(right);
            (left, right) = (rest, rest_right);
            number
                .len()
                .cmp(&number_right.len())
                .then_with(|| number.cmp(number_right))
        } else {
            left = &left[first.len_utf8()..];
            right = &right[second.len_utf8()..];
            if first.is_ascii() && second.is_ascii() {
                first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase())
            } else {
                first.to_lowercase().cmp(second.to_lowercase())
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The leading digits without leading zeros, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (number.trim_start_matches('0'), rest)
}
