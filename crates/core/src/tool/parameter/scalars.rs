//! Numbers, texts and other plain types as parameters, each as the corresponding Python type.

use super::{Parameter, ParameterError};
use crate::json::{Integer, Json, Object, Text};
use crate::object;

/// `int`. Unsigned types also have `minimum` 0, like pydantic's `NonNegativeInt`.
macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Parameter for $type {
            fn schema(_definitions: &mut Object) -> Object {
                let mut schema = object!({"type": "integer"});
                if <$type>::MIN == 0 {
                    schema.insert("minimum", 0);
                }
                schema
            }

            fn read(value: &Json) -> Result<Self, ParameterError> {
                let whole = whole(value);
                match whole.map(<$type>::try_from) {
                    Some(Ok(number)) => Ok(number),
                    None if <$type>::MIN != 0 => {
                        Err(ParameterError::expected("an integer", value))
                    }
                    _ => {
                        let (low, high) = (<$type>::MIN, <$type>::MAX);
                        let range = format!("an integer from {low} to {high}");
                        Err(ParameterError::expected(&range, value))
                    }
                }
            }

            fn dump(&self) -> Json {
                Json::Integer(Integer::from(i128::from(*self)))
            }
        }
    )* };
}

integers!(i32, i64, u8, u16, u32, u64);

/// The integer value of an integer, or of a float without a fraction.
fn whole(value: &Json) -> Option<i128> {
    /// From here on, adjacent floats are more than one apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Json::Integer(Integer::Small(number)) => Some(i128::from(*number)),
        Json::Integer(Integer::Large(digits)) => digits.parse().ok(),
        Json::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
            Some(*number as i128)
        }
        _ => None,
    }
}

/// `float`.
impl Parameter for f64 {
    fn schema(_definitions: &mut Object) -> Object {
        object!({"type": "number"})
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        match value.as_f64() {
            // An integer out of the range of floats stays an integer in Python, and fails in arithmetic with a float.
            Some(number) if number.is_infinite() && matches!(value, Json::Integer(_)) => Err(
                ParameterError::expected("a number that fits a float", value),
            ),
            Some(number) => Ok(number),
            None => Err(ParameterError::expected("a number", value)),
        }
    }

    fn dump(&self) -> Json {
        Json::Float(*self)
    }
}

/// `float`, rounded.
impl Parameter for f32 {
    fn schema(definitions: &mut Object) -> Object {
        f64::schema(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        f64::read(value).map(|number| number as f32)
    }

    fn dump(&self) -> Json {
        Json::Float(f64::from(*self))
    }
}

/// `str`.
impl Parameter for Text {
    fn schema(_definitions: &mut Object) -> Object {
        object!({"type": "string"})
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        value
            .as_text()
            .cloned()
            .ok_or_else(|| ParameterError::expected("a string", value))
    }

    fn dump(&self) -> Json {
        Json::Text(self.clone())
    }
}

/// `str`.
impl Parameter for String {
    fn schema(definitions: &mut Object) -> Object {
        Text::schema(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        Text::read(value).map(|text| text.to_string())
    }

    fn dump(&self) -> Json {
        Json::from(self.as_str())
    }
}

/// `bool`.
impl Parameter for bool {
    fn schema(_definitions: &mut Object) -> Object {
        object!({"type": "boolean"})
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        value
            .as_bool()
            .ok_or_else(|| ParameterError::expected("true or false", value))
    }

    fn dump(&self) -> Json {
        Json::Bool(*self)
    }
}

/// `None`.
impl Parameter for () {
    fn schema(_definitions: &mut Object) -> Object {
        object!({"type": "null"})
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        match value {
            Json::Null => Ok(()),
            _ => Err(ParameterError::expected("null", value)),
        }
    }

    fn dump(&self) -> Json {
        Json::Null
    }
}

/// `Any`.
impl Parameter for Json {
    fn schema(_definitions: &mut Object) -> Object {
        Object::new()
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        Ok(value.clone())
    }

    fn dump(&self) -> Json {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Parameter>(value: impl Into<Json>) -> Result<T, String> {
        T::read(&value.into()).map_err(|error| error.to_string().trim_start().to_owned())
    }

    #[test]
    fn numbers_of_other_makers_are_read() {
        assert_eq!(read::<i64>(5.0), Ok(5));
        assert_eq!(read::<f64>(5), Ok(5.0));
        assert_eq!(read::<f64>(f64::INFINITY), Ok(f64::INFINITY));
        let beyond = Integer::from_digits(&"9".repeat(400)).map(Json::Integer);
        assert!(read::<f64>(beyond.unwrap()).is_err());
        assert_eq!(read::<u64>(u64::MAX as f64).ok(), None);
        assert_eq!(read::<u64>(u64::MAX.dump()), Ok(u64::MAX));
        let unfit = |text: &str| Err::<i64, _>(format!("must be an integer, not {text}"));
        assert_eq!(read::<i64>(5.5), unfit("5.5"));
        assert_eq!(read::<i64>(true), unfit("true"));
        assert_eq!(read::<i64>("5"), unfit("\"5\""));
        assert_eq!(read::<i64>(1e300), unfit("1e+300"));
    }

    #[test]
    fn errors_name_the_range() {
        assert_eq!(
            read::<i32>(1_i64 << 40),
            Err("must be an integer from -2147483648 to 2147483647, not 1099511627776".into())
        );
        let byte = |found: &str| Err(format!("must be an integer from 0 to 255, not {found}"));
        assert_eq!(read::<u8>(-1), byte("-1"));
        assert_eq!(read::<u8>("a"), byte("\"a\""));
    }

    #[test]
    fn long_values_are_shown_shortened() {
        let long = read::<bool>("x".repeat(100)).unwrap_err();
        assert_eq!(
            long,
            format!("must be true or false, not \"{}…", "x".repeat(59))
        );
        let list = vec![Json::Null; 1000];
        assert_eq!(
            read::<Text>(list),
            Err("must be a string, not a list of 1000".into())
        );
    }
}
