//! Checks the references in documents: links to other files and to headings within them, and paths in code spans.
//!
//! It makes no network requests: external links are not checked.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::checks::{files, name, none, read};
use crate::project::Project;

/// Documents for newcomers to the project.
const DOCUMENTS: [&str; 5] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "docs",
    "tests/golden",
];
/// The prefixes by which a code span is recognized as a path of the project.
const FOLDERS: [&str; 10] = [
    "src/",
    "page/",
    "crates/",
    "xtask/",
    "tests/",
    "docs/",
    "style/",
    "examples/",
    "public/",
    ".github/",
];

#[test]
fn links_and_paths_of_documents_lead_somewhere() -> Result<()> {
    let project = Project::here()?;
    let root = project.path("");
    let mut documents = Vec::new();
    for document in DOCUMENTS {
        let path = project.path(document);
        if path.is_dir() {
            documents.extend(files(&path, &["md"])?)
        } else {
            documents.push(path)
        }
    }
    let mut problems = Vec::new();
    for file in documents {
        let folder = file.parent().unwrap_or(&root);
        for target in targets(&read(&file)?) {
            if !leads_somewhere(&root, folder, &file, target)? {
                problems.push(format!(
                    "{}: {target:?} leads nowhere",
                    name(&project, &file)
                ));
            }
        }
    }
    none(&problems);
    Ok(())
}

/// A reference in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target<'t> {
    /// A link, relative to the document.
    Link(&'t str),
    /// A path in a code span, relative to the project.
    Path(&'t str),
}

/// The references in a text, except for those in code blocks.
fn targets(text: &str) -> Vec<Target<'_>> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        // Every other piece between backquotes is code.
        for (place, piece) in line.split('`').enumerate() {
            if place % 2 == 1 {
                let is_path = FOLDERS.iter().any(|folder| piece.starts_with(folder));
                let is_plain = !piece.contains([' ', '<', '*', '…', '{']);
                found.extend((is_path && is_plain).then_some(Target::Path(piece)));
            } else {
                let links = piece.split("](").skip(1);
                let links = links.filter_map(|rest| rest.split_once(')'));
                found.extend(links.map(|(link, _)| Target::Link(link)));
            }
        }
    }
    found
}

fn leads_somewhere(root: &Path, folder: &Path, file: &Path, target: Target<'_>) -> Result<bool> {
    let link = match target {
        Target::Path(path) => return Ok(root.join(path).exists()),
        Target::Link(link) if link.contains("://") => return Ok(true),
        Target::Link(link) => link,
    };
    let (path, heading) = match link.split_once('#') {
        Some((path, heading)) => (path, Some(heading)),
        None => (link, None),
    };
    let path: PathBuf = match path {
        "" => file.to_path_buf(),
        path => folder.join(path),
    };
    match heading {
        Some(heading) if path.is_file() => {
            let text = read(&path)?;
            let mut headings = text.lines().filter(|line| line.starts_with('#'));
            Ok(headings.any(|line| anchor(line) == heading))
        }
        _ => Ok(path.exists()),
    }
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_and_paths_are_found_outside_of_code() {
    let text =
        "[a](b.md#c), `src/x.rs` and `crates/<name>`: [`y`](../y)\n```\n[no](n)\n```\n`[z](z)`";
    assert_eq!(
        targets(text),
        [
            Target::Link("b.md#c"),
            Target::Path("src/x.rs"),
            Target::Link("../y")
        ]
    );
}

#[test]
fn a_link_leads_to_a_file_or_to_a_heading() {
    let folder = std::env::temp_dir().join(format!("volary-links-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let file = folder.join("a.md");
    std::fs::write(&file, "# One head, of two\n").unwrap();
    for (target, expected) in [
        (Target::Link("https://example.com/x"), true),
        (Target::Link("a.md"), true),
        (Target::Link("b.md"), false),
        (Target::Link("#one-head-of-two"), true),
        (Target::Link("a.md#two"), false),
        (Target::Link("src"), true),
        (Target::Path("src/"), true),
        (Target::Path("src/no.rs"), false),
    ] {
        let leads = leads_somewhere(&folder, &folder, &file, target).unwrap();
        assert_eq!(leads, expected, "{target:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
