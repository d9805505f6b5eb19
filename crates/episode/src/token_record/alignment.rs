//! How the values of a stream belong to tokens. There are three ways, and the format of a file says which one it uses.
//! It is never guessed from a length: that of the response and the number of trained tokens can be equal by chance.

use volary_core::TokenStream;

/// The alignment of a stream of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// One value for each token.
    Full,
    /// One value for each token after the prompt.
    Response,
    /// One value for each trained token: the k-th value belongs to the k-th trained token.
    Compact,
}

/// Widens a stream to one value for each token. Outside of a known mask, writers fill in 0.0; that is a gap.
///
/// # Errors
///
/// The number of values that were expected, if there is another one.
pub(super) fn widen(
    values: &TokenStream,
    alignment: Alignment,
    mask: &[bool],
    prompt: usize,
    is_mask_known: bool,
) -> Result<TokenStream, usize> {
    let expected = match alignment {
        Alignment::Full => mask.len(),
        Alignment::Response => mask.len().saturating_sub(prompt),
        Alignment::Compact => mask.iter().filter(|is_trained| **is_trained).count(),
    };
    if values.len() != expected {
        return Err(expected);
    }
    if alignment == Alignment::Compact {
        let mut values = values.iter();
        let widened = mask.iter().map(|is_trained| {
            if *is_trained {
                values.next().flatten()
            } else {
                None
            }
        });
        return Ok(widened.collect());
    }
    let before = mask.len() - expected;
    let real = values.iter().zip(mask.iter().skip(before));
    let real = real.map(|(value, is_trained)| match value {
        Some(0.0) if is_mask_known && !is_trained => None,
        value => value,
    });
    Ok(std::iter::repeat_n(None, before).chain(real).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alignment_has_its_length() {
        let mask = [false, true, false, true];
        let widen = |values: &[f64], alignment| {
            let values: TokenStream = values.iter().copied().collect();
            widen(&values, alignment, &mask, 1, true)
        };
        let stream = |values: [Option<f64>; 4]| Ok(values.into_iter().collect());
        assert_eq!(
            widen(&[9.0, 0.0, 0.0, -1.0], Alignment::Full),
            stream([Some(9.0), Some(0.0), None, Some(-1.0)])
        );
        assert_eq!(
            widen(&[0.0, 0.0, -1.0], Alignment::Response),
            stream([None, Some(0.0), None, Some(-1.0)])
        );
        assert_eq!(
            widen(&[1.0, 2.0], Alignment::Compact),
            stream([None, Some(1.0), None, Some(2.0)])
        );
        assert_eq!(widen(&[1.0, 2.0], Alignment::Response), Err(3));
        assert_eq!(widen(&[1.0, 2.0], Alignment::Full), Err(4));
        assert_eq!(widen(&[1.0], Alignment::Compact), Err(2));
    }

    #[test]
    fn without_a_mask_zeros_are_values() {
        let zeros: TokenStream = [0.0, 0.0].into_iter().collect();
        let widened = widen(&zeros, Alignment::Response, &[false; 3], 1, false).unwrap();
        assert_eq!(widened.get(0), None);
        assert_eq!(widened.get(1), Some(0.0));
    }
}
