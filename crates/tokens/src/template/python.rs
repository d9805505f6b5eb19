//! Python's formatting of values, and the functions and filters that transformers adds or changes.
//!
//! Invariant: work and memory are paid for with the fuel of the engine before they are used. A template can build a small
//! value that contains another one many times, and that one another, whose text would fill any memory.

use std::borrow::Cow;

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use volary_core::json::{float_text, text_repr};

use super::error::Raised;
use super::value::to_json;
use super::{generation, loops};
use crate::json_text::JsonStyle;

/// Deeper values are formatted as `...`.
const DEPTH_LIMIT: usize = 200;
/// The maximum indentation of `tojson`.
const WIDEST_INDENT: usize = 1000;
/// The maximum width of centred text.
const WIDEST_TEXT: usize = 100_000;
/// The number of bytes that the engine creates for a unit of fuel.
const BYTES_OF_FUEL: u64 = 64;

/// Adds functions and filters to an engine.
pub(super) fn add_to(engine: &mut Environment<'static>) {
    engine.add_function("raise_exception", raise_exception);
    engine.add_filter("tojson", to_json_text);
    engine.add_filter("string", |state: &State<'_, '_>, value: &Value| {
        display(state, value)
    });
    engine.add_filter("join", join);
    engine.add_filter("int", int);
    engine.add_filter("float", float);
    engine.add_filter("wordcount", word_count);
    engine.add_filter("center", center);
    engine.add_filter("dictsort", dictsort);
    engine.add_filter("sort", sort);
    engine.add_filter("indent", indented);
    engine.add_filter("map", map);
    engine.add_filter("selectattr", selectattr);
    engine.add_filter("rejectattr", rejectattr);
    engine.add_filter(loops::FILTER, loops::elements);
    engine.add_function("dict", dict);
    engine.add_test("callable", |value: &Value| is_callable(value));
    engine.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Map | ValueKind::String
        )
    });
    engine.add_filter(generation::FILTER, |text: Value| text);
}

fn raise_exception(state: &State<'_, '_>, message: &Value) -> Result<Value, Error> {
    let message = display(state, message)?;
    let error = Error::new(ErrorKind::InvalidOperation, message.clone());
    Err(error.with_source(Raised(message)))
}

/// Joins Python's `str` of the elements, or of an attribute of each.
fn join(
    state: &State<'_, '_>,
    values: &Value,
    joiner: Option<&Value>,
    options: Kwargs,
) -> Result<String, Error> {
    let joiner = match joiner {
        Some(joiner) => display(state, joiner)?,
        None => options.get::<Option<String>>("d")?.unwrap_or_default(),
    };
    let attribute = options.get::<Option<String>>("attribute")?;
    options.assert_all_used()?;
    let mut out = String::new();
    for (index, value) in values.try_iter()?.enumerate() {
        if index > 0 {
            pay_for_bytes(state, joiner.len())?;
            out.push_str(&joiner);
        }
        match &attribute {
            Some(attribute) => {
                let member = value.get_item(&Value::from(&**attribute))?;
                out.push_str(&display(state, &member)?);
            }
            None => out.push_str(&display(state, &value)?),
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

/// The options of a filter: those that are given by position, and by name.
fn options<'a>(
    names: &[&'a str],
    given: &[Value],
    named: &Kwargs,
) -> Result<Vec<(&'a str, Value)>, Error> {
    if given.len() > names.len() {
        return Err(ErrorKind::TooManyArguments.into());
    }
    let mut options: Vec<(&str, Value)> =
        names.iter().copied().zip(given.iter().cloned()).collect();
    for name in names.get(given.len()..).unwrap_or_default() {
        if let Some(option) = named.get::<Option<Value>>(name)? {
            options.push((name, option));
        }
    }
    named.assert_all_used()?;
    Ok(options)
}

/// Like the engine's filter, but its options may be given by position, as in Jinja2.
fn dictsort(
    state: &State<'_, '_>,
    value: &Value,
    given: Rest<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let options = options(&["case_sensitive", "by", "reverse"], &given, &named)?;
    pay_for_sorting(state, value)?;
    minijinja::filters::dictsort(value, Kwargs::from_iter(options))
}

/// Like the engine's filter, but its options may be given by position, and the attribute may be an index, as in Jinja2.
fn sort(
    state: &State<'_, '_>,
    value: Value,
    given: Rest<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let mut options = options(&["reverse", "case_sensitive", "attribute"], &given, &named)?;
    for (name, option) in &mut options {
        if *name == "attribute" && option.is_integer() {
            *option = Value::from(option.to_string());
        }
    }
    minijinja::filters::sort(state, value, Kwargs::from_iter(options))
}

/// The attribute of a value that a filter names: `items`, or `function.name`. As in Jinja2, a member precedes a method of
/// the same name here, and `value.items` in an expression is the method.
fn attribute(value: &Value, path: &Value) -> Result<Value, Error> {
    let Some(path) = path.as_str() else {
        return value.get_item(path);
    };
    path.split('.').try_fold(value.clone(), |value, part| {
        if let Ok(number) = part.parse::<usize>() {
            return value.get_item_by_index(number);
        }
        let member = value.get_item(&Value::from(part))?;
        if member.is_undefined() {
            value.get_attr(part)
        } else {
            Ok(member)
        }
    })
}

/// Like the engine's filter, but an attribute is what [`attribute`] says.
fn map(
    state: &mut State<'_, '_>,
    value: Value,
    given: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    let arguments = given.into_values();
    let (positional, named): (&[Value], Kwargs) = from_args(&arguments)?;
    let Some(path) = named.get::<Option<Value>>("attribute")? else {
        let given = arguments.into_iter().map(ValueOrKwargs::from).collect();
        return minijinja::filters::map(state, value, Rest(given));
    };
    if !positional.is_empty() {
        return Err(ErrorKind::TooManyArguments.into());
    }
    let default = named.get::<Option<Value>>("default")?;
    named.assert_all_used()?;
    let mut mapped = Vec::new();
    for item in value.try_iter()? {
        state.consume_fuel(1)?;
        let found = match attribute(&item, &path) {
            Err(_) if default.is_some() => Value::UNDEFINED,
            found => found?,
        };
        mapped.push(match &default {
            Some(default) if found.is_undefined() => default.clone(),
            _ => found,
        });
    }
    Ok(mapped)
}

/// Like the engine's filter, but an attribute is what [`attribute`] says.
fn selectattr(
    state: &mut State<'_, '_>,
    value: &Value,
    path: &Value,
    test: Option<String>,
    given: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    with_attribute(state, value, path, test, given, true)
}

/// The inverse of [`selectattr`].
fn rejectattr(
    state: &mut State<'_, '_>,
    value: &Value,
    path: &Value,
    test: Option<String>,
    given: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    with_attribute(state, value, path, test, given, false)
}

/// The items of which an attribute passes a test, or does not.
fn with_attribute(
    state: &mut State<'_, '_>,
    value: &Value,
    path: &Value,
    test: Option<String>,
    given: Rest<ValueOrKwargs>,
    passes: bool,
) -> Result<Vec<Value>, Error> {
    let arguments = given.into_values();
    let mut kept = Vec::new();
    for item in value.try_iter()? {
        let tested = Value::from(vec![attribute(&item, path)?]);
        let arguments = arguments.iter().cloned().map(ValueOrKwargs::from);
        let arguments = Rest(arguments.collect());
        let test = test.as_deref().map(Cow::Borrowed);
        let passed = minijinja::filters::select(state, tested, test, arguments)?;
        if passed.is_empty() != passes {
            kept.push(item);
        }
    }
    Ok(kept)
}

/// Pays for the comparisons of a sort.
fn pay_for_sorting(state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    let length = value.len().unwrap_or_default() as u64;
    state.consume_fuel(
        length.saturating_mul(u64::from(length.checked_ilog2().unwrap_or_default()) + 1),
    )
}

/// Like the engine's function, but it takes pairs as well, as Python's `dict` does.
fn dict(state: &State<'_, '_>, value: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let is_pairs = |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let Some(pairs) = value.as_ref().filter(|value| is_pairs(value)) else {
        return minijinja::functions::dict(value, named);
    };
    let mut members: Vec<(Value, Value)> = Vec::new();
    for pair in pairs.try_iter()? {
        state.consume_fuel(1)?;
        let mut parts = pair.try_iter()?;
        let (Some(key), Some(member), None) = (parts.next(), parts.next(), parts.next()) else {
            let reason = "dict needs a mapping, or pairs of a key and a value";
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        };
        members.push((key, member));
    }
    minijinja::functions::dict(Some(Value::from_pairs(members)), named)
}

/// Indents the lines of a text as Jinja2 does, which keeps a line break at the end.
fn indented(
    state: &State<'_, '_>,
    text: &Value,
    given: Rest<Value>,
    named: Kwargs,
) -> Result<String, Error> {
    let text = display(state, text)?;
    let (mut space, mut first, mut blank) = (" ".repeat(4), false, false);
    for (name, option) in options(&["width", "first", "blank"], &given, &named)? {
        match name {
            "width" => space = indent(&option)?,
            "first" => first = option.is_true(),
            _ => blank = option.is_true(),
        }
    }
    let mut out = String::new();
    for (index, line) in python_lines(&text).into_iter().enumerate() {
        pay_for_bytes(state, space.len() + line.len() + BYTES_OF_FUEL as usize)?;
        if index > 0 {
            out.push('\n');
        }
        let is_indented = match index {
            0 => first,
            _ => blank || !line.is_empty(),
        };
        if is_indented {
            out.push_str(&space);
        }
        out.push_str(line);
    }
    Ok(out)
}

/// The lines of a text, including the empty one after a line break at its end.
fn python_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    // Jinja2 adds a line break, with which this one is one.
    let mut rest = text.strip_suffix('\r').unwrap_or(text);
    let is_break = |character: char| {
        matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    while let Some(at) = rest.find(is_break) {
        let (line, after) = rest.split_at(at);
        lines.push(line);
        let after = after
            .strip_prefix("\r\n")
            .or_else(|| after.strip_prefix(is_break));
        rest = after.unwrap_or_default();
    }
    lines.push(rest);
    lines
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

fn to_json_text(
    state: &State<'_, '_>,
    value: &Value,
    positional: Rest<Value>,
    options: Kwargs,
) -> Result<String, Error> {
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
        let mut parts = separators.try_iter()?;
        let (Some(item), Some(key), None) = (parts.next(), parts.next(), parts.next()) else {
            let reason = "tojson needs two separators";
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        };
        style.item_separator = display(state, &item)?;
        style.key_separator = display(state, &key)?;
    }
    let json = to_json(state, value)?;
    let left = state.fuel_levels().map_or(u64::MAX, |(_, left)| left);
    style.most = usize::try_from(left.saturating_mul(BYTES_OF_FUEL)).unwrap_or(usize::MAX);
    let text = style.write(&json);
    if text.len() > style.most {
        Err(ErrorKind::OutOfFuel.into())
    } else {
        Ok(text)
    }
}

fn indent(option: &Value) -> Result<String, Error> {
    let text = option.as_str();
    let width = match text {
        Some(text) => text.len(),
        // A negative width is none.
        None => usize::try_from(i64::try_from(option.clone())?).unwrap_or_default(),
    };
    if width > WIDEST_INDENT {
        let reason = format!("tojson indents by at most {WIDEST_INDENT}");
        return Err(Error::new(ErrorKind::InvalidOperation, reason));
    }
    Ok(text.map_or_else(|| " ".repeat(width), str::to_owned))
}

/// Pays for the creation or the reading of bytes.
pub(super) fn pay_for_bytes(state: &State<'_, '_>, bytes: usize) -> Result<(), Error> {
    state.consume_fuel(bytes as u64 / BYTES_OF_FUEL)
}

/// Python's `str`.
pub(super) fn display(state: &State<'_, '_>, value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => {
            pay_for_bytes(state, text.len())?;
            Ok(text.to_owned())
        }
        None if value.is_undefined() => Ok(String::new()),
        None => {
            let mut out = String::new();
            write_repr(state, &mut out, value, 0)?;
            Ok(out)
        }
    }
}

fn write_repr(
    state: &State<'_, '_>,
    out: &mut String,
    value: &Value,
    depth: usize,
) -> Result<(), Error> {
    state.consume_fuel(1)?;
    if depth > DEPTH_LIMIT {
        out.push_str("...");
        return Ok(());
    }
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            pay_for_bytes(state, text.len())?;
            out.push_str(&text_repr(text));
        }
        ValueKind::Number if !value.is_integer() => match f64::try_from(value.clone()) {
            Ok(float) => out.push_str(&float_repr(float)),
            Err(_) => out.push_str(&value.to_string()),
        },
        ValueKind::Seq | ValueKind::Iterable => {
            let (open, close) = if value.is_tuple() {
                ('(', ')')
            } else {
                ('[', ']')
            };
            out.push(open);
            let mut count = 0;
            for element in value.try_iter().into_iter().flatten() {
                if count > 0 {
                    out.push_str(", ");
                }
                write_repr(state, out, &element, depth + 1)?;
                count += 1;
            }
            if value.is_tuple() && count == 1 {
                out.push(',');
            }
            out.push(close);
        }
        ValueKind::Map => {
            out.push('{');
            for (index, key) in value.try_iter().into_iter().flatten().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_repr(state, out, &key, depth + 1)?;
                out.push_str(": ");
                let member = value.get_item(&key).unwrap_or_default();
                write_repr(state, out, &member, depth + 1)?;
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
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
