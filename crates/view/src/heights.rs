//! The heights of a long list of blocks. Most are estimates, some are measured.
//!
//! A Fenwick tree: finding the offset of a block, the block at an offset, appending and correcting a height
//! take logarithmic time. Truncating is free.

/// Heights in pixels, in order.
#[derive(Clone, Debug, Default)]
pub struct Heights {
    heights: Vec<f64>,
    /// `sums[i]` holds the heights of the `lowbit(i + 1)` blocks that end with block `i`.
    sums: Vec<f64>,
}

/// The lowest set bit.
fn low_bit(number: usize) -> usize {
    number & number.wrapping_neg()
}

impl Heights {
    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.heights.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.heights.is_empty()
    }

    /// Adds a block at the end.
    pub fn push(&mut self, height: f64) {
        let number = self.heights.len() + 1;
        let inside = self.top(number - 1) - self.top(number - low_bit(number));
        self.heights.push(height);
        self.sums.push(inside + height);
    }

    /// Keeps the first `count` blocks.
    pub fn truncate(&mut self, count: usize) {
        self.heights.truncate(count);
        self.sums.truncate(count);
    }

    /// Corrects the height of a block. Returns whether it changed.
    pub fn set(&mut self, block: usize, height: f64) -> bool {
        let Some(known) = self.heights.get_mut(block) else {
            return false;
        };
        let change = height - *known;
        if change.abs() < 0.01 {
            return false;
        }
        *known = height;
        let mut number = block + 1;
        while let Some(sum) = self.sums.get_mut(number - 1) {
            *sum += change;
            number += low_bit(number);
        }
        true
    }

    /// The offset of a block: the sum of all heights before it. For indices past the end, this is the total
    /// height.
    pub fn top(&self, block: usize) -> f64 {
        let mut number = block.min(self.len());
        let mut top = 0.0;
        while number > 0 {
            top += self.sums.get(number - 1).copied().unwrap_or_default();
            number -= low_bit(number);
        }
        top
    }

    /// The total height.
    pub fn total(&self) -> f64 {
        self.top(self.len())
    }

    /// The block at an offset from the top; the last one for offsets past the end.
    pub fn at(&self, place: f64) -> usize {
        let mut below = 0;
        let mut rest = place;
        let mut stride = self.len().checked_next_power_of_two().unwrap_or(0);
        while stride > 0 {
            if let Some(sum) = self.sums.get(below + stride - 1)
                && *sum <= rest
            {
                rest -= sum;
                below += stride;
            }
            stride /= 2;
        }
        below.min(self.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_list_has_no_height() {
        let heights = Heights::default();
        assert_eq!(heights.total(), 0.0);
        assert_eq!(heights.at(100.0), 0);
    }

    proptest! {
        #[test]
        fn equals_plain_sums(
            start in prop::collection::vec(1u32..500, 1..80),
            changes in prop::collection::vec((0usize..100, 1u32..500), 0..20),
            cut in 1usize..80,
            more in prop::collection::vec(1u32..500, 0..20),
            place in 0u32..20_000,
        ) {
            let mut plain: Vec<f64> = start.iter().copied().map(f64::from).collect();
            let mut heights = Heights::default();
            plain.iter().for_each(|height| heights.push(*height));
            for (block, height) in changes {
                heights.set(block, height.into());
                if let Some(known) = plain.get_mut(block) {
                    *known = height.into();
                }
            }
            plain.truncate(cut);
            heights.truncate(cut);
            for height in more {
                plain.push(height.into());
                heights.push(height.into());
            }
            for block in 0..=plain.len() {
                prop_assert_eq!(heights.top(block), plain.iter().take(block).sum::<f64>());
            }
            let mut end = 0.0;
            let expected = plain
                .iter()
                .position(|height| {
                    end += height;
                    f64::from(place) < end
                })
                .unwrap_or(plain.len() - 1);
            prop_assert_eq!(heights.at(place.into()), expected);
        }
    }
}
