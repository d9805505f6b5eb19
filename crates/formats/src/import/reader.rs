//! The interface of a format's reader: its input, and the sink of its output.
//!
//! A format is of one of two types. *Documents*: one file contains everything, as one JSON value or as one value per
//! line; the reader returns its confidence that a document is in its format ([`Reader::recognise`]), and the reader
//! with the highest confidence reads it ([`Reader::read`]). *Folders*: several files belong together; the reader takes
//! them before documents are examined ([`Reader::gather`]).

use std::collections::HashMap;

use volary_analysis::task;
use volary_core::json::{Json, Text};
use volary_episode::episode::{Episode, Rewards, Source, Usage};
use volary_episode::frames::MOST_TO_READ;

use super::expansion::{Expansion, FACTOR, FREE, size, size_of_episode};
use super::files::Files;
use super::{ImportOutcome, Note, NoteLevel, prime_rl};

/// The formats of sessions of one person with one agent. Their files are called `ui_messages.json` or `wire.jsonl`, so ids
/// that are made from such names say nothing; the first prompt does.
const SESSIONS: [&str; 6] = ["aider", "autogen", "browser-use", "cline", "gptme", "kimi"];

/// The report of a reward that is in no mean.
pub(crate) const NOT_FINITE: &str = "A reward is NaN or infinite: it counts as missing, not as 0.";

/// Confidence of a reader that a document is in its format. Based on the content, never on the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Confidence {
    /// The document is in another format.
    #[default]
    No,
    /// The document has the members, but other formats have them too.
    Possible,
    /// The document has a combination of members that hardly any other format has.
    Likely,
    /// The format identifies itself.
    Certain,
}

/// How the lines of a file form episodes.
#[derive(Clone, Copy)]
pub(crate) enum Grouping {
    /// Each line is one episode, or several.
    EachLine,
    /// An episode starts with a line that satisfies the predicate.
    StartedBy(fn(&Json) -> bool),
    /// All lines form one unit.
    Whole,
}

/// Reader of a format.
pub(crate) trait Reader: Sync {
    /// The short name, stored as [`Source::format`].
    fn id(&self) -> &'static str;

    /// The display name, with the type of file.
    fn name(&self) -> &'static str;

    /// Takes and reads the files that are only meaningful together.
    fn gather(&self, _files: &mut Files<'_>, _outcome: &mut ImportOutcome) {}

    /// The confidence that a document is in this format. Examines a few members only: it is called for every document.
    fn recognise(&self, _document: &Document) -> Confidence {
        Confidence::No
    }

    /// The grouping of lines in a document that it recognised; the document may be the first lines only.
    fn grouping(&self, _document: &Document) -> Grouping {
        Grouping::EachLine
    }

    /// Reads a document that it recognised.
    fn read(&self, _document: Document, _sink: &mut Sink<'_>) {}
}

/// The parsed contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Document {
    /// One JSON value.
    Value(Json),
    /// One JSON value per line. The file has at least two, of which a large file is read one by one.
    Lines(Vec<Line>),
}

/// A line of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// The number of the line in the file, from 1.
    pub number: usize,
    pub value: Json,
}

/// Removes a cost of 0, which harnesses write if they do not know the price of a model, unless the episode has another
/// cost.
fn forget_zero_cost(episode: &mut Episode) {
    let steps = episode.steps.iter_mut();
    let usages = steps.map(|step| &mut step.details.usage);
    let mut usages: Vec<&mut Option<Usage>> = usages.chain([&mut episode.total_usage]).collect();
    let mut costs = usages.iter().filter_map(|usage| usage.as_ref()?.cost);
    if costs.any(|cost| cost != 0.0) {
        return;
    }
    for usage in &mut usages {
        if let Some(known) = usage.as_mut() {
            known.cost = None;
        }
        usage.take_if(|known| known.is_empty());
    }
}

impl Document {
    /// The memory of the values in bytes.
    pub fn size(&self) -> usize {
        match self {
            Document::Value(value) => size(value),
            Document::Lines(lines) => lines.iter().map(|line| size(&line.value)).sum(),
        }
    }

    /// Whether it is the only record of its file, which is named after the file. Others are numbered.
    pub fn is_single(&self) -> bool {
        match self {
            Document::Lines(_) => false,
            Document::Value(Json::List(list)) => list.len() == 1,
            Document::Value(_) => true,
        }
    }

    /// The value, or that of the first line, which identifies most formats.
    pub fn head(&self) -> &Json {
        const NOTHING: &Json = &Json::Null;
        match self {
            Document::Value(value) => value,
            Document::Lines(lines) => lines.first().map_or(NOTHING, |line| &line.value),
        }
    }

    /// The first few values: of the lines, or of the list, or the value itself.
    pub fn samples(&self) -> impl Iterator<Item = &Json> {
        const MOST: usize = 8;
        let (lines, values) = match self {
            Document::Lines(lines) => (lines.as_slice(), [].as_slice()),
            Document::Value(Json::List(list)) => ([].as_slice(), list.as_slice()),
            Document::Value(value) => ([].as_slice(), std::slice::from_ref(value)),
        };
        let lines = lines.iter().map(|line| &line.value);
        lines.chain(values).take(MOST)
    }

    /// All values: those of the lines, or the elements of the list, or the value itself as the only one. Each has the
    /// number of its line or element, from 1.
    pub fn into_records(self) -> Vec<Line> {
        match self {
            Document::Lines(lines) => lines,
            Document::Value(Json::List(list)) => {
                let numbered = list.into_iter().enumerate();
                let line = |(index, value)| Line {
                    number: index + 1,
                    value,
                };
                numbered.map(line).collect()
            }
            Document::Value(value) => vec![Line { number: 1, value }],
        }
    }
}

/// Collects the output of a reader. Repeated notes are reported once, with a count.
pub(crate) struct Sink<'a> {
    outcome: &'a mut ImportOutcome,
    format: &'static str,
    version: Option<Text>,
    file: Text,
    /// The number of repetitions of each note, with the index of the note.
    counts: HashMap<(NoteLevel, Text), (usize, usize)>,
    episodes: usize,
    /// The number of episodes beyond the limit of the import, and the index of the note about them.
    surplus: usize,
    surplus_note: usize,
    /// The expansion limit of the file; `None` if each part of the file becomes at most one episode.
    expansion: Option<Expansion>,
    is_full: bool,
}

impl<'a> Sink<'a> {
    pub fn new(outcome: &'a mut ImportOutcome, format: &'static str, file: &str) -> Self {
        Sink {
            outcome,
            format,
            version: None,
            file: file.into(),
            counts: HashMap::new(),
            episodes: 0,
            surplus: 0,
            surplus_note: 0,
            expansion: None,
            is_full: false,
        }
    }

    /// Bounds the total size of the episodes that are created from a document of `size` bytes.
    pub fn within(mut self, size: usize) -> Self {
        self.expansion = Some(Expansion::of(size).within(self.outcome.memory.clone()));
        self
    }

    /// The file name without folders and extensions: the default name of an episode. A number with a point
    /// ("gpt-4.1") is not an extension.
    pub fn stem(&self) -> Text {
        const LONGEST: usize = "parquet".len();
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut stem = name;
        while let Some((before, ending)) = stem.rsplit_once('.')
            && !before.is_empty()
            && ending.len() <= LONGEST
            && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
        {
            stem = before;
        }
        stem.into()
    }

    /// The path of the file, as far as it is known.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The name of the folder that the file is in; empty if that is unknown.
    pub fn folder(&self) -> &str {
        let mut names = self.file.rsplit(['/', '\\']).skip(1);
        names.next().unwrap_or_default()
    }

    /// Sets the version of the format, for the source of the following episodes.
    pub fn set_version(&mut self, version: Option<Text>) {
        self.version = version;
    }

    /// Whether an episode was dropped because of the expansion limit. Readers that copy shared data into many episodes
    /// can stop then.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The number of episodes added so far.
    pub fn episodes(&self) -> usize {
        self.episodes
    }

    /// Adds an episode. Fills in its source, a missing id from the file, and a missing name from the id or the task. A
    /// reward that is not finite is no reward, is reported, and remains among the other members.
    pub fn episode(&mut self, mut episode: Episode) {
        episode.source.get_or_insert_with(|| Source {
            format: self.format.into(),
            version: self.version.clone(),
            file: self.file.clone(),
        });
        if episode.id.is_empty() {
            episode.id = self.stem();
        }
        if episode.name.is_empty() || episode.name == episode.id {
            let name = if SESSIONS.contains(&self.format) {
                task::name_of_session(&episode)
            } else {
                task::name(&episode)
            };
            episode.name = name.into();
        }
        forget_zero_cost(&mut episode);
        if let Rewards::Whole(reward) = episode.rewards
            && !reward.is_finite()
        {
            self.lost(NOT_FINITE);
            episode.rewards = Rewards::Unknown;
            episode.raw.insert("reward", reward);
        }
        self.own_episode(episode);
    }

    /// Adds an episode of Volary's own format unchanged.
    pub fn own_episode(&mut self, episode: Episode) {
        self.episodes += 1;
        if !self.outcome.episode_limit.take() {
            return self.leave_out_surplus();
        }
        if let Some(expansion) = &mut self.expansion
            && !expansion.take(size_of_episode(&episode))
        {
            return self.leave_out();
        }
        if episode.frames.left_out() > 0 {
            self.lost(format!(
                "The last {} of {} frames are omitted: building them would copy more than {} GB.",
                episode.frames.left_out(),
                episode.frames.len() + episode.frames.left_out(),
                MOST_TO_READ >> 30
            ));
        }
        self.outcome.episodes.push(episode);
    }

    /// Adds an annotation of a trace, which is joined with it when all files are read.
    pub fn annotate(&mut self, annotation: prime_rl::Annotation) {
        self.outcome.annotations.push(annotation);
    }

    /// Reports an episode that is dropped because of the expansion limit.
    pub fn leave_out(&mut self) {
        self.is_full = true;
        self.lost(format!(
            "An episode is omitted: the episodes of this file repeat so much that together they \
             take more than {} MB and {FACTOR} times the file, or than the import may take. Import \
             fewer files at once.",
            FREE >> 20
        ));
    }

    /// Reports an episode beyond the limit of the import, with all others of the file.
    fn leave_out_surplus(&mut self) {
        self.is_full = true;
        self.surplus += 1;
        let text: Text = self.outcome.episode_limit.describe(self.surplus).into();
        let notes = &mut self.outcome.notes;
        if self.surplus == 1 {
            self.surplus_note = notes.len();
            notes.push(Note {
                level: NoteLevel::Unreadable,
                file: self.file.clone(),
                text,
            });
        } else if let Some(note) = notes.get_mut(self.surplus_note) {
            note.text = text;
        }
    }

    /// Reports data that was understood.
    pub fn understood(&mut self, text: impl Into<Text>) {
        self.note(NoteLevel::Read, text.into());
    }

    /// Reports data that was not understood but is preserved.
    pub fn kept(&mut self, text: impl Into<Text>) {
        self.note(NoteLevel::KeptRaw, text.into());
    }

    /// Reports data that could not be read, or is missing.
    pub fn lost(&mut self, text: impl Into<Text>) {
        self.note(NoteLevel::Unreadable, text.into());
    }

    fn note(&mut self, level: NoteLevel, text: Text) {
        /// The maximum number of distinct notes per file; further ones are summarised.
        const MOST: usize = 100;
        const MORE: &str = "More notes of this kind are not listed.";
        let full = self.counts.len() >= MOST && !self.counts.contains_key(&(level, text.clone()));
        let text = if full { MORE.into() } else { text };
        let notes = &mut self.outcome.notes;
        let entry = self.counts.entry((level, text.clone()));
        let (index, count) = entry.or_insert_with(|| {
            notes.push(Note {
                level,
                file: self.file.clone(),
                text: text.clone(),
            });
            (notes.len() - 1, 0)
        });
        *count += 1;
        if *count > 1
            && let Some(note) = notes.get_mut(*index)
        {
            note.text = format!("{text} ({count} times)").into();
        }
    }
}
