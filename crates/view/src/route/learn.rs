//! Places of Learn: `#/learn…`. Their own code parses them, not the first load.

use super::query::{decode, encode, parameters};

/// A place among the lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LearnPlace {
    /// The list of lessons.
    #[default]
    List,
    /// The id of a built-in lesson.
    Lesson(String),
    /// The URL of a lesson.
    Linked(String),
    /// Shared links to present one after the other.
    Sequence(Vec<String>),
}

impl LearnPlace {
    /// Parses the path of [`Route::Learn`].
    pub fn read(path: &str) -> LearnPlace {
        let (id, query) = path.split_once('?').unwrap_or((path, ""));
        let url = parameters(query).find(|(key, _)| *key == "url");
        match (url, id.trim_matches('/')) {
            (None, "present") => {
                let plays = parameters(query).filter(|(key, _)| *key == "play");
                LearnPlace::Sequence(plays.map(|(_, link)| decode(link)).collect())
            }
            (Some((_, url)), _) => LearnPlace::Linked(decode(url)),
            (None, "") => LearnPlace::List,
            (None, id) => LearnPlace::Lesson(decode(id)),
        }
    }

    /// The slide that a path of [`Route::Learn`] presents, from 1; `None` if it presents nothing.
    pub fn slide(path: &str) -> Option<usize> {
        let (_, query) = path.split_once('?')?;
        let (_, slide) = parameters(query).find(|(key, _)| *key == "slide")?;
        Some(slide.parse().unwrap_or(1))
    }

    /// The path with another slide; `None` ends the presentation.
    pub fn with_slide(path: &str, slide: Option<usize>) -> String {
        let (id, query) = path.split_once('?').unwrap_or((path, ""));
        let kept = query.split('&');
        let kept = kept.filter(|part| !part.is_empty() && !part.starts_with("slide="));
        let slide = slide.map(|slide| format!("slide={slide}"));
        let parts: Vec<String> = kept.map(str::to_owned).chain(slide).collect();
        if parts.is_empty() {
            id.to_owned()
        } else {
            format!("{id}?{}", parts.join("&"))
        }
    }

    /// The hash that presents shared links.
    pub fn presenting(links: &[String]) -> String {
        let plays = links.iter().map(|link| format!("play={}&", encode(link)));
        format!("#/learn/present?{}slide=1", plays.collect::<String>())
    }
}
