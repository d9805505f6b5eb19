//! Messages about a checkout of tau-bench: reading one, and storing the files that environments need.
//!
//! Replies: any number of [`Event::Progress`], then [`Event::Stored`] or [`Event::Refused`].

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

use crate::envelope::{self, Channel};

/// A request of the page.
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

/// A reply of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Progress of the request.
    Progress {
        /// The current stage, for the user.
        doing: Text,
        /// The completed part, from 0 to 1; `None` if unknown.
        done: Option<f64>,
    },
    /// The checkout was read, and replaces the stored one.
    Stored(Summary),
    /// Nothing was stored; a checkout that was stored before remains.
    Refused {
        /// The reason, for the user.
        reason: Text,
    },
}

/// The contents of a stored checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Identifies this checkout.
    pub id: Text,
    /// The domains that can be played.
    pub domains: Vec<Domain>,
    /// Why other domains can't be played, for the user.
    pub problems: Vec<Text>,
}

/// A domain of a checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name: `retail` or `airline`.
    pub name: Text,
    /// The available splits.
    pub splits: Vec<Split>,
    /// The differences from the original, by path. Results with such files can't be compared with published ones.
    pub differences: Vec<Text>,
}

/// A split of the tasks of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Its name: `test`, `train` or `dev`.
    pub name: Text,
    /// The number of tasks.
    pub tasks: usize,
}
