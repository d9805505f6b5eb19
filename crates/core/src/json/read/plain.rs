//! The length of the part of a string that needs no unescaping.

/// The number of bytes before a quote, a backslash or a control character; `None` if there is none of these. Scans
/// eight bytes at a time, since large documents consist mostly of long strings.
pub(super) fn plain_length(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The lowest marked byte is below the limit; marks above it may be false positives.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = below(word, 0x20) | quote | backslash;
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let start = words.len() * 8;
    let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let length = bytes[start..].iter().position(is_special)?;
    Some(start + length)
}

#[cfg(test)]
mod tests {
    use super::plain_length;

    #[test]
    fn the_first_special_byte_is_found_at_any_position() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for offset in 0..40 {
                for filler in [b'a', b' ', b'!', b'#', b']', b'[', 0x7f, 0x80, 0xff] {
                    let mut bytes = [filler; 41];
                    bytes[offset] = special;
                    assert_eq!(
                        plain_length(&bytes),
                        Some(offset),
                        "{special} among {filler}"
                    );
                    assert_eq!(plain_length(&bytes[..offset]), None);
                }
            }
        }
    }
}
