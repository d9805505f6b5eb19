//! The exchanges of an episode as they are kept: of each request only what is new in it.
//!
//! Each request of an episode repeats the one before and adds messages to it: kept whole, the requests of `n`
//! steps take room in the square of `n`. So a body is kept as how it differs from an earlier one: how much of its
//! start and of its end is the same, and what stands between.
//!
//! The earlier one is not always the one before, or whoever looks at the last request would put together all of them.
//! It is the one whose place is that of the request without its lowest bit: 7 follows on 6, 6 on 4, 4 on 0. So a
//! body is put together in at most log₂ `n` steps, and all of them take room in `n` log `n`.

use volary_core::json;
use volary_core::json::{Json, Text};

use super::Exchange;

/// A body that saves less than so many bytes is kept whole.
const WORTH_IT: usize = 200;

/// The exchanges of an episode, in the order in which they were kept.
#[derive(Clone, Debug, Default)]
pub struct KeptExchanges<'a> {
    before: Vec<&'a Json>,
    new: Vec<Json>,
}

impl<'a> KeptExchanges<'a> {
    /// Those that are kept so far.
    pub fn of(before: impl IntoIterator<Item = &'a Json>) -> Self {
        KeptExchanges {
            before: before.into_iter().collect(),
            new: Vec::new(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.before.len() + self.new.len()
    }

    /// Keeps one more.
    pub fn push(&mut self, exchange: &Exchange) {
        let mut kept = exchange.to_json();
        let place = self.count();
        if place > 0
            && let Json::Object(kept) = &mut kept
            && let Some(earlier) = self.body(earlier(place))
            && let Some(change) = Change::between(&earlier, &exchange.body)
        {
            kept.insert("body", change.to_json());
        }
        self.new.push(kept);
    }

    /// What was added to those of the beginning.
    pub fn into_new(self) -> Vec<Json> {
        self.new
    }

    /// One of them; `None` if it is no exchange, or what it follows on is missing.
    pub fn read(&self, place: usize) -> Option<Exchange> {
        let body = self.body(place)?;
        let mut exchange = Exchange::read_but_body(self.at(place)?)?;
        exchange.body = body;
        Some(exchange)
    }

    fn at(&self, place: usize) -> Option<&Json> {
        let new = || self.new.get(place.checked_sub(self.before.len())?);
        self.before.get(place).copied().or_else(new)
    }

    fn body(&self, place: usize) -> Option<Text> {
        // Back to one that is whole, then forth again.
        let mut changes = Vec::new();
        let mut place = place;
        let mut body = loop {
            let kept = self.at(place)?.get("body")?;
            if let Some(whole) = kept.as_text() {
                break whole.clone();
            }
            changes.push(Change::read(kept)?);
            place = (place > 0).then(|| earlier(place))?;
        };
        while let Some(change) = changes.pop() {
            body = change.apply(&body)?;
        }
        Some(body)
    }
}

/// The place of the one on which another follows.
const fn earlier(place: usize) -> usize {
    place & place.saturating_sub(1)
}

/// How a body differs from an earlier one.
struct Change {
    /// So many bytes of its start are the same.
    start: usize,
    /// So many bytes of its end are the same.
    end: usize,
    /// What stands between.
    between: Text,
}

impl Change {
    /// `None` where it is not worth it.
    fn between(earlier: &str, body: &str) -> Option<Self> {
        let mut start = same(earlier.bytes().zip(body.bytes()));
        // Characters stay whole. What is the same up to a place has the same characters up to it.
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

    fn apply(&self, earlier: &str) -> Option<Text> {
        let end = earlier.len().checked_sub(self.end)?;
        let (start, end) = (earlier.get(..self.start)?, earlier.get(end..)?);
        Some([start, &self.between, end].concat().into())
    }

    fn to_json(&self) -> Json {
        let count = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        json!({
            "start": (count(self.start)),
            "between": (self.between.clone()),
            "end": (count(self.end))
        })
    }

    fn read(kept: &Json) -> Option<Self> {
        let count = |key: &str| usize::try_from(kept.get(key)?.as_i64()?).ok();
        Some(Change {
            start: count("start")?,
            end: count("end")?,
            between: kept.get("between")?.as_text()?.clone(),
        })
    }
}

/// How many pairs are of the same, from the first on.
fn same(pairs: impl Iterator<Item = (u8, u8)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(body: &str) -> Exchange {
        Exchange {
            method: "POST".into(),
            body: body.into(),
            tries: 1,
            ..Exchange::default()
        }
    }

    /// A request of step `n` of an episode.
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
            // As an episode that is stored, and read again.
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
            assert_eq!(kept.read(step), Some(asked(&body(step))), "{step}");
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
    fn what_was_kept_whole_is_read_as_well() {
        let old = [asked("one").to_json(), asked("two").to_json()];
        let kept = KeptExchanges::of(&old);
        assert_eq!(kept.read(1), Some(asked("two")));
        assert_eq!(kept.read(2), None);
    }

    #[test]
    fn what_fits_nothing_is_nothing() {
        let change = |start: i64, end: i64| {
            let mut kept = asked("").to_json();
            if let Json::Object(kept) = &mut kept {
                kept.insert("body", json!({"start": start, "between": "", "end": end}));
            }
            kept
        };
        for (start, end) in [(0, 9), (9, 0), (1, 0), (-1, 0), (0, 1)] {
            let kept = [asked("ä").to_json(), change(start, end)];
            assert_eq!(KeptExchanges::of(&kept).read(1), None, "{start} {end}");
            assert_eq!(KeptExchanges::of(&kept[1..]).read(0), None);
        }
    }

    proptest! {
        #[test]
        fn any_bodies_come_back(bodies in prop::collection::vec("[ab]{0,4}[aäb漢]{0,300}[ab]{0,4}", 1..12)) {
            let mut kept = KeptExchanges::default();
            for body in &bodies {
                kept.push(&asked(body));
            }
            for (place, body) in bodies.iter().enumerate() {
                prop_assert_eq!(kept.read(place), Some(asked(body)));
            }
        }
    }
}
