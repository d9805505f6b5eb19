//! Finds doc comments that only repeat the name of what they document, such as `/// The label.` on `label`.
//!
//! A reader learns nothing from them, and they hide the comments that say something. An item whose name says all needs no
//! comment (`missing_docs` is off for that reason).
//!
//! Comments that are data stay: those of tools, which models read, and those of command lines, which are their help. So
//! do comments with code in them.

use std::collections::BTreeSet;

use anyhow::Result;

use super::super::{files, name, none, read};
use crate::project::Project;

/// Words that say nothing by themselves.
const EMPTY: [&str; 8] = ["a", "an", "the", "its", "of", "this", "that", "is"];

/// The words before a name in a declaration.
const KEYWORDS: [&str; 10] = [
    "pub", "const", "static", "async", "fn", "struct", "enum", "trait", "type", "mod",
];

/// Attributes whose doc comment is data.
const READ_BY_PROGRAMS: [&str; 3] = ["#[tool", "#[arg", "#[command"];

/// The lines of a Rust source with such a comment.
fn repeats(source: &str) -> Vec<usize> {
    if source.contains("use clap::") {
        return Vec::new();
    }
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let is_doc = |line: Option<&&str>| line.is_some_and(|line| line.starts_with("///"));
    let mut found = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let Some(comment) = line.strip_prefix("/// ") else {
            continue;
        };
        let before = place.checked_sub(1).and_then(|place| lines.get(place));
        let after = lines.get(place + 1..).unwrap_or_default();
        if is_doc(before) || is_doc(after.first()) || comment.contains('`') {
            continue;
        }
        let mut attributes = after.iter().take_while(|line| line.starts_with("#["));
        let is_data = |line: &&str| READ_BY_PROGRAMS.iter().any(|start| line.starts_with(start));
        if attributes.any(is_data) {
            continue;
        }
        let item = after.iter().find(|line| !line.starts_with("#["));
        let said = words(comment);
        if !said.is_empty() && item.is_some_and(|item| said.is_subset(&words(declared(item)))) {
            found.push(place + 1);
        }
    }
    found
}

/// The name that a line declares: of an item, a field or a variant.
fn declared(line: &str) -> &str {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut names = line
        .split(|letter| !is_part(letter))
        .filter(|name| !name.is_empty());
    names
        .find(|name| !KEYWORDS.contains(name) && !["crate", "super", "in"].contains(name))
        .unwrap_or_default()
}

/// The words of a comment or an identifier, in the singular and in small letters.
fn words(text: &str) -> BTreeSet<String> {
    let mut spaced = String::new();
    for letter in text.chars() {
        if letter.is_uppercase() {
            spaced.push(' ');
        }
        spaced.extend(letter.to_lowercase());
    }
    spaced
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !EMPTY.contains(word))
        .map(|word| word.trim_end_matches('s').to_owned())
        .collect()
}

#[test]
fn no_comment_only_repeats_a_name() -> Result<()> {
    let project = Project::here()?;
    let mut problems = Vec::new();
    for folder in ["src", "page", "crates", "xtask"] {
        for file in files(&project.path(folder), &["rs"])? {
            let lines = repeats(&read(&file)?);
            let name = name(&project, &file);
            problems.extend(lines.iter().map(|line| {
                format!("{name}:{line}: this comment only repeats the name; say more or remove it")
            }));
        }
    }
    none(&problems);
    Ok(())
}

#[test]
fn repetitions_are_distinguished_from_explanations() {
    let source = "\
§ The label.
pub label: String,
§ A task source.
#[derive(Debug)]
pub(crate) struct TaskSource;
§ The seeds, drawn from the base seed.
seeds: Vec<u64>,
§ The label
§ of the button.
label: String,
§ How long it took, in seconds.
seconds: f64,
§ Smile.
#[tool]
fn smile() {}
§ `/` of integers.
Integers,
"
    .replace('§', "///");
    assert_eq!(repeats(&source), [1, 3]);
}
