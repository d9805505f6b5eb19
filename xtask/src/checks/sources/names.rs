//! Public types of the page have names of their own, so that a name means one thing wherever it is imported.
//!
//! This holds for `page/` and for the crates of its state and messages. Other crates, such as those of environments and
//! of formats, have terms of their own, which never meet in one module of the page.

use std::collections::BTreeMap;

use anyhow::Result;

use super::super::{files, name, none, read};
use crate::project::Project;

const FOLDERS: [&str; 6] = [
    "src",
    "page",
    "crates/app/src",
    "crates/library/src",
    "crates/protocol/src",
    "crates/view/src",
];

/// Names that each module of its kind has. They are imported with the name of their module.
const OF_EVERY_KIND: [&str; 6] = ["Effect", "Error", "Event", "Limits", "Request", "Send"];

/// The name of the type that a line declares for other modules.
fn declared(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("pub ")
        .or(line.strip_prefix("pub(crate) "))?;
    let (kind, rest) = rest.split_once(' ')?;
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    ["struct", "enum", "trait", "type"]
        .contains(&kind)
        .then(|| rest.split(|letter| !is_part(letter)).next())
        .flatten()
}

#[test]
fn public_types_of_the_page_share_no_name() -> Result<()> {
    let project = Project::here()?;
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for folder in FOLDERS {
        for file in files(&project.path(folder), &["rs"])? {
            for declared in read(&file)?.lines().filter_map(declared) {
                let places = places.entry(declared.to_owned()).or_default();
                places.push(name(&project, &file));
            }
        }
    }
    places.retain(|name, places| places.len() > 1 && !OF_EVERY_KIND.contains(&&**name));
    let problems = places
        .iter()
        .map(|(name, places)| format!("{name} is declared in {}", places.join(" and ")));
    none(&problems.collect::<Vec<_>>());
    Ok(())
}

#[test]
fn declarations_for_other_modules_are_found() {
    for (line, expected) in [
        ("pub struct Player<T> {", Some("Player")),
        ("pub(crate) enum Opened {", Some("Opened")),
        ("pub type Rows = Vec<u8>;", Some("Rows")),
        ("pub(super) struct State;", None),
        ("struct State;", None),
        ("    pub struct Inner;", None),
        ("pub fn player() {}", None),
    ] {
        assert_eq!(declared(line), expected, "{line}");
    }
}
