//! Recovers the members of a zip file whose directory is missing: each member has a local header, so scanning for
//! headers finds everything that was written before the cut.

use std::ops::Range;

use super::Member;
use super::member::MemberLocation;

const HEADER: &[u8] = b"PK\x03\x04";
const HEADER_LENGTH: usize = 30;

/// The members that can be found, at most `most`.
pub(super) fn members(bytes: &[u8], most: usize) -> Vec<Member> {
    let mut members = Vec::new();
    let mut at = 0;
    while members.len() < most
        && let Some(start) = find(bytes, at, HEADER)
    {
        match member(bytes, start) {
            Some((member, end)) => {
                at = end;
                members.push(member);
            }
            None => at = start + HEADER.len(),
        }
    }
    members.retain(|member| !member.name.ends_with('/'));
    members
}

fn member(bytes: &[u8], start: usize) -> Option<(Member, usize)> {
    const SIZES_FOLLOW: u16 = 8;
    let header = bytes.get(start..start + HEADER_LENGTH)?;
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let long = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (flags, method) = (short(6), short(8));
    let name_end = start + HEADER_LENGTH + usize::from(short(26));
    let name = bytes.get(start + HEADER_LENGTH..name_end)?;
    let data = name_end + usize::from(short(28));
    let packed = usize::try_from(long(18)).ok()?;
    let end = if flags & SIZES_FOLLOW == 0 && long(18) != u32::MAX {
        data.saturating_add(packed)
    } else {
        // Up to the next header: decoders stop at the end of their data themselves.
        next_header(bytes, data)
    };
    let range: Range<usize> = data.min(bytes.len())..end.clamp(data.min(bytes.len()), bytes.len());
    let after = range.end;
    let member = Member {
        name: String::from_utf8_lossy(name).into_owned(),
        location: MemberLocation::Found(range),
        method,
        encrypted: flags & 1 != 0,
    };
    Some((member, after))
}

/// The offset of the next header or of the directory.
fn next_header(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = find(bytes, at, b"PK") {
        let kind = bytes.get(found + 2..found + 4);
        if matches!(kind, Some(b"\x03\x04" | b"\x01\x02" | b"\x07\x08")) {
            return found;
        }
        at = found + 2;
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = rest.windows(what.len()).position(|window| window == what);
    found.map(|offset| from + offset)
}
