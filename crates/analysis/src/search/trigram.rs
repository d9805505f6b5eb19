//! A Bloom filter of the trigrams (three consecutive bytes) of a text. It has no false negatives, and its size is about
//! a tenth of the text, at most 8 KiB.

/// The number of bits of the largest filter, and of hash values of a trigram.
const MOST: usize = 1 << 16;
/// The number of 64-bit words of the smallest filter.
const FEWEST_WORDS: usize = 4;

/// The filter. Its size is a power of two and the bit of a trigram is the low part of its hash, so that a filter can be
/// folded in half.
#[derive(Clone, Debug)]
pub(super) struct TrigramFilter {
    words: Box<[u64]>,
}

impl TrigramFilter {
    /// Builds the filter of a text.
    pub(super) fn of(text: &str) -> Self {
        let mut words = vec![0_u64; MOST / 64];
        for trigram in trigrams(text) {
            words[trigram / 64 % (MOST / 64)] |= 1 << (trigram % 64);
        }
        // Shrink as long as at most a quarter of the bits are set: then four random trigrams pass once in 256 times.
        while words.len() > FEWEST_WORDS {
            let (low, high) = words.split_at(words.len() / 2);
            let halves = low.iter().zip(high);
            let set: u32 = halves.map(|(low, high)| (low | high).count_ones()).sum();
            if set as usize * 4 > words.len() / 2 * 64 {
                break;
            }
            let half = words.split_off(words.len() / 2);
            let halves = words.iter_mut().zip(half);
            halves.for_each(|(low, high)| *low |= high);
        }
        TrigramFilter {
            words: words.into_boxed_slice(),
        }
    }

    /// Whether the text may contain all of these trigrams.
    pub(super) fn may_have(&self, trigrams: &[usize]) -> bool {
        let mask = self.words.len() * 64 - 1;
        trigrams.iter().all(|trigram| {
            let bit = trigram & mask;
            let word = self.words.get(bit / 64);
            word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
        })
    }
}

/// The hashes of all trigrams, each below 2^16.
pub(super) fn trigrams(text: &str) -> impl Iterator<Item = usize> {
    text.as_bytes().windows(3).map(|bytes| {
        let number = bytes
            .iter()
            .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        // The high bits of a product with an odd constant (the golden ratio) are well mixed.
        (number.wrapping_mul(0x9e37_79b1) >> 16) as usize % MOST
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_never_denies_what_is_there() {
        for length in [0, 2, 3, 40, 4_000, 400_000] {
            let text: String = (0..length)
                .map(|index: u32| char::from(b'a' + (index.wrapping_mul(index) % 23) as u8))
                .collect();
            let filter = TrigramFilter::of(&text);
            assert!(filter.may_have(&trigrams(&text).collect::<Vec<_>>()));
            assert!(filter.words.len() <= MOST / 64);
        }
        let strange: Vec<usize> = trigrams("zzzyyyxxx").collect();
        assert!(!TrigramFilter::of("some words").may_have(&strange));
    }
}
