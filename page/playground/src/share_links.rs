//! Links to an episode, or to its task.

use std::sync::Arc;

use volary_app::playground::address::EpisodeStart;
use volary_app::playground::sharing::{self, ShareLink, What};
use volary_browser::location;
use volary_episode::Episode;
use volary_view::route::PlaygroundPlace;

/// An episode and its task, to which the share dialog offers links.
#[derive(Clone, Debug)]
pub struct Offer {
    /// A snapshot taken when Share was pressed; later steps are not in its links.
    pub episode: Arc<Episode>,
    /// The place of its task, if an address can name it.
    pub start: Option<EpisodeStart>,
    /// The selected step, in the form that an address uses.
    pub step: Option<usize>,
    /// The titles of the fields that only a reviewer should see.
    pub reviewers_fields: Vec<String>,
}

impl Offer {
    /// The link to a part of the episode, or why there is none.
    pub fn link(&self, what: What, is_masked: bool) -> Result<String, String> {
        let part = sharing::part(&self.episode, what);
        share_link(&part, self.start.as_ref(), self.step, is_masked)
    }

    /// Returns whether the task's link refers to the task by name, and so contains none of its data.
    pub fn is_named(&self, what: What) -> bool {
        what == What::Task && self.start.is_some()
    }
}

/// Builds a link to a part of an episode that selects a step, the last one if `None`. `start` names its task, if an
/// address can.
///
/// # Errors
///
/// Returns the reason why there can be no link.
pub fn share_link(
    part: &Episode,
    start: Option<&EpisodeStart>,
    step: Option<usize>,
    is_masked: bool,
) -> Result<String, String> {
    let place = match sharing::link(part, start, is_masked)? {
        ShareLink::Named(start) => PlaygroundPlace {
            environment: Some(start.environment),
            task: start.task,
            seed: start.seed,
            ..PlaygroundPlace::default()
        },
        ShareLink::Packed { environment, text } => PlaygroundPlace {
            environment: Some(environment),
            episode: Some(text),
            step: step.filter(|_| !part.steps.is_empty()),
            ..PlaygroundPlace::default()
        },
    };
    Ok(location::address_with(&place.to_hash()))
}
