//! Bytes in less room. Pure.
//!
//! Episodes of one evaluation say much the same, and shrink to a tenth: to pack them costs less than to have the browser
//! copy and write the rest.

use std::borrow::Cow;

use lz4_flex::block;

/// LZ4 makes nothing so many times shorter; who says so would have us make room for nothing.
const MOST_SHRUNK: usize = 256;

/// The bytes, packed where that makes them shorter.
pub(super) fn packed(bytes: &[u8]) -> Cow<'_, [u8]> {
    let packed = block::compress(bytes);
    match packed.len() < bytes.len() {
        true => packed.into(),
        false => bytes.into(),
    }
}

/// So many bytes, of what [`packed`] gave; `None` if they are not that.
pub(super) fn unpacked(bytes: &[u8], length: usize) -> Option<Cow<'_, [u8]>> {
    if bytes.len() >= length {
        return Some(bytes.into());
    }
    if length / MOST_SHRUNK > bytes.len() {
        return None;
    }
    let texts = block::decompress(bytes, length).ok()?;
    (texts.len() == length).then(|| texts.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_say_the_same_shrink() {
        let texts = "{\"role\": \"assistant\", \"content\": null}".repeat(100);
        let bytes = packed(texts.as_bytes());
        assert!(bytes.len() < texts.len() / 10, "{}", bytes.len());
        assert_eq!(
            unpacked(&bytes, texts.len()).as_deref(),
            Some(texts.as_bytes())
        );
    }

    #[test]
    fn what_is_no_packed_text_is_nothing() {
        assert_eq!(unpacked(&[1, 2, 3], usize::MAX), None);
        assert_eq!(unpacked(&[0xff, 0xff, 0xff], 400), None);
        assert_eq!(unpacked(&[], 1), None);
        let bytes = packed(&[7; 1000]).into_owned();
        assert_eq!(unpacked(&bytes, 999), None);
        assert_eq!(unpacked(&bytes, 1001), None);
        assert_eq!(unpacked(&bytes[..bytes.len() - 1], 1000), None);
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(0_u8..3, 0..600)) {
            let packed = packed(&bytes);
            prop_assert!(packed.len() <= bytes.len());
            let unpacked = unpacked(&packed, bytes.len());
            prop_assert_eq!(unpacked.as_deref(), Some(&*bytes));
        }

        #[test]
        fn damage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..60), length in 0_usize..20_000) {
            let _ = unpacked(&bytes, length);
        }
    }
}
