//! What the page and the librarian, its worker, say to each other, as JSON texts. Pure.
//!
//! Each request has a number, and what comes of it bears the same. Episodes travel as in
//! [`crate::protocol`]: a head, then steps in parts, then the end.

use volary_core::json::{Json, Text};
use volary_core::{json, object};
use volary_trace::table::Row;

use super::findings::{Finding, Match, question};

/// Which request something belongs to; counts up.
pub type Number = u32;

/// What the page wants of the librarian. Files come in a letter of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Say what lists show of all episodes.
    List {
        /// The number.
        number: Number,
    },
    /// Send an episode.
    Open {
        /// The number.
        number: Number,
        /// Its id.
        id: Text,
    },
    /// Look for words in all texts of all episodes.
    Search {
        /// The number.
        number: Number,
        /// The words.
        words: Text,
    },
    /// Say where words stand in an episode.
    Find {
        /// The number.
        number: Number,
        /// Its id.
        id: Text,
        /// The words.
        words: Text,
    },
    /// Forget episodes.
    Forget {
        /// The number.
        number: Number,
        /// Their ids.
        ids: Vec<Text>,
    },
    /// Run the actions of an episode again and compare.
    Check {
        /// The number.
        number: Number,
        /// Its id.
        id: Text,
    },
    /// Make a file of episodes.
    Export {
        /// The number.
        number: Number,
        /// Their ids.
        ids: Vec<Text>,
    },
    /// Mark episodes with a word, or no longer.
    Tag {
        /// The number.
        number: Number,
        /// Their ids.
        ids: Vec<Text>,
        /// The word.
        tag: Text,
        /// Whether they shall have it.
        on: bool,
    },
    /// End a reading; what was read stays.
    Cancel {
        /// The number of the reading.
        reading: Number,
    },
}

/// What the librarian says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// How far a reading is.
    Progress {
        /// The number.
        number: Number,
        /// What is being done, for people.
        doing: Text,
        /// The part that is done, from 0 to 1.
        done: f64,
    },
    /// Episodes were added.
    Added {
        /// The number.
        number: Number,
        /// What lists show of them.
        rows: Vec<Row>,
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
    /// Something could not be kept for the next visit; it is there until the page is left.
    NotKept {
        /// Why, for people.
        reason: Text,
    },
}

/// What begins every text of this protocol.
const SAY: &str = "library";

impl Request {
    /// The text that the librarian reads.
    pub fn to_text(&self) -> String {
        let (ask, number, more) = match self {
            Request::Open { number, id } => ("open", number, Json::from(id.clone())),
            Request::Check { number, id } => ("check", number, Json::from(id.clone())),
            Request::Search { number, words } => ("search", number, Json::from(words.clone())),
            Request::Find { number, id, words } => ("find", number, question(id, words)),
            Request::List { number } => ("list", number, Json::Null),
            Request::Forget { number, ids } => ("forget", number, Json::from(ids.clone())),
            Request::Export { number, ids } => ("export", number, Json::from(ids.clone())),
            Request::Cancel { reading } => ("cancel", reading, Json::Null),
            Request::Tag {
                number,
                ids,
                tag,
                on,
            } => {
                let of = json!({ "ids": (ids.clone()), "tag": (tag.clone()), "on": (*on) });
                ("tag", number, of)
            }
        };
        json!({ "say": (SAY), "ask": (ask), "number": (*number), "of": (more) }).to_python_text()
    }

    /// Reads what [`Request::to_text`] wrote; `None` for anything else.
    pub fn read(text: &str) -> Option<Request> {
        let json = Json::parse(text).ok()?;
        let number = number(&json)?;
        let of = json.get("of")?;
        match word(&json, "ask")? {
            "open" => Some(Request::Open {
                number,
                id: of.as_text()?.clone(),
            }),
            "check" => Some(Request::Check {
                number,
                id: of.as_text()?.clone(),
            }),
            "search" => Some(Request::Search {
                number,
                words: of.as_text()?.clone(),
            }),
            "find" => Some(Request::Find {
                number,
                id: of.get("id")?.as_text()?.clone(),
                words: of.get("words")?.as_text()?.clone(),
            }),
            "list" => Some(Request::List { number }),
            "cancel" => Some(Request::Cancel { reading: number }),
            "tag" => Some(Request::Tag {
                number,
                ids: texts(of.get("ids")?)?,
                tag: of.get("tag")?.as_text()?.clone(),
                on: *of.get("on")? == Json::Bool(true),
            }),
            "forget" => Some(Request::Forget {
                number,
                ids: texts(of)?,
            }),
            "export" => Some(Request::Export {
                number,
                ids: texts(of)?,
            }),
            _ => None,
        }
    }
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
                done: json.get("done")?.as_f64()?,
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
            "listed" => Some(Answer::Listed { number }),
            "gone" => Some(Answer::Gone {
                ids: texts(json.get("ids")?)?,
            }),
            "forgotten" => Some(Answer::Forgotten { number }),
            "refused" => Some(Answer::Refused {
                number,
                reason: text("reason")?,
            }),
            "not kept" => Some(Answer::NotKept {
                reason: text("reason")?,
            }),
            _ => None,
        }
    }
}

fn word<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
    json.get(key)?.as_text().map(|text| &**text)
}

fn number(json: &Json) -> Option<Number> {
    json.get("number")?.as_i64()?.try_into().ok()
}

fn texts(json: &Json) -> Option<Vec<Text>> {
    let texts = json.as_list()?.iter();
    texts.map(|text| text.as_text().cloned()).collect()
}

#[cfg(test)]
mod tests;
