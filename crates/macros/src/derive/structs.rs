//! Structs as parameters.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataStruct, DeriveInput, Error, Fields, Result};

use super::{Parts, fields, implement};
use crate::attribute::TypeOptions;
use crate::docs;

pub fn parameter(
    item: &DeriveInput,
    data: &DataStruct,
    options: &TypeOptions,
) -> Result<TokenStream> {
    let parts = match &data.fields {
        Fields::Named(named) => model(item, &fields::read(named, options.rename_all)?, options),
        Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
            let ty = &unnamed.unnamed[0].ty;
            Parts {
                schema: quote! { <#ty as ::volary_core::tool::Parameter>::schema(definitions) },
                read: quote! { <#ty as ::volary_core::tool::Parameter>::read(value).map(Self) },
                dump: quote! { ::volary_core::tool::Parameter::dump(&self.0) },
            }
        }
        _ => {
            return Err(Error::new_spanned(
                &item.ident,
                "A struct with named fields or around one value can be a parameter.",
            ));
        }
    };
    Ok(implement(&item.ident, &parts))
}

fn model(item: &DeriveInput, fields: &[fields::Field], options: &TypeOptions) -> Parts {
    let title = super::title(item, options);
    let description = docs::description(&item.attrs);
    let definitions = fields.iter().map(fields::Field::definition);
    let reads = fields.iter().map(fields::Field::read);
    let dumps = fields.iter().map(|field| {
        let ident = &field.ident;
        field.dump(&quote! { &self.#ident })
    });
    Parts {
        schema: quote! {
            ::volary_core::tool::parameter::model::named(definitions, #title, |definitions| {
                ::volary_core::tool::parameter::model::model(
                    #title,
                    #description,
                    ::std::vec![#(#definitions),*],
                )
            })
        },
        read: quote! {
            let fields = ::volary_core::tool::parameter::model::fields(value)?;
            ::std::result::Result::Ok(Self { #(#reads),* })
        },
        dump: quote! {
            ::volary_core::json::Json::Object(::volary_core::json::Object::from_distinct(
                ::std::vec![#(#dumps),*],
            ))
        },
    }
}
