//! Structs and enums as parameters, in pydantic's terms: models, enumerations, unions. The code that
//! `#[derive(ToolParameter)]` generates calls these functions.

use super::{Parameter, ParameterError};
use crate::json::{Json, Object, Text};
use crate::object;
use crate::tool::definition::{ParameterDefinition, property};

/// A reference to a named type, whose schema is made once. Recursion of types ends here.
/// Two types of the same name in one tool are treated as the same type.
pub fn named(
    definitions: &mut Object,
    name: &'static str,
    schema: impl FnOnce(&mut Object) -> Object,
) -> Object {
    if !definitions.contains_key(name) {
        definitions.insert(name, Json::Null);
        let schema = schema(definitions);
        definitions.insert(name, schema);
    }
    object!({"$ref": (format!("#/$defs/{name}"))})
}

/// The schema of a model.
pub fn model(title: &'static str, description: &str, fields: Vec<ParameterDefinition>) -> Object {
    let required: Vec<Text> = fields
        .iter()
        .filter(|field| field.default.is_none())
        .map(|field| Text::from(&*field.name))
        .collect();
    let properties: Object = fields
        .into_iter()
        .map(|field| (field.name.clone(), property(field).into()))
        .collect();
    let mut schema = object!({"type": "object", "title": title, "properties": properties});
    describe(&mut schema, description);
    if !required.is_empty() {
        schema.insert("required", required);
    }
    schema
}

/// The schema of one of several values (`Literal`); a single value is a constant.
pub fn choice(values: Vec<Json>) -> Object {
    let only = match values.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let mut schema = one_of(values);
    if let Some(only) = only {
        schema.remove("enum");
        schema.insert("const", only);
    }
    schema
}

/// The schema of an enumeration (`Enum`).
pub fn enumeration(title: &'static str, description: &str, values: Vec<Json>) -> Object {
    let mut schema = one_of(values);
    schema.insert("title", title);
    describe(&mut schema, description);
    schema
}

fn one_of(values: Vec<Json>) -> Object {
    let mut types = values.iter().map(type_of);
    let first = types.next().flatten();
    let uniform = first.filter(|first| types.all(|other| other == Some(*first)));
    let mut schema = object!({"enum": values});
    if let Some(uniform) = uniform {
        schema.insert("type", uniform);
    }
    schema
}

fn describe(schema: &mut Object, description: &str) {
    if !description.is_empty() {
        schema.insert("description", description);
    }
}

fn type_of(value: &Json) -> Option<&'static str> {
    match value {
        Json::Text(_) => Some("string"),
        Json::Bool(_) => Some("boolean"),
        Json::Integer(_) => Some("integer"),
        Json::Float(_) => Some("number"),
        Json::Null => Some("null"),
        Json::List(_) | Json::Object(_) => None,
    }
}

/// The schema of a value of one of several types. Nested unions are flattened.
pub fn union(cases: Vec<Object>) -> Object {
    let mut flat: Vec<Json> = Vec::with_capacity(cases.len());
    for mut case in cases {
        let inner = match case.remove("anyOf") {
            Some(Json::List(inner)) if case.is_empty() => inner,
            Some(other) => {
                case.insert("anyOf", other);
                vec![case.into()]
            }
            None => vec![case.into()],
        };
        for case in inner {
            if !flat.contains(&case) {
                flat.push(case);
            }
        }
    }
    match flat.as_slice() {
        [Json::Object(only)] => only.clone(),
        _ => object!({"anyOf": flat}),
    }
}

/// The schema of one of several models, distinguished by a field.
pub fn tagged_union(tag: &'static str, cases: Vec<(&'static str, Object)>) -> Object {
    let mapping: Object = cases
        .iter()
        .filter_map(|(value, case)| Some(((*value).into(), case.get("$ref")?.clone())))
        .collect();
    let cases: Vec<Object> = cases.into_iter().map(|(_, case)| case).collect();
    object!({
        "oneOf": cases,
        "discriminator": {"propertyName": tag, "mapping": mapping},
    })
}

/// The fields of a model's value.
///
/// # Errors
///
/// If the value is not an object.
pub fn fields(value: &Json) -> Result<&Object, ParameterError> {
    value
        .as_object()
        .ok_or_else(|| ParameterError::expected("an object", value))
}

/// A required field.
///
/// # Errors
///
/// If it is missing or malformed.
pub fn field<T: Parameter>(fields: &Object, name: &str) -> Result<T, ParameterError> {
    let value = fields
        .get(name)
        .ok_or_else(|| ParameterError::new(format!("lacks the field '{name}'")))?;
    T::read(value).map_err(|error| error.at_key(name))
}

/// An optional field.
///
/// # Errors
///
/// If it is malformed.
pub fn field_or<T: Parameter>(
    fields: &Object,
    name: &str,
    default: impl FnOnce() -> T,
) -> Result<T, ParameterError> {
    match fields.get(name) {
        Some(value) => T::read(value).map_err(|error| error.at_key(name)),
        None => Ok(default()),
    }
}

/// The tag that distinguishes models.
///
/// # Errors
///
/// If it is missing or not a text.
pub fn tag<'a>(fields: &'a Object, name: &str) -> Result<&'a str, ParameterError> {
    match fields.get(name) {
        Some(Json::Text(tag)) => Ok(tag),
        Some(other) => Err(ParameterError::expected("a string", other).at_key(name)),
        None => Err(ParameterError::new(format!("lacks the field '{name}'"))),
    }
}

/// The error for a value that is not among the options.
pub fn none_of(values: &[Json], found: &Json) -> ParameterError {
    let values: Vec<String> = values.iter().map(Json::to_compact_text).collect();
    let expected = match values.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    };
    ParameterError::expected(&expected, found)
}

/// Reads a case of a union: only the exact value if `exact` is true, so that a number that two cases
/// accept becomes the case of its own type.
pub fn case<T: Parameter>(value: &Json, exact: bool) -> Option<T> {
    let read = T::read(value).ok()?;
    (!exact || read.dump() == *value).then_some(read)
}

/// The error for a value that matches no case of a union, with the problem of each case.
pub fn no_case<const N: usize>(problems: [Option<ParameterError>; N]) -> ParameterError {
    let mut problems: Vec<String> = problems
        .into_iter()
        .flatten()
        .map(|error| error.to_string().trim_start().to_owned())
        .collect();
    problems.dedup();
    ParameterError::new(problems.join("; or "))
}
