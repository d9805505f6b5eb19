//! The allowed dependencies of each crate below the page, compared with cargo's metadata.

use anyhow::Result;

use crate::checks::none;
use crate::ci::BELOW_THE_PAGE;
use crate::project::Project;
use crate::run::output;

/// Packages that only the page or the server may depend on.
const OUTSIDE: [&str; 8] = [
    "axum",
    "gloo",
    "hyper",
    "js-sys",
    "leptos",
    "tokio",
    "wasm-bindgen",
    "web-sys",
];

/// Members of the workspace that no crate of the page may depend on.
const OUTER_MEMBERS: [&str; 4] = ["volary", "volary-cli", "volary-server", "volary-site"];

#[test]
fn crates_depend_inward() -> Result<()> {
    let project = Project::here()?;
    let mut problems = Vec::new();
    for (depth, member) in BELOW_THE_PAGE.iter().enumerate() {
        let mut cargo = project.cargo("tree");
        cargo.args(["--package", member, "--edges", "normal,build"]);
        cargo.args(["--target", "wasm32-unknown-unknown", "--prefix", "none"]);
        let tree = output(cargo.args(["--format", "{p}"]))?;
        let reached = tree.lines().filter_map(|line| line.split(' ').next());
        let outer = &BELOW_THE_PAGE[depth + 1..];
        problems.extend(forbidden(member, outer, reached));
    }
    none(&problems);
    Ok(())
}

fn forbidden<'a>(
    member: &str,
    outer: &[&str],
    reached: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut found: Vec<String> = reached
        .filter(|name| {
            let alone = OUTSIDE.iter().any(|out| {
                name.strip_prefix(out)
                    .is_some_and(|end| end.is_empty() || end.starts_with('-'))
            });
            alone || outer.contains(name) || OUTER_MEMBERS.contains(name)
        })
        .map(|name| format!("{member} reaches {name}, which lies further out"))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn an_arrow_outward_is_found_once_and_one_inward_is_fine() {
    let reached = [
        "volary-formats",
        "volary-core",
        "tokio",
        "tokio-util",
        "serde",
        "tokio",
        "tokioish",
    ];
    let found = forbidden("volary-formats", &["volary-agent"], reached.into_iter());
    assert_eq!(found.len(), 2, "{found:?}");
    let found = forbidden(
        "volary-formats",
        &["volary-agent"],
        ["volary-agent"].into_iter(),
    );
    assert_eq!(
        found,
        ["volary-formats reaches volary-agent, which lies further out"]
    );
}
