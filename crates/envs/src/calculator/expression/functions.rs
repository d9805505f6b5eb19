//! The functions that an expression may call.

use std::cmp::Ordering;
use std::vec::Drain;

use super::error::EvaluationError;
use super::numbers::{Value, compare, round, round_to_digits};

/// A function of the calculator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Abs,
    Max,
    Min,
    Round,
    Sum,
}

impl Function {
    /// The function with this name; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Function> {
        Some(match name {
            "abs" => Function::Abs,
            "max" => Function::Max,
            "min" => Function::Min,
            "round" => Function::Round,
            "sum" => Function::Sum,
            _ => return None,
        })
    }

    /// Calls the function.
    ///
    /// # Errors
    /// A wrong number or type of arguments, with Python's texts.
    pub fn call(self, arguments: Drain<'_, Value>) -> Result<Value, EvaluationError> {
        let count = arguments.len();
        let mut arguments = arguments;
        let (first, second) = (arguments.next(), arguments.next());
        match (self, first, second) {
            (Function::Abs, Some(value), None) => value.absolute(),
            (Function::Abs, ..) => {
                wrong_arguments(format!("abs() takes exactly one argument ({count} given)"))
            }
            (Function::Round, Some(value), None) => round(value),
            (Function::Round, Some(value), Some(digits)) if count == 2 => {
                round_to_digits(value, digits)
            }
            (Function::Round, None, _) => {
                wrong_arguments("round() missing required argument 'number' (pos 1)".into())
            }
            (Function::Round, ..) => {
                wrong_arguments(format!("round() takes at most 2 arguments ({count} given)"))
            }
            (Function::Sum, None, _) => {
                wrong_arguments("sum() takes at least 1 positional argument (0 given)".into())
            }
            (Function::Sum, ..) if count > 2 => {
                wrong_arguments(format!("sum() takes at most 2 arguments ({count} given)"))
            }
            // Python sums iterables only, and numbers are not iterable.
            (Function::Sum, Some(value), _) => not_iterable(&value),
            (Function::Min, Some(first), Some(second)) => {
                extreme(first, second, arguments, Ordering::Less, "<")
            }
            (Function::Max, Some(first), Some(second)) => {
                extreme(first, second, arguments, Ordering::Greater, ">")
            }
            (Function::Min | Function::Max, Some(value), None) => not_iterable(&value),
            (Function::Min, None, _) => {
                wrong_arguments("min expected at least 1 argument, got 0".into())
            }
            (Function::Max, None, _) => {
                wrong_arguments("max expected at least 1 argument, got 0".into())
            }
        }
    }
}

/// The first extreme value: no later value is in the `wanted` order
/// to it.
fn extreme(
    first: Value,
    second: Value,
    rest: Drain<'_, Value>,
    wanted: Ordering,
    symbol: &str,
) -> Result<Value, EvaluationError> {
    let mut best = first;
    for challenger in std::iter::once(second).chain(rest) {
        if compare(&challenger, &best, symbol)? == Some(wanted) {
            best = challenger;
        }
    }
    Ok(best)
}

fn wrong_arguments(reason: String) -> Result<Value, EvaluationError> {
    Err(EvaluationError::invalid(reason))
}

fn not_iterable(value: &Value) -> Result<Value, EvaluationError> {
    let name = value.type_name();
    wrong_arguments(format!("'{name}' object is not iterable"))
}
