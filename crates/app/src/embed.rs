//! The view for frames in other pages (`?embed=1`): its messages, and the conversation with the surrounding page.
//! `docs/embed.md` describes the messages.
//!
//! - [`message`]: the messages as types. [`source`]: what a message asks to show; [`content`]: what is shown. [`notes`]:
//!   the reader's notes.
//! - [`EmbedConversation`]: decides which messages are handled, and what is answered.
//!
//! **Security invariants:** only messages of the parent window are handled, and after its first one only those of the
//! same origin; replies go to that origin alone. [`message::Outgoing::Ready`] is sent to any origin, and holds nothing
//! but the version. What a message asks to show is in the message itself: nothing is fetched and nothing stored is read.

pub mod content;
pub mod message;
pub mod notes;
pub mod source;

use volary_core::json::{Json, Text};
use volary_episode::{Ending, Episode};

use message::{EmbedTheme, Incoming, Load, Outgoing, ReceivedMessage, VERSION};
use notes::{EmbedNotes, Note};

/// The origin of documents that have none, such as sandboxed frames.
const OPAQUE: &str = "null";

/// A message that arrived at the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrived {
    /// Whether the parent window sent it.
    pub is_from_parent: bool,
    /// The origin of the sender.
    pub origin: Text,
    /// The data as JSON; `None` if it is something else.
    pub data: Option<Json>,
}

/// The position in a shown episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpisodePosition {
    /// The selected step; 0 is the reset.
    pub step: usize,
    /// The number of steps.
    pub steps: usize,
    /// The total reward, if known.
    pub reward: Option<f64>,
    pub ending: Ending,
    /// Whether steps can be added. A recording ends with its last step, whatever it says about its ending.
    pub is_growing: bool,
}

/// A consequence of an event, for the page to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send a message to the parent window, if it has this origin (`*` for any).
    Send { origin: Text, message: Outgoing },
    /// Show something else.
    Load(Load),
    /// Select a step.
    Select(usize),
    /// Use a theme.
    Use(EmbedTheme),
    /// Show these notes, and let the reader change them.
    Annotate(EmbedNotes),
}

/// The conversation with the surrounding page.
#[derive(Clone, Debug, Default)]
pub struct EmbedConversation {
    /// The origin of the surrounding page, once it has sent a message.
    parent: Option<Text>,
    /// The last [`Outgoing::Loaded`].
    loaded: Option<Outgoing>,
    /// The step that was reported last.
    told: Option<(usize, usize)>,
    is_done: bool,
}

impl EmbedConversation {
    /// The first message, once messages can be received.
    pub fn begin(&self) -> Effect {
        Effect::Send {
            origin: "*".into(),
            message: Outgoing::Ready { version: VERSION },
        }
    }

    /// Handles a message.
    pub fn handle(&mut self, arrived: Arrived) -> Vec<Effect> {
        let Arrived {
            is_from_parent,
            origin,
            data,
        } = arrived;
        let known = self.parent.as_ref();
        if !is_from_parent || known.is_some_and(|known| *known != origin) {
            return Vec::new();
        }
        let received = match data.as_ref().map(message::read) {
            None | Some(ReceivedMessage::Unknown) => return Vec::new(),
            Some(received) => received,
        };
        self.parent = Some(origin);
        match received {
            ReceivedMessage::Unknown => Vec::new(),
            ReceivedMessage::Malformed { about, reason } => self.reply([Outgoing::Error {
                about,
                message: reason,
            }]),
            ReceivedMessage::Message(Incoming::Hello) => {
                let ready = Outgoing::Ready { version: VERSION };
                self.reply([ready].into_iter().chain(self.loaded.clone()))
            }
            ReceivedMessage::Message(Incoming::Load(load)) => {
                self.loaded = None;
                vec![Effect::Load(load)]
            }
            ReceivedMessage::Message(Incoming::Step(step)) => vec![Effect::Select(step)],
            ReceivedMessage::Message(Incoming::Theme(theme)) => vec![Effect::Use(theme)],
            ReceivedMessage::Message(Incoming::Notes(notes)) => {
                vec![Effect::Annotate(notes.into_iter().collect())]
            }
        }
    }

    /// An episode is shown now.
    pub fn loaded(&mut self, episode: &Episode) -> Vec<Effect> {
        let loaded = Outgoing::Loaded {
            title: episode.name.clone(),
            steps: episode.steps.len(),
            environment: episode.environment().cloned(),
        };
        self.loaded = Some(loaded.clone());
        self.told = None;
        self.is_done = false;
        self.reply([loaded])
    }

    /// Nothing could be shown.
    pub fn failed(&mut self, reason: impl Into<Text>) -> Vec<Effect> {
        self.reply([Outgoing::Error {
            about: "load".into(),
            message: reason.into(),
        }])
    }

    /// The reader selected a step, or took one.
    pub fn moved(&mut self, position: &EpisodePosition) -> Vec<Effect> {
        if self.loaded.is_none() {
            return Vec::new();
        }
        let EpisodePosition { step, steps, .. } = *position;
        let mut replies = Vec::new();
        if self.told != Some((step, steps)) {
            self.told = Some((step, steps));
            replies.push(Outgoing::Step { step, steps });
        }
        let is_over = !position.is_growing || position.ending != Ending::Open;
        if !is_over {
            // Reported again once the end is reached again, as after starting over.
            self.is_done = false;
        } else if step >= steps && !self.is_done {
            self.is_done = true;
            replies.push(Outgoing::Done {
                steps,
                reward: position.reward,
                ending: ending_word(&position.ending),
            });
        }
        self.reply(replies)
    }

    /// The reader selected text.
    pub fn selected(&mut self, step: usize, text: Text) -> Vec<Effect> {
        self.reply([Outgoing::Selection { step, text }])
    }

    /// The reader wrote a note, or deleted it.
    pub fn noted(&mut self, note: Note, deleted: bool) -> Vec<Effect> {
        let Note {
            id,
            step,
            text,
            label,
        } = note;
        self.reply([Outgoing::Note {
            id,
            step,
            text,
            label,
            deleted,
        }])
    }

    /// Sends messages to the origin of the surrounding page; nowhere if it has not said anything.
    fn reply(&self, messages: impl IntoIterator<Item = Outgoing>) -> Vec<Effect> {
        let Some(parent) = &self.parent else {
            return Vec::new();
        };
        // No origin can be given for a document that has none.
        let origin: Text = match &**parent {
            OPAQUE => "*".into(),
            _ => parent.clone(),
        };
        let messages = messages.into_iter();
        messages
            .map(|message| Effect::Send {
                origin: origin.clone(),
                message,
            })
            .collect()
    }
}

fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Open => "open",
        Ending::Done => "done",
        Ending::Truncated { .. } => "truncated",
        Ending::Crashed { .. } => "crashed",
    }
}

#[cfg(test)]
mod tests;
