//! What loops iterate over. The engine iterates over null, and does not know the number of a text's characters in advance, so that
//! `loop.last` is wrong; Jinja2 refuses the one and knows the other. So each `for` tag passes its values through a filter.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, State, Value};

use super::python::pay_for_bytes;

/// The filter that precedes each loop.
pub(super) const FILTER: &str = "volary_elements";

/// The tag of a loop with the filter; `None` for other tags. Line numbers do not change.
pub(super) fn rewrite(tag: &str) -> Option<String> {
    let inner = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    let inner = inner.strip_suffix(['-', '+']).unwrap_or(inner);
    let end = "{%".len() + inner.len();
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    let head = inner.trim_start().strip_prefix("for")?;
    if !head.starts_with(char::is_whitespace) {
        return None;
    }
    let values = end - head.len() + keyword(head, &["in"])? + "in".len();
    let rest = tag.get(values..end)?;
    let length = keyword(rest, &["if", "recursive"]).unwrap_or(rest.len());
    let (before, after) = (tag.get(..values)?, tag.get(values + length..)?);
    let values = rest.get(..length)?;
    if values.trim().is_empty() {
        return None;
    }
    Some(format!("{before} ({values})|{FILTER} {after}"))
}

/// The position of a word of these, outside of string literals and brackets.
fn keyword(text: &str, words: &[&str]) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut open_brackets = 0_usize;
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        let is_name = |character: char| character.is_alphanumeric() || character == '_';
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if character == '\\' => escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None => {
                let begins = open_brackets == 0 && !is_name(previous) && previous != '.';
                let is_word = |word: &&&str| {
                    let after = text[at..].strip_prefix(**word);
                    after.is_some_and(|after| !after.starts_with(is_name))
                };
                if begins && words.iter().any(|word| is_word(&word)) {
                    return Some(at);
                }
                match character {
                    '\'' | '"' => quote = Some(character),
                    '(' | '[' | '{' => open_brackets += 1,
                    ')' | ']' | '}' => open_brackets = open_brackets.saturating_sub(1),
                    _ => {}
                }
            }
        }
        previous = character;
    }
    None
}

/// The values of a loop.
pub(super) fn elements(state: &State<'_, '_>, values: Value) -> Result<Value, Error> {
    match (values.kind(), values.as_str()) {
        (ValueKind::None, _) => Err(Error::new(
            ErrorKind::InvalidOperation,
            "a loop cannot go over none",
        )),
        (_, Some(text)) => {
            pay_for_bytes(state, text.len())?;
            state.consume_fuel(text.len() as u64)?;
            Ok(Value::from_iter(text.chars().map(Value::from)))
        }
        _ => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_loops_pass_the_filter() {
        let filtered = |before: &str, values: &str, after: &str| {
            let tag = format!("{before}{values}{after}");
            let expected = format!("{before} ({values})|{FILTER} {after}");
            assert_eq!(rewrite(&tag).as_deref(), Some(&*expected));
        };
        filtered("{% for a in", " b ", "%}");
        filtered("{%- for a, (b, c) in", " d.items() ", "-%}");
        filtered("{%+for\ta in", "\n[1, 'in if'] ", "if a in b %}");
        filtered("{% for a in", " (b if c else d) ", "recursive %}");
        filtered("{% for a in", " b.in|d ", "if c recursive %}");
        filtered("{% for a in", " {'x': \"it's \\\" if \"} ", "%}");
        for other in [
            "{% if a in b %}",
            "{% fortune in b %}",
            "{% for a %}",
            "{% for a in %}",
            "{% endfor %}",
            "{% set for_ = a in b %}",
        ] {
            assert_eq!(rewrite(other), None, "{other}");
        }
    }
}
