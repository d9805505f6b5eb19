//! JSON values with aviary's semantics: integers of any size distinct from floats, `NaN` and the
//! infinities, ordered objects. serde_json cannot represent these, so this crate has its own value and texts.
//!
//! - [`mod@read`]: text to value, by the rules of Python's `json.loads`.
//! - [`mod@write`]: value to text like Python's `json.dumps`, plain or indented.
//! - [`compact`]: value to text like pydantic.
//! - [`repr`]: Python's `repr` and `str`, which occur in aviary's messages.
//! - [`value_writer`]: serializers that write either a tree or text.
//! - [`number`]: float texts, and parsing of numbers.
//! - [`text`]: Python's white space and digits.
//! - [`typed`]: conversion between values and types with serde's derives.
//!
//! Texts are [`Text`] (`Arc<str>`): frames, messages and episodes share them instead of copying.

pub mod alphanumeric;
pub mod compact;
pub mod number;
mod object;
mod printable;
pub mod read;
pub mod repr;
mod serde_impl;
pub mod text;
pub mod typed;
pub mod value_writer;
pub mod write;

pub use number::{Integer, float_from_text, float_text, integer_from_text};
pub use object::{Key, Object};
pub use read::{ReadError, read};
pub use repr::text_repr;
pub use typed::{ShapeError, from_json, to_json};

/// A shared, immutable text. Cloning costs no copy.
pub type Text = std::sync::Arc<str>;

/// A JSON value. Equality is exact: an integer never equals a float.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without point or exponent, of any size.
    Integer(Integer),
    /// A number with point or exponent; also `NaN` and the infinities.
    Float(f64),
    Text(Text),
    /// An array.
    List(Vec<Json>),
    /// An object; members keep their order.
    Object(Object),
}

impl Json {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn as_list(&self) -> Option<&[Json]> {
        match self {
            Json::List(list) => Some(list),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number as a float, integers included (rounded half-even, infinite if too big).
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Integer(value) => Some(value.to_f64()),
            Json::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The number as an `i64`, if it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Json::Integer(value) => value.to_i64(),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// Whether the value is truthy in Python: not null, false, zero or empty.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Json::Null => false,
            Json::Bool(value) => *value,
            Json::Integer(value) => !value.is_zero(),
            Json::Float(value) => *value != 0.0,
            Json::Text(text) => !text.is_empty(),
            Json::List(list) => !list.is_empty(),
            Json::Object(object) => !object.is_empty(),
        }
    }

    /// The member of an object; `None` for a missing key or a value that is not an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Json::Integer(value.into())
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Json::from(i64::from(value))
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Json::from(i64::from(value))
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Json::Float(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Json::Text(value.into())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Json::Text(value.into())
    }
}

impl From<Text> for Json {
    fn from(value: Text) -> Self {
        Json::Text(value)
    }
}

impl From<Object> for Json {
    fn from(value: Object) -> Self {
        Json::Object(value)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Self {
        Json::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

/// Makes a [`Json`] value: `json!({"a": 1, "b": [x, null]})`. Keys are literals or expressions
/// in brackets; values are anything that converts into [`Json`].
#[macro_export]
macro_rules! json {
    (null) => { $crate::json::Json::Null };
    ([ $($value:tt),* $(,)? ]) => { $crate::json::Json::List(vec![ $($crate::json!($value)),* ]) };
    ({ $($key:tt : $value:tt),* $(,)? }) => {
        $crate::json::Json::Object($crate::object!({ $($key : $value),* }))
    };
    ($value:expr) => { $crate::json::Json::from($value) };
}

/// Makes an [`Object`], with the syntax of [`json!`]. A value of several tokens needs parentheses:
/// `object!({"n": (1 + 2)})`.
#[macro_export]
macro_rules! object {
    ({ $($key:tt : $value:tt),* $(,)? }) => {{
        #[allow(unused_mut)]
        let mut object = $crate::json::Object::new();
        $( object.insert($key, $crate::json!($value)); )*
        object
    }};
}
