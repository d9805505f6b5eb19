//! What another tab or worker of the browser stored or deleted. Unlike other messages it is sent as JSON, because the tabs
//! may be of different builds.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

/// Changes of the stored episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedEpisodes {
    /// The ids of the stored episodes.
    pub kept: Vec<Text>,
    /// The ids of the deleted episodes.
    pub gone: Vec<Text>,
    /// Prefixes. All episodes whose ids begin with one of them were deleted.
    pub gone_from: Vec<Text>,
}
