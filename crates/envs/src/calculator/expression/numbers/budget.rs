//! Limits on the size of integers and on the work of an expression.
//!
//! CPython has no such limits; a page needs them. They are far beyond the needs of
//! sensible expressions, and beyond what the calculator can print (4300 digits), so that
//! `10 ** 100000 % 7` still has its result.

use super::super::error::EvaluationError;

/// The largest integer, in bits: about 158,000 digits.
pub const MAXIMUM_BITS: u64 = 1 << 19;

/// The remaining work of one expression, in multiplications of machine words.
#[derive(Debug)]
pub struct Budget {
    steps: u64,
}

impl Default for Budget {
    /// Enough for about a tenth of a second, and twice that in WebAssembly.
    fn default() -> Self {
        Budget { steps: 1 << 25 }
    }
}

impl Budget {
    /// Spends the cost of a product of integers with these numbers of bits.
    ///
    /// # Errors
    /// The budget is exhausted.
    pub fn spend(&mut self, left_bits: u64, right_bits: u64) -> Result<(), EvaluationError> {
        let words = |bits: u64| bits / 64 + 1;
        let cost = words(left_bits).saturating_mul(words(right_bits));
        self.steps = self.steps.checked_sub(cost).ok_or(TOO_LARGE)?;
        Ok(())
    }
}

/// The error for integers beyond the limits.
pub const TOO_LARGE: EvaluationError = EvaluationError::Invalid {
    reason: std::borrow::Cow::Borrowed("the integers in it grow too large to compute"),
};
