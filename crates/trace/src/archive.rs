//! Zip files, in and out: stored and deflated members, nothing else.
//!
//! What always holds: names are only names, never paths. What is unpacked is counted while it is
//! unpacked, whatever the file says of its sizes, so a bomb ends in an error.

use std::io::Write;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use rawzip::{
    CompressionMethod, DataDescriptorOutput, ZipArchive, ZipArchiveEntryWayfinder,
    ZipArchiveWriter, ZipSliceArchive,
};

/// How much may come out of a zip file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of all members that are read, unpacked.
    pub total: usize,
    /// The bytes of one member, unpacked.
    pub member: usize,
    /// The number of members.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            total: 256 << 20,
            member: 128 << 20,
            members: 50_000,
        }
    }
}

/// Why a zip file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Not a zip file, or cut off.
    #[error(
        "This is no zip file, or not all of it: its directory, which stands at the end, is missing."
    )]
    NoArchive,
    /// The directory cannot be read.
    #[error("The zip file is damaged: {reason}.")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// A member cannot be read.
    #[error("{name} in the zip file is damaged: {reason}.")]
    DamagedMember {
        /// The member.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A member is encrypted.
    #[error("{name} in the zip file is encrypted; unpack it with its password first.")]
    Encrypted {
        /// The member.
        name: String,
    },
    /// A member is packed in a way that is not read.
    #[error(
        "{name} in the zip file is packed by method {method}; only stored and deflated files are read. Pack it anew with an ordinary zip program."
    )]
    Method {
        /// The member.
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// Too many members.
    #[error("The zip file holds more than {limit} files.")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// Too much comes out.
    #[error("The zip file unpacks to more than {} MB, so it is not read; {name} is where that was noticed.", .limit >> 20)]
    TooLarge {
        /// The member.
        name: String,
        /// The limit in bytes.
        limit: usize,
    },
}

/// A zip file that is open for reading.
pub struct Archive<'a> {
    archive: ZipSliceArchive<&'a [u8]>,
    members: Vec<Member>,
    limits: Limits,
    /// How many bytes may still come out.
    left: usize,
}

struct Member {
    name: String,
    wayfinder: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    encrypted: bool,
}

/// Whether bytes begin as zip files do.
pub fn is_archive(bytes: &[u8]) -> bool {
    [b"PK\x03\x04", b"PK\x05\x06"]
        .iter()
        .any(|start| bytes.starts_with(*start))
}

impl<'a> Archive<'a> {
    /// Reads the directory.
    pub fn open(bytes: &'a [u8], limits: Limits) -> Result<Self, ArchiveError> {
        let damaged = |error: rawzip::Error| ArchiveError::Damaged {
            reason: error.to_string(),
        };
        let archive = ZipArchive::from_slice(bytes).map_err(|_| ArchiveError::NoArchive)?;
        let mut members = Vec::new();
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            if entry.is_dir() {
                continue;
            }
            if members.len() == limits.members {
                return Err(ArchiveError::TooMany {
                    limit: limits.members,
                });
            }
            members.push(Member {
                name: String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned(),
                wayfinder: entry.wayfinder(),
                method: entry.compression_method(),
                encrypted: entry.flags().is_encrypted(),
            });
        }
        Ok(Archive {
            archive,
            members,
            limits,
            left: limits.total,
        })
    }

    /// The names of the members, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The first bytes of a member, at most `length`; fewer if it cannot be unpacked. Does not count
    /// towards the total.
    pub fn start(&self, index: usize, length: usize) -> Vec<u8> {
        let unpacked = self.members.get(index).and_then(|member| {
            let entry = self.archive.get_entry(member.wayfinder).ok()?;
            match member.method {
                _ if member.encrypted => None,
                CompressionMethod::STORE => {
                    Some(entry.data()[..entry.data().len().min(length)].to_vec())
                }
                CompressionMethod::DEFLATE => Some(
                    decompress_to_vec_with_limit(entry.data(), length)
                        .unwrap_or_else(|error| error.output),
                ),
                _ => None,
            }
        });
        let mut start = unpacked.unwrap_or_default();
        start.truncate(length);
        start
    }

    /// Unpacks a member; `None` past the end.
    pub fn read(&mut self, index: usize) -> Option<Result<Vec<u8>, ArchiveError>> {
        let member = self.members.get(index)?;
        let limit = self.left.min(self.limits.member);
        let unpacked = unpack(&self.archive, member, limit, self.limits);
        if let Ok(bytes) = &unpacked {
            self.left -= bytes.len();
        }
        Some(unpacked)
    }
}

fn unpack(
    archive: &ZipSliceArchive<&[u8]>,
    member: &Member,
    limit: usize,
    limits: Limits,
) -> Result<Vec<u8>, ArchiveError> {
    let damaged = |reason: String| ArchiveError::DamagedMember {
        name: member.name.clone(),
        reason,
    };
    let too_large = || ArchiveError::TooLarge {
        name: member.name.clone(),
        limit: if limit < limits.member {
            limits.total
        } else {
            limits.member
        },
    };
    if member.encrypted {
        return Err(ArchiveError::Encrypted {
            name: member.name.clone(),
        });
    }
    let entry = archive
        .get_entry(member.wayfinder)
        .map_err(|error| damaged(error.to_string()))?;
    let bytes =
        match member.method {
            CompressionMethod::STORE if entry.data().len() > limit => return Err(too_large()),
            CompressionMethod::STORE => entry.data().to_vec(),
            CompressionMethod::DEFLATE => decompress_to_vec_with_limit(entry.data(), limit)
                .map_err(|error| match error.status {
                    TINFLStatus::HasMoreOutput => too_large(),
                    _ => damaged("its packed data cannot be read".to_owned()),
                })?,
            method => {
                return Err(ArchiveError::Method {
                    name: member.name.clone(),
                    method: method.as_u16(),
                });
            }
        };
    let claimed = entry.claim_verifier();
    if claimed.uncompressed_size != bytes.len() as u64 || claimed.crc != crc32(&bytes) {
        return Err(damaged("its checksum does not fit".to_owned()));
    }
    Ok(bytes)
}

/// A zip file in the making.
pub struct Packer {
    writer: ZipArchiveWriter<Vec<u8>>,
}

impl Default for Packer {
    fn default() -> Self {
        Packer {
            writer: ZipArchiveWriter::new(Vec::new()),
        }
    }
}

impl Packer {
    /// Adds a member.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.try_add(name, bytes)
            .map_err(|error| ArchiveError::DamagedMember {
                name: name.to_owned(),
                reason: error.to_string(),
            })
    }

    fn try_add(&mut self, name: &str, bytes: &[u8]) -> Result<(), rawzip::Error> {
        // The fastest levels pack frames, which repeat themselves, nearly as well as the others.
        const LEVEL: u8 = 3;
        let packed = compress_to_vec(bytes, LEVEL);
        let (mut entry, _) = self
            .writer
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE)
            .start()?;
        entry.write_all(&packed)?;
        entry.finish(DataDescriptorOutput::new(crc32(bytes), bytes.len() as u64))?;
        Ok(())
    }

    /// The bytes of the zip file.
    pub fn finish(self) -> Result<Vec<u8>, ArchiveError> {
        self.writer.finish().map_err(|error| ArchiveError::Damaged {
            reason: error.to_string(),
        })
    }
}

/// The checksum of zip files. Made anew because the ready-made ones bring tables of 16 KB, which
/// do not compress, into the page.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|index| {
        // The index is below 256.
        (0..8).fold(index as u32, |rest, _| {
            (rest >> 1) ^ (0xedb8_8320 & (rest & 1).wrapping_neg())
        })
    });
    !bytes.iter().fold(!0, |sum, byte| {
        (sum >> 8) ^ table[usize::from(sum as u8 ^ byte)]
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
    fn the_checksum_is_that_of_everyone() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"123456789"), rawzip::crc32(b"123456789"));
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
    fn bombs_end_in_an_error_whatever_they_say_of_their_size() {
        let mut bytes = packed(&[("bomb", &vec![0; 3 << 20]), ("other", &vec![0; 1 << 20])]);
        let limits = Limits {
            total: 3 << 20,
            ..Limits::default()
        };
        let mut archive = Archive::open(&bytes, limits).unwrap();
        assert!(archive.read(0).unwrap().is_ok());
        let full = archive.read(1).unwrap().unwrap_err();
        assert!(full.to_string().contains("more than 3 MB"), "{full}");

        // The directory says one byte.
        let size = (3_u32 << 20).to_le_bytes();
        let place = bytes.windows(4).rposition(|window| window == size).unwrap();
        bytes[place..place + 4].copy_from_slice(&1_u32.to_le_bytes());
        let limits = Limits {
            member: 1 << 20,
            ..limits
        };
        let refused = first(&bytes, limits).unwrap_err();
        assert!(
            matches!(refused, ArchiveError::TooLarge { .. }),
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
    fn what_cannot_be_read_is_said() {
        let whole = packed(&[("a.json", b"some text, some text")]);
        let refused = |bytes: &[u8]| first(bytes, Limits::default()).unwrap_err();
        assert_eq!(refused(b"PK\x03\x04 nothing"), ArchiveError::NoArchive);
        assert_eq!(refused(&whole[..whole.len() - 30]), ArchiveError::NoArchive);

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
        assert_eq!(changed(10, 93), ArchiveError::Method { name, method: 93 });
        assert!(changed(16, 0).to_string().contains("checksum"));
    }
}
