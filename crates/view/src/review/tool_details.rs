//! The tools of an episode, as its details list them.
//!
//! Invariant: a schema that is no object, or has no type, is still listed: files of other tools have any.

use volary_core::json::{Json, Object, Text};
use volary_core::tool::Tool;

/// A tool that the agent could call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDetail {
    /// The name with those of its parameters, such as `search(query, limit?)`. A question mark means optional.
    pub signature: String,
    /// As the model was told.
    pub description: Text,
    pub parameters: Vec<ParameterDetail>,
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterDetail {
    pub name: Text,
    /// Its type and whether it may be left out, such as "string, optional".
    pub kind: String,
    /// Empty if there is none.
    pub description: String,
}

impl ToolDetail {
    pub fn of(tool: &Tool) -> ToolDetail {
        let info = &tool.info;
        let (mut names, mut parameters) = (Vec::new(), Vec::new());
        if let Some(known) = &info.parameters {
            for (name, schema) in known.properties.iter() {
                let (mark, optional) = if known.required.iter().any(|required| **required == **name)
                {
                    ("", None)
                } else {
                    ("?", Some("optional".to_owned()))
                };
                names.push(format!("{name}{mark}"));
                let schema = schema.as_object();
                let kind = schema.and_then(kind).into_iter().chain(optional);
                let description = schema.and_then(|schema| schema.get("description"));
                parameters.push(ParameterDetail {
                    name: name.as_ref().into(),
                    kind: kind.collect::<Vec<_>>().join(", "),
                    description: description.map(Json::to_display).unwrap_or_default(),
                });
            }
        }
        ToolDetail {
            signature: format!("{}({})", info.name, names.join(", ")),
            description: info.description.clone(),
            parameters,
        }
    }

    /// The first line of the description.
    pub fn summary(&self) -> &str {
        self.description.trim().lines().next().unwrap_or_default()
    }
}

/// The type of a schema, or its allowed values.
fn kind(schema: &Object) -> Option<String> {
    let listed = |values: &[Json], separator| {
        let texts: Vec<String> = values.iter().map(Json::to_display).collect();
        texts.join(separator)
    };
    if let Some(allowed) = schema.get("enum").and_then(Json::as_list) {
        return Some(listed(allowed, " | "));
    }
    match schema.get("type")? {
        Json::List(types) => Some(listed(types, " or ")),
        one if one.as_text().is_some_and(|name| &**name == "array") => {
            let items = schema.get("items").and_then(Json::as_object).and_then(kind);
            Some(items.map_or("array".to_owned(), |items| format!("array of {items}")))
        }
        one => Some(one.to_display()),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;
    use volary_core::tool::{FunctionInfo, Parameters};

    use super::*;

    fn tool(name: &str, description: &str, parameters: Option<Parameters>) -> Tool {
        Tool {
            info: FunctionInfo {
                name: name.into(),
                description: description.into(),
                parameters,
            },
            concurrency_safe: true,
        }
    }

    #[test]
    fn optional_parameters_are_marked() {
        let properties = object!({
            "query": { "type": "string", "description": "What to look for" },
            "order": { "enum": ["date", "size"] },
            "ids": { "type": "array", "items": { "type": "integer" } },
            "more": {},
        });
        let parameters = Parameters {
            properties,
            required: vec!["query".into()],
            extras: Object::default(),
        };
        let tool = tool("search", "Searches.\nReturns ten.", Some(parameters));
        let found = ToolDetail::of(&tool);
        assert_eq!(found.signature, "search(query, order?, ids?, more?)");
        assert_eq!(found.summary(), "Searches.");
        let parameters = found.parameters.iter();
        let parameters: Vec<(&str, &str)> = parameters
            .map(|parameter| (&*parameter.kind, &*parameter.description))
            .collect();
        assert_eq!(
            parameters,
            [
                ("string", "What to look for"),
                ("date | size, optional", ""),
                ("array of integer, optional", ""),
                ("optional", ""),
            ]
        );
    }

    #[test]
    fn a_tool_without_parameters_is_called_without_any() {
        let found = ToolDetail::of(&tool("look", "", None));
        assert_eq!((&*found.signature, found.summary()), ("look()", ""));
    }
}
