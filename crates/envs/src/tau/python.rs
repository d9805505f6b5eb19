//! Python's operations that tau-bench's tools apply to values of any type, and their
//! exceptions.
//!
//! Models send arguments of any type, and the original does not validate them: a number instead of
//! a list fails somewhere inside a tool, after part of its work. Tools written with these
//! operations fail at the same point.

use std::cmp::Ordering;

use volary_core::json::{Integer, Key, float_text, text_repr};
use volary_core::{Json, Object};

use crate::calculator::expression::{
    self, Budget, EvaluationError, Operator, Value, binary, compare, round_to_digits, value,
};
use crate::cast::type_name;

/// An exception, formatted by Python's `str`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Exception(pub String);

/// The result of an operation.
pub type Computed<T = Json> = Result<T, Exception>;

impl Exception {
    /// A `KeyError`, which contains the key's `repr`.
    pub fn key(key: &Json) -> Self {
        Exception(key.to_repr())
    }
}

impl From<EvaluationError> for Exception {
    fn from(error: EvaluationError) -> Self {
        Exception(match error {
            EvaluationError::DivisionByZero(operation) => operation.python_text().to_owned(),
            EvaluationError::Invalid { reason } => reason.into_owned(),
            other => other.to_string(),
        })
    }
}

fn not_subscriptable(value: &Json) -> Exception {
    Exception(match value {
        Json::Text(_) => "string indices must be integers, not 'str'".to_owned(),
        Json::List(_) => "list indices must be integers or slices, not str".to_owned(),
        other => format!("'{}' object is not subscriptable", type_name(other)),
    })
}

/// `key in object`, with the member if it exists. Lists and objects are not valid keys.
pub fn find<'a>(object: &'a Json, key: &Json) -> Computed<Option<&'a Json>> {
    let key = as_key(key)?;
    let object = object
        .as_object()
        .ok_or_else(|| not_subscriptable(object))?;
    Ok(key.and_then(|key| object.get(key)))
}

/// The key as a text; `None` for keys of other types, which no JSON object has.
pub fn as_key(key: &Json) -> Computed<Option<&str>> {
    match key {
        Json::Text(text) => Ok(Some(text)),
        Json::List(_) | Json::Object(_) => {
            let kind = type_name(key);
            Err(Exception(format!("unhashable type: '{kind}'")))
        }
        _ => Ok(None),
    }
}

/// `value[key]`
pub fn item<'a>(value: &'a Json, key: &Json) -> Computed<&'a Json> {
    find(value, key)?.ok_or_else(|| Exception::key(key))
}

/// `value["name"]`
pub fn field<'a>(value: &'a Json, name: &str) -> Computed<&'a Json> {
    let object = value.as_object().ok_or_else(|| not_subscriptable(value))?;
    object.get(name).ok_or_else(|| Exception(text_repr(name)))
}

/// `value["name"]`, mutable.
pub fn field_mut<'a>(value: &'a mut Json, name: &str) -> Computed<&'a mut Json> {
    members_mut(value)?
        .get_mut(name)
        .ok_or_else(|| Exception(text_repr(name)))
}

/// The object, mutable.
pub fn members_mut(value: &mut Json) -> Computed<&mut Object> {
    match value {
        Json::Object(object) => Ok(object),
        other => Err(not_subscriptable(other)),
    }
}

/// `value["name"] = member`
pub fn set(value: &mut Json, name: impl Into<Key>, member: impl Into<Json>) -> Computed<()> {
    members_mut(value)?.insert(name, member);
    Ok(())
}

/// `list.append(element)`
pub fn push(list: &mut Json, element: Json) -> Computed<()> {
    match list {
        Json::List(list) => {
            list.push(element);
            Ok(())
        }
        other => Err(no_attribute(other, "append")),
    }
}

fn no_attribute(value: &Json, name: &str) -> Exception {
    let kind = type_name(value);
    Exception(format!("'{kind}' object has no attribute '{name}'"))
}

/// `for element in value`
pub fn elements(value: &Json) -> Computed<Vec<Json>> {
    match value {
        Json::List(list) => Ok(list.clone()),
        Json::Text(text) => Ok(text.chars().map(|one| one.to_string().into()).collect()),
        Json::Object(object) => Ok(object.keys().map(|key| Json::from(&**key)).collect()),
        other => {
            let kind = type_name(other);
            Err(Exception(format!("'{kind}' object is not iterable")))
        }
    }
}

/// `len(value)`
pub fn length(value: &Json) -> Computed<i64> {
    let length = match value {
        Json::List(list) => list.len(),
        Json::Text(text) => text.chars().count(),
        Json::Object(object) => object.len(),
        other => {
            let kind = type_name(other);
            return Err(Exception(format!("object of type '{kind}' has no len()")));
        }
    };
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

/// `value.count(element)`; `elements` are those of the value.
pub fn count(value: &Json, elements: &[Json], element: &Json) -> Computed<usize> {
    match value {
        Json::Object(_) => Err(no_attribute(value, "count")),
        // `count` of a text counts occurrences of a substring; here the elements are single characters.
        _ => Ok(elements.iter().filter(|one| equal(one, element)).count()),
    }
}

/// `value.lower()`
pub fn lower(value: &Json) -> Computed<String> {
    match value {
        Json::Text(text) => Ok(text.to_lowercase()),
        other => Err(no_attribute(other, "lower")),
    }
}

/// `sorted(value)` of texts.
pub fn sorted(value: &Json) -> Computed {
    let mut elements = elements(value)?;
    if let Some([one, other]) = elements
        .array_windows()
        .find(|pair| !pair.iter().all(|one| matches!(one, Json::Text(_))))
    {
        return Err(unordered(one, other));
    }
    elements.sort_by(|one, other| one.as_text().cmp(&other.as_text()));
    Ok(Json::List(elements))
}

fn unordered(left: &Json, right: &Json) -> Exception {
    let (left, right) = (type_name(left), type_name(right));
    Exception(format!(
        "'<' not supported between instances of '{left}' and '{right}'"
    ))
}

/// `left == right`: numbers and booleans by value, everything else by type.
pub fn equal(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::List(left), Json::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(one, two)| equal(one, two))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, one)| right.get(key).is_some_and(|two| equal(one, two)))
        }
        _ => match (number(left), number(right)) {
            (Some(one), Some(two)) => {
                compare(&one, &two, "==").is_ok_and(|order| order == Some(Ordering::Equal))
            }
            _ => left == right,
        },
    }
}

/// `left == "text"`
pub fn is_text(value: &Json, text: &str) -> bool {
    value.as_text().is_some_and(|value| &**value == text)
}

/// `left < right` of numbers.
pub fn less(left: &Json, right: &Json) -> Computed<bool> {
    match (number(left), number(right)) {
        (Some(one), Some(two)) => Ok(compare(&one, &two, "<")? == Some(Ordering::Less)),
        _ => match (left, right) {
            (Json::Text(left), Json::Text(right)) => Ok(left < right),
            _ => Err(unordered(left, right)),
        },
    }
}

/// `left + right` of numbers.
pub fn add(left: &Json, right: &Json) -> Computed {
    arithmetic(Operator::Add, left, right)
}

/// `left - right` of numbers.
pub fn subtract(left: &Json, right: &Json) -> Computed {
    arithmetic(Operator::Subtract, left, right)
}

/// `left * right` of numbers.
pub fn multiply(left: &Json, right: &Json) -> Computed {
    arithmetic(Operator::Multiply, left, right)
}

/// `-value`
pub fn negate(value: &Json) -> Computed {
    let kind = type_name(value);
    let wrong = || Exception(format!("bad operand type for unary -: '{kind}'"));
    Ok(json(number(value).ok_or_else(wrong)?.negate()))
}

/// `abs(value)`
pub fn absolute(value: &Json) -> Computed {
    let kind = type_name(value);
    let wrong = || Exception(format!("bad operand type for abs(): '{kind}'"));
    Ok(json(number(value).ok_or_else(wrong)?.absolute()?))
}

/// `round(value, 2)`
pub fn cents(value: &Json) -> Computed {
    let kind = type_name(value);
    let wrong = || Exception(format!("type {kind} doesn't define __round__ method"));
    let digits = Value::Integer(expression::Integer::Small(2));
    let value = number(value).ok_or_else(wrong)?;
    Ok(json(round_to_digits(value, digits)?))
}

fn arithmetic(operator: Operator, left: &Json, right: &Json) -> Computed {
    match (number(left), number(right)) {
        (Some(one), Some(two)) => Ok(json(binary(operator, one, two, &mut Budget::default())?)),
        _ => {
            let (left, right) = (type_name(left), type_name(right));
            let symbol = operator.symbol();
            Err(Exception(format!(
                "unsupported operand type(s) for {symbol}: '{left}' and '{right}'"
            )))
        }
    }
}

fn number(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Bool(value) => Value::Boolean(*value),
        Json::Integer(Integer::Small(value)) => Value::Integer(expression::Integer::Small(*value)),
        Json::Integer(Integer::Large(digits)) => {
            Value::Integer(expression::Integer::Large(digits.parse().ok()?))
        }
        Json::Float(value) => Value::Float(*value),
        _ => return None,
    })
}

/// The value as JSON. Arithmetic on real numbers results in real numbers.
fn json(value: Value) -> Json {
    match value {
        Value::Boolean(value) => value.into(),
        Value::Integer(expression::Integer::Small(value)) => value.into(),
        Value::Integer(large) => {
            Integer::from_digits(&large.to_string()).map_or(Json::Null, Json::Integer)
        }
        Value::Float(value) => value.into(),
        Value::Complex(value) => value.real.into(),
    }
}

/// The result of `str(round(float(eval(source)), 2))`.
pub fn evaluate(source: &str) -> Computed<String> {
    let float = match value(source)? {
        Value::Complex(_) => {
            return Err(Exception(
                "float() argument must be a string or a real number, not 'complex'".to_owned(),
            ));
        }
        real => real.into_float()?,
    };
    let digits = Value::Integer(expression::Integer::Small(2));
    match round_to_digits(Value::Float(float), digits)? {
        Value::Float(rounded) => Ok(float_text(rounded)),
        other => Ok(json(other).to_display()),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn values_compare_as_in_python() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!([true, {"a": 2}]), &json!([1, {"a": 2.0}])));
        assert!(!equal(&json!("1"), &json!(1)));
        assert!(!equal(&json!(null), &json!(false)));
        assert_eq!(
            less(
                &json!(9_007_199_254_740_993_i64),
                &json!(9_007_199_254_740_992.0)
            ),
            Ok(false)
        );
        let error = less(&json!(1), &json!("1")).map_err(|error| error.0);
        assert_eq!(
            error,
            Err("'<' not supported between instances of 'int' and 'str'".into())
        );
    }

    #[test]
    fn numbers_keep_their_type() {
        assert_eq!(add(&json!(1), &json!(true)), Ok(json!(2)));
        assert_eq!(subtract(&json!(1), &json!(0.5)), Ok(json!(0.5)));
        assert_eq!(
            multiply(&json!(3_037_000_500_i64), &json!(3_037_000_500_i64))
                .map(|value| value.to_repr()),
            Ok("9223372037000250000".into())
        );
        assert_eq!(cents(&json!(2.675)), Ok(json!(2.67)));
        assert_eq!(cents(&json!(0)), Ok(json!(0)));
    }

    #[test]
    fn iterating_a_value_that_is_not_a_list() {
        assert_eq!(elements(&json!("añ")), Ok(vec![json!("a"), json!("ñ")]));
        assert_eq!(elements(&json!({"k": 1})), Ok(vec![json!("k")]));
        let error = elements(&json!(null)).map_err(|error| error.0);
        assert_eq!(error, Err("'NoneType' object is not iterable".into()));
        assert_eq!(length(&json!("añ")), Ok(2));
    }
}
