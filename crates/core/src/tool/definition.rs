//! Builds a tool's definition from a name, texts and parameters, as aviary does from a function.
//!
//! The only place where schemas of whole tools are assembled: `#[tool]` and the builder both use
//! it.

use crate::json::{Json, Key, Object, Text};

use super::{FunctionInfo, Parameters, Tool};

#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDefinition {
    pub name: Key,
    /// The schema of its type.
    pub schema: Object,
    /// Its description; empty for none.
    pub description: Text,
    /// Its default; `None` if it is required.
    pub default: Option<Json>,
}

/// Assembles a tool; `definitions` contains the named types that the parameters refer to.
pub fn define(
    name: &str,
    description: &str,
    parameters: Vec<ParameterDefinition>,
    definitions: Object,
    concurrency_safe: bool,
) -> Tool {
    let required = parameters
        .iter()
        .filter(|parameter| parameter.default.is_none())
        .map(|parameter| Text::from(&*parameter.name))
        .collect();
    let properties = parameters
        .into_iter()
        .map(|parameter| (parameter.name.clone(), property(parameter).into()))
        .collect();
    let mut extras = Object::new();
    if !definitions.is_empty() {
        extras.insert("$defs", definitions);
    }
    Tool {
        info: FunctionInfo {
            name: name.into(),
            description: description.into(),
            parameters: Some(Parameters {
                properties,
                required,
                extras,
            }),
        },
        concurrency_safe,
    }
}

/// The schema of a property: its type's schema with title, description and default.
pub fn property(parameter: ParameterDefinition) -> Object {
    let mut schema = parameter.schema;
    if !is_named(&schema) && !schema.contains_key("title") {
        schema.insert("title", title(&parameter.name));
    }
    if !parameter.description.is_empty() {
        schema.insert("description", parameter.description);
    }
    if let Some(default) = parameter.default {
        schema.insert("default", default);
    }
    schema
}

/// Whether a schema is a named type or null: its title is then the name.
fn is_named(schema: &Object) -> bool {
    let is_reference = |schema: &Json| schema.get("$ref").is_some();
    schema.contains_key("$ref")
        || match schema.get("anyOf").and_then(Json::as_list) {
            Some([case, null]) => {
                let kind = null.get("type").and_then(Json::as_text);
                is_reference(case) && kind.is_some_and(|kind| &**kind == "null")
            }
            _ => false,
        }
}

/// The title of a name: `max_new_tokens` is `Max New Tokens`.
pub fn title(name: &str) -> String {
    let mut after_letter = false;
    let mut title = String::with_capacity(name.len());
    for character in name.replace('_', " ").trim().chars() {
        if after_letter {
            title.extend(character.to_lowercase());
        } else {
            title.extend(character.to_uppercase());
        }
        after_letter = character.is_lowercase() || character.is_uppercase();
    }
    title
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn titles() {
        for (name, expected) in [
            ("story", "Story"),
            ("max_new_tokens", "Max New Tokens"),
            ("HTTPServer", "Httpserver"),
            ("x2y", "X2Y"),
            ("n_2nd", "N 2Nd"),
            ("__x__", "X"),
            ("a__b", "A  B"),
            ("größe_über", "Größe Über"),
            ("中a", "中A"),
            ("", ""),
        ] {
            assert_eq!(title(name), expected);
        }
    }
}
