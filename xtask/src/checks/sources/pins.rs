//! Checks that everything that a build fetches is pinned: the packages of Rust, npm and Python by lock files with
//! hashes, GitHub's actions by commit.

use anyhow::Result;

use crate::checks::{files, name, none, read};
use crate::project::Project;

const NPM: [&str; 5] = [
    "tests/interop/conformance/package-lock.json",
    "tests/package-lock.json",
    "xtask/npm/package-lock.json",
    "xtask/python/package-lock.json",
    "xtask/tokenizer/package-lock.json",
];
const PYTHON: [&str; 8] = [
    "xtask/maturin/requirements.txt",
    "xtask/python/requirements.txt",
    "tests/interop/requirements.txt",
    "tests/interop/requirements-harnesses.txt",
    "tests/interop/requirements-notebook.txt",
    "tests/interop/requirements-openenv.txt",
    "tests/interop/requirements-providers.txt",
    "tests/interop/requirements-transformers.txt",
];
const WORKFLOWS: &str = ".github/workflows";

#[test]
fn everything_that_is_fetched_is_pinned() -> Result<()> {
    type Check = fn(&str) -> Vec<String>;
    let project = Project::here()?;
    let mut checks: Vec<_> = vec![(project.path("Cargo.lock"), in_cargo_lock as Check)];
    checks.extend(NPM.map(|name| (project.path(name), in_npm_lock as Check)));
    checks.extend(PYTHON.map(|name| (project.path(name), in_requirements as Check)));
    let workflows = files(&project.path(WORKFLOWS), &["yml", "yaml"])?;
    checks.extend(
        workflows
            .into_iter()
            .map(|file| (file, in_workflow as Check)),
    );
    let mut problems = Vec::new();
    for (file, unpinned) in checks {
        let found = unpinned(&read(&file)?).into_iter();
        problems.extend(found.map(|what| format!("{}: {what}", name(&project, &file))));
    }
    none(&problems);
    Ok(())
}

/// Packages from a registry have a checksum; those from git have none.
fn in_cargo_lock(text: &str) -> Vec<String> {
    let packages = text.split("[[package]]").skip(1);
    packages
        .filter(|package| package.contains("\nsource = ") && !package.contains("\nchecksum = "))
        .map(|package| {
            format!(
                "no checksum for {}",
                package.trim().lines().next().unwrap_or("")
            )
        })
        .collect()
}

fn in_npm_lock(text: &str) -> Vec<String> {
    let lock: serde_json::Value = match serde_json::from_str(text) {
        Ok(lock) => lock,
        Err(error) => return vec![format!("no JSON ({error})")],
    };
    let Some(packages) = lock["packages"].as_object() else {
        return vec!["no packages".to_owned()];
    };
    let mut unpinned = Vec::new();
    // The first one, without a name, is the project itself.
    for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
        if package["integrity"].as_str().is_none() {
            unpinned.push(format!("no integrity for {name}"));
        }
        if !package["resolved"].is_null() {
            unpinned.push(format!("an address for {name}, where a mirror has another"));
        }
    }
    unpinned
}

fn in_requirements(text: &str) -> Vec<String> {
    // A requirement continues on the next line after a backslash.
    let joined = text.replace("\\\n", "");
    joined
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .filter(|line| !line.contains("==") || !line.contains("--hash=sha256:"))
        .map(|line| format!("no version with a hash: {line}"))
        .collect()
}

/// An action is pinned to a full commit, with a comment that names the version: `uses: owner/name@<commit> # v1.2.3`.
fn in_workflow(text: &str) -> Vec<String> {
    let uses = text.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("- ");
        line.strip_prefix("uses:").map(str::trim)
    });
    uses.filter(|action| !action.starts_with("./") && !is_pinned(action))
        .map(|action| format!("`{action}` is not `owner/name@<commit> # v<version>`"))
        .collect()
}

fn is_pinned(action: &str) -> bool {
    let pinned = action.split_once(" # v").and_then(|(action, _)| {
        let (_, commit) = action.trim().split_once('@')?;
        Some(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    pinned.unwrap_or(false)
}

#[test]
fn actions_are_named_by_commit() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let fine = format!("  - uses: a/b@{commit} # v1.2.3\n  - name: x\n    uses: ./local\n");
    assert_eq!(in_workflow(&fine), [""; 0]);
    for action in [
        "a/b@v4".to_owned(),
        "a/b@main # v4".to_owned(),
        "a/b@0123456 # v4.0.0".to_owned(),
        format!("a/b@{commit}"),
        "a/b".to_owned(),
    ] {
        let text = format!("    - uses: {action}\n");
        assert_eq!(in_workflow(&text).len(), 1, "{action}");
        let named = format!("    - name: x\n      uses: {action}\n");
        assert_eq!(in_workflow(&named).len(), 1, "{action}");
    }
}

#[test]
fn packages_have_hashes() {
    let crates = "[[package]]\nname = \"a\"\n\n[[package]]\nname = \"b\"\nsource = \"x\"\nchecksum = \"0\"\n";
    assert_eq!(in_cargo_lock(crates), [""; 0]);
    let crates = crates.replace("checksum", "check");
    assert_eq!(in_cargo_lock(&crates), ["no checksum for name = \"b\""]);

    let npm = r#"{"packages": {"": {}, "node_modules/a": {"integrity": "sha512-x"}}}"#;
    assert_eq!(in_npm_lock(npm), [""; 0]);
    assert_eq!(in_npm_lock(&npm.replace("integrity", "x")).len(), 1);
    let addressed = npm.replace("sha512-x\"", "sha512-x\", \"resolved\": \"y\"");
    assert_eq!(in_npm_lock(&addressed).len(), 1);
    assert_eq!(in_npm_lock("{}").len(), 1);

    let python =
        "# Made by a tool\na==1 ; x == 'y' \\\n    --hash=sha256:0 \\\n    --hash=sha256:1\n";
    assert_eq!(in_requirements(python), [""; 0]);
    assert_eq!(in_requirements("a==1\nb>=1 --hash=sha256:0\n").len(), 2);
}
