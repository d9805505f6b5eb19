//! The hash of the URL as a value, parsed and written. Pure.
//!
//! The page has its own router because it must work under any path prefix of any static host, so its whole location is
//! after the `#`. Invariant: parsing never fails; unknown paths become [`Route::Unknown`], and unknown parameters are
//! ignored.
//!
//! A place within a page is a type of its own: [`playground`], [`review`] with [`training`] and [`tokens`], [`learn`],
//! [`class`], [`template`].

mod class;
mod learn;
mod playground;
mod query;
mod review;
mod template;
#[cfg(test)]
mod tests;
mod tokens;
mod training;

pub use class::ClassPlace;
pub use learn::LearnPlace;
pub use playground::PlaygroundPlace;
pub use review::ReviewPlace;
pub use template::TemplatePlace;
pub use tokens::TokenPlace;
pub use training::{TrainingLook, TrainingPlace};

use query::{decode, encode};

/// A location within the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `#/` and `#/run/<environment>`.
    Playground(PlaygroundPlace),
    /// `#/environments` and `#/environments/<file>`.
    Environments {
        /// The name of the Python file that is edited; `None` is the catalogue.
        file: Option<String>,
    },
    /// `#/settings`.
    Settings,
    /// `#/learn`, `#/learn/<lesson>` and `#/learn?url=…`.
    Learn {
        /// The part after `learn`, for [`LearnPlace::read`]: the lessons' own code parses it, not the first load.
        path: String,
    },
    /// `#/class`, `#/class?a=…` and `#/class/board`.
    Class {
        /// The part after `class`, for [`ClassPlace::read`]: the class's own code parses it, not the first load.
        path: String,
    },
    /// `#/template`.
    Template {
        /// The part after the question mark, for [`TemplatePlace::read`]: the lab's own code parses it, not the first
        /// load.
        query: String,
    },
    /// `#/evaluate`, `#/evaluate/<id>` and `#/evaluate/<id>/<id>`.
    Evaluate {
        /// The id of the shown evaluation; `None` is the form for a new one.
        evaluation: Option<String>,
        /// The id of the evaluation to compare with.
        beside: Option<String>,
    },
    /// `#/review` and `#/review/<episode>`.
    Review(ReviewPlace),
    /// An unknown path.
    Unknown {
        /// The path as written in the URL.
        path: String,
    },
}

/// The id that stands for the current episode of the playground.
pub const IN_PLAYGROUND: &str = "@playground";

impl Route {
    /// Whether a path of [`Route::Learn`] is that of the school, which has a page of its own.
    pub fn is_school(path: &str) -> bool {
        let (path, _) = path.split_once('?').unwrap_or((path, ""));
        path.trim_matches('/') == "school"
    }

    /// Parses a hash, with or without its `#`.
    pub fn parse(hash: &str) -> Route {
        let text = hash.strip_prefix('#').unwrap_or(hash);
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match segments.as_slice() {
            [] | ["run"] => Route::Playground(PlaygroundPlace::read(None, query)),
            ["run", environment] => {
                Route::Playground(PlaygroundPlace::read(Some(environment), query))
            }
            ["environments"] => Route::Environments { file: None },
            ["environments", file] => Route::Environments {
                file: Some(decode(file)),
            },
            ["settings"] => Route::Settings,
            ["learn"] | ["learn", _] => Route::Learn {
                path: text
                    .split_once("learn")
                    .map_or("", |(_, path)| path)
                    .to_owned(),
            },
            ["class"] | ["class", "board"] => Route::Class {
                path: text
                    .split_once("class")
                    .map_or("", |(_, path)| path)
                    .to_owned(),
            },
            ["template"] => Route::Template {
                query: query.to_owned(),
            },
            ["evaluate", ids @ ..] if ids.len() <= 2 => Route::Evaluate {
                evaluation: ids.first().map(|id| decode(id)),
                beside: ids.get(1).map(|id| decode(id)),
            },
            ["review"] => Route::Review(ReviewPlace::read(None, query)),
            ["review", episode] => Route::Review(ReviewPlace::read(Some(episode), query)),
            _ => Route::Unknown {
                path: path.to_owned(),
            },
        }
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        match self {
            Route::Unknown { path } => format!("#{path}"),
            Route::Playground(place) => place.to_hash(),
            Route::Review(place) => place.to_hash(),
            Route::Settings => "#/settings".to_owned(),
            Route::Learn { path } => format!("#/learn{path}"),
            Route::Class { path } => format!("#/class{path}"),
            Route::Template { query } if query.is_empty() => "#/template".to_owned(),
            Route::Template { query } => format!("#/template?{query}"),
            Route::Environments { file: None } => "#/environments".to_owned(),
            Route::Environments { file: Some(file) } => {
                format!("#/environments/{}", encode(file))
            }
            Route::Evaluate { evaluation, beside } => {
                let mut hash = "#/evaluate".to_owned();
                for id in evaluation.iter().chain(beside) {
                    hash.push('/');
                    hash.push_str(&encode(id));
                }
                hash
            }
        }
    }
}
