//! The checksum of zip files.

/// CRC-32 as in zip files. Implemented here because the available crates bring tables of 16 KB, which do not compress,
/// into the page.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
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
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_everyone() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"123456789"), rawzip::crc32(b"123456789"));
    }
}
