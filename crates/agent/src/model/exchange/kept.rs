//! Delta encoding of the exchanges of an episode: each stored request contains only what is new in it.
//!
//! Each request of an episode repeats the previous one and appends messages, so storing complete requests of `n` steps
//! takes space quadratic in `n`. A body is therefore stored as a change of an earlier body: the lengths of their common
//! prefix and suffix, and the text between them.
//!
//! The base is not always the previous body, or reading the last request would have to apply all changes. It is the
//! one whose index is that of the request without its lowest set bit: 7 is based on 6, 6 on 4, 4 on 0. So rebuilding a
//! body takes at most log₂ `n` steps, and all changes together take space in `n` log `n`.

//! A file may contain any change, so none is trusted: it must fit the body it applies to, and [`MOST_BODY`] and
//! [`MOST_COPIED`] limit what rebuilding copies.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text, from_json, to_json};

use super::Exchange;

/// A change that saves fewer bytes than this is not worth it: the body is stored in full.
const WORTH_IT: usize = 200;

/// The maximum length of a rebuilt body, in bytes. Providers accept at most 32 MB.
pub const MOST_BODY: usize = 32 << 20;

/// The maximum number of bytes copied while rebuilding the requests of one step, including intermediate bodies.
pub const MOST_COPIED: usize = 256 << 20;

/// Why a stored exchange cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeptError {
    /// There is no exchange at this index.
    #[error("This request cannot be shown: its record is damaged or incomplete.")]
    NoExchange,
    /// The body is a change of a body that does not exist.
    #[error(
        "This request cannot be shown: it is recorded as a change of an earlier request, which the record lacks."
    )]
    NoBase,
    /// The change does not fit the body it applies to.
    #[error(
        "This request cannot be shown: it is recorded as a change of an earlier request, and the change does not fit it."
    )]
    Misfit,
    /// The body would be longer than [`MOST_BODY`], or rebuilding would copy more than [`MOST_COPIED`].
    #[error(
        "This request cannot be shown: rebuilding it from its record takes more memory than a request may take."
    )]
    TooLarge,
}

/// The exchanges of an episode, in recording order.
#[derive(Clone, Debug, Default)]
pub struct KeptExchanges<'a> {
    before: Vec<&'a Json>,
    new: Vec<Json>,
}

impl<'a> KeptExchanges<'a> {
    /// The exchanges stored so far.
    pub fn of(before: impl IntoIterator<Item = &'a Json>) -> Self {
        KeptExchanges {
            before: before.into_iter().collect(),
            new: Vec::new(),
        }
    }

    /// The number of exchanges.
    pub fn count(&self) -> usize {
        self.before.len() + self.new.len()
    }

    /// Appends an exchange.
    pub fn push(&mut self, exchange: &Exchange) {
        let mut kept = exchange.to_json();
        let index = self.count();
        if index > 0
            && let Json::Object(kept) = &mut kept
            && let Ok(earlier) = self.body(earlier(index), &mut { MOST_COPIED })
            && exchange.body.len() <= MOST_BODY
            && let Some(change) = Change::between(&earlier, &exchange.body)
        {
            // Texts and numbers always serialize.
            kept.insert("body", to_json(&change).unwrap_or_default());
        }
        self.new.push(kept);
    }

    /// The exchanges appended since construction.
    pub fn into_new(self) -> Vec<Json> {
        self.new
    }

    /// The exchange at an index.
    pub fn read(&self, index: usize) -> Result<Exchange, KeptError> {
        self.read_within(index, &mut { MOST_COPIED })
    }

    /// The exchanges at these indices, all together within the limits of one step.
    pub fn read_range(&self, range: Range<usize>) -> Vec<Result<Exchange, KeptError>> {
        let mut left = MOST_COPIED;
        range
            .map(|index| self.read_within(index, &mut left))
            .collect()
    }

    fn read_within(&self, index: usize, left: &mut usize) -> Result<Exchange, KeptError> {
        let kept = self.at(index).ok_or(KeptError::NoExchange)?;
        let mut exchange = Exchange::read_but_body(kept).ok_or(KeptError::NoExchange)?;
        exchange.body = self.body(index, left)?;
        Ok(exchange)
    }

    fn at(&self, index: usize) -> Option<&Json> {
        let new = || self.new.get(index.checked_sub(self.before.len())?);
        self.before.get(index).copied().or_else(new)
    }

    fn body(&self, index: usize, left: &mut usize) -> Result<Text, KeptError> {
        // Back to a complete body, then forward through the changes.
        let mut changes = Vec::new();
        let mut next = index;
        let mut body = loop {
            let missing = if next == index {
                KeptError::NoExchange
            } else {
                KeptError::NoBase
            };
            let kept = self.at(next).and_then(|kept| kept.get("body"));
            let kept = kept.ok_or(missing)?;
            if let Some(whole) = kept.as_text() {
                break whole.clone();
            }
            changes.push(from_json::<Change>(kept).map_err(|_| missing)?);
            if next == 0 {
                return Err(KeptError::NoBase);
            }
            next = earlier(next);
        };
        while let Some(change) = changes.pop() {
            let length = change.length(&body).ok_or(KeptError::Misfit)?;
            if length > MOST_BODY {
                return Err(KeptError::TooLarge);
            }
            *left = left.checked_sub(length).ok_or(KeptError::TooLarge)?;
            body = change.apply(&body).ok_or(KeptError::Misfit)?;
        }
        Ok(body)
    }
}

/// The index of the base of a body.
const fn earlier(index: usize) -> usize {
    index & index.saturating_sub(1)
}

/// The difference of a body from an earlier one.
#[derive(Serialize, Deserialize)]
struct Change {
    /// The length of the common prefix, in bytes.
    start: usize,
    /// The text between prefix and suffix.
    between: Text,
    /// The length of the common suffix, in bytes.
    end: usize,
}

impl Change {
    /// `None` if the change would not save enough.
    fn between(earlier: &str, body: &str) -> Option<Self> {
        let mut start = same(earlier.bytes().zip(body.bytes()));
        // Keep characters whole. Bodies that are equal up to an index have the same character boundaries up to it.
        while !body.is_char_boundary(start) {
            start -= 1;
        }
        let (earlier, rest) = (earlier.get(start..)?, body.get(start..)?);
        let mut end = same(earlier.bytes().rev().zip(rest.bytes().rev()));
        while !rest.is_char_boundary(rest.len() - end) {
            end -= 1;
        }
        let between = rest.get(..rest.len() - end)?;
        (start + end >= WORTH_IT).then(|| Change {
            start,
            end,
            between: between.into(),
        })
    }

    /// The length of the rebuilt body; `None` if prefix and suffix do not both fit into the earlier body.
    fn length(&self, earlier: &str) -> Option<usize> {
        let stays = self.start.checked_add(self.end)?;
        if stays <= earlier.len() {
            stays.checked_add(self.between.len())
        } else {
            None
        }
    }

    /// Rebuilds the body from an earlier one that [`Change::length`] fits; `None` if it would cut a character.
    fn apply(&self, earlier: &str) -> Option<Text> {
        let end = earlier.len().checked_sub(self.end)?;
        let (start, end) = (earlier.get(..self.start)?, earlier.get(end..)?);
        Some([start, &self.between, end].concat().into())
    }
}

/// The number of equal pairs at the beginning.
fn same(pairs: impl Iterator<Item = (u8, u8)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::json;

    use super::*;

    fn asked(body: &str) -> Exchange {
        Exchange {
            method: "POST".into(),
            body: body.into(),
            attempts: 1,
            ..Exchange::default()
        }
    }

    /// The request of step `n` of an episode.
    fn body(n: usize) -> String {
        let message =
            |n| format!(r#"{{"role":"assistant","content":"Step {n} of them, ähnlich."}}"#);
        let messages: Vec<String> = (0..n).map(message).collect();
        let tools = "x".repeat(300);
        format!(
            r#"{{"messages":[{}],"tools":"{tools}"}}"#,
            messages.join(",")
        )
    }

    #[test]
    fn requests_of_an_episode_come_back_and_take_little_room() {
        const STEPS: usize = 300;
        let mut kept = KeptExchanges::default();
        for step in 0..STEPS {
            // As read back from a stored episode.
            let before = kept.into_new();
            let mut next = KeptExchanges::of(&before);
            next.push(&asked(&body(step)));
            let new = next.into_new();
            kept = KeptExchanges {
                before: Vec::new(),
                new: before.into_iter().chain(new).collect(),
            };
        }
        for step in [0, 1, 2, 7, 127, 128, 255, STEPS - 1] {
            assert_eq!(kept.read(step), Ok(asked(&body(step))), "{step}");
        }
        let room = |kept: &[Json]| {
            kept.iter()
                .map(|one| one.to_compact_text().len())
                .sum::<usize>()
        };
        let whole: usize = (0..STEPS).map(|step| body(step).len()).sum();
        let taken = room(&kept.into_new());
        assert!(taken * 20 < whole, "{taken} bytes for {whole}");
    }

    #[test]
    fn complete_requests_of_earlier_versions_are_read() {
        let old = [asked("one").to_json(), asked("two").to_json()];
        let kept = KeptExchanges::of(&old);
        assert_eq!(kept.read(1), Ok(asked("two")));
        assert_eq!(kept.read(2), Err(KeptError::NoExchange));
    }

    fn change(start: i64, between: &str, end: i64) -> Json {
        let mut kept = asked("").to_json();
        if let Json::Object(kept) = &mut kept {
            kept.insert(
                "body",
                json!({"start": start, "between": between, "end": end}),
            );
        }
        kept
    }

    #[test]
    fn misfitting_changes_are_rejected() {
        for (start, end) in [(0, 9), (9, 0), (1, 0), (0, 1), (2, 1), (i64::MAX, i64::MAX)] {
            let kept = [asked("ä").to_json(), change(start, "", end)];
            let read = KeptExchanges::of(&kept).read(1);
            assert_eq!(read, Err(KeptError::Misfit), "{start} {end}");
            let alone = KeptExchanges::of(&kept[1..]).read(0);
            assert_eq!(alone, Err(KeptError::NoBase));
        }
        let kept = [asked("ä").to_json(), change(-1, "", 0)];
        assert_eq!(KeptExchanges::of(&kept).read(1), Err(KeptError::NoExchange));
    }

    /// Each change used the whole body as both prefix and suffix, which doubled it.
    #[test]
    fn bodies_do_not_double_where_start_and_end_overlap() {
        const LENGTH: i64 = 1 << 10;
        let mut kept = vec![asked("").to_json(); 16];
        kept[0] = asked(&"x".repeat(1 << 10)).to_json();
        // Each is based on the previous one in this list.
        for (doubled, index) in [8, 12, 14, 15].into_iter().enumerate() {
            let length = LENGTH << doubled;
            kept[index] = change(length, "", length);
        }
        let kept = KeptExchanges::of(&kept);
        for index in [8, 12, 14, 15] {
            assert_eq!(kept.read(index), Err(KeptError::Misfit), "{index}");
        }
    }

    #[test]
    fn rebuilding_copies_at_most_what_a_step_may() {
        let length = 4_usize << 20;
        let mut kept = vec![asked(&"x".repeat(length)).to_json()];
        kept.extend(std::iter::repeat_n(change(1 << 22, "", 0), 1_000));
        let kept = KeptExchanges::of(&kept);
        let read = kept.read_range(0..kept.count());
        let shown = read.iter().filter(|one| one.is_ok()).count();
        assert!(
            shown > 20 && shown * length <= MOST_COPIED + length,
            "{shown}"
        );
        assert_eq!(read.last(), Some(&Err(KeptError::TooLarge)));

        let long = "x".repeat(MOST_BODY);
        let kept = [asked(&long).to_json(), change(1 << 25, "x", 0)];
        assert_eq!(KeptExchanges::of(&kept).read(1), Err(KeptError::TooLarge));
    }

    proptest! {
        #[test]
        fn any_bodies_come_back(bodies in prop::collection::vec("[ab]{0,4}[aäb漢]{0,300}[ab]{0,4}", 1..12)) {
            let mut kept = KeptExchanges::default();
            for body in &bodies {
                kept.push(&asked(body));
            }
            for (index, body) in bodies.iter().enumerate() {
                prop_assert_eq!(kept.read(index), Ok(asked(body)));
            }
        }

        #[test]
        fn any_changes_are_rebuilt_or_refused(
            whole in "[aä漢]{0,40}",
            changes in prop::collection::vec((-1_i64..50, "[aä]{0,9}", -1_i64..50), 1..40),
        ) {
            let mut kept = vec![asked(&whole).to_json()];
            let mut most = whole.len();
            for (start, between, end) in &changes {
                kept.push(change(*start, between, *end));
                most += between.len();
            }
            let kept = KeptExchanges::of(&kept);
            for one in kept.read_range(0..kept.count()).into_iter().flatten() {
                // A change adds the text between prefix and suffix, and repeats nothing.
                prop_assert!(one.body.len() <= most);
            }
        }
    }
}
