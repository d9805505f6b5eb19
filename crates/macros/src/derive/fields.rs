//! The named fields of a struct or variant, as the fields of a pydantic model.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FieldsNamed, Ident, LitStr, Result, Type};

use crate::attribute::{Case, DefaultValue, ParameterOptions};
use crate::docs;
use crate::tool::owned;

/// A named field.
pub struct Field {
    pub ident: Ident,
    /// The name on the wire.
    pub name: String,
    ty: Type,
    description: String,
    default: Option<TokenStream>,
}

/// Reads the fields; duplicate names are an error.
pub fn read(fields: &FieldsNamed, rename_all: Option<Case>) -> Result<Vec<Field>> {
    let mut read: Vec<Field> = Vec::new();
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let options = ParameterOptions::of_field(&field.attrs)?;
        let plain = ident.to_string();
        let plain = plain.strip_prefix("r#").unwrap_or(&plain);
        let name = match (&options.rename, rename_all) {
            (Some(name), _) => name.value(),
            (None, Some(case)) => case.apply(plain),
            (None, None) => plain.to_owned(),
        };
        if read.iter().any(|other| other.name == name) {
            let text = format!("Two fields are called {name}.");
            return Err(Error::new_spanned(ident, text));
        }
        read.push(Field {
            ident: ident.clone(),
            name,
            ty: field.ty.clone(),
            description: docs::description(&field.attrs),
            default: options.default.map(|default| match default {
                DefaultValue::OfType => quote! { ::std::default::Default::default() },
                DefaultValue::Expression(expression) => owned(&expression),
            }),
        });
    }
    Ok(read)
}

impl Field {
    /// The definition of the field in the schema of its model.
    pub fn definition(&self) -> TokenStream {
        let Field {
            name,
            ty,
            description,
            ..
        } = self;
        let default = match &self.default {
            Some(default) => quote! {
                ::std::option::Option::Some(::volary_core::tool::Parameter::dump(
                    &{ let default: #ty = #default; default }
                ))
            },
            None => quote! { ::std::option::Option::None },
        };
        quote! {
            ::volary_core::tool::definition::ParameterDefinition {
                name: ::std::borrow::Cow::Borrowed(#name),
                schema: <#ty as ::volary_core::tool::Parameter>::schema(definitions),
                description: ::volary_core::json::Text::from(#description),
                default: #default,
            }
        }
    }

    /// The field read from `fields`, as an expression.
    pub fn read(&self) -> TokenStream {
        let Field {
            ident, name, ty, ..
        } = self;
        match &self.default {
            Some(default) => quote! {
                #ident: ::volary_core::tool::parameter::model::field_or::<#ty>(
                    fields, #name, || #default,
                )?
            },
            None => quote! {
                #ident: ::volary_core::tool::parameter::model::field::<#ty>(fields, #name)?
            },
        }
    }

    /// The member for the field, which is available as a reference.
    pub fn dump(&self, reference: &TokenStream) -> TokenStream {
        let name = &self.name;
        quote! {
            (
                ::std::borrow::Cow::Borrowed(#name),
                ::volary_core::tool::Parameter::dump(#reference),
            )
        }
    }
}

/// The definition of a field with a constant text, like `Literal`.
pub fn constant(name: &LitStr, value: &str) -> TokenStream {
    quote! {
        ::volary_core::tool::definition::ParameterDefinition {
            name: ::std::borrow::Cow::Borrowed(#name),
            schema: ::volary_core::tool::parameter::model::choice(::std::vec![
                ::volary_core::json::Json::from(#value)
            ]),
            description: ::volary_core::json::Text::from(""),
            default: ::std::option::Option::None,
        }
    }
}
