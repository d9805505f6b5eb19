//! Methods of Python's strings and lists that the engine and its compatibility layer lack.

use minijinja::value::{Kwargs, Tuple, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State, Value};
use minijinja_contrib::pycompat;

use super::python::{display, pay_for_bytes};

/// The maximum width of padding.
const WIDEST: usize = 100_000;

/// Calls a Python method of a value.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    // The engine charges for results, not for reading the text or the list, however often it is done.
    for read in std::iter::once(value).chain(arguments) {
        match read.as_str() {
            Some(text) => pay_for_bytes(state, text.len())?,
            None => state.consume_fuel(read.len().unwrap_or_default() as u64)?,
        }
    }
    let outcome = match value.kind() {
        ValueKind::String => of_text(state, value.as_str().unwrap_or_default(), method, arguments),
        ValueKind::Seq => of_list(value, method, arguments),
        ValueKind::Map if method == "copy" => {
            from_args::<()>(arguments).map(|()| Some(value.clone()))
        }
        _ => Ok(None),
    };
    match outcome? {
        Some(result) => Ok(result),
        None => pycompat::unknown_method_callback(state, value, method, arguments),
    }
}

fn of_list(list: &Value, method: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
    match method {
        "copy" => from_args::<()>(arguments).map(|()| Some(list.clone())),
        "index" => {
            let (wanted,): (Value,) = from_args(arguments)?;
            let found = list.try_iter()?.position(|element| element == wanted);
            let found = found.ok_or_else(|| invalid("the value is not in the list"))?;
            Ok(Some(Value::from(found)))
        }
        _ => Ok(None),
    }
}

fn of_text(
    state: &State<'_, '_>,
    text: &str,
    method: &str,
    arguments: &[Value],
) -> Result<Option<Value>, Error> {
    let result = match method {
        // The layer writes other elements than texts without paying, and not as Python does.
        "join" => {
            let (values,): (&Value,) = from_args(arguments)?;
            let mut joined = String::new();
            for (index, value) in values.try_iter()?.enumerate() {
                if index > 0 {
                    pay_for_bytes(state, text.len())?;
                    joined.push_str(text);
                }
                joined.push_str(&display(state, &value)?);
            }
            Value::from(joined)
        }
        "removeprefix" | "removesuffix" => {
            let (part,): (&str,) = from_args(arguments)?;
            let rest = match method {
                "removeprefix" => text.strip_prefix(part),
                _ => text.strip_suffix(part),
            };
            Value::from(rest.unwrap_or(text))
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(arguments)?;
            if separator.is_empty() {
                return Err(invalid("an empty separator"));
            }
            let parts = match (method, text.split_once(separator)) {
                ("rpartition", _) => match text.rsplit_once(separator) {
                    Some((before, after)) => [before, separator, after],
                    None => ["", "", text],
                },
                (_, Some((before, after))) => [before, separator, after],
                (_, None) => [text, "", ""],
            };
            Value::from(Tuple::new(parts.map(Value::from).to_vec()))
        }
        "rsplit" => Value::from(rsplit(text, arguments)?),
        "index" | "rindex" => {
            let (part,): (&str,) = from_args(arguments)?;
            let at = match method {
                "index" => text.find(part),
                _ => text.rfind(part),
            };
            let at = at.ok_or_else(|| invalid("the part is not in the text"))?;
            Value::from(text[..at].chars().count())
        }
        "swapcase" => {
            from_args::<()>(arguments)?;
            let swapped = text.chars().flat_map(|character| {
                let swapped: String = if character.is_uppercase() {
                    character.to_lowercase().collect()
                } else {
                    character.to_uppercase().collect()
                };
                swapped.chars().collect::<Vec<_>>()
            });
            Value::from(swapped.collect::<String>())
        }
        "casefold" => {
            from_args::<()>(arguments)?;
            Value::from(text.to_lowercase().replace('ß', "ss"))
        }
        "zfill" => {
            let (width,): (usize,) = from_args(arguments)?;
            let missing = missing(text, width)?;
            let (sign, digits) = match text.strip_prefix(['+', '-']) {
                Some(digits) => text.split_at(text.len() - digits.len()),
                None => ("", text),
            };
            Value::from(format!("{sign}{}{digits}", "0".repeat(missing)))
        }
        "center" | "ljust" | "rjust" => {
            let (width, fill): (usize, Option<&str>) = from_args(arguments)?;
            let missing = missing(text, width)?;
            let fill = fill.unwrap_or(" ");
            if fill.chars().count() != 1 {
                return Err(invalid("texts are filled with exactly one character"));
            }
            let before = match method {
                "ljust" => 0,
                "rjust" => missing,
                // Where the sides can't be equal, Python's choice depends on both numbers.
                _ => missing / 2 + (missing & width & 1),
            };
            let after = missing - before;
            Value::from(format!(
                "{}{text}{}",
                fill.repeat(before),
                fill.repeat(after)
            ))
        }
        "expandtabs" => {
            let (size,): (Option<usize>,) = from_args(arguments)?;
            let size = size.unwrap_or(8).min(WIDEST);
            let tabs = text.matches('\t').count();
            pay_for_bytes(state, tabs.saturating_mul(size))?;
            Value::from(expand_tabs(text, size))
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
}

fn rsplit(text: &str, arguments: &[Value]) -> Result<Vec<String>, Error> {
    let (separator, most, options): (Option<&str>, Option<i64>, Kwargs) = from_args(arguments)?;
    let most = match most {
        Some(most) => Some(most),
        None => options.get::<Option<i64>>("maxsplit")?,
    };
    options.assert_all_used()?;
    let most = most.and_then(|most| usize::try_from(most).ok());
    let mut parts: Vec<String> = match separator {
        Some("") => return Err(invalid("an empty separator")),
        Some(separator) => match most {
            Some(most) => text.rsplitn(most.saturating_add(1), separator),
            None => text.rsplitn(usize::MAX, separator),
        }
        .map(str::to_owned)
        .collect(),
        None => rsplit_space(text, most.unwrap_or(usize::MAX)),
    };
    parts.reverse();
    Ok(parts)
}

/// Splits at white space from the right; after `most` splits the rest is the last part.
fn rsplit_space(text: &str, most: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        match rest.rsplit_once(char::is_whitespace) {
            Some((before, part)) if parts.len() < most => {
                parts.push(part.to_owned());
                rest = before.trim_end();
            }
            _ => {
                parts.push(rest.to_owned());
                break;
            }
        }
    }
    parts
}

fn expand_tabs(text: &str, size: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for character in text.chars() {
        match character {
            '\t' if size > 0 => {
                let width = size - column % size;
                out.extend(std::iter::repeat_n(' ', width));
                column += width;
            }
            '\t' => (),
            '\n' | '\r' => {
                out.push(character);
                column = 0;
            }
            _ => {
                out.push(character);
                column += 1;
            }
        }
    }
    out
}

/// The number of characters that a text lacks to a width.
fn missing(text: &str, width: usize) -> Result<usize, Error> {
    if width > WIDEST {
        return Err(invalid("a text can't be padded that far"));
    }
    Ok(width.saturating_sub(text.chars().count()))
}

fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}
