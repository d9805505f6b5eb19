//! One member of a zip file: its byte range and compression method.

use std::ops::Range;

use rawzip::{ZipArchiveEntryWayfinder, ZipSliceArchive};

use super::checksum::crc32;
use super::unpack::{Packing, Partial, Problem, unpack};
use super::{ArchiveError, Limits, PartlyRead};

pub(super) struct Member {
    pub name: String,
    pub location: MemberLocation,
    /// The number of the compression method.
    pub method: u16,
    pub encrypted: bool,
}

pub(super) enum MemberLocation {
    /// An entry of the directory.
    Listed(ZipArchiveEntryWayfinder),
    /// A range found without a directory.
    Found(Range<usize>),
}

/// The bytes of a zip file, with its directory or without.
pub(super) enum Source<'a> {
    Whole(ZipSliceArchive<&'a [u8]>),
    Cut(&'a [u8]),
}

impl Member {
    /// The compressed bytes.
    fn packed<'s>(&self, source: &'s Source<'_>) -> Result<&'s [u8], ArchiveError> {
        let damaged = |reason: String| self.damaged(reason);
        match (&self.location, source) {
            (MemberLocation::Listed(wayfinder), Source::Whole(archive)) => {
                let entry = archive.get_entry(*wayfinder);
                let entry = entry.map_err(|error| damaged(error.to_string()))?;
                Ok(entry.data())
            }
            (MemberLocation::Found(range), Source::Cut(bytes)) => {
                Ok(bytes.get(range.clone()).unwrap_or_default())
            }
            _ => Err(damaged("it is not where it should be".to_owned())),
        }
    }

    fn packing(&self) -> Result<Packing, ArchiveError> {
        if self.encrypted {
            return Err(ArchiveError::Encrypted {
                name: self.name.clone(),
            });
        }
        Packing::of(self.method).ok_or_else(|| ArchiveError::Method {
            name: self.name.clone(),
            method: self.method,
        })
    }

    /// The first bytes; fewer if the member cannot be unpacked.
    pub fn start(&self, source: &Source<'_>, length: usize) -> Vec<u8> {
        let (Ok(packed), Ok(packing)) = (self.packed(source), self.packing()) else {
            return Vec::new();
        };
        unpack(packing, packed, length).unwrap_or_else(|partial| partial.output)
    }

    /// All bytes, at most `limit`. The error contains the bytes that precede the damage.
    pub fn read(&self, source: &Source<'_>, limit: usize, limits: Limits) -> PartlyRead {
        let nothing = |error| (error, Vec::new());
        let packing = self.packing().map_err(nothing)?;
        let packed = self.packed(source).map_err(nothing)?;
        let too_large = || ArchiveError::TooLarge {
            name: self.name.clone(),
            limit: if limit < limits.member {
                limits.total
            } else {
                limits.member
            },
        };
        // A zip bomb that declares its size is rejected without being unpacked; one that declares less is unpacked only
        // up to the declared size.
        let listed = self.listed_size(source);
        if listed.is_some_and(|size| size > limit) {
            return Err(nothing(too_large()));
        }
        let bytes = match unpack(packing, packed, listed.unwrap_or(limit)) {
            Ok(bytes) => bytes,
            Err(Partial { problem, output }) => {
                let error = match problem {
                    Problem::TooLarge if listed.is_some() => {
                        self.damaged("it unpacks to more than its directory says".to_owned())
                    }
                    Problem::TooLarge => too_large(),
                    Problem::Damaged => self.damaged("its packed data cannot be read".to_owned()),
                };
                return Err((error, output));
            }
        };
        if self.is_as_listed(source, &bytes) {
            Ok(bytes)
        } else {
            let error = self.damaged("its checksum does not fit".to_owned());
            Err((error, bytes))
        }
    }

    /// The unpacked size according to the directory, if there is one.
    fn listed_size(&self, source: &Source<'_>) -> Option<usize> {
        let (MemberLocation::Listed(wayfinder), Source::Whole(archive)) = (&self.location, source)
        else {
            return None;
        };
        let entry = archive.get_entry(*wayfinder).ok()?;
        // A size that does not fit into `usize` exceeds any limit.
        let size = entry.claim_verifier().uncompressed_size;
        Some(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// Whether size and checksum match the directory, if there is one.
    fn is_as_listed(&self, source: &Source<'_>, bytes: &[u8]) -> bool {
        let (MemberLocation::Listed(wayfinder), Source::Whole(archive)) = (&self.location, source)
        else {
            return true;
        };
        let Ok(entry) = archive.get_entry(*wayfinder) else {
            return false;
        };
        let claimed = entry.claim_verifier();
        claimed.uncompressed_size == bytes.len() as u64 && claimed.crc == crc32(bytes)
    }

    fn damaged(&self, reason: String) -> ArchiveError {
        ArchiveError::DamagedMember {
            name: self.name.clone(),
            reason,
        }
    }
}
