//! Whole numbers of any size, with the little arithmetic that floats and their texts take.

/// A whole number of any size, the low parts first, without zeros at the end.
#[derive(Clone, Default)]
pub(super) struct Whole(Vec<u32>);

impl From<u64> for Whole {
    fn from(value: u64) -> Self {
        let mut whole = Whole(vec![value as u32, (value >> 32) as u32]);
        whole.trim();
        whole
    }
}

impl Whole {
    /// Times a factor, plus something.
    pub(super) fn times(&mut self, factor: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for part in &mut self.0 {
            carry += u64::from(*part) * u64::from(factor);
            *part = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// How many bits it has.
    pub(super) fn bits(&self) -> i64 {
        let top = self.0.last().map_or(0, |part| part.leading_zeros());
        self.0.len() as i64 * 32 - i64::from(top)
    }

    /// Doubled so many times.
    pub(super) fn double(&mut self, times: i64) {
        let zeros = (times / 32) as usize;
        self.0.splice(0..0, std::iter::repeat_n(0, zeros));
        self.times(1 << (times % 32), 0);
    }

    /// The quotient, which must fit 56 bits, and whether anything is left.
    pub(super) fn divide(mut self, mut by: Whole) -> (u64, bool) {
        const BITS: i64 = 56;
        by.double(BITS);
        let mut quotient = 0;
        for _ in 0..=BITS {
            quotient <<= 1;
            if self.at_least(&by) {
                self.minus(&by);
                quotient |= 1;
            }
            by.halve();
        }
        (quotient, !self.is_zero())
    }

    /// Whether it is as great as another, or greater.
    pub(super) fn at_least(&self, other: &Whole) -> bool {
        let lengths = self.0.len().cmp(&other.0.len());
        let order = lengths.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()));
        order.is_ge()
    }

    /// Plus another.
    pub(super) fn plus(&mut self, other: &Whole) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut carry = 0;
        for (place, part) in self.0.iter_mut().enumerate() {
            carry += u64::from(*part);
            carry += u64::from(other.0.get(place).copied().unwrap_or_default());
            *part = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Minus another, which is not greater.
    pub(super) fn minus(&mut self, other: &Whole) {
        let mut borrow = 0;
        for (place, part) in self.0.iter_mut().enumerate() {
            let taken = i64::from(other.0.get(place).copied().unwrap_or_default()) + borrow;
            let left = i64::from(*part) - taken;
            *part = left as u32;
            borrow = i64::from(left < 0);
        }
        self.trim();
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn halve(&mut self) {
        let mut carry = 0;
        for part in self.0.iter_mut().rev() {
            let low = *part & 1;
            *part = (*part >> 1) | (carry << 31);
            carry = low;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}
