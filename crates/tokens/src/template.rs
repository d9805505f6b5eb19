//! Chat templates, rendered like Hugging Face's transformers (5.24, Jinja2 3.1.6).
//!
//! The engine is minijinja. This module adds the extensions of transformers (`tojson` with Python's formatting,
//! `raise_exception`, `strftime_now`, `{% generation %}`), and formats values like Python.

mod builtin;
mod civil_time;
mod error;
mod generation;
mod loops;
mod mapping;
mod methods;
mod python;
mod value;

use std::ops::Range;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, Output, State, UndefinedBehavior, Value};
use volary_core::{Json, Object};

pub use builtin::Builtin;
pub use civil_time::CivilTime;
pub use error::TemplateError;

/// The work limit of a rendering, in minijinja's units: one for each instruction, and for each 64 bytes that are created.
/// A text of a megabyte needs less than a tenth.
const FUEL: u64 = 3_000_000;
/// The maximum nesting of macros and values.
const RECURSION: usize = 200;
const NAME: &str = "template";

/// A compiled chat template.
pub struct ChatTemplate {
    engine: Environment<'static>,
    source: String,
}

/// The input of a rendering.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderInput<'a> {
    /// The messages, at least one, in the format of chat completions.
    pub messages: &'a [Json],
    /// The tool definitions. Missing and empty are the same.
    pub tools: &'a [Json],
    /// Whether the text ends with the header of the next assistant message.
    pub add_generation_prompt: bool,
    /// Further names, such as `enable_thinking` or `bos_token`.
    pub variables: Option<&'a Object>,
    /// The time of `strftime_now`; a template that calls it fails without one.
    pub now: Option<CivilTime>,
}

/// A rendered text with the byte ranges of its `{% generation %}` blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// Byte ranges in the text, in order. They do not overlap.
    pub generated: Vec<Range<usize>>,
}

impl ChatTemplate {
    /// Compiles a template.
    pub fn new(source: &str) -> Result<Self, TemplateError> {
        if !generation::has_short_expressions(source) {
            return Err(TemplateError::LongExpression);
        }
        let mut engine = Environment::new();
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build();
        engine.set_syntax(syntax.map_err(|error| TemplateError::of(&error))?);
        engine.set_undefined_behavior(UndefinedBehavior::Lenient);
        engine.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        engine.set_formatter(write_value);
        engine.set_fuel(Some(FUEL));
        engine.set_recursion_limit(RECURSION);
        engine.set_unknown_method_callback(methods::call);
        python::add_to(&mut engine);
        let rewritten = generation::rewrite(source);
        engine
            .add_template_owned(NAME, rewritten)
            .map_err(|error| TemplateError::of(&error))?;
        Ok(ChatTemplate {
            engine,
            source: source.to_owned(),
        })
    }

    /// The text of the template.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Renders messages.
    pub fn render(&self, input: &RenderInput<'_>) -> Result<String, TemplateError> {
        let context = context(input)?;
        let template = self.engine.get_template(NAME);
        template
            .and_then(|template| template.render(context))
            .map_err(|error| TemplateError::of(&error))
    }

    /// Renders messages, and returns the byte ranges that the template marks as generated.
    pub fn render_with_generated(
        &self,
        input: &RenderInput<'_>,
    ) -> Result<Rendered, TemplateError> {
        let context = context(input)?;
        let template = self
            .engine
            .get_template(NAME)
            .map_err(|error| TemplateError::of(&error))?;
        let (text, spans) = template
            .render_with_spans(context)
            .map_err(|error| TemplateError::of(&error))?;
        let source = template.source();
        let generated = spans
            .iter()
            .filter(|span| {
                let block = source.get(span.source_range()).unwrap_or_default();
                block.trim() == generation::FILTER
            })
            .map(|span| span.output_range())
            .collect();
        Ok(Rendered { text, generated })
    }
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("ChatTemplate")
            .field(&self.source)
            .finish()
    }
}

fn context(input: &RenderInput<'_>) -> Result<Value, TemplateError> {
    if input.messages.is_empty() {
        return Err(TemplateError::NoMessages);
    }
    let messages = input
        .messages
        .iter()
        .map(value::from_message)
        .collect::<Result<Vec<Value>, _>>()?;
    let tools = match input.tools {
        [] => Value::from(()),
        tools => Value::from(tools.iter().map(value::from_json).collect::<Vec<_>>()),
    };
    let now = input.now;
    let mut context: Vec<(String, Value)> = vec![
        ("messages".to_owned(), Value::from(messages)),
        ("tools".to_owned(), tools),
        ("documents".to_owned(), Value::from(())),
        (
            "add_generation_prompt".to_owned(),
            Value::from(input.add_generation_prompt),
        ),
        (
            "strftime_now".to_owned(),
            Value::from_function(move |format: String| strftime(now, &format)),
        ),
    ];
    for (name, variable) in input.variables.iter().flat_map(|names| names.iter()) {
        context.push((name.to_string(), value::from_json(variable)));
    }
    Ok(Value::from_pairs(context))
}

fn strftime(now: Option<CivilTime>, format: &str) -> Result<String, minijinja::Error> {
    civil_time::strftime(now.as_ref(), format)
        .map_err(|reason| minijinja::Error::new(ErrorKind::InvalidOperation, reason))
}

/// Writes the result of an expression as Python's `str` does.
fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    let written = match value.as_str() {
        Some(text) => out.write_str(text),
        None => out.write_str(&python::display(state, value)?),
    };
    written.map_err(|_| minijinja::Error::new(ErrorKind::WriteFailure, "the text can't be written"))
}
