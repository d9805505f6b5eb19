//! Arrows point inward: what each crate may reach, held against what cargo says it does reach.

use anyhow::Result;

use crate::project::Project;
use crate::run::output;

/// The crates that the page is made of, from the innermost outward. Each may reach those before it.
pub const BELOW_THE_PAGE: [&str; 12] = [
    "volary-macros",
    "volary-connectivity",
    "volary-core",
    "volary-torch",
    "volary-tokens",
    "volary-rollout",
    "volary-envs",
    "volary-remote",
    "volary-trajectory",
    "volary-agent",
    "volary-protocol",
    "volary-app",
];

/// What belongs to the page or to the server alone.
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

/// Every arrow that points outward, in words.
pub fn breaches(project: &Project) -> Result<Vec<String>> {
    let mut breaches = Vec::new();
    for (depth, member) in BELOW_THE_PAGE.iter().enumerate() {
        let mut cargo = project.cargo("tree");
        cargo.args(["--package", member, "--edges", "normal,build"]);
        cargo.args(["--target", "wasm32-unknown-unknown", "--prefix", "none"]);
        let tree = output(cargo.args(["--format", "{p}"]))?;
        let reached = tree.lines().filter_map(|line| line.split(' ').next());
        let outer = &BELOW_THE_PAGE[depth + 1..];
        breaches.extend(forbidden(member, outer, reached));
    }
    Ok(breaches)
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
            alone || outer.contains(name) || *name == "volary" || *name == "volary-server"
        })
        .map(|name| format!("{member} reaches {name}, which lies further out"))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::forbidden;

    #[test]
    fn an_arrow_outward_is_found_once_and_one_inward_is_fine() {
        let reached = [
            "volary-trajectory",
            "volary-core",
            "tokio",
            "tokio-util",
            "serde",
            "tokio",
            "tokioish",
        ];
        let found = forbidden("volary-trajectory", &["volary-agent"], reached.into_iter());
        assert_eq!(found.len(), 2, "{found:?}");
        let found = forbidden(
            "volary-trajectory",
            &["volary-agent"],
            ["volary-agent"].into_iter(),
        );
        assert_eq!(
            found,
            ["volary-trajectory reaches volary-agent, which lies further out"]
        );
    }
}
