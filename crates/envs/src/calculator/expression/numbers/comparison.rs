//! The order of two values.

use std::cmp::Ordering;

use super::super::error::EvaluationError;
use super::{Computed, Value};

/// The order of two values: exact between integers and floats; `None` if one is a nan. `symbol`
/// is the comparison operator, for the error message.
///
/// # Errors
/// Complex numbers have no order.
pub fn compare(left: &Value, right: &Value, symbol: &str) -> Computed<Option<Ordering>> {
    Ok(match (left.clone().plus(), right.clone().plus()) {
        (Value::Integer(left), Value::Integer(right)) => Some(left.cmp(&right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(&right),
        (Value::Integer(left), Value::Float(right)) => left.compare_float(right),
        (Value::Float(left), Value::Integer(right)) => {
            right.compare_float(left).map(Ordering::reverse)
        }
        _ => {
            let (left, right) = (left.type_name(), right.type_name());
            return Err(EvaluationError::invalid(format!(
                "'{symbol}' not supported between instances of '{left}' and '{right}'"
            )));
        }
    })
}
