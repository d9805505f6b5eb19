//! Builds tools at run time, with the same checks as `#[tool]` at compile time.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;

use super::definition::{ParameterDefinition, define};
use super::parameter::Parameter;
use super::signature::{CALL_ID, STATE, Signature};
use super::{BoundTool, CallContext, IntoToolResult, Tool, ToolResult};
use crate::json::{Json, Key, Object, Text};

/// Why a tool could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The tool has no description, so a model would not know what it does.
    #[error("Missing docstring for function {tool}.")]
    MissingDescription { tool: Text },
    /// A parameter has no description, so a model would not know what it is.
    #[error("Missing description for parameter {parameter}.")]
    MissingParameterDescription { parameter: Text },
    /// Two parameters have the same name.
    #[error("The parameter {parameter} is declared twice.")]
    DuplicateParameter { parameter: Text },
    /// The name is reserved for an injected parameter.
    #[error("No parameter can be called {parameter}: handlers get that from the call context.")]
    Injected { parameter: Text },
    /// A default was set before the first parameter.
    #[error("A default must follow the parameter that it is for.")]
    StrayDefault,
}

/// Builds a tool step by step.
///
/// ```
/// use volary_core::tool::{ToolBuilder, argument_or};
///
/// let add = ToolBuilder::new("add")
///     .description("Add to the sum.")
///     .typed::<i64>("by", "How much to add.")
///     .default(1)
///     .handler::<i64, _>(|context, arguments| {
///         let mut sum = context.state_mut()?;
///         *sum += argument_or(arguments, "by", 1)?;
///         Ok(*sum)
///     })?;
/// # Ok::<(), volary_core::tool::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolBuilder {
    name: Text,
    description: Text,
    parameters: Vec<ParameterDefinition>,
    definitions: Object,
    descriptions_may_lack: bool,
    concurrency_safe: bool,
    stray_default: bool,
}

impl ToolBuilder {
    /// A builder for a tool of this name, without description and parameters.
    pub fn new(name: impl Into<Text>) -> Self {
        ToolBuilder {
            name: name.into(),
            description: "".into(),
            parameters: Vec::new(),
            definitions: Object::new(),
            descriptions_may_lack: false,
            concurrency_safe: true,
            stray_default: false,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Self {
        self.description = text.trim().into();
        self
    }

    /// Adds a parameter with a JSON Schema.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<Key>, schema: Object, description: &str) -> Self {
        self.parameters.push(ParameterDefinition {
            name: name.into(),
            schema,
            description: description.trim().into(),
            default: None,
        });
        self
    }

    /// Adds a parameter with the schema of a type.
    #[must_use]
    pub fn typed<T: Parameter>(mut self, name: impl Into<Key>, description: &str) -> Self {
        let schema = T::schema(&mut self.definitions);
        self.parameter(name, schema, description)
    }

    /// Sets the default of the latest parameter, which makes it optional. The handler does
    /// not receive the default.
    #[must_use]
    pub fn default(mut self, value: impl Into<Json>) -> Self {
        match self.parameters.last_mut() {
            Some(parameter) => parameter.default = Some(value.into()),
            None => self.stray_default = true,
        }
        self
    }

    /// Allows parameters without description.
    #[must_use]
    pub fn allow_missing_descriptions(mut self) -> Self {
        self.descriptions_may_lack = true;
        self
    }

    /// Whether calls may run concurrently with others (true by default).
    #[must_use]
    pub fn concurrency_safe(mut self, safe: bool) -> Self {
        self.concurrency_safe = safe;
        self
    }

    /// Builds the tool with a synchronous handler. Unknown and missing arguments fail before it runs.
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn handler<S, R: IntoToolResult>(
        self,
        handler: impl Fn(CallContext<'_, S>, &Object) -> Result<R, super::ToolError> + 'static,
    ) -> Result<BoundTool<S>, BuildError> {
        let (tool, signature) = self.finish()?;
        Ok(BoundTool::sync(tool, move |context, arguments| {
            signature.check(arguments)?;
            handler(context, arguments)?.into_tool_result()
        }))
    }

    /// Builds the tool with an asynchronous handler: `|context, arguments| Box::pin(async move { … })`.
    /// Unknown and missing arguments fail before it runs.
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn async_handler<S>(
        self,
        handler: impl for<'a> Fn(CallContext<'a, S>, &'a Object) -> LocalBoxFuture<'a, ToolResult>
        + 'static,
    ) -> Result<BoundTool<S>, BuildError> {
        let (tool, signature) = self.finish()?;
        Ok(BoundTool::asynchronous(
            tool,
            move |context, arguments| match signature.check(arguments) {
                Ok(()) => handler(context, arguments),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            },
        ))
    }

    /// The definition, and the signature to check calls against.
    fn finish(self) -> Result<(Arc<Tool>, Signature), BuildError> {
        if self.stray_default {
            return Err(BuildError::StrayDefault);
        }
        if self.description.is_empty() {
            return Err(BuildError::MissingDescription { tool: self.name });
        }
        for (index, parameter) in self.parameters.iter().enumerate() {
            let name = Text::from(&*parameter.name);
            let earlier = &self.parameters[..index];
            if [STATE, CALL_ID].contains(&&*name) {
                return Err(BuildError::Injected { parameter: name });
            }
            if earlier.iter().any(|other| other.name == parameter.name) {
                return Err(BuildError::DuplicateParameter { parameter: name });
            }
            if parameter.description.is_empty() && !self.descriptions_may_lack {
                return Err(BuildError::MissingParameterDescription { parameter: name });
            }
        }
        let parameters: Vec<(Key, bool)> = self
            .parameters
            .iter()
            .map(|parameter| (parameter.name.clone(), parameter.default.is_none()))
            .collect();
        let signature = Signature {
            function: self.name.to_string().into(),
            parameters: Cow::Owned(parameters),
            takes_state: false,
            takes_call_id: true,
        };
        let tool = define(
            &self.name,
            &self.description,
            self.parameters,
            self.definitions,
            self.concurrency_safe,
        );
        Ok((Arc::new(tool), signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    fn finish(builder: ToolBuilder) -> Result<BoundTool<()>, String> {
        builder
            .handler(|_, _| Ok(()))
            .map_err(|error| error.to_string())
    }

    fn error(builder: ToolBuilder) -> String {
        finish(builder).err().unwrap_or_default()
    }

    #[test]
    fn a_tool_as_a_function_would_give_it() {
        let tool = finish(
            ToolBuilder::new("search")
                .description(" Search the pages. ")
                .typed::<Text>("entity", "What to look for.")
                .parameter(
                    "limit",
                    object!({"type": "integer", "minimum": 1}),
                    "How many.",
                )
                .default(5)
                .concurrency_safe(false),
        )
        .unwrap();
        assert!(!tool.tool.concurrency_safe);
        assert_eq!(
            Json::from(tool.tool.info.dump(false)),
            crate::json!({
                "name": "search",
                "description": "Search the pages.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "entity": {
                            "type": "string",
                            "title": "Entity",
                            "description": "What to look for."
                        },
                        "limit": {
                            "type": "integer",
                            "minimum": 1,
                            "title": "Limit",
                            "description": "How many.",
                            "default": 5
                        }
                    },
                    "required": ["entity"]
                }
            })
        );
    }

    #[test]
    fn inputs_that_aviary_rejects_are_rejected() {
        let tool = || ToolBuilder::new("f");
        let described = || tool().description("Do.");
        assert_eq!(error(tool()), "Missing docstring for function f.");
        assert_eq!(
            error(described().typed::<i64>("x", " ")),
            "Missing description for parameter x."
        );
        let allowed = described()
            .typed::<i64>("x", "")
            .allow_missing_descriptions();
        assert_eq!(error(allowed), "");
        let twice = described().typed::<i64>("x", "X.").typed::<i64>("x", "X.");
        assert_eq!(error(twice), "The parameter x is declared twice.");
        for name in ["state", "tool_call_id"] {
            let injected = error(described().typed::<i64>(name, "X."));
            assert!(injected.starts_with(&format!("No parameter can be called {name}")));
        }
        assert!(error(described().default(1)).starts_with("A default must follow"));
    }
}
