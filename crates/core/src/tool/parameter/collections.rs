//! Options, lists, sets, maps and tuples as parameters, each under the corresponding Python type.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use super::{Parameter, ParameterError, model};
use crate::json::{Json, Key, Object};
use crate::object;

/// `T | None`; required unless the parameter has a default, as in Python.
impl<T: Parameter> Parameter for Option<T> {
    fn schema(definitions: &mut Object) -> Object {
        let value = T::schema(definitions);
        model::union(vec![value, <()>::schema(definitions)])
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        match value {
            Json::Null => Ok(None),
            other => T::read(other).map(Some).map_err(or_null),
        }
    }

    fn dump(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::dump)
    }
}

/// Adds to an error that null would be accepted too.
fn or_null(mut error: ParameterError) -> ParameterError {
    if error.path.is_empty()
        && let Some((expected, found)) = error.problem.split_once(", not ")
    {
        error.problem = format!("{expected} or null, not {found}");
    }
    error
}

/// Equivalent to its content.
impl<T: Parameter> Parameter for Box<T> {
    fn schema(definitions: &mut Object) -> Object {
        T::schema(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        T::read(value).map(Box::new)
    }

    fn dump(&self) -> Json {
        T::dump(self)
    }
}

/// `list[T]`.
impl<T: Parameter> Parameter for Vec<T> {
    fn schema(definitions: &mut Object) -> Object {
        let items = T::schema(definitions);
        object!({"type": "array", "items": items})
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        elements(value)?.collect()
    }

    fn dump(&self) -> Json {
        Json::List(self.iter().map(T::dump).collect())
    }
}

/// Reads the elements of a list.
fn elements<T: Parameter>(
    value: &Json,
) -> Result<impl Iterator<Item = Result<T, ParameterError>>, ParameterError> {
    let list = value
        .as_list()
        .ok_or_else(|| ParameterError::expected("a list", value))?;
    Ok(list
        .iter()
        .enumerate()
        .map(|(index, element)| T::read(element).map_err(|error| error.at_index(index))))
}

fn set_schema<T: Parameter>(definitions: &mut Object) -> Object {
    let mut schema = Vec::<T>::schema(definitions);
    schema.insert("uniqueItems", true);
    schema
}

/// `set[T]`.
impl<T: Parameter + Ord> Parameter for BTreeSet<T> {
    fn schema(definitions: &mut Object) -> Object {
        set_schema::<T>(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        elements(value)?.collect()
    }

    fn dump(&self) -> Json {
        Json::List(self.iter().map(T::dump).collect())
    }
}

/// `set[T]`. Its order differs from run to run: use `BTreeSet` for deterministic results.
impl<T: Parameter + Eq + Hash, H: BuildHasher + Default> Parameter for HashSet<T, H> {
    fn schema(definitions: &mut Object) -> Object {
        set_schema::<T>(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        elements(value)?.collect()
    }

    fn dump(&self) -> Json {
        Json::List(self.iter().map(T::dump).collect())
    }
}

fn map_schema<T: Parameter>(definitions: &mut Object) -> Object {
    let values = match T::schema(definitions) {
        any if any.is_empty() => Json::Bool(true),
        schema => schema.into(),
    };
    object!({"type": "object", "additionalProperties": values})
}

/// Reads the members of an object.
fn members<T: Parameter>(
    value: &Json,
) -> Result<impl Iterator<Item = Result<(String, T), ParameterError>>, ParameterError> {
    Ok(model::fields(value)?.iter().map(|(key, member)| {
        T::read(member)
            .map(|member| (key.to_string(), member))
            .map_err(|error| error.at_key(key))
    }))
}

fn dump_members<'a, T: Parameter + 'a>(members: impl Iterator<Item = (&'a String, &'a T)>) -> Json {
    let members = members.map(|(key, member)| (Key::from(key.clone()), member.dump()));
    Json::Object(Object::from_distinct(members.collect()))
}

/// `dict[str, Any]`.
impl Parameter for Object {
    fn schema(definitions: &mut Object) -> Object {
        map_schema::<Json>(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        model::fields(value).cloned()
    }

    fn dump(&self) -> Json {
        Json::Object(self.clone())
    }
}

/// `dict[str, T]`.
impl<T: Parameter> Parameter for BTreeMap<String, T> {
    fn schema(definitions: &mut Object) -> Object {
        map_schema::<T>(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        members(value)?.collect()
    }

    fn dump(&self) -> Json {
        dump_members(self.iter())
    }
}

/// `dict[str, T]`. Its order differs from run to run: use `BTreeMap` for deterministic
/// results.
impl<T: Parameter, H: BuildHasher + Default> Parameter for HashMap<String, T, H> {
    fn schema(definitions: &mut Object) -> Object {
        map_schema::<T>(definitions)
    }

    fn read(value: &Json) -> Result<Self, ParameterError> {
        members(value)?.collect()
    }

    fn dump(&self) -> Json {
        dump_members(self.iter())
    }
}

/// `tuple[A, B, …]`.
macro_rules! tuples {
    ($($count:literal: $($type:ident $index:tt),*;)*) => { $(
        impl<$($type: Parameter),*> Parameter for ($($type,)*) {
            fn schema(definitions: &mut Object) -> Object {
                let items: Vec<Json> = vec![$($type::schema(definitions).into()),*];
                object!({
                    "type": "array",
                    "prefixItems": items,
                    "minItems": $count,
                    "maxItems": $count,
                })
            }

            fn read(value: &Json) -> Result<Self, ParameterError> {
                match value.as_list() {
                    Some(list) if list.len() == $count => Ok(($(
                        $type::read(&list[$index]).map_err(|error| error.at_index($index))?,
                    )*)),
                    _ => Err(ParameterError::expected(concat!("a list of ", $count), value)),
                }
            }

            fn dump(&self) -> Json {
                Json::List(vec![$(self.$index.dump()),*])
            }
        }
    )* };
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;

    fn read<T: Parameter>(value: impl Into<Json>) -> Result<T, String> {
        T::read(&value.into()).map_err(|error| error.to_string().trim_start().to_owned())
    }

    #[test]
    fn errors_offer_null_where_it_is_allowed() {
        assert_eq!(
            read::<Option<i64>>("x"),
            Err("must be an integer or null, not \"x\"".into())
        );
        assert_eq!(
            read::<Option<Vec<i64>>>(json!([1, null])),
            Err("[1] must be an integer, not null".into())
        );
    }

    #[test]
    fn errors_have_paths() {
        type Nested = BTreeMap<String, Vec<(i64, bool)>>;
        assert_eq!(
            read::<Nested>(json!({"a": [[1, true], [2, 3]]})),
            Err(".a[1][1] must be true or false, not 3".into())
        );
        assert_eq!(
            read::<(i64, bool)>(json!([1])),
            Err("must be a list of 2, not [1]".into())
        );
    }

    #[test]
    fn unions_are_flat() {
        let mut definitions = Object::new();
        assert_eq!(
            Option::<Option<i64>>::schema(&mut definitions),
            object!({"anyOf": [{"type": "integer"}, {"type": "null"}]})
        );
    }

    proptest! {
        #[test]
        fn values_read_back(
            number: i64,
            big: u64,
            float in prop::num::f64::ANY.prop_filter("equal to itself", |float| !float.is_nan()),
            text in ".{0,9}",
            flags in prop::collection::vec(any::<Option<bool>>(), 0..5),
            members in prop::collection::btree_map(".{0,3}", (any::<i32>(), ".{0,3}"), 0..5),
            set in prop::collection::btree_set(any::<u16>(), 0..5),
        ) {
            prop_assert_eq!(i64::read(&number.dump()), Ok(number));
            prop_assert_eq!(u64::read(&big.dump()), Ok(big));
            prop_assert_eq!(f64::read(&float.dump()), Ok(float));
            prop_assert_eq!(String::read(&text.dump()), Ok(text));
            prop_assert_eq!(Vec::read(&flags.dump()), Ok(flags));
            prop_assert_eq!(BTreeMap::read(&members.dump()), Ok(members));
            prop_assert_eq!(BTreeSet::read(&set.dump()), Ok(set));
        }
    }
}
