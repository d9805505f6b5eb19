//! `{% generation %}…{% endgeneration %}`, which marks the model's output.
//!
//! The engine has no custom tags, but it reports which part of the output a filter block wrote. So the tags
//! are rewritten to a filter block in its own scope, with the same white space control. Line numbers do not change.

/// The filter that replaces the tag. It returns its input.
pub(super) const FILTER: &str = "volary_generation";

/// The template with generation tags rewritten to filter blocks.
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
                None => length,
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

/// The length of an expression or block up to its end mark, which may also occur in string literals.
fn expression(text: &str, end: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
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
            None if text[at..].starts_with(end) => return at + end.len(),
            None if matches!(character, '\'' | '"') => quote = Some(character),
            None => (),
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
        let (first, second) = match is_start {
            true => ("with".to_owned(), format!("filter {FILTER}")),
            false => ("endfilter".to_owned(), "endwith".to_owned()),
        };
        out.push_str(&format!("{{%{open} {first} %}}{{% {second} {close}%}}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
