//! `#[derive(ToolParameter)]` and `#[derive(ToolRecord)]`: [`structs`] and [`enums`] as
//! parameters, [`record`] as results.

mod enums;
mod fields;
mod record;
mod structs;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Ident, Result};

use crate::attribute::TypeOptions;

pub use record::record;

/// `impl Parameter`.
pub fn parameter(item: &DeriveInput) -> Result<TokenStream> {
    refuse_generics(item)?;
    let options = TypeOptions::of(&item.attrs)?;
    match &item.data {
        Data::Struct(data) => structs::parameter(item, data, &options),
        Data::Enum(data) => enums::parameter(item, data, &options),
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "A union can't be a parameter; an enum can.",
        )),
    }
}

fn refuse_generics(item: &DeriveInput) -> Result<()> {
    if item.generics.params.is_empty() {
        Ok(())
    } else {
        Err(Error::new_spanned(
            &item.generics,
            "A parameter has one schema, so its type can't be generic.",
        ))
    }
}

/// The name of the type in `$defs`.
fn title(item: &DeriveInput, options: &TypeOptions) -> String {
    options
        .rename
        .as_ref()
        .map_or_else(|| item.ident.to_string(), syn::LitStr::value)
}

/// The parts of `impl Parameter` for a type.
struct Parts {
    schema: TokenStream,
    read: TokenStream,
    dump: TokenStream,
}

fn implement(ident: &Ident, parts: &Parts) -> TokenStream {
    let Parts { schema, read, dump } = parts;
    quote! {
        #[automatically_derived]
        impl ::volary_core::tool::Parameter for #ident {
            #[allow(unused_variables)]
            fn schema(
                definitions: &mut ::volary_core::json::Object,
            ) -> ::volary_core::json::Object {
                #schema
            }

            #[allow(unused_variables)]
            fn read(
                value: &::volary_core::json::Json,
            ) -> ::std::result::Result<Self, ::volary_core::tool::ParameterError> {
                #read
            }

            fn dump(&self) -> ::volary_core::json::Json {
                #dump
            }
        }
    }
}
