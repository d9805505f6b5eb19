//! A filter: the sequences of five bytes that a text contains.
//!
//! An edit changes at most five of a quote's sequences. So a text that lacks more of them than five an edit has no
//! approximate match. Collisions of digests let too much pass, never too little.

/// The length of a sequence, in bytes.
const LENGTH: usize = 5;
/// The number of bits for each byte of the text.
const BITS: usize = 8;

/// The digests of the sequences of a text.
pub(super) struct Grams {
    bits: Vec<u64>,
    /// The number of low bits of a digest that are dropped.
    shift: u32,
}

impl Grams {
    pub(super) fn of(text: &[u8]) -> Grams {
        let bits = (text.len() * BITS).next_power_of_two().max(64);
        let mut grams = Grams {
            bits: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
        };
        for gram in text.array_windows::<LENGTH>() {
            let (word, bit) = grams.position(*gram);
            if let Some(word) = grams.bits.get_mut(word) {
                *word |= bit;
            }
        }
        grams
    }

    /// Whether the text may contain a part within an edit distance of the quote.
    pub(super) fn may_hold(&self, quote: &[u8], edits: usize) -> bool {
        let total = (quote.len() + 1).saturating_sub(LENGTH);
        let mut allowed = (edits * LENGTH).min(total);
        for gram in quote.array_windows::<LENGTH>() {
            let (word, bit) = self.position(*gram);
            if self.bits.get(word).is_none_or(|word| word & bit == 0) {
                if allowed == 0 {
                    return false;
                }
                allowed -= 1;
            }
        }
        true
    }

    fn position(&self, [a, b, c, d, e]: [u8; LENGTH]) -> (usize, u64) {
        let value = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
        let digest = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        // The digest is smaller than the number of bits, which fits.
        ((digest >> 6) as usize, 1 << (digest & 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_the_sequences_are_excluded() {
        let text = "The quick brown fox jumps over the lazy dog.".repeat(20);
        let grams = Grams::of(text.as_bytes());
        assert!(grams.may_hold(b"quick brown fox", 0));
        assert!(grams.may_hold(b"quick brawn fox", 1));
        assert!(!grams.may_hold(b"quick brawn fox", 0));
        assert!(!grams.may_hold(b"seven wizards vexed my box of jugs", 3));
        assert!(!Grams::of(b"").may_hold(b"something", 0));
    }
}
