//! The model built into the browser: what is known about it, and its download.
//!
//! Invariant: a download starts only with [`Event::DownloadPressed`], which a click dispatches.

use volary_agent::model::prompt_api::{Availability, BuiltInError};

/// What is known about the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BuiltInModel {
    /// The browser was asked.
    #[default]
    Checking,
    Known(Availability),
    Downloading {
        /// The downloaded part, from 0 to 1; `None` before the first report.
        done: Option<f64>,
    },
    /// The download failed.
    Failed(BuiltInError),
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The model is shown, or the user asks to look again.
    CheckPressed,
    Checked(Availability),
    DownloadPressed,
    /// The downloaded part, from 0 to 1.
    Progressed(f64),
    Downloaded(Result<(), BuiltInError>),
    CancelPressed,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask the browser, and report [`Event::Checked`].
    Check,
    /// Start the download, and report [`Event::Progressed`] and [`Event::Downloaded`].
    Download,
    /// Abort the download, without a report.
    Cancel,
}

impl BuiltInModel {
    /// Handles an event.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let is_downloading = matches!(self, BuiltInModel::Downloading { .. });
        match event {
            // The download reports its own end.
            Event::CheckPressed if is_downloading => Vec::new(),
            Event::CheckPressed => self.check(),
            Event::Checked(availability) => {
                if !is_downloading {
                    *self = BuiltInModel::Known(availability);
                }
                Vec::new()
            }
            Event::DownloadPressed if self.can_download() => {
                *self = BuiltInModel::Downloading { done: None };
                vec![Effect::Download]
            }
            Event::DownloadPressed => Vec::new(),
            Event::Progressed(part) => {
                if let BuiltInModel::Downloading { done } = self {
                    *done = Some(done.map_or(part, |before| before.max(part)));
                }
                Vec::new()
            }
            Event::Downloaded(_) if !is_downloading => Vec::new(),
            Event::Downloaded(Ok(()) | Err(BuiltInError::Aborted)) => self.check(),
            Event::Downloaded(Err(error)) => {
                *self = BuiltInModel::Failed(error);
                Vec::new()
            }
            Event::CancelPressed if is_downloading => {
                let check = self.check();
                [vec![Effect::Cancel], check].concat()
            }
            Event::CancelPressed => Vec::new(),
        }
    }

    /// Whether *Download* is offered.
    pub fn can_download(&self) -> bool {
        match self {
            BuiltInModel::Known(availability) => availability.can_download(),
            BuiltInModel::Failed(_) => true,
            BuiltInModel::Checking | BuiltInModel::Downloading { .. } => false,
        }
    }

    /// The state of the model, as a sentence for the user.
    pub fn what(&self) -> String {
        match self {
            BuiltInModel::Checking => "Asking the browser for its model…".to_owned(),
            BuiltInModel::Known(availability) => availability.what().to_owned(),
            BuiltInModel::Downloading { done: None } => "Downloading the model…".to_owned(),
            BuiltInModel::Downloading { done: Some(done) } => {
                format!("Downloading the model: {:.0}%", done * 100.0)
            }
            BuiltInModel::Failed(error) => error.to_string(),
        }
    }

    /// What to do about it; empty if there is nothing to do.
    pub fn remedy(&self) -> &'static str {
        match self {
            BuiltInModel::Checking => "",
            BuiltInModel::Known(Availability::Downloadable) => {
                "It is several gigabytes, once for all sites. Use a connection that is not metered."
            }
            BuiltInModel::Known(Availability::Downloading) => {
                "Press Download to follow it here; it is not downloaded twice."
            }
            BuiltInModel::Known(availability) => availability.remedy(),
            BuiltInModel::Downloading { .. } => {
                "You can use the page meanwhile; the download continues."
            }
            BuiltInModel::Failed(error) => error.remedy(),
        }
    }

    fn check(&mut self) -> Vec<Effect> {
        *self = BuiltInModel::Checking;
        vec![Effect::Check]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_is_followed_to_its_end() {
        let mut model = BuiltInModel::default();
        assert_eq!(model.update(Event::CheckPressed), [Effect::Check]);
        // Not before it is known that there is something to download.
        assert_eq!(model.update(Event::DownloadPressed), []);
        model.update(Event::Checked(Availability::Downloadable));
        assert_eq!(model.update(Event::DownloadPressed), [Effect::Download]);
        for part in [0.5, 0.25] {
            model.update(Event::Progressed(part));
        }
        assert_eq!(model.what(), "Downloading the model: 50%");
        // A late reply to an earlier question.
        model.update(Event::Checked(Availability::Downloadable));
        assert_eq!(model, BuiltInModel::Downloading { done: Some(0.5) });
        assert_eq!(model.update(Event::Downloaded(Ok(()))), [Effect::Check]);
        model.update(Event::Checked(Availability::Available));
        assert!(!model.can_download());
    }

    #[test]
    fn a_download_can_be_cancelled_and_can_fail() {
        let mut model = BuiltInModel::Known(Availability::Downloading);
        assert_eq!(model.update(Event::DownloadPressed), [Effect::Download]);
        assert_eq!(
            model.update(Event::CancelPressed),
            [Effect::Cancel, Effect::Check]
        );
        assert_eq!(model.update(Event::CancelPressed), []);
        model.update(Event::Checked(Availability::Downloadable));
        model.update(Event::DownloadPressed);
        let error = BuiltInError::DownloadFailed {
            message: "No network.".into(),
        };
        model.update(Event::Downloaded(Err(error.clone())));
        assert_eq!(model, BuiltInModel::Failed(error));
        assert!(model.can_download(), "it can be tried again");
        assert_eq!(model.update(Event::Downloaded(Ok(()))), []);
    }
}
