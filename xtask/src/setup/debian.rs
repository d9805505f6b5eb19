//! Debian's packages.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use fs_err as fs;

use crate::run::{output, quietly};

/// The first release whose packages are recent enough.
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
    // A release without a number is the next one.
    value("ID") == Some("debian") && !matches!(version, Some(Ok(..FIRST)))
}

/// Whether this user can install packages.
pub fn can_install() -> bool {
    is_recent() && output(Command::new("id").arg("-u")).is_ok_and(|user| user == "0")
}

/// Installs packages; fails if others would have to be removed.
pub fn install(packages: &[&str]) -> Result<()> {
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    quietly(apt().args(["update", "-q"]))?;
    let options = ["-y", "-q", "--no-install-recommends", "--no-remove"];
    quietly(apt().arg("install").args(options).args(packages))
}

/// Starts the system's Python with the packages that [`unpack_python`] unpacked around it.
const PYTHON: &str = r#"#!/bin/sh
root=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
for libraries in "$root"/lib/*-linux-gnu "$root"/usr/lib "$root"/usr/lib/*-linux-gnu "$root"/usr/lib/*-linux-gnu/blas "$root"/usr/lib/*-linux-gnu/lapack; do
  LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH PYTHONPATH="$root/usr/lib/python3/dist-packages"
exec /usr/bin/python3 "$@"
"#;

/// Unpacks packages, and those that they depend on, into a folder with a script `python` that finds them. The system does not
/// change.
pub fn unpack_python(packages: &[&str], folder: &Path) -> Result<()> {
    let archives = folder.join("archives");
    fs::create_dir_all(archives.join("partial"))?;
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--download-only", "-y", "-q"]);
    apt.args(["--no-install-recommends", "-o", "Debug::NoLocking=1", "-o"]);
    apt.arg(format!("Dir::Cache::archives={}/", archives.display()));
    quietly(apt.args(packages))?;
    for archive in fs::read_dir(&archives)? {
        let path = archive?.path();
        if path.extension().is_some_and(|ending| ending == "deb") {
            quietly(Command::new("dpkg-deb").arg("-x").arg(&path).arg(folder))?;
        }
    }
    fs::remove_dir_all(&archives)?;
    let script = folder.join("python");
    fs::write(&script, PYTHON)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::recent;

    #[test]
    fn debian_12_and_later_releases_are_recent() {
        assert!(recent("ID=debian\nVERSION_ID=\"12\"\n"));
        assert!(recent("ID=debian\nVERSION_ID=\"13\"\n"));
        assert!(recent("PRETTY_NAME=\"Debian forky/sid\"\nID=debian\n"));
        assert!(!recent("ID=debian\nVERSION_ID=\"11\"\n"));
        assert!(!recent("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n"));
        assert!(!recent(""));
    }
}
