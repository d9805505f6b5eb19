//! Whether this browser has a model, and what is missing. The texts say how to get one elsewhere.

/// The states of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// The browser has no Prompt API.
    Missing,
    /// The browser has the API, and says that this device cannot run the model. It does not say why.
    Unavailable,
    /// The model has to be downloaded, which only a click may start.
    Downloadable,
    /// The browser is downloading the model.
    Downloading,
    /// The model can be used.
    Available,
}

impl Availability {
    const ALL: [Availability; 5] = [
        Availability::Missing,
        Availability::Unavailable,
        Availability::Downloadable,
        Availability::Downloading,
        Availability::Available,
    ];

    /// The API's name for it; the API has none for its own absence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Availability::Missing => "missing",
            Availability::Unavailable => "unavailable",
            Availability::Downloadable => "downloadable",
            Availability::Downloading => "downloading",
            Availability::Available => "available",
        }
    }

    /// The state of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Availability::ALL.into_iter();
        all.find(|availability| availability.as_str() == name)
    }

    /// Whether a click on *Download* helps.
    pub const fn can_download(self) -> bool {
        matches!(self, Availability::Downloadable | Availability::Downloading)
    }

    /// The state of the model, as a sentence for the user.
    pub const fn what(self) -> &'static str {
        match self {
            Availability::Missing => "This browser has no built-in model that pages can use.",
            Availability::Unavailable => {
                "This browser has a built-in model, but says that this device cannot run it."
            }
            Availability::Downloadable => "The model is not on this device yet.",
            Availability::Downloading => "The browser is downloading the model.",
            Availability::Available => "The model is ready.",
        }
    }

    /// What to do.
    pub const fn remedy(self) -> &'static str {
        match self {
            Availability::Missing => {
                "Open this page in Chrome 148 or later on a computer, from an https address or \
                 localhost. Without Chrome, choose Ollama or LM Studio as the provider: they run models on \
                 this computer, also without a key."
            }
            Availability::Unavailable => {
                "Usually the disk is too full: Chrome needs 22 GB free where its profile is. It also needs \
                 a graphics card with more than 4 GB, or 16 GB of memory and 4 processor cores. \
                 chrome://on-device-internals says which is missing. Ollama and LM Studio run smaller \
                 models on this computer, also without a key."
            }
            Availability::Downloadable => {
                "Press Download in the settings of the connection. It is several gigabytes, once for all \
                 sites; use a connection that is not metered."
            }
            Availability::Downloading => "Wait until it is complete. Follow it in the settings.",
            Availability::Available => {
                "It runs on this device: nothing is sent, and there is no key and no price."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for availability in Availability::ALL {
            assert_eq!(
                Availability::from_name(availability.as_str()),
                Some(availability)
            );
        }
        assert_eq!(Availability::from_name("readily"), None);
        let can = Availability::ALL.map(Availability::can_download);
        assert_eq!(can, [false, false, true, true, false]);
    }
}
