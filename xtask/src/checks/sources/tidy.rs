//! Rules for source files that no compiler checks: a module head, one module style (`foo.rs` and `foo/`), browser
//! effects in one crate, and no selectors that make every change of the page expensive.

use anyhow::Result;

use super::inert;
use crate::checks::{files, name, none, read};
use crate::project::Project;

const FOLDERS: [&str; 6] = [
    "src",
    "page",
    "crates",
    "xtask/src",
    "xtask/wasm-parts/src",
    "style",
];
/// The crate of browser effects.
const BROWSER: &str = "page/browser/";
/// Crates and functions that only this crate may use.
const EFFECTS: [&str; 4] = ["web_sys", "js_sys", "gloo_", "spawn_local"];
/// Combinators after `*`: when an element is added or removed, browsers recompute the styles of its parent's whole subtree.
/// `:not(:first-child)` says the same of the children of one element.
const AFTER_ANYTHING: [&str; 2] = ["* + ", "* ~ "];

#[test]
fn sources_keep_the_rules() -> Result<()> {
    let project = Project::here()?;
    let mut problems = Vec::new();
    for folder in FOLDERS {
        for file in files(&project.path(folder), &["rs", "css"])? {
            problems.extend(judge(&name(&project, &file), &read(&file)?));
        }
    }
    none(&problems);
    Ok(())
}

fn judge(name: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let (head, is_style) = if name.ends_with(".css") {
        ("/* ", true)
    } else {
        ("//! ", false)
    };
    if !text.starts_with(head) {
        complaints.push(format!(
            "{name}: does not open with what it is for (`{head}…`)"
        ));
    }
    if let Some(module) = name
        .strip_suffix("/mod.rs")
        .filter(|_| !name.contains("/tests/"))
    {
        complaints.push(format!("{name}: modules with submodules are `{module}.rs`"));
    }
    if is_style {
        for (number, line) in text.lines().enumerate() {
            for selector in AFTER_ANYTHING.iter().filter(|part| line.contains(*part)) {
                let number = number + 1;
                complaints.push(format!("{name}:{number}: `{selector}` follows on anything"));
            }
        }
    }
    let is_of_page = name.starts_with("src/") || name.starts_with("page/");
    if is_of_page {
        complaints.extend(inert::inert_elements(text).into_iter().map(|line| {
            format!("{name}:{line}: an element of literals alone needs a `{{block}}` (CONTRIBUTING.md, Views)")
        }));
    }
    if is_of_page && !name.starts_with(BROWSER) {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or(line);
            for effect in EFFECTS.iter().filter(|effect| code.contains(*effect)) {
                let number = number + 1;
                complaints.push(format!("{name}:{number}: `{effect}` outside of {BROWSER}"));
            }
        }
    }
    complaints
}

#[test]
fn each_rule_is_enforced() {
    assert!(judge("src/a.rs", "//! Fine.\nuse std::fmt;\n").is_empty());
    assert_eq!(judge("crates/core/src/a.rs", "use std::fmt;\n").len(), 1);
    assert_eq!(judge("src/a/mod.rs", "//! Fine.\n").len(), 1);
    assert!(judge("crates/core/tests/values/mod.rs", "//! Fine.\n").is_empty());
    let door = "//! Out.\nuse web_sys::Window; // web_sys\n";
    assert_eq!(
        judge("src/app.rs", door),
        ["src/app.rs:2: `web_sys` outside of page/browser/"]
    );
    assert!(judge("page/browser/src/clock.rs", door).is_empty());
    assert_eq!(judge("page/browsers/src/lib.rs", door).len(), 1);
    assert!(judge("src/app.rs", "//! No web_sys here.\n").is_empty());
    assert!(judge("style/a.css", "/* Fine. */\na > :not(:first-child) {}\n").is_empty());
    assert_eq!(
        judge("style/a.css", "/* Slow. */\na > * + * {}\n"),
        ["style/a.css:2: `* + ` follows on anything"]
    );
}
