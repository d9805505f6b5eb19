//! Random numbers from a seed, the same on every platform.
//!
//! [`Random`] is xoshiro256++ (Blackman and Vigna), seeded by SplitMix64: small, fast, and not cryptographically
//! secure. Its numbers are part of an episode: the same seed must reproduce the same episode in every version, so
//! neither the generator nor the way numbers are drawn from it may change.

use std::ops::RangeInclusive;

/// A seeded random number generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    seed: u64,
    state: [u64; 4],
}

impl Random {
    /// A generator with a seed.
    pub fn new(seed: u64) -> Self {
        let mut filler = seed;
        Random {
            seed,
            state: std::array::from_fn(|_| split_mix(&mut filler)),
        }
    }

    /// An independent generator for a part. It depends only on the seed and the label, not on previous draws,
    /// so one part's draws never shift another's.
    pub fn fork(&self, label: &str) -> Random {
        let mut mixed = self.seed ^ stable_hash(label.bytes());
        Random::new(split_mix(&mut mixed))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A uniformly distributed number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        // Draws above the largest multiple of n would favour small numbers, so they are rejected.
        let limit = u64::MAX - u64::MAX % n;
        loop {
            let draw = self.next_u64();
            if draw < limit {
                return draw % n;
            }
        }
    }

    /// A uniformly distributed number of an inclusive range; the start if the range is empty.
    pub fn range(&mut self, range: RangeInclusive<i64>) -> i64 {
        let (start, end) = range.into_inner();
        let width = end.wrapping_sub(start).cast_unsigned();
        if end <= start {
            return start;
        }
        let offset = match width.checked_add(1) {
            Some(n) => self.below(n),
            None => self.next_u64(),
        };
        start.wrapping_add(offset.cast_signed())
    }

    /// A float in [0, 1) with 53 random bits.
    pub fn float01(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A random boolean, with equal probabilities.
    pub fn bool(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// One of the items; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// Shuffles the items (Fisher and Yates), each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for unplaced in (2..=items.len()).rev() {
            let index = self.index(unplaced);
            items.swap(unplaced - 1, index);
        }
    }

    fn index(&mut self, length: usize) -> usize {
        // A length fits 64 bits, and a number below it fits `usize`.
        self.below(length as u64) as usize
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// FNV-1a: a hash that is the same on every machine and in every version. Not for secrets.
pub fn stable_hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let bytes = bytes.into_iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_stay() {
        let mut random = Random::new(0);
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        // The output of the reference implementation for a state filled by SplitMix64 from 0.
        assert_eq!(
            drawn,
            [
                5_987_356_902_031_041_503,
                7_051_070_477_665_621_255,
                6_633_766_593_972_829_180
            ]
        );
    }

    #[test]
    fn draws_stay_in_range_and_reach_its_ends() {
        let mut random = Random::new(7);
        let drawn: Vec<i64> = (0..1000).map(|_| random.range(1..=10)).collect();
        assert_eq!(drawn.iter().min(), Some(&1));
        assert_eq!(drawn.iter().max(), Some(&10));
        assert_eq!(random.range(5..=5), 5);
        let (start, end) = (6, 5);
        assert_eq!(random.range(start..=end), 6);
        random.range(i64::MIN..=i64::MAX);
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&random.float01()));
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
        assert_eq!(random.pick::<u8>(&[]), None);
    }

    #[test]
    fn shuffling_loses_nothing_and_reaches_every_order() {
        let mut random = Random::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let mut items = [1, 2, 3, 4];
            random.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 24);
    }

    #[test]
    fn forks_depend_on_the_label_alone() {
        let mut random = Random::new(3);
        let before = random.fork("tasks");
        random.next_u64();
        assert_eq!(before, random.fork("tasks"));
        assert_ne!(before, random.fork("ids"));
        assert_ne!(before, Random::new(4).fork("tasks"));
    }

    #[test]
    fn the_hash_is_that_of_the_published_vectors() {
        assert_eq!(stable_hash([]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(stable_hash(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(stable_hash(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
