//! What was found, in one episode and in all, as page and librarian say it. Pure.

use std::collections::HashMap;

use volary_core::json::{Json, Text};
use volary_core::{json, object};
use volary_trace::passages::{Part, Place};
use volary_trace::search::{Document, Query};

/// So many places are said at most: nobody goes through more.
pub const MOST: usize = 5_000;

/// Words that were found in an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// The text in which they stand.
    pub place: Place,
    /// The first character in that text.
    pub start: usize,
    /// How many characters they are.
    pub length: usize,
    /// The words, as they stand there.
    pub words: Text,
    /// How many findings stand before it in the same text.
    pub before: usize,
}

/// All places of an episode where a query stands, in order, at most [`MOST`].
pub fn find(document: &Document, query: &Query) -> Vec<Finding> {
    // How often the same was found in the same text so far.
    let mut counts: HashMap<(Place, String), usize> = HashMap::new();
    let findings = document.hits(query, MOST).into_iter().map(|hit| {
        let words: Text = document.snippet(&hit, 0).hit.into();
        let count = counts.entry((hit.place, words.to_lowercase())).or_default();
        *count += 1;
        Finding {
            place: hit.place,
            start: hit.start,
            length: hit.length,
            before: *count - 1,
            words,
        }
    });
    findings.collect()
}

impl Finding {
    /// As JSON.
    pub fn to_json(&self) -> Json {
        let (part, number) = match self.place.part {
            Part::Name => ("name", 0),
            Part::Reasoning => ("reasoning", 0),
            Part::Content => ("content", 0),
            Part::Call(number) => ("call", number),
            Part::Error(number) => ("error", number),
            Part::Score(number) => ("score", number),
        };
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        object!({
            "step": (count(self.place.step)),
            "message": (count(self.place.message)),
            "part": (part),
            "of": (count(number)),
            "start": (count(self.start)),
            "length": (count(self.length)),
            "words": (self.words.clone()),
            "before": (count(self.before))
        })
        .into()
    }

    /// Reads what [`Finding::to_json`] wrote.
    pub fn from_json(json: &Json) -> Option<Finding> {
        let count = |key: &str| usize::try_from(json.get(key)?.as_i64()?).ok();
        let number = count("of")?;
        let part = match &**json.get("part")?.as_text()? {
            "name" => Part::Name,
            "reasoning" => Part::Reasoning,
            "content" => Part::Content,
            "call" => Part::Call(number),
            "error" => Part::Error(number),
            "score" => Part::Score(number),
            _ => return None,
        };
        Some(Finding {
            place: Place {
                step: count("step")?,
                message: count("message")?,
                part,
            },
            start: count("start")?,
            length: count("length")?,
            words: json.get("words")?.as_text()?.clone(),
            before: count("before")?,
        })
    }
}

/// An episode in which words were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Its id.
    pub id: Text,
    /// The step of the first place; 0 is the reset.
    pub step: u64,
    /// What stands before the words there.
    pub before: Text,
    /// The words.
    pub hit: Text,
    /// What follows.
    pub after: Text,
}

impl Match {
    /// As JSON.
    pub fn to_json(&self) -> Json {
        let mut object = object!({
            "id": (self.id.clone()),
            "step": (i64::try_from(self.step).unwrap_or(i64::MAX))
        });
        // Of many matches only the place is told.
        for (key, text) in [
            ("before", &self.before),
            ("hit", &self.hit),
            ("after", &self.after),
        ] {
            if !text.is_empty() {
                object.insert(key, text.clone());
            }
        }
        object.into()
    }

    /// Reads what [`Match::to_json`] wrote.
    pub fn read(json: &Json) -> Option<Match> {
        let text = |key: &str| json.get(key)?.as_text().cloned();
        Some(Match {
            id: text("id")?,
            step: json.get("step")?.as_i64()?.try_into().ok()?,
            before: text("before").unwrap_or_default(),
            hit: text("hit").unwrap_or_default(),
            after: text("after").unwrap_or_default(),
        })
    }
}

/// What is asked: words, and the episode in which they are looked for.
pub fn question(id: &Text, words: &Text) -> Json {
    json!({ "id": (id.clone()), "words": (words.clone()) })
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_trace::Episode;

    use super::*;

    #[test]
    fn findings_know_how_many_stand_before_them() {
        let episode = Episode {
            name: "An ant".into(),
            start: vec![Message::user("Ant, ant and ANT.").into()],
            ..Episode::default()
        };
        let found = find(&Document::of(&episode), &Query::parse("ant"));
        let short: Vec<_> = found
            .iter()
            .map(|found| (found.start, &*found.words, found.before))
            .collect();
        assert_eq!(
            short,
            [(3, "ant", 0), (0, "Ant", 0), (5, "ant", 1), (13, "ANT", 2)]
        );
        for finding in &found {
            assert_eq!(
                Finding::from_json(&finding.to_json()).as_ref(),
                Some(finding)
            );
        }
    }
}
