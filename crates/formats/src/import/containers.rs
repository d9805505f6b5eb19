//! Archives and compressed files: detection of their format, and their contents.

use std::io::Read;

use crate::archive::unpack::{GZIP, Packing, Problem, gunzip, unpack};
use crate::archive::{Limits, is_archive};

/// A kind of container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Zip,
    Tar,
    Gzip,
    Zstandard,
    /// A torch file of an old version, with pickles and storages.
    LegacyTorch,
}

/// Detects the format of a container from its first bytes.
pub(super) fn container(start: &[u8]) -> Option<Container> {
    const TAR_MARK: std::ops::Range<usize> = 257..262;
    if is_archive(start) {
        Some(Container::Zip)
    } else if start.starts_with(GZIP) {
        Some(Container::Gzip)
    } else if start.starts_with(b"\x28\xb5\x2f\xfd") {
        Some(Container::Zstandard)
    } else if volary_torch::legacy::is_legacy(start) {
        Some(Container::LegacyTorch)
    } else if start.get(TAR_MARK) == Some(b"ustar") {
        Some(Container::Tar)
    } else {
        None
    }
}

/// Unpacks a single compressed file. Also returns the error if it is truncated.
pub(super) fn unpack_single(
    container: Container,
    bytes: &[u8],
    limit: usize,
) -> (Vec<u8>, Option<String>) {
    let unpacked = match container {
        Container::Gzip => gunzip(bytes, limit),
        Container::Zstandard => unpack(Packing::Zstandard, bytes, limit),
        Container::Zip | Container::Tar | Container::LegacyTorch => Ok(bytes.to_vec()),
    };
    match unpacked {
        Ok(bytes) => (bytes, None),
        Err(partial) => {
            let text = match partial.problem {
                Problem::TooLarge => format!(
                    "It unpacks to more than {} MB; the rest is not read. Unpack it and import the \
                     contents.",
                    limit >> 20
                ),
                Problem::Damaged => {
                    "It is cut off or damaged; the part that could be unpacked is read.".to_owned()
                }
            };
            (partial.output, Some(text))
        }
    }
}

/// The files of a tar archive, and the error if it is truncated. Files are counted: an archive that claims more
/// than it contains ends there.
pub(super) fn untar(bytes: &[u8], limits: Limits) -> (Vec<(String, Vec<u8>)>, Option<String>) {
    let mut files = Vec::new();
    let mut archive = tar::Archive::new(bytes);
    let cut = |reason: String| Some(format!("The tar file is cut off or damaged: {reason}."));
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return (files, cut(error.to_string())),
    };
    for entry in entries {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => return (files, cut(error.to_string())),
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        if files.len() == limits.members {
            return (
                files,
                Some(format!(
                    "The tar file contains more than {} files.",
                    limits.members
                )),
            );
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut content = Vec::new();
        // Reading a slice cannot return more than its length, so a size in a header is never trusted.
        let read = entry.read_to_end(&mut content);
        files.push((name, content));
        if let Err(error) = read {
            return (files, cut(error.to_string()));
        }
    }
    (files, None)
}

/// The name of the file within a compressed file.
pub(super) fn inner_name(name: &str) -> String {
    for (ending, instead) in [(".tgz", ".tar"), (".gz", ""), (".zst", ""), (".zstd", "")] {
        if let Some(stem) = name.strip_suffix(ending) {
            return format!("{stem}{instead}");
        }
    }
    name.to_owned()
}
