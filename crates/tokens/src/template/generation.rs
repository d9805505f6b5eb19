//! `{% generation %}…{% endgeneration %}`, which marks the model's output.
//!
//! The engine has no custom tags, but it reports which part of the output a filter block wrote. So the tags
//! are rewritten to a filter block in its own scope, with the same white space control. Line numbers do not change.
//!
//! The same pass over the tags of a template rewrites those of loops (`loops`).

use super::loops;

/// The filter that replaces the tag. It returns its input.
pub(super) const FILTER: &str = "volary_generation";

/// The template with generation tags rewritten to filter blocks, and with the tags of loops.
pub(super) fn rewrite(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let length = if tail.starts_with("{#") {
            tail.find("#}").map_or(tail.len(), |end| end + 2)
        } else if tail.starts_with("{{") {
            expression(tail, "}}")
        } else if tail.starts_with("{%") {
            let length = expression(tail, "%}");
            let (block, after) = tail.split_at(length);
            match Tag::read(block) {
                Some(Tag::Raw) => length + raw(after),
                Some(tag) => {
                    tag.write(&mut out);
                    rest = after;
                    continue;
                }
                None => match loops::rewrite(block) {
                    Some(tag) => {
                        out.push_str(&tag);
                        rest = after;
                        continue;
                    }
                    None => length,
                },
            }
        } else {
            1
        };
        let (copied, after) = tail.split_at(length);
        out.push_str(copied);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The maximum number of operators in one expression or block, and of `elif` branches in a template. The engine parses and
/// compiles chains recursively, without a limit; templates of models have at most a few dozen.
const MOST_OPERATORS: usize = 400;

/// Whether the expressions of a template are short enough for the engine.
pub(super) fn has_short_expressions(source: &str) -> bool {
    let mut branches = 0;
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        let tail = &rest[at..];
        let length = if tail.starts_with("{#") {
            tail.find("#}").map_or(tail.len(), |end| end + 2)
        } else if tail.starts_with("{{") || tail.starts_with("{%") {
            let end = if tail.starts_with("{{") { "}}" } else { "%}" };
            let length = expression(tail, end);
            let (block, after) = tail.split_at(length);
            branches += usize::from(word(block).is_some_and(|word| word.starts_with("elif")));
            if operators(block) > MOST_OPERATORS || branches > MOST_OPERATORS {
                return false;
            }
            match Tag::read(block) {
                Some(Tag::Raw) => length + raw(after),
                _ => length,
            }
        } else {
            1
        };
        rest = &tail[length..];
    }
    true
}

/// The number of operators in a block, outside of string literals.
fn operators(block: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    let mut count = 0;
    let mut name = String::new();
    for character in block.chars() {
        if let Some(open) = quote {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if character == open => quote = None,
                _ => {}
            }
            continue;
        }
        if character.is_alphanumeric() || character == '_' {
            name.push(character);
            continue;
        }
        count += usize::from(matches!(
            name.as_str(),
            "not" | "and" | "or" | "in" | "is" | "if" | "else"
        ));
        name.clear();
        match character {
            '\'' | '"' => quote = Some(character),
            '+' | '-' | '*' | '/' | '%' | '~' | '|' | '.' | '[' | '(' | '<' | '>' | '=' | '!' => {
                count += 1;
            }
            _ => {}
        }
    }
    count
}

/// The length of an expression or block up to its end mark, which may also occur in string literals, and within brackets.
fn expression(text: &str, end: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    let mut open_brackets = 0_usize;
    for (at, character) in text.char_indices().skip(2) {
        match quote {
            Some(open) => {
                if escaped {
                    escaped = false;
                } else if character == '\\' {
                    escaped = true;
                } else if character == open {
                    quote = None;
                }
            }
            None if open_brackets == 0 && text[at..].starts_with(end) => return at + end.len(),
            None => match character {
                '\'' | '"' => quote = Some(character),
                '(' | '[' | '{' => open_brackets += 1,
                ')' | ']' | '}' => open_brackets = open_brackets.saturating_sub(1),
                _ => (),
            },
        }
    }
    text.len()
}

/// The length of the content of a raw block, including its end tag. Other tags in it are text, whatever their quotes.
fn raw(text: &str) -> usize {
    let mut from = 0;
    while let Some(at) = text[from..].find("{%") {
        let inner = &text[from + at + 2..];
        let name = inner.trim_start_matches(['-', '+']).trim_start();
        if let Some(after) = name.strip_prefix("endraw") {
            let after = after.trim_start();
            let after = after.strip_prefix(['-', '+']).unwrap_or(after);
            if let Some(after) = after.strip_prefix("%}") {
                return text.len() - after.len();
            }
        }
        from += at + 2;
    }
    text.len()
}

fn word(block: &str) -> Option<&str> {
    let inner = block.strip_prefix("{%")?.strip_suffix("%}")?;
    Some(inner.trim_matches(|sign: char| sign == '-' || sign == '+' || sign.is_whitespace()))
}

enum Tag<'a> {
    /// The start or end of a generation block, with the white space marks of the tag.
    Generation {
        is_start: bool,
        open: &'a str,
        close: &'a str,
    },
    /// The start of a block without tags.
    Raw,
}

impl<'a> Tag<'a> {
    fn read(block: &'a str) -> Option<Self> {
        let is_start = match word(block)? {
            "generation" => true,
            "endgeneration" => false,
            "raw" => return Some(Tag::Raw),
            _ => return None,
        };
        let inner = block.strip_prefix("{%")?.strip_suffix("%}")?;
        let mark = |sign: &str| matches!(sign, "-" | "+");
        let open = inner.get(..1).filter(|sign| mark(sign)).unwrap_or_default();
        let close = inner.get(inner.len().checked_sub(1)?..);
        let close = close.filter(|sign| mark(sign)).unwrap_or_default();
        Some(Tag::Generation {
            is_start,
            open,
            close,
        })
    }

    fn write(&self, out: &mut String) {
        let Tag::Generation {
            is_start,
            open,
            close,
        } = self
        else {
            return;
        };
        let (first, second) = if *is_start {
            ("with".to_owned(), format!("filter {FILTER}"))
        } else {
            ("endfilter".to_owned(), "endwith".to_owned())
        };
        out.push_str(&format!("{{%{open} {first} %}}{{% {second} {close}%}}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_chains_are_found_wherever_they_are() {
        let chain = " + 1".repeat(MOST_OPERATORS + 1);
        let elif = "{% elif x %}".repeat(MOST_OPERATORS + 1);
        for long in [
            format!("{{{{ 1{chain} }}}}"),
            format!("{{% if 1{chain} %}}{{% endif %}}"),
            format!("{{{{ {{'a': {{}}}}{chain} }}}}"),
            format!("{{{{ '}}}}'{chain} }}}}"),
            format!("{{% if x %}}{elif}{{% endif %}}"),
        ] {
            assert!(!has_short_expressions(&long), "{}", &long[..20]);
        }
        for short in [
            format!("{{{{ '{chain}' }}}}{chain}"),
            format!("{{# {chain} #}}{{% raw %}}{{{{ {chain} }}}}{{% endraw %}}"),
            format!("{{{{ [{}] }}}}", "'a', ".repeat(10_000)),
            "{{ 1 + 1 }}".repeat(1_000),
        ] {
            assert!(has_short_expressions(&short), "{}", &short[..20]);
        }
    }

    #[test]
    fn only_tags_are_rewritten() {
        assert_eq!(
            rewrite("a {%- generation -%} b {% endgeneration %}"),
            "a {%- with %}{% filter volary_generation -%} b {% endfilter %}{% endwith %}"
        );
        for same in [
            "{{ '{% generation %}' }}",
            "{# {% generation %} #}",
            "{% raw %}{% generation %}{% endraw %}",
            "{% raw %}{% ' {% generation %}{%- endraw -%}",
            "{{ {'a': {'{% generation %}': 1}} }}",
            "{% set generation = 1 %}{{ generation }}",
            "{% if generation %}{% endif %}",
            "{",
            "{%",
            "{{ '",
            "{#",
            "{% raw %}{%",
        ] {
            assert_eq!(rewrite(same), same);
        }
    }
}
