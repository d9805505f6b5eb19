//! Reads and writes zip files, and decompresses other data: stored, deflate, Zstandard; gzip.
//!
//! - `member`: one member of a zip file. [`listing`]: zip files that are too large for memory. `unpack`: decompression.
//!   `salvage`: members of a truncated zip file. `pack`: writing zip files. `checksum`: CRC-32.
//!
//! Invariants: names are only names, never paths. A member is not unpacked if the directory declares it too large, nor
//! beyond its declared size; all bytes count towards the limits, so a zip bomb fails immediately.

mod checksum;
pub mod listing;
mod member;
mod pack;
mod salvage;
pub(crate) mod unpack;

use std::cell::Cell;
use std::rc::Rc;

use rawzip::{ZipArchive, ZipSliceArchive};
use volary_core::unpacking::most_bytes;

use member::{Member, MemberLocation, Source};
pub use pack::Packer;

/// Limits on the output of a zip file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The unpacked bytes of all members that are read.
    pub total: usize,
    /// The unpacked bytes of one member.
    pub member: usize,
    /// The number of members.
    pub members: usize,
}

impl Limits {
    /// Tightens the limits for a compressed file of this many bytes.
    pub fn of_packed(self, packed: usize) -> Limits {
        let most = most_bytes(packed);
        Limits {
            total: self.total.min(most),
            member: self.member.min(most),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            total: 512 << 20,
            member: 256 << 20,
            members: 50_000,
        }
    }
}

/// Error reading or writing a zip file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Not a zip file, or truncated.
    #[error("This is not a complete zip file: the directory at its end is missing.")]
    NoArchive,
    /// The directory cannot be read.
    #[error("The zip file is damaged: {reason}.")]
    Damaged {
        /// The detail of the error.
        reason: String,
    },
    /// A member cannot be read.
    #[error("{name} in the zip file is damaged: {reason}.")]
    DamagedMember {
        name: String,
        /// The detail of the error.
        reason: String,
    },
    /// A member is encrypted.
    #[error("{name} in the zip file is encrypted; unpack it with its password first.")]
    Encrypted {
        /// The member.
        name: String,
    },
    /// A member has an unsupported compression method.
    #[error(
        "{name} in the zip file is packed by method {method}; only stored, deflated and Zstandard \
         files are read. Repack it with a common zip program."
    )]
    Method {
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// Too many members.
    #[error("The zip file contains more than {limit} files.")]
    TooMany { limit: usize },
    /// The unpacked data exceeds a limit.
    #[error("The zip file unpacks to more than {} MB, so it is not read; the limit was exceeded at \
         {name}. Unpack it and import the contents.", .limit >> 20)]
    TooLarge {
        name: String,
        /// The limit in bytes.
        limit: usize,
    },
}

/// A member, or the error with the bytes that precede the damage.
pub(crate) type PartlyRead = Result<Vec<u8>, (ArchiveError, Vec<u8>)>;

/// A zip file that is open for reading.
pub struct Archive<'a> {
    source: Source<'a>,
    members: Vec<Member>,
    limits: Limits,
    /// The number of bytes that may still be unpacked. Shared with enclosing and nested archives.
    left: Rc<Cell<usize>>,
}

/// Whether the bytes start with the signature of a zip file.
pub fn is_archive(bytes: &[u8]) -> bool {
    [b"PK\x03\x04", b"PK\x05\x06"]
        .iter()
        .any(|start| bytes.starts_with(*start))
}

impl<'a> Archive<'a> {
    /// Reads the directory; without one, finds the complete members (see [`Archive::is_cut`]).
    pub fn open(bytes: &'a [u8], limits: Limits) -> Result<Self, ArchiveError> {
        Archive::open_within(bytes, limits, Rc::new(Cell::new(limits.total)))
    }

    /// As [`Archive::open`], with a byte budget shared with other archives.
    pub(crate) fn open_within(
        bytes: &'a [u8],
        limits: Limits,
        left: Rc<Cell<usize>>,
    ) -> Result<Self, ArchiveError> {
        let listed = ZipArchive::from_slice(bytes)
            .map_err(|_| ArchiveError::NoArchive)
            .and_then(|archive| {
                let members = listed(&archive, limits.members)?;
                Ok((Source::Whole(archive), members))
            });
        let (source, members) = match listed {
            Err(error @ (ArchiveError::NoArchive | ArchiveError::Damaged { .. })) => {
                match salvage::members(bytes, limits.members) {
                    none if none.is_empty() => return Err(error),
                    members => (Source::Cut(bytes), members),
                }
            }
            listed => listed?,
        };
        Ok(Archive {
            source,
            members,
            limits,
            left,
        })
    }

    /// Whether the directory is missing or damaged, so that members may be missing too.
    pub fn is_cut(&self) -> bool {
        matches!(self.source, Source::Cut(_))
    }

    /// The names of the members, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The first bytes of a member, at most `length`; fewer if it cannot be unpacked. Does not count
    /// towards the total.
    pub fn start(&self, index: usize, length: usize) -> Vec<u8> {
        let member = self.members.get(index);
        let start = member.map(|member| member.start(&self.source, length));
        start.unwrap_or_default()
    }

    /// Unpacks a member; `None` if the index is out of range.
    pub fn read(&mut self, index: usize) -> Option<Result<Vec<u8>, ArchiveError>> {
        let read = self.read_partly(index)?;
        Some(read.map_err(|(error, _)| error))
    }

    /// Unpacks a member; the error contains the bytes that precede the damage.
    pub(crate) fn read_partly(&self, index: usize) -> Option<PartlyRead> {
        let member = self.members.get(index)?;
        let left = self.left.get();
        let limit = left.min(self.limits.member);
        let read = member.read(&self.source, limit, self.limits);
        let taken = match &read {
            // It was unpacked up to the limit before it was rejected. That counts: a file with many such members would
            // occupy its reader for minutes.
            Err((ArchiveError::TooLarge { .. }, _)) => limit,
            Ok(bytes) | Err((_, bytes)) => bytes.len(),
        };
        self.left.set(left.saturating_sub(taken));
        Some(read)
    }
}

fn listed(archive: &ZipSliceArchive<&[u8]>, most: usize) -> Result<Vec<Member>, ArchiveError> {
    let mut members = Vec::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(damaged)? {
        if entry.is_dir() {
            continue;
        }
        if members.len() == most {
            return Err(ArchiveError::TooMany { limit: most });
        }
        members.push(Member {
            name: String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned(),
            location: MemberLocation::Listed(entry.wayfinder()),
            method: entry.compression_method().as_u16(),
            encrypted: entry.flags().is_encrypted(),
        });
    }
    Ok(members)
}

fn damaged(error: rawzip::Error) -> ArchiveError {
    ArchiveError::Damaged {
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut packer = Packer::default();
        for (name, bytes) in members {
            packer.add(name, bytes).unwrap();
        }
        packer.finish().unwrap()
    }

    fn first(bytes: &[u8], limits: Limits) -> Result<Vec<u8>, ArchiveError> {
        Archive::open(bytes, limits)?.read(0).unwrap()
    }

    #[test]
    fn what_is_packed_comes_back_in_order() {
        let bytes = packed(&[("a.json", b"{}"), ("é.txt", &[0; 70_000]), ("empty", b"")]);
        assert!(is_archive(&bytes));
        let mut archive = Archive::open(&bytes, Limits::default()).unwrap();
        assert_eq!(
            archive.names().collect::<Vec<_>>(),
            ["a.json", "é.txt", "empty"]
        );
        assert_eq!(archive.read(0).unwrap().unwrap(), b"{}");
        assert_eq!(archive.read(1).unwrap().unwrap(), [0; 70_000]);
        assert_eq!(archive.read(2).unwrap().unwrap(), b"");
        assert!(archive.read(3).is_none());
    }

    #[test]
    fn small_files_do_not_become_large_ones() {
        let limits = Limits::default();
        let of = |packed| limits.of_packed(packed).total;
        assert_eq!((of(0), of(100 << 10)), (8 << 20, 10_240_000));
        assert_eq!(limits.of_packed(100 << 20), limits);
        let bomb = packed(&[("bomb", &vec![b'0'; 40 << 20])]);
        let refused = first(&bomb, limits.of_packed(bomb.len())).unwrap_err();
        assert!(refused.to_string().contains("more than 8 MB"), "{refused}");
    }

    #[test]
    fn bombs_are_errors_whatever_size_they_claim() {
        let mut bytes = packed(&[("bomb", &vec![0; 3 << 20]), ("other", &vec![0; 1 << 20])]);
        let limits = Limits {
            total: 3 << 20,
            ..Limits::default()
        };
        let mut archive = Archive::open(&bytes, limits).unwrap();
        assert!(archive.read(0).unwrap().is_ok());
        let full = archive.read(1).unwrap().unwrap_err();
        assert!(full.to_string().contains("more than 3 MB"), "{full}");

        let limits = Limits {
            member: 1 << 20,
            ..limits
        };
        let refused = first(&bytes, limits).unwrap_err();
        assert!(refused.to_string().contains("more than 1 MB"), "{refused}");

        // The directory declares one byte.
        let size = (3_u32 << 20).to_le_bytes();
        let offset = bytes.windows(4).rposition(|window| window == size).unwrap();
        bytes[offset..offset + 4].copy_from_slice(&1_u32.to_le_bytes());
        let refused = first(&bytes, limits).unwrap_err();
        assert!(
            refused.to_string().contains("more than its directory says"),
            "{refused}"
        );

        let many = Limits {
            members: 1,
            ..limits
        };
        let refused = Archive::open(&bytes, many).err().unwrap();
        assert_eq!(refused, ArchiveError::TooMany { limit: 1 });
    }

    #[test]
    fn unreadable_files_are_reported() {
        let whole = packed(&[("a.json", b"some text, some text")]);
        let refused = |bytes: &[u8]| first(bytes, Limits::default()).unwrap_err();
        assert_eq!(refused(b"PK\x03\x04 nothing"), ArchiveError::NoArchive);

        let directory = whole
            .windows(4)
            .position(|four| four == b"PK\x01\x02")
            .unwrap();
        let changed = |offset: usize, value: u8| {
            let mut bytes = whole.clone();
            bytes[directory + offset] = value;
            refused(&bytes)
        };
        let name = "a.json".to_owned();
        assert_eq!(
            changed(8, 1),
            ArchiveError::Encrypted { name: name.clone() }
        );
        assert_eq!(changed(10, 12), ArchiveError::Method { name, method: 12 });
        assert!(changed(16, 0).to_string().contains("checksum"));
    }

    #[test]
    fn episodes_before_a_cut_are_found() {
        let members: [(&str, &[u8]); 2] = [("a.json", b"some text"), ("b/c.json", &[7; 5000])];
        let whole = packed(&members);
        for length in [whole.len() - 30, whole.len() - 100] {
            let mut archive = Archive::open(&whole[..length], Limits::default()).unwrap();
            assert!(archive.is_cut());
            assert_eq!(archive.names().collect::<Vec<_>>(), ["a.json", "b/c.json"]);
            assert_eq!(archive.read(0).unwrap().unwrap(), b"some text");
            assert_eq!(archive.read(1).unwrap().unwrap(), [7; 5000]);
        }
        let mut archive = Archive::open(&whole[..80], Limits::default()).unwrap();
        assert_eq!(archive.read(0).unwrap().unwrap(), b"some text");
    }
}
