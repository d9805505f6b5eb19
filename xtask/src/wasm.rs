//! The hook of Trunk's builds: cargo links the page's wasm, and `xtask/wasm-parts` splits it into the files that Trunk
//! copies into the site.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::page;
use crate::project::Project;
use crate::run::{output_aloud, run, timed};
use crate::setup::WasmStd;

/// The name of the hook that Trunk calls before each build.
pub const HOOK: &str = "wasm";

/// Tells the hook the profile; Trunk knows only two.
pub const PROFILE_VARIABLE: &str = "VOLARY_PAGE_PROFILE";

/// The kind of build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Compiles again soon after a change, for development (`serve --dev`).
    Debug,
    /// Compiles soon from nothing, for a first look (`serve`).
    Quick,
    /// Small and fast, for users.
    Release,
}

impl Profile {
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Debug => "debug",
            Profile::Quick => "quick",
            Profile::Release => "release",
        }
    }

    /// The profile in `Cargo.toml`.
    const fn of_cargo(self) -> &'static str {
        match self {
            Profile::Debug => "dev",
            Profile::Quick => "wasm-quick",
            Profile::Release => "wasm-release",
        }
    }

    /// The profile that the build's command chose. A plain `trunk build` has only Trunk's own.
    fn of_hook() -> Result<Profile> {
        let Ok(name) = std::env::var(PROFILE_VARIABLE) else {
            let is_release = std::env::var("TRUNK_PROFILE").is_ok_and(|name| name == "release");
            return Ok(if is_release {
                Profile::Release
            } else {
                Profile::Debug
            });
        };
        let all = [Profile::Debug, Profile::Quick, Profile::Release];
        let found = all.into_iter().find(|profile| profile.name() == name);
        found.with_context(|| format!("{PROFILE_VARIABLE} names no profile: `{name}`"))
    }
}

/// Runs the hook.
pub fn hook(project: &Project) -> Result<()> {
    let profile = Profile::of_hook()?;
    page::ensure_tools(project, profile)?;
    let mut cargo = compile(project, profile)?;
    cargo.arg("--message-format=json-render-diagnostics");
    let linked = timed("compile the page", || {
        linked(&output_aloud(relocatable(&mut cargo))?)
    })?;
    let mut parts = wasm_parts(project)?;
    parts.arg("page");
    parts.arg(linked);
    parts.arg(profile.name());
    run(&mut parts)
}

/// The program of xtask/wasm-parts, compiled with the features of the whole workspace, as the tests are: otherwise its
/// dependencies are compiled twice.
pub fn wasm_parts(project: &Project) -> Result<Command> {
    run(&mut compile_parts(project))?;
    let program = project.path("target/debug/wasm-parts");
    Ok(project.command(program.with_extension(std::env::consts::EXE_EXTENSION)))
}

/// The command that compiles that program.
pub fn compile_parts(project: &Project) -> Command {
    let mut cargo = project.cargo("build");
    cargo.args(["--quiet", "--workspace", "--bin", "wasm-parts"]);
    cargo
}

/// The command that compiles the page ahead of Trunk's call.
pub fn ahead(project: &Project, profile: Profile) -> Result<Command> {
    let mut cargo = compile(project, profile)?;
    relocatable(&mut cargo);
    Ok(cargo)
}

fn compile(project: &Project, profile: Profile) -> Result<Command> {
    let mut cargo = project.cargo("rustc");
    cargo.args(["--target", "wasm32-unknown-unknown", "--bin", "volary-page"]);
    cargo.args(["--profile", profile.of_cargo()]);
    if profile == Profile::Release {
        let flags: Vec<String> = renamed_paths(project)?
            .into_iter()
            .map(|(path, name)| format!("{:?}", format!("--remap-path-prefix={path}={name}")))
            .collect();
        let flags = flags.join(",");
        cargo.arg("--config");
        cargo.arg(format!("target.wasm32-unknown-unknown.rustflags=[{flags}]"));
    }
    WasmStd::here(project)?.apply(&mut cargo);
    Ok(cargo)
}

/// Links relocatably, as the splitter requires; these arguments must be the last.
fn relocatable(cargo: &mut Command) -> &mut Command {
    cargo.args(["--", "-Clink-arg=--emit-relocs"])
}

/// Local folders, which should not leak, and the names that replace them in panic messages.
fn renamed_paths(project: &Project) -> Result<Vec<(String, &'static str)>> {
    let mut rustc = project.command("rustc");
    WasmStd::here(project)?.apply(&mut rustc);
    let sysroot = output_aloud(rustc.args(["--print", "sysroot"]))?;
    let library = Path::new(&sysroot).join("lib/rustlib/src/rust/library");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let packages = home.map(|home| home.join("registry/src"));
    // The registry has its own subfolder.
    let registries = packages.iter().filter_map(|path| path.read_dir().ok());
    let registries = registries
        .flatten()
        .flatten()
        .map(|entry| (entry.path(), ""));
    let ours = [(library, "std"), (project.path(""), "")];
    let all = registries.chain(ours);
    Ok(all
        .map(|(path, name)| (path.to_string_lossy().into_owned(), name))
        .collect())
}

/// The path of the binary in cargo's messages.
fn linked(messages: &str) -> Result<PathBuf> {
    let start = "\"executable\":\"";
    let found = messages.lines().rev().find_map(|line| {
        let (_, path) = line.split_once(start)?;
        let (path, _) = path.split_once('"')?;
        Some(PathBuf::from(path.replace("\\\\", "\\")))
    });
    found.context("cargo does not say where it left the page's wasm")
}

#[cfg(test)]
mod tests {
    use super::linked;

    #[test]
    fn the_path_of_the_binary_is_read() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"C:\\\\x\\\\volary.wasm\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}";
        let path = linked(messages).ok();
        assert_eq!(
            path.as_deref(),
            Some(std::path::Path::new("C:\\x\\volary.wasm"))
        );
        assert!(linked("{\"executable\":null}").is_err());
    }
}
