//! Python's formatting of values, and the functions and filters that transformers adds or changes.

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use volary_core::json::{float_text, text_repr};

use super::error::Raised;
use super::generation;
use super::value::to_json;
use crate::json_text::JsonStyle;

/// Deeper values are formatted as `...`.
const DEPTH_LIMIT: usize = 200;
/// The maximum indentation of `tojson`.
const WIDEST_INDENT: i64 = 1000;
/// The maximum width of centred text.
const WIDEST_TEXT: usize = 100_000;

/// Adds functions and filters to an engine.
pub(super) fn add_to(engine: &mut Environment<'static>) {
    engine.add_function("raise_exception", raise_exception);
    engine.add_filter("tojson", to_json_text);
    engine.add_filter("string", |value: &Value| display(value));
    engine.add_filter("join", join);
    engine.add_filter("int", int);
    engine.add_filter("float", float);
    engine.add_filter("wordcount", word_count);
    engine.add_filter("center", center);
    engine.add_test("callable", |value: &Value| is_callable(value));
    engine.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Map | ValueKind::String
        )
    });
    engine.add_filter(generation::FILTER, |text: Value| text);
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    let message = display(message);
    let error = Error::new(ErrorKind::InvalidOperation, message.clone());
    Err(error.with_source(Raised(message)))
}

/// Joins Python's `str` of the elements, or of an attribute of each.
fn join(values: &Value, joiner: Option<&Value>, options: Kwargs) -> Result<String, Error> {
    let joiner = match joiner {
        Some(joiner) => display(joiner),
        None => options.get::<Option<String>>("d")?.unwrap_or_default(),
    };
    let attribute = options.get::<Option<String>>("attribute")?;
    options.assert_all_used()?;
    let mut out = String::new();
    for (place, value) in values.try_iter()?.enumerate() {
        if place > 0 {
            out.push_str(&joiner);
        }
        match &attribute {
            Some(attribute) => out.push_str(&display(&value.get_attr(attribute)?)),
            None => out.push_str(&display(&value)),
        }
    }
    Ok(out)
}

/// Like the engine's filter, but returns the default for values that are not numbers, as in Python.
fn int(
    state: &State<'_, '_>,
    value: &Value,
    default: Option<Value>,
    base: Option<u32>,
    options: Kwargs,
) -> Result<Value, Error> {
    let given = default.clone().or(options.get("default")?);
    let number = minijinja::filters::int(state, value, default, base, options);
    Ok(number.unwrap_or_else(|_| given.unwrap_or_else(|| Value::from(0))))
}

/// Like the engine's filter, but returns the default for values that are not numbers, as in Python.
fn float(
    state: &State<'_, '_>,
    value: &Value,
    default: Option<Value>,
    options: Kwargs,
) -> Result<Value, Error> {
    let given = default.clone().or(options.get("default")?);
    let number = minijinja::filters::float(state, value, default, options);
    Ok(number.unwrap_or_else(|_| given.unwrap_or_else(|| Value::from(0.0))))
}

fn word_count(text: String) -> usize {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .count()
}

fn center(text: String, width: Option<usize>) -> String {
    let width = width.unwrap_or(80).min(WIDEST_TEXT);
    let missing = width.saturating_sub(text.chars().count());
    let before = missing / 2 + (missing & width & 1);
    format!(
        "{}{text}{}",
        " ".repeat(before),
        " ".repeat(missing - before)
    )
}

fn is_callable(value: &Value) -> bool {
    value.kind() == ValueKind::Plain
}

fn to_json_text(value: &Value, positional: Rest<Value>, options: Kwargs) -> Result<String, Error> {
    let mut names = ["ensure_ascii", "indent", "separators", "sort_keys"].into_iter();
    let mut given: Vec<(&str, Value)> = names.by_ref().zip(positional.iter().cloned()).collect();
    if positional.len() > given.len() {
        return Err(ErrorKind::TooManyArguments.into());
    }
    for name in names {
        if let Some(option) = options.get::<Option<Value>>(name)? {
            given.push((name, option));
        }
    }
    options.assert_all_used()?;
    let mut style = JsonStyle::default();
    let mut separators = None;
    for (name, option) in given {
        match name {
            "ensure_ascii" => style.ensure_ascii = option.is_true(),
            "sort_keys" => style.sort_keys = option.is_true(),
            "indent" if !option.is_none() => style.indent = Some(indent(&option)?),
            "separators" if !option.is_none() => separators = Some(option),
            _ => (),
        }
    }
    if style.indent.is_some() {
        style.item_separator = ",".to_owned();
    }
    if let Some(separators) = separators {
        let mut parts = separators.try_iter()?.map(|part| display(&part));
        let (Some(item), Some(key), None) = (parts.next(), parts.next(), parts.next()) else {
            let reason = "tojson needs two separators";
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        };
        style.item_separator = item;
        style.key_separator = key;
    }
    Ok(style.write(&to_json(value)?))
}

fn indent(option: &Value) -> Result<String, Error> {
    if let Some(text) = option.as_str() {
        return Ok(text.to_owned());
    }
    let width = i64::try_from(option.clone())?;
    if width > WIDEST_INDENT {
        let reason = format!("tojson indents by at most {WIDEST_INDENT}");
        return Err(Error::new(ErrorKind::InvalidOperation, reason));
    }
    Ok(" ".repeat(usize::try_from(width).unwrap_or_default()))
}

/// Python's `str`.
pub(super) fn display(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None if value.is_undefined() => String::new(),
        None => {
            let mut out = String::new();
            write_repr(&mut out, value, 0);
            out
        }
    }
}

fn write_repr(out: &mut String, value: &Value, depth: usize) {
    if depth > DEPTH_LIMIT {
        out.push_str("...");
        return;
    }
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::String => out.push_str(&text_repr(value.as_str().unwrap_or_default())),
        ValueKind::Number if !value.is_integer() => match f64::try_from(value.clone()) {
            Ok(float) => out.push_str(&float_repr(float)),
            Err(_) => out.push_str(&value.to_string()),
        },
        ValueKind::Seq | ValueKind::Iterable => {
            let (open, close) = match value.is_tuple() {
                true => ('(', ')'),
                false => ('[', ']'),
            };
            out.push(open);
            let mut count = 0;
            for element in value.try_iter().into_iter().flatten() {
                if count > 0 {
                    out.push_str(", ");
                }
                write_repr(out, &element, depth + 1);
                count += 1;
            }
            if value.is_tuple() && count == 1 {
                out.push(',');
            }
            out.push(close);
        }
        ValueKind::Map => {
            out.push('{');
            for (place, key) in value.try_iter().into_iter().flatten().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                write_repr(out, &key, depth + 1);
                out.push_str(": ");
                let member = value.get_item(&key).unwrap_or_default();
                write_repr(out, &member, depth + 1);
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
}

fn float_repr(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}inf")
    } else {
        float_text(value)
    }
}
