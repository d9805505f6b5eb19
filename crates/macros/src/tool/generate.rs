//! The namespace of a tool: its definition and its handler.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, ItemFn, Lit};

use super::forms::{Form, StateForm};
use super::function::{Argument, GivenParameter, ToolFunction};
use crate::attribute::DefaultValue;

/// `name::definition()` and `name::tool()`.
pub fn namespace(function: &ToolFunction) -> TokenStream {
    let ident = &function.ident;
    let visibility = &function.visibility;
    let about = format!("The tool [`{}`](fn@{ident}).", function.name);
    let definition = definition(function);
    let tool = tool(function);
    quote! {
        #[doc = #about]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}

        #[allow(dead_code)]
        impl #ident {
            #definition
            #tool
        }
    }
}

/// A placeholder for the namespace of a function with errors. A method cannot have one.
pub fn stand_in(item: &ItemFn) -> TokenStream {
    if item.sig.receiver().is_some() {
        return TokenStream::new();
    }
    let ident = &item.sig.ident;
    let visibility = &item.vis;
    quote! {
        #[allow(non_camel_case_types, missing_docs)]
        #visibility enum #ident {}

        #[allow(dead_code, missing_docs)]
        impl #ident {
            #visibility fn definition() -> ::std::sync::Arc<::volary_core::tool::Tool> {
                ::std::unreachable!()
            }

            #visibility fn tool<S: 'static>() -> ::volary_core::tool::BoundTool<S> {
                ::std::unreachable!()
            }
        }
    }
}

fn definition(function: &ToolFunction) -> TokenStream {
    let visibility = &function.visibility;
    let name = &function.name;
    let description = &function.description;
    let concurrency_safe = function.concurrency_safe;
    let parameters = function.given().map(|parameter| {
        let name = &parameter.name;
        let description = &parameter.description;
        let schema = &parameter.schema;
        let default = match default_value(parameter) {
            Some(value) => quote! { ::std::option::Option::Some(#value) },
            None => quote! { ::std::option::Option::None },
        };
        quote! {
            ::volary_core::tool::definition::ParameterDefinition {
                name: ::std::borrow::Cow::Borrowed(#name),
                schema: <#schema as ::volary_core::tool::Parameter>::schema(&mut definitions),
                description: ::volary_core::json::Text::from(#description),
                default: #default,
            }
        }
    });
    quote! {
        /// The definition of the tool for a model, made once.
        #visibility fn definition() -> ::std::sync::Arc<::volary_core::tool::Tool> {
            static DEFINITION: ::std::sync::OnceLock<::std::sync::Arc<::volary_core::tool::Tool>> =
                ::std::sync::OnceLock::new();
            ::std::sync::Arc::clone(DEFINITION.get_or_init(|| {
                #[allow(unused_mut)]
                let mut definitions = ::volary_core::json::Object::new();
                let parameters = ::std::vec![#(#parameters),*];
                ::std::sync::Arc::new(::volary_core::tool::definition::define(
                    #name,
                    #description,
                    parameters,
                    definitions,
                    #concurrency_safe,
                ))
            }))
        }
    }
}

fn tool(function: &ToolFunction) -> TokenStream {
    let visibility = &function.visibility;
    let (generics, state) = match function.state() {
        Some(state) => (quote! {}, quote! { #state }),
        None => (quote! { <S: 'static> }, quote! { S }),
    };
    let signature = signature(function);
    let body = body(function);
    let bound = if function.is_async {
        quote! {
            ::volary_core::tool::BoundTool::asynchronous(Self::definition(), |context, arguments| {
                ::std::boxed::Box::pin(async move { #body })
            })
        }
    } else {
        quote! {
            ::volary_core::tool::BoundTool::sync(Self::definition(), |context, arguments| { #body })
        }
    };
    quote! {
        /// The tool with its handler.
        #visibility fn tool #generics () -> ::volary_core::tool::BoundTool<#state> {
            #signature
            #bound
        }
    }
}

fn signature(function: &ToolFunction) -> TokenStream {
    let name = &function.name;
    let takes_state = function.state().is_some();
    let takes_call_id = function.takes_call_id();
    let parameters = function.given().map(|parameter| {
        let name = &parameter.name;
        let required = parameter.default.is_none();
        quote! { (::std::borrow::Cow::Borrowed(#name), #required) }
    });
    quote! {
        static SIGNATURE: ::volary_core::tool::Signature = ::volary_core::tool::Signature {
            function: ::std::borrow::Cow::Borrowed(#name),
            parameters: ::std::borrow::Cow::Borrowed(&[#(#parameters),*]),
            takes_state: #takes_state,
            takes_call_id: #takes_call_id,
        };
    }
}

/// Validates and reads the arguments, calls the function, and converts its result.
fn body(function: &ToolFunction) -> TokenStream {
    let ident = &function.ident;
    let variables: Vec<_> = (0..function.arguments.len())
        .map(|place| format_ident!("argument_{place}"))
        .collect();
    let mut borrow = quote! {};
    let mut reads = Vec::new();
    let mut values = Vec::new();
    for (argument, variable) in function.arguments.iter().zip(&variables) {
        match argument {
            Argument::State(form, _) => {
                let (how, value) = match form {
                    StateForm::Exclusive => (
                        quote! { let mut state = context.state_mut()?; },
                        quote! { &mut state },
                    ),
                    StateForm::Shared => (
                        quote! { let state = context.state_ref()?; },
                        quote! { &state },
                    ),
                    StateForm::Cell => (quote! {}, quote! { context.state }),
                };
                borrow = how;
                values.push(value);
            }
            Argument::CallId { borrowed: true } => values.push(quote! { context.tool_call_id }),
            Argument::CallId { borrowed: false } => values.push(quote! {
                ::std::convert::From::from(&**context.tool_call_id)
            }),
            Argument::Clock => values.push(quote! { context.clock }),
            Argument::Given(parameter) => {
                let read = read(parameter);
                reads.push(quote! { let #variable = #read; });
                values.push(quote! { #variable });
            }
        }
    }
    let wait = function.is_async.then(|| quote! { .await });
    let into_result = quote_spanned! { function.result =>
        ::volary_core::tool::IntoToolResult::into_tool_result
    };
    quote! {
        SIGNATURE.check(arguments)?;
        #(#reads)*
        #borrow
        #into_result(#ident(#(#values),*) #wait)
    }
}

/// The argument of a parameter.
fn read(parameter: &GivenParameter) -> TokenStream {
    let name = &parameter.name;
    let default = default_expression(parameter);
    match (&parameter.form, default) {
        (Form::Value(ty), Some(default)) if parameter.hidden => {
            quote! { { let default: #ty = #default; default } }
        }
        (Form::Value(ty), Some(default)) => quote! {
            SIGNATURE.read_or::<#ty>(arguments, #name, || #default)?
        },
        (Form::Value(ty), None) => quote! { SIGNATURE.read::<#ty>(arguments, #name)? },
        (Form::Text, Some(default)) if parameter.hidden => default,
        (Form::Text, Some(default)) => quote! {
            match arguments.get(#name) {
                ::std::option::Option::Some(_) => SIGNATURE.text(arguments, #name)?,
                ::std::option::Option::None => #default,
            }
        },
        (Form::Text, None) => quote! { SIGNATURE.text(arguments, #name)? },
        (Form::Json, _) => quote! { SIGNATURE.value(arguments, #name)? },
    }
}

/// The default as an expression of the parameter's type.
fn default_expression(parameter: &GivenParameter) -> Option<TokenStream> {
    let default = parameter.default.as_ref()?;
    Some(match (default, &parameter.form) {
        (DefaultValue::OfType, _) => quote! { ::std::default::Default::default() },
        (DefaultValue::Expression(expression), Form::Value(_)) => owned(expression),
        (DefaultValue::Expression(expression), _) => quote! { #expression },
    })
}

/// An expression; a string literal is converted to the required string type.
pub fn owned(expression: &Expr) -> TokenStream {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(_), ..
        }) => quote! { ::std::convert::From::from(#expression) },
        _ => quote! { #expression },
    }
}

/// The default as a JSON value.
fn default_value(parameter: &GivenParameter) -> Option<TokenStream> {
    let default = default_expression(parameter)?;
    Some(match &parameter.form {
        Form::Value(ty) => quote! {
            ::volary_core::tool::Parameter::dump(&{ let default: #ty = #default; default })
        },
        Form::Text | Form::Json => quote! {
            ::volary_core::json::Json::from({ let default: &str = #default; default })
        },
    })
}
