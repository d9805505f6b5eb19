//! Debian and its packages.

use std::process::Command;
use std::sync::OnceLock;

use anyhow::Result;

use super::progress::{Status, quietly};
use super::{Lane, Remedy};
use crate::run::output;

/// The first release whose packages do all that is asked of them here.
const FIRST: u32 = 12;

/// Whether this is Debian 12 or later.
pub fn is_recent() -> bool {
    std::fs::read_to_string("/etc/os-release").is_ok_and(|text| recent(&text))
}

fn recent(os_release: &str) -> bool {
    let value = |key: &str| {
        os_release
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim_matches('"'))
    };
    let version = value("VERSION_ID").map(|version| version.parse::<u32>());
    // What has no number yet is the next release.
    value("ID") == Some("debian") && !matches!(version, Some(Ok(..FIRST)))
}

/// Whether packages can be installed from here.
pub fn can_install() -> bool {
    is_recent() && output(Command::new("id").arg("-u")).is_ok_and(|user| user == "0")
}

/// The remedy that installs packages, where that is possible.
pub fn remedy(packages: &[&str]) -> Remedy {
    if can_install() {
        Remedy::Install {
            how: format!("apt-get install {}", packages.join(" ")),
            lane: Lane::System,
        }
    } else {
        Remedy::Ask
    }
}

/// What a user types to install packages.
pub fn by_hand(packages: &[&str]) -> String {
    format!(
        "sudo apt-get install --no-install-recommends {}",
        packages.join(" ")
    )
}

/// Installs packages; never at the cost of removing others.
pub fn install(packages: &[&str], status: &Status) -> Result<()> {
    static LISTS: OnceLock<()> = OnceLock::new();
    if LISTS.get().is_none() {
        quietly(apt().args(["update", "-q"]), None, status)?;
        LISTS.get_or_init(|| ());
    }
    let mut command = apt();
    command.args([
        "install",
        "-y",
        "-q",
        "--no-install-recommends",
        "--no-remove",
    ]);
    quietly(command.args(packages), None, status)
}

fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

#[cfg(test)]
mod tests {
    use super::recent;

    #[test]
    fn debian_12_and_what_follows() {
        assert!(recent("ID=debian\nVERSION_ID=\"12\"\n"));
        assert!(recent("ID=debian\nVERSION_ID=\"13\"\n"));
        assert!(recent("PRETTY_NAME=\"Debian forky/sid\"\nID=debian\n"));
        assert!(!recent("ID=debian\nVERSION_ID=\"11\"\n"));
        assert!(!recent("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n"));
        assert!(!recent(""));
    }
}
