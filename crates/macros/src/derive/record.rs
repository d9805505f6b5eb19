//! Structs as results: records, called models in aviary.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Lit, Result};

use super::{enums, fields, refuse_generics};
use crate::attribute::TypeOptions;

/// `IntoToolResult`, and the conversion into `Json` that allows nested records.
pub fn record(item: &DeriveInput) -> Result<TokenStream> {
    refuse_generics(item)?;
    let options = TypeOptions::of(&item.attrs)?;
    match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => Ok(model(item, &fields::read(named, options.rename_all)?)),
            _ => Err(unsupported(item)),
        },
        Data::Enum(data) if data.variants.iter().all(|case| case.fields.is_empty()) => {
            let values = enums::values(data, &options)?;
            text(item, &values)
        }
        _ => Err(unsupported(item)),
    }
}

fn unsupported(item: &DeriveInput) -> Error {
    Error::new_spanned(
        &item.ident,
        "A struct with named fields can be a record, and an enum without data a text in it.",
    )
}

fn model(item: &DeriveInput, fields: &[fields::Field]) -> TokenStream {
    let ident = &item.ident;
    let count = fields.len();
    let members = fields.iter().map(|field| {
        let fields::Field { ident, name, .. } = field;
        quote! { (#name, ::volary_core::json::Json::from(record.#ident)) }
    });
    quote! {
        #[automatically_derived]
        impl ::std::convert::From<#ident> for ::volary_core::json::Object {
            fn from(record: #ident) -> Self {
                let members: [(&'static str, ::volary_core::json::Json); #count] =
                    [#(#members),*];
                members
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(name, value)| (::std::borrow::Cow::Borrowed(name), value))
                    .collect()
            }
        }

        #[automatically_derived]
        impl ::std::convert::From<#ident> for ::volary_core::json::Json {
            fn from(record: #ident) -> Self {
                ::volary_core::json::Json::Object(record.into())
            }
        }

        #[automatically_derived]
        impl ::volary_core::tool::IntoToolResult for #ident {
            fn into_tool_result(self) -> ::volary_core::tool::ToolResult {
                ::std::result::Result::Ok(::volary_core::tool::ToolValue::Record(self.into()))
            }
        }
    }
}

fn text(item: &DeriveInput, values: &[(syn::Ident, Lit)]) -> Result<TokenStream> {
    let ident = &item.ident;
    let arms = values
        .iter()
        .map(|(case, value)| match value {
            Lit::Str(value) => Ok(quote! { #ident::#case => #value }),
            other => Err(Error::new_spanned(other, "In a record, a case is a text.")),
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #[automatically_derived]
        impl ::std::convert::From<#ident> for ::volary_core::json::Json {
            fn from(case: #ident) -> Self {
                ::volary_core::json::Json::from(match case { #(#arms),* })
            }
        }

        #[automatically_derived]
        impl ::volary_core::tool::IntoToolResult for #ident {
            fn into_tool_result(self) -> ::volary_core::tool::ToolResult {
                ::volary_core::tool::IntoToolResult::into_tool_result(
                    ::volary_core::json::Json::from(self),
                )
            }
        }
    })
}
