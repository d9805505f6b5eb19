//! A tool function: collects and validates its doc comments, parameters and attributes.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ItemFn, Pat, Result, ReturnType, Type, Visibility};

use super::forms::{self, Form, StateForm};
use crate::attribute::{DefaultValue, FunctionOptions, ParameterOptions};
use crate::docs::Documentation;

/// A validated tool function.
pub struct ToolFunction {
    pub ident: Ident,
    pub visibility: Visibility,
    pub is_async: bool,
    /// The span of the result type, for errors about it.
    pub result: Span,
    /// The name on the wire.
    pub name: String,
    pub description: String,
    pub concurrency_safe: bool,
    /// The arguments of the function, in order.
    pub arguments: Vec<Argument>,
}

/// The source of an argument.
pub enum Argument {
    /// The environment.
    State(StateForm, Box<Type>),
    /// The call: its id; borrowed, or owned.
    CallId {
        borrowed: bool,
    },
    Clock,
    /// The model.
    Given(Box<GivenParameter>),
}

/// A parameter that the model may pass, or that is hidden from it.
pub struct GivenParameter {
    /// The name on the wire.
    pub name: String,
    pub description: String,
    pub form: Form,
    /// The type whose schema is sent to the model.
    pub schema: Type,
    pub default: Option<DefaultValue>,
    pub hidden: bool,
}

impl ToolFunction {
    /// Reads a function; all errors are combined into one.
    pub fn read(item: &ItemFn, options: &FunctionOptions) -> Result<Self> {
        let signature = &item.sig;
        let ident = &signature.ident;
        let mut errors = Errors::default();
        for parameter in &signature.generics.params {
            if !matches!(parameter, GenericParam::Lifetime(_)) {
                errors.add(Error::new_spanned(
                    parameter,
                    "A tool has one schema, so its function can't be generic.",
                ));
            }
        }
        // An unreadable doc comment hides the other errors, so it is reported alone.
        let docs = Documentation::read(&item.attrs)?;
        if docs.description.is_empty() {
            errors.add(Error::new_spanned(
                ident,
                format!(
                    "Missing docstring for function {ident}. Say in a doc comment (`/// …`) what \
                     the tool does: that is what the model reads."
                ),
            ));
        }
        let mut arguments = Vec::new();
        for input in &signature.inputs {
            match argument(input, signature.asyncness.is_some(), &docs, options) {
                Ok(argument) => arguments.push(argument),
                Err(error) => errors.add(error),
            }
        }
        errors.extend(stray_descriptions(&docs, &arguments, item));
        errors.extend(doubles(&arguments, item));
        errors.into_result(ToolFunction {
            ident: ident.clone(),
            visibility: item.vis.clone(),
            is_async: signature.asyncness.is_some(),
            result: match &signature.output {
                ReturnType::Default => ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
            name: options
                .name
                .as_ref()
                .map_or_else(|| plain_name(ident), syn::LitStr::value),
            description: docs.description.clone(),
            concurrency_safe: options.concurrency_safe,
            arguments,
        })
    }

    /// The parameters that the model may pass.
    pub fn given(&self) -> impl Iterator<Item = &GivenParameter> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Given(parameter) if !parameter.hidden => Some(&**parameter),
            _ => None,
        })
    }

    /// The type of the state, if the function takes one.
    pub fn state(&self) -> Option<&Type> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::State(_, state) => Some(&**state),
            _ => None,
        })
    }

    /// Whether the id of the call is injected.
    pub fn takes_call_id(&self) -> bool {
        self.arguments
            .iter()
            .any(|argument| matches!(argument, Argument::CallId { .. }))
    }
}

/// A Rust name without Rust's syntax: `r#type` is `type`, `_story` is `story`.
fn plain_name(ident: &Ident) -> String {
    let name = ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    name.trim_start_matches('_').to_owned()
}

fn argument(
    input: &FnArg,
    is_async: bool,
    docs: &Documentation,
    options: &FunctionOptions,
) -> Result<Argument> {
    let parameter = match input {
        FnArg::Typed(parameter) => parameter,
        FnArg::Receiver(receiver) => {
            return Err(Error::new_spanned(
                receiver,
                "A tool is a free function. Take what it works on as `state: &mut State`.",
            ));
        }
    };
    let Pat::Ident(pattern) = &*parameter.pat else {
        return Err(Error::new_spanned(
            &parameter.pat,
            "A tool parameter needs a plain name, because the model passes it by name.",
        ));
    };
    let ty = forms::bare(&parameter.ty);
    let name = plain_name(&pattern.ident);
    match name.as_str() {
        "state" => {
            let (form, state) = forms::state(ty, is_async)?;
            return Ok(Argument::State(form, Box::new(state)));
        }
        "tool_call_id" => {
            return Ok(Argument::CallId {
                borrowed: matches!(ty, Type::Reference(_)),
            });
        }
        "clock" if forms::is_clock(ty) => return Ok(Argument::Clock),
        _ => {}
    }
    let own = ParameterOptions::of_parameter(&parameter.attrs)?;
    let name = own.rename.as_ref().map_or(name, syn::LitStr::value);
    let form = forms::form(ty)?;
    if own.hidden && own.default.is_none() {
        return Err(Error::new_spanned(
            pattern,
            "No model can give a hidden parameter: it needs `default = …`.",
        ));
    }
    if matches!(form, Form::Json) && own.default.is_some() {
        return Err(Error::new_spanned(
            ty,
            "With a default, take the value as `Json`.",
        ));
    }
    let description = match docs.parameter(&name) {
        _ if own.hidden => String::new(),
        Some(documented) => match &documented.type_name {
            Some(type_name) if options.types_in_descriptions => {
                format!("({type_name}): {}", documented.text)
            }
            _ => documented.text.clone(),
        },
        None => String::new(),
    };
    if description.is_empty() && !own.hidden && !options.allow_missing_descriptions {
        return Err(Error::new_spanned(
            pattern,
            format!(
                "Missing description for parameter {name}. Add - `{name}`: … under `# Arguments`, \
                 or say `#[tool(allow_missing_descriptions)]`."
            ),
        ));
    }
    let schema = own.schema.unwrap_or_else(|| match &form {
        Form::Value(ty) => Type::clone(ty),
        Form::Text => syn::parse_quote!(::volary_core::json::Text),
        Form::Json => syn::parse_quote!(::volary_core::json::Json),
    });
    Ok(Argument::Given(Box::new(GivenParameter {
        name,
        description,
        form,
        schema,
        default: own.default,
        hidden: own.hidden,
    })))
}

/// Descriptions of unknown parameters, mostly of renamed ones.
fn stray_descriptions(docs: &Documentation, arguments: &[Argument], item: &ItemFn) -> Vec<Error> {
    let is_parameter = |name: &str| {
        arguments.iter().any(|argument| match argument {
            Argument::Given(parameter) => parameter.name == name,
            Argument::State(..) => name == "state",
            Argument::CallId { .. } => name == "tool_call_id",
            Argument::Clock => name == "clock",
        })
    };
    // A parameter with an error is reported only once.
    let is_faulty = |name: &str| {
        arguments.len() < item.sig.inputs.len()
            && item.sig.inputs.iter().any(|input| match input {
                FnArg::Typed(parameter) => match &*parameter.pat {
                    Pat::Ident(pattern) => plain_name(&pattern.ident) == name,
                    _ => true,
                },
                FnArg::Receiver(_) => false,
            })
    };
    docs.parameters
        .iter()
        .filter(|documented| !is_parameter(&documented.name) && !is_faulty(&documented.name))
        .map(|documented| {
            let name = &documented.name;
            let text = format!("The function has no parameter {name}.");
            Error::new(documented.span, text)
        })
        .collect()
}

/// Parameters with the same name on the wire.
fn doubles(arguments: &[Argument], item: &ItemFn) -> Vec<Error> {
    let names: Vec<&str> = arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::Given(parameter) => Some(parameter.name.as_str()),
            _ => None,
        })
        .collect();
    names
        .iter()
        .enumerate()
        .filter(|(place, name)| names[..*place].contains(name))
        .map(|(_, name)| {
            Error::new(
                item.sig.inputs.span(),
                format!("Two parameters are called {name}."),
            )
        })
        .collect()
}

/// Collects errors and combines them.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn extend(&mut self, errors: Vec<Error>) {
        errors.into_iter().for_each(|error| self.add(error));
    }

    fn into_result<T>(self, value: T) -> Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}
