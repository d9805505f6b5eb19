//! Tools as texts for prompts.

use super::FunctionInfo;
use crate::json::{Json, Object};

impl FunctionInfo {
    /// The info formatted as a manual page.
    pub fn describe_str(&self) -> String {
        let parameters: Vec<Described> = self
            .parameters
            .iter()
            .flat_map(|parameters| parameters.properties.iter())
            .map(|(name, property)| Described::new(name, property))
            .collect();
        let synopsis: Vec<String> = parameters
            .iter()
            .map(|parameter| format!("{} {}", parameter.kind, parameter.name))
            .collect();
        let lines: Vec<String> = parameters
            .iter()
            .map(|parameter| {
                format!(
                    "    {} ({}): {}",
                    parameter.name, parameter.kind, parameter.description
                )
            })
            .collect();
        format!(
            "NAME: {name}\n\nSYNOPSIS:\n    {name}({synopsis})\n\nDESCRIPTION:\n{description}\n\n\
             PARAMETERS:\n{lines}\n",
            name = self.name,
            synopsis = synopsis.join(", "),
            description = indented(&self.description),
            lines = lines.join("\n"),
        )
    }

    /// The info as compact JSON, without nulls.
    pub fn describe_json(&self) -> String {
        self.dump(true).to_compact_text()
    }
}

fn indented(text: &str) -> String {
    let indented: Vec<String> = text
        .split('\n')
        .map(|line| match line {
            "" => String::new(),
            line => format!("    {line}"),
        })
        .collect();
    indented.join("\n")
}

/// A parameter in the manual page.
struct Described<'a> {
    name: &'a str,
    kind: String,
    description: String,
}

impl<'a> Described<'a> {
    fn new(name: &'a str, property: &Json) -> Self {
        let resolved = Resolved::new(property);
        Described {
            name,
            kind: resolved.kind.unwrap_or_else(|| "unknown".to_owned()),
            description: resolved
                .description
                .unwrap_or_else(|| "No description provided.".to_owned()),
        }
    }
}

/// Type and description of a property after its compositions are applied: `allOf`, in which the later
/// wins, or else `anyOf`, joined; then the property's own members.
#[derive(Default)]
struct Resolved {
    kind: Option<String>,
    description: Option<String>,
}

impl Resolved {
    fn new(property: &Json) -> Self {
        let Json::Object(property) = property else {
            return Resolved::default();
        };
        let mut resolved = if let Some(parts) = property.get("allOf") {
            parts_of(parts).fold(Resolved::default(), |merged, part| part.or(merged))
        } else if let Some(parts) = property.get("anyOf") {
            let parts: Vec<Resolved> = parts_of(parts).collect();
            Resolved {
                kind: joined(parts.iter().filter_map(|part| part.kind.as_deref()), " | "),
                description: joined(
                    parts.iter().filter_map(|part| part.description.as_deref()),
                    " / ",
                ),
            }
        } else {
            Resolved::default()
        };
        resolved = Resolved {
            kind: shown(property, "type"),
            description: shown(property, "description"),
        }
        .or(resolved);
        resolved
    }

    fn or(self, other: Resolved) -> Resolved {
        Resolved {
            kind: self.kind.or(other.kind),
            description: self.description.or(other.description),
        }
    }
}

fn parts_of(parts: &Json) -> impl Iterator<Item = Resolved> {
    parts
        .as_list()
        .unwrap_or_default()
        .iter()
        .map(Resolved::new)
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, separator: &str) -> Option<String> {
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(separator))
}

fn shown(property: &Object, key: &str) -> Option<String> {
    property.get(key).map(Json::to_display)
}
