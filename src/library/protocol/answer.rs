//! What the librarian says.

use volary_core::json::{Json, Text};
use volary_core::object;
use volary_trace::table::Row;

use super::super::findings::{Finding, Match};
use super::{Number, SAY, number, texts, word};

/// What the librarian says.
#[allow(
    clippy::large_enum_variant,
    reason = "each is said and gone; none is kept"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// How far a reading is.
    Progress {
        /// The number.
        number: Number,
        /// What is being done, for people.
        doing: Text,
        /// The part that is done, from 0 to 1; `None` if nobody knows.
        done: Option<f64>,
    },
    /// Episodes were added.
    Added {
        /// The number.
        number: Number,
        /// What lists show of them.
        rows: Vec<Row>,
    },
    /// The beginning of an episode was read, and can be opened.
    Begun {
        /// The number of the reading.
        number: Number,
        /// What lists show of it so far.
        row: Row,
    },
    /// An episode that had begun is there as a whole; or one was shown under an id that somebody else had taken.
    Grown {
        /// The number of the reading.
        number: Number,
        /// The id that it had.
        id: Text,
        /// The id that it has.
        into: Text,
    },
    /// A file did not come, or not to its end.
    Unfetched {
        /// The number of the reading.
        number: Number,
        /// Its address.
        url: Text,
        /// Why, for people.
        reason: Text,
        /// The HTTP status, if that is why.
        status: Option<u16>,
        /// Whether there was a reply that this page may read.
        answered: bool,
    },
    /// All that was there was said.
    Listed {
        /// The number.
        number: Number,
    },
    /// Episodes are no longer there: another page forgot them.
    Gone {
        /// Their ids.
        ids: Vec<Text>,
    },
    /// A reading is over.
    Read {
        /// The number.
        number: Number,
        /// What there is to say about it, for people.
        notes: Vec<Text>,
    },
    /// What a search found.
    Found {
        /// The number.
        number: Number,
        /// Where the words stand first, in each episode that has them.
        matches: Vec<Match>,
    },
    /// Where words stand in an episode.
    Places {
        /// The number.
        number: Number,
        /// The places, in order.
        places: Vec<Finding>,
    },
    /// An episode was run again.
    Checked {
        /// The number.
        number: Number,
        /// What came of it, for people.
        words: Text,
        /// The first step that differs: 0 is the reset; `None` if none does.
        step: Option<u64>,
    },
    /// Episodes were forgotten.
    Forgotten {
        /// The number.
        number: Number,
    },
    /// It could not be done; nothing changed.
    Refused {
        /// The number.
        number: Number,
        /// What failed and why, for people.
        reason: Text,
    },
    /// What was kept before can't be read.
    NotRead {
        /// Why, for people.
        reason: Text,
    },
    /// A person must know something of what is stored.
    Notice {
        /// What is wrong.
        what: Text,
        /// Why.
        why: Text,
        /// What to do about it.
        advice: Text,
    },
    /// Something could not be kept for the next visit; it is there until the page is left.
    NotKept {
        /// Why, for people.
        reason: Text,
    },
}

impl Answer {
    /// The text that the page reads.
    pub fn to_text(&self) -> String {
        let mut object = match self {
            Answer::Progress {
                number,
                doing,
                done,
            } => object!({
                "answer": "progress",
                "number": (*number),
                "doing": (doing.clone()),
                "done": (*done)
            }),
            Answer::Added { number, rows } => object!({
                "answer": "added",
                "number": (*number),
                "rows": (rows.iter().map(Row::to_json).collect::<Vec<_>>())
            }),
            Answer::Read { number, notes } => object!({
                "answer": "read",
                "number": (*number),
                "notes": (notes.clone())
            }),
            Answer::Found { number, matches } => object!({
                "answer": "found",
                "number": (*number),
                "matches": (matches.iter().map(Match::to_json).collect::<Vec<_>>())
            }),
            Answer::Places { number, places } => object!({
                "answer": "places",
                "number": (*number),
                "places": (places.iter().map(Finding::to_json).collect::<Vec<_>>())
            }),
            Answer::Checked {
                number,
                words,
                step,
            } => object!({
                "answer": "checked",
                "number": (*number),
                "words": (words.clone()),
                "step": (step.map(|step| i64::try_from(step).unwrap_or(i64::MAX)))
            }),
            Answer::Begun { number, row } => object!({
                "answer": "begun",
                "number": (*number),
                "row": (row.to_json())
            }),
            Answer::Grown { number, id, into } => object!({
                "answer": "grown",
                "number": (*number),
                "id": (id.clone()),
                "into": (into.clone())
            }),
            Answer::Unfetched {
                number,
                url,
                reason,
                status,
                answered,
            } => object!({
                "answer": "unfetched",
                "number": (*number),
                "url": (url.clone()),
                "reason": (reason.clone()),
                "status": (status.map(i64::from)),
                "answered": (*answered)
            }),
            Answer::Listed { number } => object!({
                "answer": "listed",
                "number": (*number)
            }),
            Answer::Gone { ids } => object!({
                "answer": "gone",
                "number": 0,
                "ids": (ids.clone())
            }),
            Answer::Forgotten { number } => object!({
                "answer": "forgotten",
                "number": (*number)
            }),
            Answer::Refused { number, reason } => object!({
                "answer": "refused",
                "number": (*number),
                "reason": (reason.clone())
            }),
            Answer::NotRead { reason } => object!({
                "answer": "not read",
                "number": 0,
                "reason": (reason.clone())
            }),
            Answer::Notice { what, why, advice } => object!({
                "answer": "notice",
                "number": 0,
                "what": (what.clone()),
                "why": (why.clone()),
                "advice": (advice.clone())
            }),
            Answer::NotKept { reason } => object!({
                "answer": "not kept",
                "number": 0,
                "reason": (reason.clone())
            }),
        };
        object.insert("say", SAY);
        object.to_python_text()
    }

    /// Reads what [`Answer::to_text`] wrote; `None` for anything else.
    pub fn read(text: &str) -> Option<Answer> {
        let json = Json::parse(text).ok()?;
        if word(&json, "say")? != SAY {
            return None;
        }
        let number = number(&json)?;
        let text = |key: &str| json.get(key).and_then(Json::as_text).cloned();
        match word(&json, "answer")? {
            "progress" => Some(Answer::Progress {
                number,
                doing: text("doing")?,
                done: json.get("done").and_then(Json::as_f64),
            }),
            "added" => {
                let rows = json.get("rows")?.as_list()?.iter();
                Some(Answer::Added {
                    number,
                    rows: rows.map(Row::read).collect::<Option<_>>()?,
                })
            }
            "read" => Some(Answer::Read {
                number,
                notes: texts(json.get("notes")?)?,
            }),
            "found" => {
                let matches = json.get("matches")?.as_list()?.iter();
                Some(Answer::Found {
                    number,
                    matches: matches.map(Match::read).collect::<Option<_>>()?,
                })
            }
            "places" => {
                let places = json.get("places")?.as_list()?.iter();
                Some(Answer::Places {
                    number,
                    places: places.map(Finding::from_json).collect::<Option<_>>()?,
                })
            }
            "checked" => Some(Answer::Checked {
                number,
                words: text("words")?,
                step: json
                    .get("step")
                    .and_then(Json::as_i64)
                    .and_then(|step| step.try_into().ok()),
            }),
            "begun" => Some(Answer::Begun {
                number,
                row: Row::read(json.get("row")?)?,
            }),
            "grown" => Some(Answer::Grown {
                number,
                id: text("id")?,
                into: text("into")?,
            }),
            "unfetched" => Some(Answer::Unfetched {
                number,
                url: text("url")?,
                reason: text("reason")?,
                status: json
                    .get("status")
                    .and_then(Json::as_i64)
                    .and_then(|status| status.try_into().ok()),
                answered: *json.get("answered")? == Json::Bool(true),
            }),
            "listed" => Some(Answer::Listed { number }),
            "gone" => Some(Answer::Gone {
                ids: texts(json.get("ids")?)?,
            }),
            "forgotten" => Some(Answer::Forgotten { number }),
            "refused" => Some(Answer::Refused {
                number,
                reason: text("reason")?,
            }),
            "not read" => Some(Answer::NotRead {
                reason: text("reason")?,
            }),
            "notice" => Some(Answer::Notice {
                what: text("what")?,
                why: text("why")?,
                advice: text("advice")?,
            }),
            "not kept" => Some(Answer::NotKept {
                reason: text("reason")?,
            }),
            _ => None,
        }
    }
}
