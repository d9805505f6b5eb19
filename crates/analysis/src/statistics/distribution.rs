//! Quantiles of the normal distribution and of Student's distribution, to about ten digits.

use std::f64::consts::PI;

/// The quantile of the standard normal distribution at a probability.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    quantile(probability, |z| {
        0.5 * (1.0 + error_function(z / 2_f64.sqrt()))
    })
}

/// The quantile of Student's distribution at a probability.
pub(super) fn student_quantile(probability: f64, degrees: f64) -> f64 {
    quantile(probability, |t| {
        let tail = incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5) / 2.0;
        if t < 0.0 { tail } else { 1.0 - tail }
    })
}

/// Inverts an increasing function by bisection.
fn quantile(probability: f64, below: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    while below(low) > probability && low > -1e12 {
        low *= 2.0;
    }
    while below(high) < probability && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if below(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The error function: a series for small, a continued fraction for large arguments.
fn error_function(x: f64) -> f64 {
    let square = x * x;
    let value = if square < 6.0 {
        let mut term = x.abs();
        let mut sum = term;
        for n in 1..200 {
            term *= -square / f64::from(n);
            let part = term / f64::from(2 * n + 1);
            sum += part;
            if part.abs() < 1e-17 * sum.abs() {
                break;
            }
        }
        2.0 / PI.sqrt() * sum
    } else {
        let mut fraction = 0.0;
        for n in (1..=60).rev() {
            fraction = f64::from(n) / 2.0 / (x.abs() + fraction);
        }
        1.0 - (-square).exp() / PI.sqrt() / (x.abs() + fraction)
    };
    value.copysign(x)
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges quickly on one side, and the function is symmetric.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..300 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for factor in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + factor * d);
            c = away_from_zero(1.0 + factor / c);
            change = c * d;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    result
}

/// The logarithm of the gamma function for positive arguments: Stirling's series after an upward recursion.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - square
                * (1.0 / 360.0
                    - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, expected) in [
            (1.0, 12.706_204_736_174_707),
            (2.0, 4.302_652_729_911_275),
            (4.0, 2.776_445_105_197_798_7),
            (9.0, 2.262_157_162_740_991_5),
            (29.0, 2.045_229_642_132_703),
            (99.0, 1.984_216_951_586_411_4),
        ] {
            let found = student_quantile(0.975, degrees);
            assert!((found - expected).abs() < 1e-8, "{degrees}: {found}");
            assert!((student_quantile(0.025, degrees) + expected).abs() < 1e-8);
        }
        for (probability, expected) in [
            (0.975, 1.959_963_984_540_054),
            (0.995, 2.575_829_303_548_900_4),
            (0.95, 1.644_853_626_951_472_7),
            (0.5, 0.0),
        ] {
            let found = normal_quantile(probability);
            assert!((found - expected).abs() < 1e-9, "{probability}: {found}");
        }
    }

    #[test]
    fn gamma_of_whole_and_half_numbers() {
        assert!((log_gamma(5.0) - 24_f64.ln()).abs() < 1e-12);
        assert!((log_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-12);
        assert!((log_gamma(100.0) - 359.134_205_369_575_4).abs() < 1e-9);
    }
}
