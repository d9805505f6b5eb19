//! Complex numbers, which result from powers of negative numbers and which `abs` makes real again.
//!
//! The formulas are those of CPython, step by step, since they determine the last bit. Functions
//! that powers of real numbers do not need use `libm`, which is the same natively and in
//! WebAssembly.

use std::ops::{Add, Mul, Neg, Sub};

use super::super::error::{EvaluationError, ZeroDivision};
use super::{Computed, exponentiation, power, trigonometry};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    pub real: f64,
    pub imaginary: f64,
}

/// Integer exponents up to this are computed by multiplication.
const MULTIPLIED_OUT: f64 = 100.0;

impl From<f64> for Complex {
    fn from(real: f64) -> Self {
        Complex {
            real,
            imaginary: 0.0,
        }
    }
}

impl Neg for Complex {
    type Output = Complex;

    fn neg(self) -> Complex {
        Complex {
            real: -self.real,
            imaginary: -self.imaginary,
        }
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex {
            real: self.real + other.real,
            imaginary: self.imaginary + other.imaginary,
        }
    }
}

impl Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        Complex {
            real: self.real - other.real,
            imaginary: self.imaginary - other.imaginary,
        }
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }
}

impl Complex {
    const ONE: Complex = Complex {
        real: 1.0,
        imaginary: 0.0,
    };

    /// The quotient, scaled by the larger part of the divisor to avoid overflow.
    ///
    /// # Errors
    /// Division by zero.
    pub fn divide(self, other: Complex) -> Computed<Complex> {
        let (real, imaginary) = (other.real.abs(), other.imaginary.abs());
        if real >= imaginary {
            if real == 0.0 {
                return Err(EvaluationError::DivisionByZero(ZeroDivision::Complex));
            }
            let ratio = other.imaginary / other.real;
            let divisor = other.real + other.imaginary * ratio;
            Ok(Complex {
                real: (self.real + self.imaginary * ratio) / divisor,
                imaginary: (self.imaginary - self.real * ratio) / divisor,
            })
        } else if imaginary >= real {
            let ratio = other.real / other.imaginary;
            let divisor = other.real * ratio + other.imaginary;
            Ok(Complex {
                real: (self.real * ratio + self.imaginary) / divisor,
                imaginary: (self.imaginary * ratio - self.real) / divisor,
            })
        } else {
            Ok(Complex {
                real: f64::NAN,
                imaginary: f64::NAN,
            })
        }
    }

    /// `self ** exponent`
    ///
    /// # Errors
    /// Zero to a power that is not positive and real, an infinite angle, and results with an infinite
    /// part.
    pub fn power(self, exponent: Complex) -> Computed<Complex> {
        let whole = exponent.imaginary == 0.0
            && exponent.real == exponent.real.floor()
            && exponent.real.abs() <= MULTIPLIED_OUT;
        let power = if whole {
            let multiplied = self.multiply_out(exponent.real.abs() as u32);
            if exponent.real > 0.0 {
                multiplied
            } else {
                Complex::ONE.divide(multiplied)?
            }
        } else {
            self.polar_power(exponent)?
        };
        if power.real.is_infinite() || power.imaginary.is_infinite() {
            return Err(EvaluationError::Overflow {
                reason: "complex exponentiation",
            });
        }
        Ok(power)
    }

    fn multiply_out(self, exponent: u32) -> Complex {
        let mut result = Complex::ONE;
        let mut square = self;
        let mut rest = exponent;
        while rest > 0 {
            if rest & 1 == 1 {
                result = result * square;
            }
            square = square * square;
            rest >>= 1;
        }
        result
    }

    fn polar_power(self, exponent: Complex) -> Computed<Complex> {
        if self.real == 0.0 && self.imaginary == 0.0 {
            // A nan as real part is not below zero, as in CPython.
            return if exponent.imaginary != 0.0 || exponent.real < 0.0 {
                Err(EvaluationError::DivisionByZero(ZeroDivision::ComplexPower))
            } else {
                Ok(Complex::from(0.0))
            };
        }
        let magnitude = trigonometry::hypotenuse(self.real, self.imaginary);
        let angle = libm::atan2(self.imaginary, self.real);
        let mut length = real_power(magnitude, exponent.real);
        let mut phase = angle * exponent.real;
        if exponent.imaginary != 0.0 {
            length /= libm::exp(angle * exponent.imaginary);
            phase += exponent.imaginary * libm::log(magnitude);
        }
        if phase.is_infinite() {
            // The cosine of an infinity is a domain error, which CPython reports as a division by zero.
            return Err(EvaluationError::DivisionByZero(ZeroDivision::ComplexPower));
        }
        let (sine, cosine) = trigonometry::sine_and_cosine(phase);
        Ok(Complex {
            real: length * cosine,
            imaginary: length * sine,
        })
    }

    /// `abs(self)`
    ///
    /// # Errors
    /// Finite parts with an absolute value that is too large for a float.
    pub fn absolute(self) -> Computed<f64> {
        let absolute = trigonometry::hypotenuse(self.real, self.imaginary);
        if absolute.is_infinite() && self.real.is_finite() && self.imaginary.is_finite() {
            return Err(EvaluationError::Overflow {
                reason: "absolute value too large",
            });
        }
        Ok(absolute)
    }
}

/// The power of a positive float, without errors: an overflow is infinite.
fn real_power(base: f64, exponent: f64) -> f64 {
    match power::special(base, exponent) {
        Ok(Some(power)) => power,
        _ => exponentiation::power(base, exponent).unwrap_or(f64::INFINITY),
    }
}
