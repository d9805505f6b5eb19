//! Reading a checkout of tau-bench, and storing what environments need of it.
//!
//! Replies: any number of [`Event::Progress`], then [`Event::Stored`] or [`Event::Refused`].

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

use crate::envelope::{self, Channel};

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Read the attached files: one zip file, or the files of a folder under their paths.
    Read,
    /// Fetch a zip file and read it.
    Fetch {
        /// Its address. If it is of another origin, the user has agreed to it.
        url: Text,
    },
}

impl envelope::Request for Request {
    const CHANNEL: Channel = Channel::Checkout;
    type Event = Event;
}

/// What the worker replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// How far it is.
    Progress {
        /// What is being done, for people.
        doing: Text,
        /// The part that is done, from 0 to 1; `None` if unknown.
        done: Option<f64>,
    },
    /// It was read and stored, in place of the one before.
    Stored(Summary),
    /// Nothing was stored; what was stored before is still there.
    Refused {
        /// Why, for people.
        reason: Text,
    },
}

/// What a stored checkout has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Tells this checkout from others.
    pub id: Text,
    /// The domains that can be played.
    pub domains: Vec<Domain>,
    /// Why other domains can't be played, for people.
    pub problems: Vec<Text>,
}

/// A domain of a checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name: `retail` or `airline`.
    pub name: Text,
    /// The splits that are there.
    pub splits: Vec<Split>,
    /// What differs from the original, by path. Results with such files can't be compared with published ones.
    pub differences: Vec<Text>,
}

/// A split of the tasks of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Its name: `test`, `train` or `dev`.
    pub name: Text,
    /// How many tasks it has.
    pub tasks: usize,
}
