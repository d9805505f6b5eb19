//! The library of trajectories, which a worker reads, stores, opens and searches.
//!
//! Requests are carried out concurrently: an episode is opened while a large file is being read.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;
use volary_trajectory::passages::{Part, Place};
use volary_trajectory::table::Row;

use crate::coded;
use crate::envelope::{self, Channel, RequestId};
use crate::episode::EpisodeChunk;

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Send the rows of all episodes, then [`Event::Listed`].
    List,
    /// Send what other pages, or other parts of this one, change: [`Event::Changed`] and [`Event::Gone`]. The replies
    /// do not end.
    Watch,
    /// Send an episode in chunks.
    Open {
        /// Its id.
        id: Text,
    },
    /// Search all texts of all episodes. A newer search ends an older one.
    Search {
        /// The words.
        words: Text,
    },
    /// Find words in one episode.
    Find {
        /// Its id.
        id: Text,
        /// The words.
        words: Text,
    },
    /// Delete episodes.
    Forget {
        /// Their ids.
        ids: Vec<Text>,
    },
    /// Run the actions of an episode again and compare.
    Check {
        /// Its id.
        id: Text,
    },
    /// Make a file of episodes.
    Export {
        /// Their ids.
        ids: Vec<Text>,
    },
    /// Add a tag to episodes, or remove it.
    Tag {
        /// Their ids.
        ids: Vec<Text>,
        /// The tag.
        tag: Text,
        /// Whether they shall have it.
        on: bool,
    },
    /// Read the attached files.
    Read {
        /// How they come into the library.
        origin: Origin,
    },
    /// Fetch files and read them; a single one while it arrives.
    Fetch {
        /// How they come into the library.
        origin: Origin,
        /// The files.
        files: Vec<RemoteFile>,
    },
    /// End a reading. What was read so far stays.
    Cancel {
        /// The request that began it.
        reading: RequestId,
    },
    /// Index all texts for searches.
    Settle,
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Library;
    type Event = Event;
}

/// A file at an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// Its name, which may tell its format.
    pub name: Text,
    /// Its absolute address.
    pub url: Text,
}

/// How episodes come into the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A person gave files.
    Imported,
    /// They came with the site. They are not stored, since they are there at each visit.
    Published,
    /// A link named the file, and the user did not want it stored: they are there until the page is left.
    Linked,
}

/// What a worker replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// How far a reading or a search is.
    Progress {
        /// What is being done, for people.
        doing: Text,
        /// The part that is done, from 0 to 1; `None` if unknown.
        done: Option<f64>,
    },
    /// Rows of episodes that this request listed, read or changed.
    Added {
        /// The rows.
        #[serde(with = "coded")]
        rows: Vec<Row>,
    },
    /// Rows of other episodes that changed meanwhile.
    Changed {
        /// The rows.
        #[serde(with = "coded")]
        rows: Vec<Row>,
    },
    /// The beginning of an episode was read; it can be opened.
    Begun {
        /// Its row so far.
        #[serde(with = "coded")]
        row: Box<Row>,
    },
    /// An episode that had begun is complete, or got another id because its first one was taken.
    Grown {
        /// The id it had.
        id: Text,
        /// The id it has.
        into: Text,
    },
    /// A file did not arrive, or not completely.
    Unfetched(Unfetched),
    /// All rows were sent.
    Listed,
    /// Episodes were deleted elsewhere.
    Gone {
        /// Their ids.
        ids: Vec<Text>,
    },
    /// A reading is complete.
    Read {
        /// Remarks on what was read, for people.
        notes: Vec<Text>,
    },
    /// A search is complete.
    Found {
        /// The first place in each episode that has the words.
        matches: Vec<Match>,
    },
    /// Where words are in an episode.
    Places {
        /// The places, in order.
        places: Vec<Finding>,
    },
    /// An episode was run again.
    Checked {
        /// The result, for people.
        words: Text,
        /// The first step that differs, 0 being the reset; `None` if none does.
        step: Option<u64>,
    },
    /// A part of an episode.
    Episode(EpisodeChunk),
    /// The file that was asked for is attached.
    File {
        /// Its name.
        name: Text,
    },
    /// The request could not be carried out; nothing changed.
    Refused {
        /// What failed and why, for people.
        reason: Text,
    },
    /// What was stored before can't be read.
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
    /// Something could not be stored; it is there until the page is left.
    NotKept {
        /// Why, for people.
        reason: Text,
    },
}

/// Why a file did not arrive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfetched {
    /// Its address.
    pub url: Text,
    /// Why, for people.
    pub reason: Text,
    /// The HTTP status, if that is why.
    pub status: Option<u16>,
    /// Whether there was a reply that this page may read.
    pub answered: bool,
}

/// An episode in which words were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Its id.
    pub id: Text,
    /// The step of the first place, 0 being the reset.
    pub step: u64,
    /// The text before the words.
    pub before: Text,
    /// The words as they are written there.
    pub hit: Text,
    /// The text after them.
    pub after: Text,
}

/// Words that were found in one episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The text that has them.
    #[serde(with = "PlaceFields")]
    pub place: Place,
    /// The first character in that text.
    pub start: usize,
    /// The number of characters.
    pub length: usize,
    /// The words as they are written there.
    pub words: Text,
    /// How many findings of the same words come before in the same text.
    pub before: usize,
}

/// [`Place`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Place")]
struct PlaceFields {
    step: usize,
    message: usize,
    #[serde(with = "PartFields")]
    part: Part,
}

/// [`Part`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Part")]
enum PartFields {
    Name,
    Reasoning,
    Content,
    Call(usize),
    Error(usize),
    Score(usize),
}
