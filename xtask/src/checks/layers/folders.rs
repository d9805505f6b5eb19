//! The allowed imports of each folder of `src/`, compared with the paths in its code.

use anyhow::Result;

use crate::checks::{files, none, read};
use crate::project::Project;

/// The folders (or single files) of `src/`, and their allowed imports: only earlier entries, so there is no cycle.
const MAY_USE: &[(&str, &str)] = &[
    ("later", ""),
    ("browser", ""),
    ("navigation", "browser"),
    ("shared", "browser"),
    ("components", "browser later shared"),
    ("secrets", "browser shared"),
    ("storage", "browser"),
    ("tau_bench", "browser shared storage"),
    ("tokenizer", "browser storage"),
    ("python", "browser shared storage"),
    ("remote", "browser secrets shared"),
    ("models", "browser secrets shared tokenizer"),
    ("outside", "browser components later models navigation"),
    ("library", "browser shared storage"),
    ("workers", "browser library python remote storage"),
    (
        "playground",
        "browser components later models navigation outside python remote shared storage tau_bench",
    ),
    (
        "environments",
        "browser components navigation playground python tau_bench",
    ),
    (
        "evaluate",
        "browser components models navigation outside playground python remote storage",
    ),
    ("present", "browser components"),
    (
        "review",
        "browser components later library navigation playground present shared storage tokenizer",
    ),
    (
        "learn",
        "browser components navigation playground present shared",
    ),
    ("embed", "browser components learn playground"),
    (
        "class",
        "browser components learn navigation playground secrets shared storage",
    ),
    (
        "settings",
        "browser components models navigation playground python remote secrets storage tau_bench tokenizer",
    ),
    (
        "lab",
        "browser components navigation playground storage tokenizer",
    ),
    (
        "pages",
        "browser class components embed environments evaluate lab later learn navigation playground review settings",
    ),
    ("app", "browser components navigation pages playground"),
];

/// Exceptions: imports in the wrong direction that still exist.
const EXCEPTIONS: [(&str, &str); 1] = [
    // Until the page is split by pages alone, `later::install` fills the slots that the first load leaves empty.
    ("later", "components"),
];

#[test]
fn folders_of_the_page_import_downward() -> Result<()> {
    let root = Project::here()?.path("src");
    let mut problems = Vec::new();
    let mut needless = Vec::from(EXCEPTIONS);
    for file in files(&root, &["rs"])? {
        let text = read(&file)?;
        let name = file.strip_prefix(&root)?;
        let module = Module::of(&name.to_string_lossy().replace('\\', "/"));
        for (line, target) in module.arrows(&text) {
            needless.retain(|exception| *exception != (module.folder(), &*target));
            problems.extend(module.breach(line, &target));
        }
    }
    let needless = needless.iter();
    problems
        .extend(needless.map(|(from, to)| format!("{from} does not use {to}: drop the exception")));
    none(&problems);
    Ok(())
}

/// A module of the page, as its path.
struct Module {
    names: Vec<String>,
}

impl Module {
    /// The module of a file under `src/`. The crate's root has an empty path.
    fn of(file: &str) -> Module {
        let path = file.trim_end_matches(".rs");
        let names = path
            .split('/')
            .filter(|name| !["lib", "main"].contains(name));
        Module {
            names: names.map(str::to_owned).collect(),
        }
    }

    /// The folder of `src/` that contains it; empty for the root, which may import all.
    fn folder(&self) -> &str {
        self.names.first().map_or("", |name| name)
    }

    /// The folders that its text imports by `crate::`, or by `super::` at the start of a line, with their lines.
    fn arrows(&self, text: &str) -> Vec<(usize, String)> {
        let mut arrows = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let paths = code.split("crate::").skip(1).map(str::to_owned);
            let line_start = code.trim_start_matches("pub ").strip_prefix("use ");
            let above = line_start.and_then(|path| self.above(path));
            arrows.extend(
                paths
                    .chain(above)
                    .map(|path| (number + 1, first_name(&path))),
            );
        }
        arrows.retain(|(_, target)| target != self.folder());
        arrows
    }

    /// The rest of a path that leaves its folder by `super::`.
    fn above(&self, path: &str) -> Option<String> {
        let rest = path.trim_start_matches("super::");
        let supers = (path.len() - rest.len()) / "super::".len();
        (supers > 0 && supers == self.names.len()).then(|| rest.to_owned())
    }

    /// The violation of an import, if it is not allowed.
    fn breach(&self, line: usize, target: &str) -> Option<String> {
        let folder = self.folder();
        let place = format!("src/{}, line {line}", self.names.join("/"));
        if folder.is_empty() || EXCEPTIONS.contains(&(folder, target)) {
            return None;
        }
        if target.is_empty() {
            return Some(format!("{place}: name each folder in its own path"));
        }
        match MAY_USE.iter().find(|(name, _)| *name == folder) {
            None => Some(format!("{place}: {folder} is not in the table of folders")),
            Some((_, may)) if may.split(' ').any(|name| name == target) => None,
            Some(_) => Some(format!("{place}: {folder} must not use {target}")),
        }
    }
}

fn first_name(path: &str) -> String {
    let is_part = |character: &char| character.is_alphanumeric() || *character == '_';
    path.chars().take_while(is_part).collect()
}

fn breaches(file: &str, text: &str) -> Vec<String> {
    let module = Module::of(file);
    let arrows = module.arrows(text).into_iter();
    let found = arrows.filter_map(|(line, target)| module.breach(line, &target));
    found.collect()
}

#[test]
fn the_table_has_no_cycle_and_each_folder_once() {
    for (at, (folder, may)) in MAY_USE.iter().enumerate() {
        let before: Vec<&str> = MAY_USE.iter().take(at).map(|(name, _)| *name).collect();
        assert!(!before.contains(folder), "{folder}");
        let mut may = may.split_whitespace();
        assert!(may.all(|name| before.contains(&name)), "{folder}");
    }
}

#[test]
fn arrows_outward_are_found_however_they_are_written() {
    for outward in [
        "use crate::review::page;",
        "pub use crate::review::page;",
        "fn draw() { crate::review::page::page() }",
        "use super::super::review::page;",
    ] {
        let found = breaches("components/rows.rs", outward);
        assert_eq!(
            found,
            ["src/components/rows, line 1: components must not use review"]
        );
    }
    let found = breaches("components.rs", "//! Rows.\nuse super::review::page;");
    assert_eq!(
        found,
        ["src/components, line 2: components must not use review"]
    );
    let found = breaches("components/rows.rs", "use crate::{browser, review};");
    assert_eq!(found.len(), 1, "{found:?}");
    let found = breaches("later/new.rs", "use crate::review;");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn arrows_inward_and_words_are_fine() {
    for fine in [
        "use crate::browser::keys;",
        "use crate::components::text;",
        "use super::text;",
        "use super::super::text::inert;",
        "/// As [`crate::review`] says.",
    ] {
        let file = if fine.contains("super::super") {
            "components/form/field.rs"
        } else {
            "components/rows.rs"
        };
        assert_eq!(breaches(file, fine), [""; 0], "{fine}");
    }
    assert_eq!(breaches("lib.rs", "use crate::review;"), [""; 0]);
    assert!(breaches("unknown.rs", "use crate::review;").len() == 1);
}
