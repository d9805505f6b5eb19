//! Doc comments as descriptions: the text before the first heading, and the list under
//! `# Arguments`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The parts of a function's doc comment.
pub struct Documentation {
    /// The text before the first heading.
    pub description: String,
    /// The items of the section `# Arguments`, in order.
    pub parameters: Vec<DocumentedParameter>,
}

/// An item of the section `# Arguments`.
pub struct DocumentedParameter {
    pub name: String,
    /// The type in parentheses after the name.
    pub type_name: Option<String>,
    pub text: String,
    /// The line of its beginning.
    pub span: Span,
}

struct Line {
    text: String,
    span: Span,
}

impl Documentation {
    /// Reads the doc comments among the attributes.
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let lines = lines(attributes);
        let mut sections = sections(&lines).into_iter();
        let description = sections.next().map(text_of).unwrap_or_default();
        let parameters =
            match sections.find(|section| heading(&section[0].text) == Some("Arguments")) {
                Some(section) => items(&section[1..])?,
                None => Vec::new(),
            };
        Ok(Documentation {
            description,
            parameters,
        })
    }

    /// The item of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&DocumentedParameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }
}

/// The whole text of the doc comments up to the first heading: the description of a type or field.
pub fn description(attributes: &[Attribute]) -> String {
    let lines = lines(attributes);
    sections(&lines)
        .into_iter()
        .next()
        .map(text_of)
        .unwrap_or_default()
}

fn lines(attributes: &[Attribute]) -> Vec<Line> {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(meta) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &meta.value
        else {
            continue;
        };
        if meta.path.is_ident("doc") {
            let text_of_attribute = text.value();
            let block = without_stars(&text_of_attribute);
            lines.extend(block.into_iter().map(|line| Line {
                text: line.trim_end().to_owned(),
                span: attribute.span(),
            }));
        }
    }
    let indent = margin(lines.iter().map(|line| line.text.as_str()));
    for line in &mut lines {
        line.text = line.text.chars().skip(indent).collect();
    }
    lines
}

/// The lines of a doc attribute, without the leading stars of a block comment.
fn without_stars(text: &str) -> Vec<String> {
    let starred = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .all(|line| line.trim_start().starts_with('*'));
    // Not `lines`, which yields nothing for a single empty line.
    text.split('\n')
        .enumerate()
        .map(|(place, line)| match line.trim_start().strip_prefix('*') {
            Some(rest) if starred && place > 0 => rest.to_owned(),
            _ => line.to_owned(),
        })
        .collect()
}

/// The common indentation of all non-empty lines, in characters.
fn margin<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines
        .filter(|line| !line.is_empty())
        .map(|line| line.chars().take_while(|c| c.is_whitespace()).count())
        .min()
        .unwrap_or(0)
}

/// Splits at each heading; the first section has none. Code blocks contain no headings.
fn sections(lines: &[Line]) -> Vec<&[Line]> {
    let mut sections = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    for (place, line) in lines.iter().enumerate() {
        if line.text.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && heading(&line.text).is_some() {
            sections.push(&lines[start..place]);
            start = place;
        }
    }
    sections.push(&lines[start..]);
    sections
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim())
}

fn text_of(lines: &[Line]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    lines.join("\n").trim().to_owned()
}

/// The items of a list, each with its continuation lines.
fn items(lines: &[Line]) -> syn::Result<Vec<DocumentedParameter>> {
    let mut items: Vec<(&Line, Vec<&str>)> = Vec::new();
    for line in lines {
        if line.text.starts_with("- ") || line.text.starts_with("* ") {
            items.push((line, Vec::new()));
        } else if let Some((_, continued)) = items.last_mut() {
            continued.push(&line.text);
        }
    }
    items
        .into_iter()
        .map(|(line, continued)| item(line, &continued))
        .collect()
}

fn item(line: &Line, continued: &[&str]) -> syn::Result<DocumentedParameter> {
    let malformed = || {
        syn::Error::new(
            line.span,
            "An item under `# Arguments` reads: - `name`: text",
        )
    };
    let (head, text) = line.text[2..].split_once(':').ok_or_else(malformed)?;
    let (name, type_name) = match head.split_once('(') {
        Some((name, rest)) => {
            let type_name = rest.trim().strip_suffix(')').ok_or_else(malformed)?;
            (name, Some(type_name.to_owned()))
        }
        None => (head, None),
    };
    let name = name.trim().trim_matches('`').trim_start_matches('_');
    if syn::parse_str::<syn::Ident>(name).is_err() && !name.chars().all(is_name_part) {
        return Err(malformed());
    }
    let mut text = text.trim().to_owned();
    if let [first, rest @ ..] = continued {
        // Dedented like the lines of a docstring: the first on its own, the others together.
        text.push('\n');
        text.push_str(first.trim_start());
        let indent = margin(rest.iter().copied());
        for line in rest {
            text.push('\n');
            text.extend(line.chars().skip(indent));
        }
    }
    Ok(DocumentedParameter {
        name: name.to_owned(),
        type_name,
        text: text.trim().to_owned(),
        span: line.span,
    })
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(lines: &[&str]) -> Vec<Attribute> {
        lines
            .iter()
            .map(|line| syn::parse_quote!(#[doc = #line]))
            .collect()
    }

    fn read(lines: &[&str]) -> Documentation {
        Documentation::read(&attributes(lines)).unwrap()
    }

    #[test]
    fn the_description_ends_at_the_first_heading() {
        let docs = read(&[
            " Say it.",
            "",
            "   indented",
            " ```",
            " # code, no heading",
            " ```",
            " #no heading either",
            " # Hidden",
            " For people.",
            " # Arguments",
            " - `x`: The x.",
        ]);
        assert_eq!(
            docs.description,
            "Say it.\n\n  indented\n```\n# code, no heading\n```\n#no heading either"
        );
        assert_eq!(docs.parameters.len(), 1);
    }

    #[test]
    fn arguments_in_all_their_forms() {
        let docs = read(&[
            " # Arguments",
            "",
            " What it takes:",
            " - `plain`: Text: with a colon.",
            " * _unused (int) :  Spaced.",
            "",
            " - `long`:",
            "     First line,",
            "",
            "       deeper,",
            "     back.",
            "",
            " # Errors",
            " - `stray`: none",
        ]);
        let items: Vec<_> = docs
            .parameters
            .iter()
            .map(|item| {
                (
                    item.name.as_str(),
                    item.type_name.as_deref(),
                    item.text.as_str(),
                )
            })
            .collect();
        assert_eq!(
            items,
            [
                ("plain", None, "Text: with a colon."),
                ("unused", Some("int"), "Spaced."),
                ("long", None, "First line,\n\n  deeper,\nback."),
            ]
        );
    }

    #[test]
    fn malformed_items_are_refused() {
        for item in [" - no colon", " - `x` (int: open", " - two words: text"] {
            let docs = Documentation::read(&attributes(&[" # Arguments", item]));
            assert!(docs.is_err(), "{item}");
        }
    }

    #[test]
    fn block_comments_have_no_stars() {
        let docs = read(&[" Say\n * it\n *\n * twice.\n "]);
        assert_eq!(docs.description, "Say\nit\n\ntwice.");
    }
}
