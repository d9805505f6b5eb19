//! Sine, cosine and hypotenuse, exact to the last bit, for the complex powers of negative numbers.
//!
//! As with [`exponentiation`](super::exponentiation), the platforms' functions differ from
//! one another. These use integers of 128 bits, or pairs of floats.

use super::float::{compose, high_product, parts};

/// Angles from here on use a library: their reduction needs more digits of π.
const LARGE: f64 = 65536.0;

/// The number of fractional bits during the reduction of an angle.
const FRACTION: i32 = 108;

/// π/2, times 2^126.
const HALF_PI: u128 = 0x6487_ed51_10b4_611a_6263_3145_c06e_0e68;

/// The sine and cosine of an angle; nan for an angle that is not finite.
pub fn sine_and_cosine(angle: f64) -> (f64, f64) {
    if angle.is_nan() || angle.abs() >= LARGE {
        return (libm::sin(angle), libm::cos(angle));
    }
    if angle.abs() < 1e-9 {
        // The next terms of the series are beyond the precision, except for the direction of rounding.
        return (angle, 1.0);
    }
    let (quadrant, rest) = reduce(angle.abs());
    let magnitude = rest.unsigned_abs() << (127 - FRACTION);
    let square = high_product(magnitude, magnitude) << 2;
    let sine = high_product(magnitude, series(square, 1)) << 1;
    let sine = signed(sine, rest < 0);
    let cosine = signed(series(square, 0), false);
    let (sine, cosine) = match quadrant {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    };
    (if angle < 0.0 { -sine } else { sine }, cosine)
}

/// The quadrant, from 0 to 3, and the angle from its middle in multiples of
/// 2^-108: at most π/4.
fn reduce(angle: f64) -> (u32, i128) {
    let (mantissa, exponent) = parts(angle);
    let shift = exponent + FRACTION;
    let fixed = if shift >= 0 {
        i128::from(mantissa) << shift
    } else {
        i128::from(mantissa) >> shift.unsigned_abs().min(127)
    };
    let turns = (angle * std::f64::consts::FRAC_2_PI).round() as u64;
    // As many digits of π as fit into the product.
    let width = 64 - turns.leading_zeros() as i32;
    let whole = (HALF_PI >> width) * u128::from(turns);
    let rest = fixed - (whole >> (126 - width - FRACTION)) as i128;
    ((turns % 4) as u32, rest)
}

/// 1/0!, 1/1!, 1/2!, …, times 2^127.
const RECIPROCAL_FACTORIALS: [u128; 32] = {
    let mut reciprocals = [1 << 127; 32];
    let mut index = 1;
    while index < reciprocals.len() {
        reciprocals[index] = reciprocals[index - 1] / index as u128;
        index += 1;
    }
    reciprocals
};

/// 1/f! - s/(f+2)! + s²/(f+4)! - …, times 2^127, for `square` = s * 2^128: the series of the cosine
/// for `first` 0, and of the sine over its angle for 1.
fn series(square: u128, first: usize) -> u128 {
    RECIPROCAL_FACTORIALS
        .iter()
        .skip(first)
        .step_by(2)
        .rev()
        .fold(0, |sum, coefficient| {
            coefficient - high_product(sum, square)
        })
}

/// A number in multiples of 2^-127.
fn signed(magnitude: u128, negative: bool) -> f64 {
    let value = compose(magnitude, -127, true).unwrap_or(1.0);
    if negative { -value } else { value }
}

/// The square root of the sum of the squares.
pub fn hypotenuse(a: f64, b: f64) -> f64 {
    let (large, small) = if a.abs() > b.abs() {
        (a.abs(), b.abs())
    } else {
        (b.abs(), a.abs())
    };
    if a.is_infinite() || b.is_infinite() {
        return f64::INFINITY;
    }
    if small <= large * 1e-17 || a.is_nan() || b.is_nan() {
        return large + small;
    }
    // Scaled by a power of two, so that no square overflows or vanishes.
    let scale = if large > 1e150 {
        2.0_f64.powi(-600)
    } else if small < 1e-150 {
        2.0_f64.powi(600)
    } else {
        1.0
    };
    let (x, y) = (large * scale, small * scale);
    let (square_x, rest_x) = square(x);
    let (square_y, rest_y) = square(y);
    let sum = square_x + square_y;
    let rest = square_x - sum + square_y + (rest_x + rest_y);
    let root = sum.sqrt();
    let (square_root, rest_root) = square(root);
    let correction = (sum - square_root - rest_root + rest) / (2.0 * root);
    (root + correction) / scale
}

/// A square as the sum of two floats, exactly.
fn square(value: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0;
    let product = value * value;
    let spread = value * SPLITTER;
    let high = spread - (spread - value);
    let low = value - high;
    let rest = ((high * high - product) + 2.0 * high * low) + low * low;
    (product, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_and_cosines_are_the_nearest() {
        // Computed with 60 digits.
        for (angle, sine, cosine) in [
            (0.0, 0.0, 1.0),
            (1e-12, 1e-12, 1.0),
            (0.5, 0.479_425_538_604_203, 0.877_582_561_890_372_8),
            (-2.0, -0.909_297_426_825_681_7, -0.416_146_836_547_142_4),
            (std::f64::consts::PI, 1.224_646_799_147_353_2e-16, -1.0),
            (1000.0, 0.826_879_540_532_002_5, 0.562_379_076_290_702_9),
        ] {
            assert_eq!(sine_and_cosine(angle), (sine, cosine), "{angle}");
        }
    }

    #[test]
    fn hypotenuses() {
        assert_eq!(hypotenuse(3.0, -4.0), 5.0);
        assert_eq!(hypotenuse(3e-320, 4e-320), 5e-320);
        assert_eq!(hypotenuse(3e300, 4e300), 5e300);
        assert_eq!(hypotenuse(1e300, 1e-300), 1e300);
        assert_eq!(hypotenuse(f64::MAX, f64::MAX), f64::INFINITY);
        assert_eq!(hypotenuse(f64::NAN, f64::INFINITY), f64::INFINITY);
        assert!(hypotenuse(f64::NAN, 1.0).is_nan());
    }
}
