//! Python's numbers: booleans, integers of any size, floats, complex numbers.
//!
//! - [`integer`]: integer arithmetic; [`budget`]: its limit of work;
//! - [`division`], [`power`], [`rounding`], [`comparison`], [`complex`]: operations by field;
//! - [`exponentiation`]: `x ** y` of floats, correctly rounded; [`float`]: conversion of floats;
//! - this module: values, and the selection of the operation by their types.

mod budget;
mod comparison;
mod complex;
mod division;
mod exponentiation;
mod float;
mod integer;
mod literal;
mod power;
mod rounding;
mod trigonometry;

pub use budget::Budget;
pub use comparison::compare;
pub use complex::Complex;
pub use division::divide;
pub use integer::Integer;
pub use literal::literal;
pub use rounding::{round, round_to_digits};

use super::ExpressionResult;
use super::error::{EvaluationError, ZeroDivision};
use super::program::Operator;

type Computed<T = Value> = Result<T, EvaluationError>;

/// A value of the expression language.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Boolean(bool),
    Integer(Integer),
    Float(f64),
    Complex(Complex),
}

impl Value {
    /// Python's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Boolean(_) => "bool",
            Value::Integer(_) => "int",
            Value::Float(_) => "float",
            Value::Complex(_) => "complex",
        }
    }

    /// `-value`
    pub fn negate(self) -> Value {
        match self {
            Value::Boolean(value) => Value::Integer(-Integer::from(value)),
            Value::Integer(value) => Value::Integer(-value),
            Value::Float(value) => Value::Float(-value),
            Value::Complex(value) => Value::Complex(-value),
        }
    }

    /// `+value`: a boolean becomes an integer.
    pub fn plus(self) -> Value {
        match self {
            Value::Boolean(value) => Value::Integer(value.into()),
            other => other,
        }
    }

    /// `abs(value)`
    ///
    /// # Errors
    /// A complex number whose absolute value is not a finite float.
    pub fn absolute(self) -> Computed {
        Ok(match self.plus() {
            Value::Integer(value) => Value::Integer(value.absolute()),
            Value::Complex(value) => Value::Float(value.absolute()?),
            Value::Float(value) => Value::Float(value.abs()),
            boolean => boolean,
        })
    }
}

/// Two values converted to the common type of Python's arithmetic.
enum Pair {
    Integers(Integer, Integer),
    Floats(f64, f64),
    Complexes(Complex, Complex),
}

impl Pair {
    fn new(left: Value, right: Value) -> Computed<Pair> {
        use Value::{Complex, Float, Integer};
        Ok(match (left.plus(), right.plus()) {
            (Integer(left), Integer(right)) => Pair::Integers(left, right),
            (Float(left), Float(right)) => Pair::Floats(left, right),
            (Complex(left), right) => Pair::Complexes(left, right.into_complex()?),
            (left, Complex(right)) => Pair::Complexes(left.into_complex()?, right),
            (left, right) => Pair::Floats(left.into_float()?, right.into_float()?),
        })
    }
}

impl Value {
    /// The nearest float.
    pub(crate) fn into_float(self) -> Computed<f64> {
        match self {
            Value::Boolean(value) => Ok(f64::from(u8::from(value))),
            Value::Integer(value) => value.to_float(),
            Value::Float(value) => Ok(value),
            Value::Complex(value) => Ok(value.real),
        }
    }

    fn into_complex(self) -> Computed<Complex> {
        match self {
            Value::Complex(value) => Ok(value),
            real => Ok(Complex::from(real.into_float()?)),
        }
    }
}

/// `left operator right`
///
/// # Errors
/// Division by zero, numbers too large for a float, operations that complex numbers lack, and
/// integers larger than the budget allows.
pub fn binary(operator: Operator, left: Value, right: Value, budget: &mut Budget) -> Computed {
    let is_complex = |value: &Value| matches!(value, Value::Complex(_));
    if matches!(operator, Operator::FloorDivide | Operator::Modulo)
        && (is_complex(&left) || is_complex(&right))
    {
        // Rejected by type, however large an integer among them is.
        return Err(no_remainder(operator, left.type_name(), right.type_name()));
    }
    match Pair::new(left, right)? {
        Pair::Integers(left, right) => integers(operator, left, right, budget),
        Pair::Floats(left, right) => floats(operator, left, right),
        Pair::Complexes(left, right) => complexes(operator, left, right),
    }
}

fn integers(operator: Operator, left: Integer, right: Integer, budget: &mut Budget) -> Computed {
    Ok(match operator {
        Operator::Add => Value::Integer(left + right),
        Operator::Subtract => Value::Integer(left - right),
        Operator::Multiply => Value::Integer(left.multiply(right, budget)?),
        Operator::Divide => Value::Float(division::divide(left, right, budget)?),
        Operator::FloorDivide => Value::Integer(left.floor_divide(right, budget)?),
        Operator::Modulo => Value::Integer(left.modulo(right, budget)?),
        Operator::Power => power::integers(left, right, budget)?,
    })
}

fn floats(operator: Operator, left: f64, right: f64) -> Computed {
    Ok(Value::Float(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide if right == 0.0 => {
            return Err(EvaluationError::DivisionByZero(ZeroDivision::Floats));
        }
        Operator::Divide => left / right,
        Operator::FloorDivide => division::floor_divide(left, right)?,
        Operator::Modulo => division::modulo(left, right)?,
        Operator::Power => return power::floats(left, right),
    }))
}

fn complexes(operator: Operator, left: Complex, right: Complex) -> Computed {
    Ok(Value::Complex(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left.divide(right)?,
        Operator::Power => left.power(right)?,
        Operator::FloorDivide | Operator::Modulo => {
            return Err(no_remainder(operator, "complex", "complex"));
        }
    }))
}

fn no_remainder(operator: Operator, left: &str, right: &str) -> EvaluationError {
    let symbol = operator.symbol();
    EvaluationError::invalid(format!(
        "unsupported operand type(s) for {symbol}: '{left}' and '{right}'"
    ))
}

/// Converts a value to the calculator's result: floats without a fraction become integers.
///
/// # Errors
/// Infinities, complex numbers, and integers beyond Python's limit of digits.
pub fn conclude(value: Value) -> Computed<ExpressionResult> {
    match value.plus() {
        Value::Float(value) if value.is_nan() => Ok(ExpressionResult::Float(value)),
        Value::Float(value) if value.is_infinite() => Err(EvaluationError::Overflow {
            reason: "cannot convert float infinity to integer",
        }),
        Value::Float(value) if value == value.trunc() => {
            Ok(ExpressionResult::Integer(Integer::from_whole(value)))
        }
        Value::Float(value) => Ok(ExpressionResult::Float(value)),
        Value::Complex(_) => Err(EvaluationError::ComplexResult),
        Value::Boolean(value) => Ok(ExpressionResult::Integer(value.into())),
        Value::Integer(value) => value.check_digits().map(ExpressionResult::Integer),
    }
}
