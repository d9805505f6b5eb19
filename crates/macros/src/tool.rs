//! `#[tool]`: reads the function ([`function`], [`forms`]), then generates the namespace next to it ([`generate`]).

mod forms;
mod function;
mod generate;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ItemFn};

use crate::attribute::FunctionOptions;

pub use generate::owned;

/// The function with its namespace. After an error the function is kept too, so that the compiler does
/// not also report every use of it.
pub fn expand(options: TokenStream, item: ItemFn) -> TokenStream {
    let generated = FunctionOptions::parse(options)
        .and_then(|options| function::ToolFunction::read(&item, &options))
        .map(|function| generate::namespace(&function))
        .unwrap_or_else(|error| {
            let error = error.into_compile_error();
            let namespace = generate::stand_in(&item);
            quote! { #error #namespace }
        });
    let plain = without_options(item);
    quote! { #plain #generated }
}

/// The function without the attributes on its parameters, which are unknown to the compiler.
fn without_options(mut item: ItemFn) -> ItemFn {
    for input in &mut item.sig.inputs {
        if let FnArg::Typed(parameter) = input {
            parameter
                .attrs
                .retain(|attribute| !attribute.path().is_ident("tool"));
        }
    }
    item
}
