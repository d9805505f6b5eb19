//! Reads the central directory of a large zip file from its end; members are read on demand. The caller fetches the
//! requested byte ranges.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use rawzip::{ReaderAt, ZipArchive};

use super::checksum::crc32;
use super::unpack::{Packing, unpack};
use super::{ArchiveError, Limits};

/// The number of bytes at the end of a file that are fetched first. Most directories are no longer: those of about 2,000
/// members.
pub const DIRECTORY_TAIL: u64 = 1 << 18;

/// The byte ranges of a file that were fetched so far.
pub struct Parts {
    length: u64,
    known: Vec<(u64, Vec<u8>)>,
    wanted: RefCell<Option<Range<u64>>>,
}

/// A member of a zip file that is not in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedMember {
    pub name: String,
    /// Its byte range in the file, including the header.
    pub range: Range<u64>,
}

/// Error reading the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// This byte range of the file must be fetched first.
    Wanted(Range<u64>),
    /// The directory is invalid.
    Failed(ArchiveError),
}

impl Parts {
    /// Creates an empty set of parts for a file of `length` bytes.
    pub fn of(length: u64) -> Parts {
        Parts {
            length,
            known: Vec::new(),
            wanted: RefCell::default(),
        }
    }

    /// Adds fetched bytes and their offset.
    pub fn add(&mut self, start: u64, bytes: Vec<u8>) {
        self.known.push((start, bytes));
    }

    /// The fetched bytes, each with their offset.
    pub fn into_known(self) -> Vec<(u64, Vec<u8>)> {
        self.known
    }

    /// The known bytes from an offset on.
    fn from(&self, offset: u64) -> Option<&[u8]> {
        self.known.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(from..).filter(|rest| !rest.is_empty())
        })
    }

    /// Whether the directory was fetched. Requests it in one piece, because fetching parts one by one costs a round
    /// trip each.
    fn has_directory(&self, start: u64) -> bool {
        /// A larger directory is fetched in several parts.
        const MOST: u64 = 1 << 26;
        let end = self.length.min(start.saturating_add(MOST));
        let is_here = start >= end || self.from(start).is_some();
        if !is_here {
            self.wanted.replace(Some(start..end));
        }
        is_here
    }
}

impl ReaderAt for Parts {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        /// The minimum size of a request, in bytes.
        const LEAST: u64 = 1 << 16;
        if offset >= self.length || out.is_empty() {
            return Ok(0);
        }
        let Some(bytes) = self.from(offset) else {
            let end = offset.saturating_add((out.len() as u64).max(LEAST));
            let end = end.min(self.length);
            // The directory is at the end; usually the fetched tail contains all of it.
            let start = if end == self.length {
                offset.min(self.length.saturating_sub(DIRECTORY_TAIL))
            } else {
                offset
            };
            self.wanted.replace(Some(start..end));
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let length = bytes.len().min(out.len());
        out[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }
}

/// Lists the members of a zip file from its directory; at most `most`.
pub fn list(parts: &Parts, most: usize) -> Result<Vec<ListedMember>, Unlisted> {
    parts.wanted.replace(None);
    try_list(parts, most).map_err(|error| match parts.wanted.take() {
        Some(range) => Unlisted::Wanted(range),
        None => Unlisted::Failed(error),
    })
}

fn try_list(parts: &Parts, most: usize) -> Result<Vec<ListedMember>, ArchiveError> {
    let damaged = |error: rawzip::Error| ArchiveError::Damaged {
        reason: error.to_string(),
    };
    let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::with_max_search_space(1 << 17)
        .locate_in_reader(parts, &mut buffer, parts.length)
        .map_err(|_| ArchiveError::NoArchive)?;
    let end = archive.directory_offset();
    if !parts.has_directory(end) {
        return Err(ArchiveError::NoArchive);
    }
    let mut found: Vec<(u64, ListedMember)> = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(damaged)? {
        if found.len() == most {
            return Err(ArchiveError::TooMany { limit: most });
        }
        let start = entry.local_header_offset();
        let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        found.push((
            start,
            ListedMember {
                name,
                range: start..end,
            },
        ));
    }
    // A member extends to the next one in the file, in whichever order the directory lists them.
    let mut starts: Vec<u64> = found.iter().map(|(start, _)| *start).collect();
    starts.sort_unstable();
    for (start, listed) in &mut found {
        let next = starts.partition_point(|other| other <= start);
        listed.range.end = starts.get(next).copied().unwrap_or(end).max(*start);
    }
    let members = found.into_iter().map(|(_, listed)| listed);
    Ok(members
        .filter(|listed| !listed.name.ends_with('/'))
        .collect())
}

/// The header of a member, at the start of its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberHeader {
    pub name: String,
    /// The length of the header, after which the data start.
    pub length: usize,
    /// Whether the data are those of the member, neither compressed nor encrypted.
    pub is_stored: bool,
    /// How the data are packed; `None` if they are encrypted, or packed in another way.
    packing: Option<Packing>,
}

impl MemberHeader {
    /// The maximum length of a header.
    pub const LONGEST: usize = 30 + 2 * u16::MAX as usize;

    /// Reads a header; `None` if it is none, or longer than the bytes.
    pub fn of(bytes: &[u8]) -> Option<MemberHeader> {
        const HEADER: usize = 30;
        const ENCRYPTED: u16 = 1;
        let header = bytes.get(..HEADER)?;
        if !header.starts_with(b"PK\x03\x04") {
            return None;
        }
        let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let name_end = HEADER + usize::from(short(26));
        let name = String::from_utf8_lossy(bytes.get(HEADER..name_end)?);
        let length = name_end + usize::from(short(28));
        let packing = match short(6) & ENCRYPTED {
            0 => Packing::of(short(8)),
            _ => None,
        };
        (bytes.len() >= length).then(|| MemberHeader {
            name: name.into_owned(),
            length,
            is_stored: packing == Some(Packing::Stored),
            packing,
        })
    }

    /// The beginning of the member, as far as it follows from the first bytes of its file, which include the header: at
    /// most `limit` bytes.
    pub fn beginning(&self, bytes: &[u8], limit: usize) -> Vec<u8> {
        let rest = bytes.get(self.length..).unwrap_or_default();
        let unpacked = self.packing.map(|packing| unpack(packing, rest, limit));
        match unpacked {
            Some(Ok(beginning)) => beginning,
            Some(Err(partial)) => partial.output,
            None => Vec::new(),
        }
    }
}

/// Unpacks a member from the bytes in its range. Returns it with its name.
pub fn unpack_listed(bytes: &[u8], limits: Limits) -> Result<(String, Vec<u8>), ArchiveError> {
    const HEADER: usize = 30;
    const ENCRYPTED: u16 = 1;
    const SIZES_FOLLOW: u16 = 8;
    let damaged = |name: &str, reason: &str| ArchiveError::DamagedMember {
        name: name.to_owned(),
        reason: reason.to_owned(),
    };
    let header = bytes
        .get(..HEADER)
        .filter(|header| header.starts_with(b"PK\x03\x04"))
        .ok_or_else(|| damaged("A file", "its header is not where it should be"))?;
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let long = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let name_end = HEADER + usize::from(short(26));
    let name = String::from_utf8_lossy(bytes.get(HEADER..name_end).unwrap_or_default());
    let name = name.into_owned();
    let start = name_end + usize::from(short(28));
    let rest = bytes
        .get(start..)
        .ok_or_else(|| damaged(&name, "it is cut off"))?;
    let (flags, method) = (short(6), short(8));
    if flags & ENCRYPTED != 0 {
        return Err(ArchiveError::Encrypted { name });
    }
    let has_sizes = flags & SIZES_FOLLOW == 0 && long(18) != u32::MAX;
    let packing = Packing::of(method).ok_or_else(|| ArchiveError::Method {
        name: name.clone(),
        method,
    })?;
    let packed = match usize::try_from(long(18)) {
        Ok(length) if has_sizes => rest.get(..length).unwrap_or(rest),
        // A stored member without a size ends at its data descriptor; the other methods mark their own end.
        _ if packing == Packing::Stored => {
            let mark = b"PK\x07\x08";
            let end = rest.windows(mark.len()).rposition(|window| window == mark);
            &rest[..end.unwrap_or(rest.len())]
        }
        _ => rest,
    };
    let unpacked = unpack(packing, packed, limits.member).map_err(|partial| {
        if partial.output.len() >= limits.member {
            ArchiveError::TooLarge {
                name: name.clone(),
                limit: limits.member,
            }
        } else {
            damaged(&name, "its packed data cannot be read")
        }
    })?;
    if has_sizes && long(14) != crc32(&unpacked) {
        return Err(damaged(&name, "its checksum does not fit"));
    }
    Ok((name, unpacked))
}

#[cfg(test)]
mod tests {
    use super::super::Packer;
    use super::*;

    /// The members, and the byte ranges that were fetched to list them.
    fn fetched(
        bytes: &[u8],
        most: usize,
    ) -> Result<(Vec<ListedMember>, Vec<Range<usize>>), ArchiveError> {
        let mut parts = Parts::of(bytes.len() as u64);
        let mut fetched = Vec::new();
        loop {
            match list(&parts, most) {
                Ok(members) => return Ok((members, fetched)),
                Err(Unlisted::Failed(error)) => return Err(error),
                Err(Unlisted::Wanted(range)) => {
                    let wanted = range.start as usize..range.end as usize;
                    parts.add(range.start, bytes[wanted.clone()].to_vec());
                    fetched.push(wanted);
                }
            }
        }
    }

    fn listed(bytes: &[u8]) -> Result<(Vec<ListedMember>, usize), ArchiveError> {
        let (members, fetched) = fetched(bytes, 9)?;
        Ok((members, fetched.iter().map(Range::len).sum()))
    }

    /// A member that hardly compresses, and then many small ones.
    fn many(small: usize) -> Vec<u8> {
        let mut packer = Packer::default();
        let mut state = 1_u64;
        let noise = (0..3_000_000).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        });
        packer
            .add("noise.bin", &noise.collect::<Vec<u8>>())
            .unwrap();
        for number in 0..small {
            let name = format!("samples/a_sample_with_a_long_name_{number}.json");
            packer.add(&name, b"x").unwrap();
        }
        packer.finish().unwrap()
    }

    #[test]
    fn a_directory_comes_with_the_end_of_the_file() {
        let bytes = many(5);
        let (members, fetched) = fetched(&bytes, 100).unwrap();
        assert_eq!(members.len(), 6);
        assert_eq!(fetched.len(), 1, "{fetched:?}");
        assert!(fetched[0].len() <= 1 << 20);
    }

    #[test]
    fn a_large_directory_comes_in_one_piece() {
        let bytes = many(20_000);
        let (members, fetched) = fetched(&bytes, 100_000).unwrap();
        assert_eq!(members.len(), 20_001);
        assert_eq!(fetched.len(), 2, "{fetched:?}");
        assert!(
            fetched.iter().all(|range| range.start > 3_000_000),
            "{fetched:?}"
        );
    }

    #[test]
    fn members_are_listed_without_reading_them_and_unpacked_one_by_one() {
        let mut packer = Packer::default();
        let noise: Vec<u8> = (0..1_000_000_u32)
            .map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        packer.add("a/long.json", &noise).unwrap();
        packer.add("b.json", b"some text").unwrap();
        let bytes = packer.finish().unwrap();
        let (members, fetched) = listed(&bytes).unwrap();
        assert!(fetched < 300_000, "{fetched}");
        let unpacked = members.iter().map(|listed| {
            let range = listed.range.start as usize..listed.range.end as usize;
            unpack_listed(&bytes[range], Limits::default()).unwrap()
        });
        let expected = [
            ("a/long.json".to_owned(), noise),
            ("b.json".to_owned(), b"some text".to_vec()),
        ];
        assert_eq!(unpacked.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_file_that_is_not_a_zip_is_an_error() {
        assert_eq!(listed(b"nothing").unwrap_err(), ArchiveError::NoArchive);
        let limits = Limits::default();
        assert!(unpack_listed(b"PK\x03\x04", limits).is_err());
        assert!(unpack_listed(&[b'P'; 99], limits).is_err());
    }
}
