//! Messages about the library of trajectories, which a worker reads, stores, opens and searches.
//!
//! Requests are handled concurrently: an episode is opened while a large file is being read.

use serde::{Deserialize, Serialize};
use volary_analysis::behaviour::rules::Rule;
use volary_analysis::sensitive;
use volary_analysis::table::Row;
use volary_ask::{RenderOptions, Rendered};
use volary_core::json::Text;
use volary_episode::passages::{TextPart, TextPosition};
use volary_formats::import::fields::{FieldMapping, Mappings, Shape};

use crate::asking::{AskTerms, CheckedMessage, MeasuredTexts, SaidReply};
use crate::behaviour::{ClusterReport, JudgedEpisode, RuleHit, SignatureSet};
use crate::coded;
use crate::envelope::{self, Channel, RequestId};
use crate::episode::EpisodeChunk;

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// List all episodes: send their rows, then [`Event::Listed`].
    List,
    /// Send changes by other pages, or by other parts of this one: [`Event::Changed`] and [`Event::Gone`]. The replies
    /// do not end.
    Watch,
    /// Send an episode in chunks.
    Open {
        /// The id of the episode.
        id: Text,
    },
    /// Search all texts of all episodes. A newer search supersedes an older one.
    Search { words: Text },
    /// Find words in one episode.
    Find {
        /// The id of the episode.
        id: Text,
        words: Text,
    },
    /// Delete episodes.
    Forget {
        /// The ids of the episodes.
        ids: Vec<Text>,
    },
    /// Replay the actions of an episode and compare the result.
    Check {
        /// The id of the episode.
        id: Text,
    },
    /// Find what should perhaps not be shared in episodes.
    FindSensitive { episodes: Vec<TaggedEpisode> },
    /// Make a file of episodes.
    Export {
        episodes: Vec<TaggedEpisode>,
        format: ExportFormat,
        /// Whether what [`Request::FindSensitive`] finds is masked in it.
        is_masked: bool,
    },
    /// Make a page of what was found in episodes.
    ExportFindings {
        title: Text,
        /// In the order of the page.
        episodes: Vec<TaggedEpisode>,
        /// The training runs that they belong to.
        runs: Vec<FoundRun>,
        /// Claims that cite the episodes.
        claims: Vec<FoundClaim>,
        /// Notes on the episodes, in the format of files of notes.
        notes: Text,
        /// Whether keys, passwords and addresses are masked in it.
        is_masked: bool,
    },
    /// Render episodes as texts and measure them. A newer request supersedes an older one.
    MeasureTexts {
        /// The ids of the episodes.
        ids: Vec<Text>,
        terms: Box<AskTerms>,
    },
    /// Render an episode as a text.
    RenderText {
        /// The id of the episode.
        id: Text,
        options: RenderOptions,
    },
    /// Check what a model said about an episode.
    CheckReply(Box<SaidReply>),
    /// Add a tag to episodes, or remove it.
    Tag {
        /// The ids of the episodes.
        ids: Vec<Text>,
        tag: Text,
        /// Whether to add the tag; otherwise it is removed.
        on: bool,
    },
    /// Read the attached files.
    Read {
        /// The origin of the episodes.
        origin: Origin,
    },
    /// Show episodes that the page could not store, until it can. The native text of each is an attached file.
    ShowUnstored {
        /// One for each file, in the same order.
        #[serde(with = "coded")]
        rows: Vec<Row>,
    },
    /// Fetch files and read them; a single file is read while it is downloaded.
    Fetch {
        /// The origin of the episodes.
        origin: Origin,
        files: Vec<RemoteFile>,
    },
    /// Read the files of a list in ranges, while the list arrives.
    FetchList {
        /// How they come into the library.
        origin: Origin,
        list: FileList,
    },
    /// Files of a list changed.
    Refresh {
        /// How they came into the library.
        origin: Origin,
        changes: FileChanges,
        /// As in [`FileList`].
        heads: Option<Text>,
    },
    /// End a reading. What was read so far stays.
    Cancel {
        /// The request that started it.
        reading: RequestId,
    },
    /// Index all texts for later searches.
    Settle,
    /// Read records of unknown shapes by these mappings from now on.
    Map {
        /// All that the user made.
        mappings: Mappings,
    },
    /// Send the episode that a mapping makes of the first record of a file, in chunks.
    Preview {
        /// The first value of the file, as JSON.
        head: Text,
        /// The mapping.
        fields: FieldMapping,
    },
    /// Send the signatures of episodes, in this order: [`Event::Signatures`]. A [`Request::Cancel`] ends this and the other
    /// requests about behaviour.
    Signatures { ids: Vec<Text> },
    /// Find groups of similar behaviour: [`Event::Clusters`].
    Clusters { episodes: Vec<JudgedEpisode> },
    /// Find the episodes in which rules hold: [`Event::RuleMatches`].
    MatchRules { rules: Vec<Rule>, ids: Vec<Text> },
    /// Send the rules that a step suggests: [`Event::ProposedRules`].
    ProposeRules {
        id: Text,
        /// From 1.
        step: u64,
    },
    /// Send the first episode of files, in chunks, and store nothing.
    ReadFirst {
        /// The files, which belong together.
        files: Vec<NamedFile>,
    },
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Library;
    type Event = Event;
}

/// A format of files with several episodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportFormat {
    /// Volary's own format, one episode a line.
    Volary,
    /// Rows of a data set, as JSON Lines.
    Rows,
    /// The same rows as Parquet.
    Parquet,
}

/// A claim over several episodes, as pieces of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundClaim {
    pub pieces: Vec<FoundPiece>,
}

/// A piece of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPiece {
    pub text: Text,
    /// The id of the episode that it cites.
    pub episode: Option<Text>,
}

/// A training run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRun {
    pub title: Text,
    /// The ids of all of its episodes.
    pub ids: Vec<Text>,
    /// The part of the reward that the user chose; empty for the reward of the file. `None` without a choice.
    pub reward: Option<Text>,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFile {
    /// The name, which may indicate the format.
    pub name: String,
    /// Its content.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// A file at an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// The name, which may indicate the format.
    pub name: Text,
    /// The absolute address.
    pub url: Text,
}

/// The addresses of a list of files, which are of the page's own origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileList {
    /// The absolute address of the list. Each line is an object with `name` and `path`, which is relative to the list, or
    /// with a `problem`.
    pub url: Text,
    /// The absolute address to which paths are posted for the beginnings of these files in one response, if the server
    /// has that.
    pub heads: Option<Text>,
}

/// Changes of the files of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChanges {
    /// Those that are new, or were written to.
    pub changed: Vec<RemoteFile>,
    /// The addresses of those that are gone, or of folders.
    pub gone: Vec<Text>,
    /// The addresses of those that are written to no more.
    pub settled: Vec<Text>,
}

/// An episode that is exported with its tags. The page knows them all: some are notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaggedEpisode {
    pub id: Text,
    pub tags: Vec<Text>,
}

/// A file whose records no reader knows, but whose members can be mapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmappedFile {
    /// Its path.
    pub file: Text,
    /// The shape of its records.
    pub shape: Shape,
    /// Its first value, as JSON; long texts are shortened.
    pub head: Text,
}

/// How episodes come into the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Imported from the user's files.
    Imported,
    /// Published with the site. They are not stored, because each visit loads them.
    Published,
    /// From a file in a link that the user did not want to store. They exist until the page is left.
    Linked,
}

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Progress of a reading or a search.
    Progress {
        /// The current stage, for the user.
        doing: Text,
        /// The completed part, from 0 to 1; `None` if unknown.
        done: Option<f64>,
    },
    /// Rows of episodes that this request listed, read or changed.
    Added {
        #[serde(with = "coded")]
        rows: Vec<Row>,
    },
    /// Rows of other episodes that changed meanwhile.
    Changed {
        #[serde(with = "coded")]
        rows: Vec<Row>,
    },
    /// The first part of an episode was read, and can be opened.
    PartialRow {
        /// The row so far.
        #[serde(with = "coded")]
        row: Box<Row>,
    },
    /// A partial episode is complete, or an episode got another id because its first one was taken.
    Renamed {
        /// The previous id.
        id: Text,
        /// The new id.
        into: Text,
    },
    /// A file could not be fetched completely.
    Unfetched(Unfetched),
    /// All rows were sent.
    Listed,
    /// Episodes were deleted by another page or part of this one.
    Gone {
        /// Their ids.
        ids: Vec<Text>,
    },
    /// Files of a reading that is about to end could be read if their members were mapped.
    Unmapped {
        /// The files, one of each shape.
        files: Vec<UnmappedFile>,
    },
    /// A file with answers of models was read.
    Answers {
        /// Its lines that can be read.
        lines: Text,
        /// How the file came into the library.
        origin: Origin,
    },
    /// A reading is complete.
    Read {
        /// Notes on what was read, for the user.
        notes: Vec<Text>,
    },
    /// A search is complete.
    Found {
        /// The first match in each episode.
        matches: Vec<Match>,
    },
    /// The matches in one episode.
    Places {
        /// The matches, in order.
        places: Vec<EpisodeMatch>,
    },
    /// An episode was replayed.
    Checked {
        /// The result, for the user.
        words: Text,
        /// The first step that differs, where 0 is the reset; `None` if none does.
        step: Option<u64>,
    },
    /// What should perhaps not be shared was looked for.
    Sensitive {
        /// In the order of the episodes, and of the places in each.
        found: Vec<SensitiveEpisode>,
    },
    /// Texts were measured.
    Measured(MeasuredTexts),
    /// An episode as a text.
    Rendered(Box<Rendered>),
    /// A reply of a model was checked.
    ReplyChecked(Box<CheckedMessage>),
    /// A part of an episode.
    Episode(EpisodeChunk),
    /// The requested file is attached.
    File {
        /// The name of the file.
        name: Text,
    },
    /// The request failed without any effect.
    Refused {
        /// What failed and why, for the user.
        reason: Text,
    },
    /// Stored records can't be read.
    NotRead {
        /// The reason, for the user.
        reason: Text,
    },
    /// A notice to the user about stored records.
    Notice {
        /// The problem.
        what: Text,
        /// The reason.
        why: Text,
        advice: Text,
    },
    /// The answer to [`Request::Signatures`].
    Signatures(SignatureSet),
    /// The answer to [`Request::Clusters`].
    Clusters(ClusterReport),
    /// The answer to [`Request::MatchRules`]: one list for each rule.
    RuleMatches { matches: Vec<Vec<RuleHit>> },
    /// The answer to [`Request::ProposeRules`], the most specific first.
    ProposedRules { rules: Vec<Rule> },
    /// Something could not be stored. It exists until the page is left.
    NotKept {
        /// The reason, for the user.
        reason: Text,
    },
}

/// The reason why a file could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfetched {
    /// The address of the file.
    pub url: Text,
    /// The reason, for the user.
    pub reason: Text,
    /// The HTTP status, if that is the reason.
    pub status: Option<u16>,
    /// Whether there was a response that this page may read.
    pub answered: bool,
}

/// An episode that matches a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// The id of the episode.
    pub id: Text,
    /// The step of the first match, where 0 is the reset.
    pub step: u64,
    /// The text before the match.
    pub before: Text,
    /// The matched words as they are written there.
    pub hit: Text,
    /// The text after the match.
    pub after: Text,
}

/// A match in one episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeMatch {
    /// The text that contains it.
    #[serde(with = "PlaceFields")]
    pub place: TextPosition,
    /// The index of its first character in that text.
    pub start: usize,
    /// The number of characters.
    pub length: usize,
    /// The matched words as they are written there.
    pub words: Text,
    /// The number of earlier matches of the same words in the same text.
    pub before: usize,
}

/// What should perhaps not be shared in an episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensitiveEpisode {
    /// What the episode is called; its id if it has no name.
    pub name: Text,
    /// What it is and where.
    #[serde(with = "SensitiveFields")]
    pub finding: sensitive::Finding,
}

/// [`sensitive::Finding`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "sensitive::Finding")]
struct SensitiveFields {
    #[serde(with = "KindFields")]
    kind: sensitive::FindingKind,
    preview: String,
    step: Option<usize>,
    #[serde(rename = "place")]
    path: String,
    #[serde(rename = "places")]
    count: usize,
}

/// [`sensitive::FindingKind`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "sensitive::FindingKind")]
enum KindFields {
    ApiKey,
    Token,
    Password,
    PrivateKey,
    Email,
}

/// [`TextPosition`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TextPosition")]
struct PlaceFields {
    step: usize,
    message: usize,
    #[serde(with = "PartFields")]
    part: TextPart,
}

/// [`TextPart`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TextPart")]
enum PartFields {
    Name,
    Reasoning,
    Content,
    Call(usize),
    Error(usize),
    Score(usize),
}
