//! What the page wants of the librarian.

use volary_core::json;
use volary_core::json::{Json, Text};

use super::super::findings::question;
use super::super::origin::Origin;
use super::{Number, SAY, number, texts, word};

/// What the page wants of the librarian. Files that are at hand come in a letter of their own.
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
    /// Fetch files and read them.
    Fetch {
        /// The number of the reading.
        number: Number,
        /// How they come into the library.
        origin: Origin,
        /// The path of each, and its address.
        files: Vec<(Text, Text)>,
    },
    /// End a reading; what was read stays.
    Cancel {
        /// The number of the reading.
        reading: Number,
    },
    /// Get all texts ready to be searched.
    Settle {
        /// The number.
        number: Number,
    },
}

impl Request {
    /// The text that the librarian reads.
    pub fn to_text(&self) -> String {
        let (ask, number, more) = match self {
            Request::Open { number, id } => ("open", number, Json::from(id.clone())),
            Request::Check { number, id } => ("check", number, Json::from(id.clone())),
            Request::Search { number, words } => ("search", number, Json::from(words.clone())),
            Request::Find { number, id, words } => ("find", number, question(id, words)),
            Request::List { number } => ("list", number, Json::Null),
            Request::Settle { number } => ("settle", number, Json::Null),
            Request::Fetch {
                number,
                origin,
                files,
            } => {
                let files = files.iter().flat_map(|(name, url)| [name, url]);
                let files: Vec<Text> = files.cloned().collect();
                let of = json!({ "origin": (origin.word()), "files": (files) });
                ("fetch", number, of)
            }
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
            "settle" => Some(Request::Settle { number }),
            "fetch" => {
                let files = texts(of.get("files")?)?;
                let (files, _) = files.as_chunks::<2>();
                Some(Request::Fetch {
                    number,
                    origin: Origin::read(of.get("origin")?.as_text()?)?,
                    files: files.iter().cloned().map(<(Text, Text)>::from).collect(),
                })
            }
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
