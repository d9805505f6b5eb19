//! The template lab: `#/template?…`. Its own code parses it, not the first load.

use super::query::{decode, encode, parameters};

/// The initial state of the template lab. If a URL has both fields, `input` wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplatePlace {
    /// An input, as the lab encodes it.
    pub input: Option<String>,
    /// The id of an episode in the library whose messages are the input.
    pub episode: Option<String>,
}

impl TemplatePlace {
    /// Parses the query of [`Route::Template`].
    pub fn read(query: &str) -> TemplatePlace {
        let mut place = TemplatePlace::default();
        for (key, value) in parameters(query) {
            match key {
                "i" => place.input = Some(decode(value)),
                "episode" => place.episode = Some(decode(value)),
                _ => {}
            }
        }
        place
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        match self {
            TemplatePlace {
                input: Some(input), ..
            } => format!("#/template?i={}", encode(input)),
            TemplatePlace {
                episode: Some(episode),
                ..
            } => format!("#/template?episode={}", encode(episode)),
            _ => "#/template".to_owned(),
        }
    }
}
