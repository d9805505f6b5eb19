//! Enums as parameters: enumerations, unions, and unions of models distinguished by a field.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    DataEnum, DeriveInput, Error, Fields, FieldsNamed, Ident, Lit, LitStr, Result, Type, Variant,
};

use super::{Parts, fields, implement, title};
use crate::attribute::{TypeOptions, VariantOptions};
use crate::docs;

pub fn parameter(
    item: &DeriveInput,
    data: &DataEnum,
    options: &TypeOptions,
) -> Result<TokenStream> {
    if data.variants.is_empty() {
        let text = "An enum without cases has no values to give.";
        return Err(Error::new_spanned(&item.ident, text));
    }
    let plain = data
        .variants
        .iter()
        .all(|variant| variant.fields.is_empty());
    let parts = match (&options.tag, options.untagged) {
        (Some(_), true) => Err(Error::new_spanned(
            &item.ident,
            "Cases are distinguished by a tag, or not at all.",
        )),
        (Some(tag), false) => tagged(data, tag, options),
        (None, true) => untagged(data),
        (None, false) if plain => enumeration(item, data, options),
        (None, false) => Err(Error::new_spanned(
            &item.ident,
            "State how a model distinguishes the cases: `#[tool(tag = \"kind\")]` for cases with \
             fields, `#[tool(untagged)]` for cases around one value of different types.",
        )),
    }?;
    Ok(implement(&item.ident, &parts))
}

/// The variants of an enum without data, each with its value on the wire.
pub fn values(data: &DataEnum, options: &TypeOptions) -> Result<Vec<(Ident, Lit)>> {
    data.variants
        .iter()
        .map(|variant| Ok((variant.ident.clone(), value(variant, options)?)))
        .collect()
}

fn value(variant: &Variant, options: &TypeOptions) -> Result<Lit> {
    let own = VariantOptions::of(&variant.attrs)?;
    let name = variant.ident.to_string();
    Ok(own.value.unwrap_or_else(|| {
        let name = options
            .rename_all
            .map_or(name.clone(), |case| case.apply(&name));
        Lit::Str(LitStr::new(&name, variant.ident.span()))
    }))
}

/// A literal as JSON. An integer literal without type is an `i64`.
fn json(value: &Lit) -> TokenStream {
    match value {
        Lit::Int(value) if value.suffix().is_empty() => {
            quote! { ::volary_core::json::Json::from({ let value: i64 = #value; value }) }
        }
        value => quote! { ::volary_core::json::Json::from(#value) },
    }
}

fn enumeration(item: &DeriveInput, data: &DataEnum, options: &TypeOptions) -> Result<Parts> {
    let values = values(data, options)?;
    let idents: Vec<&Ident> = values.iter().map(|(ident, _)| ident).collect();
    let values: Vec<TokenStream> = values.iter().map(|(_, value)| json(value)).collect();
    let schema = if options.inline {
        quote! { ::volary_core::tool::parameter::model::choice(::std::vec![#(#values),*]) }
    } else {
        let title = title(item, options);
        let description = docs::description(&item.attrs);
        quote! {
            ::volary_core::tool::parameter::model::named(definitions, #title, |_| {
                ::volary_core::tool::parameter::model::enumeration(
                    #title,
                    #description,
                    ::std::vec![#(#values),*],
                )
            })
        }
    };
    Ok(Parts {
        schema,
        read: quote! {
            let values = [#(#values),*];
            let cases = [#(Self::#idents),*];
            for (known, case) in values.iter().zip(cases) {
                if known == value {
                    return ::std::result::Result::Ok(case);
                }
            }
            ::std::result::Result::Err(
                ::volary_core::tool::parameter::model::none_of(&values, value),
            )
        },
        dump: quote! {
            match self {
                #(Self::#idents => #values,)*
            }
        },
    })
}

fn untagged(data: &DataEnum) -> Result<Parts> {
    let cases: Vec<(&Ident, &Type)> = data
        .variants
        .iter()
        .map(|variant| match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Ok((&variant.ident, &fields.unnamed[0].ty))
            }
            _ => Err(Error::new_spanned(
                variant,
                "A case of an untagged union has one value: `Name(Type)`.",
            )),
        })
        .collect::<Result<_>>()?;
    let idents: Vec<&Ident> = cases.iter().map(|(ident, _)| *ident).collect();
    let types: Vec<&Type> = cases.iter().map(|(_, ty)| *ty).collect();
    Ok(Parts {
        schema: quote! {
            let cases = ::std::vec![
                #(<#types as ::volary_core::tool::Parameter>::schema(definitions)),*
            ];
            ::volary_core::tool::parameter::model::union(cases)
        },
        read: quote! {
            for exact in [true, false] {
                #(
                    if let ::std::option::Option::Some(case) =
                        ::volary_core::tool::parameter::model::case::<#types>(value, exact)
                    {
                        return ::std::result::Result::Ok(Self::#idents(case));
                    }
                )*
            }
            let problems = [
                #(<#types as ::volary_core::tool::Parameter>::read(value).err()),*
            ];
            ::std::result::Result::Err(
                ::volary_core::tool::parameter::model::no_case(problems),
            )
        },
        dump: quote! {
            match self {
                #(Self::#idents(case) => ::volary_core::tool::Parameter::dump(case),)*
            }
        },
    })
}

struct TaggedCase<'a> {
    ident: &'a Ident,
    value: LitStr,
    description: String,
    fields: Vec<fields::Field>,
}

fn tagged(data: &DataEnum, tag: &LitStr, options: &TypeOptions) -> Result<Parts> {
    let cases: Vec<TaggedCase<'_>> = data
        .variants
        .iter()
        .map(|variant| tagged_case(variant, tag, options))
        .collect::<Result<_>>()?;
    let values: Vec<&LitStr> = cases.iter().map(|case| &case.value).collect();
    let schemas = cases.iter().map(|case| {
        let title = case.ident.to_string();
        let TaggedCase {
            value, description, ..
        } = case;
        let constant = fields::constant(tag, &value.value());
        let definitions = case.fields.iter().map(fields::Field::definition);
        quote! {
            (#value, ::volary_core::tool::parameter::model::named(
                definitions,
                #title,
                |definitions| ::volary_core::tool::parameter::model::model(
                    #title,
                    #description,
                    ::std::vec![#constant #(, #definitions)*],
                ),
            ))
        }
    });
    let reads = cases.iter().map(|case| {
        let TaggedCase { ident, value, .. } = case;
        let reads = case.fields.iter().map(fields::Field::read);
        quote! { #value => ::std::result::Result::Ok(Self::#ident { #(#reads),* }) }
    });
    let dumps = cases.iter().map(|case| {
        let TaggedCase { ident, value, .. } = case;
        let idents = case.fields.iter().map(|field| &field.ident);
        let members = case.fields.iter().map(|field| {
            let ident = &field.ident;
            field.dump(&quote! { #ident })
        });
        quote! {
            Self::#ident { #(#idents),* } => ::std::vec![
                (
                    ::std::borrow::Cow::Borrowed(#tag),
                    ::volary_core::json::Json::from(#value),
                )
                #(, #members)*
            ]
        }
    });
    Ok(Parts {
        schema: quote! {
            let cases = ::std::vec![#(#schemas),*];
            ::volary_core::tool::parameter::model::tagged_union(#tag, cases)
        },
        read: quote! {
            let fields = ::volary_core::tool::parameter::model::fields(value)?;
            match ::volary_core::tool::parameter::model::tag(fields, #tag)? {
                #(#reads,)*
                other => {
                    let values = [#(::volary_core::json::Json::from(#values)),*];
                    let other = ::volary_core::json::Json::from(other);
                    ::std::result::Result::Err(
                        ::volary_core::tool::parameter::model::none_of(&values, &other)
                            .at_key(#tag),
                    )
                }
            }
        },
        dump: quote! {
            ::volary_core::json::Json::Object(::volary_core::json::Object::from_distinct(
                match self { #(#dumps),* }
            ))
        },
    })
}

fn tagged_case<'a>(
    variant: &'a Variant,
    tag: &LitStr,
    options: &TypeOptions,
) -> Result<TaggedCase<'a>> {
    let Lit::Str(value) = value(variant, options)? else {
        let text = "A tag is a text: `#[tool(rename = \"…\")]`.";
        return Err(Error::new_spanned(&variant.ident, text));
    };
    let named: Option<&FieldsNamed> = match &variant.fields {
        Fields::Named(named) => Some(named),
        Fields::Unit => None,
        Fields::Unnamed(_) => {
            return Err(Error::new_spanned(
                variant,
                "A case of a tagged union has named fields, or none: the tag is one of them.",
            ));
        }
    };
    let fields = named.map_or_else(|| Ok(Vec::new()), |named| fields::read(named, None))?;
    if let Some(field) = fields.iter().find(|field| field.name == tag.value()) {
        let text = "The tag already has this name.";
        return Err(Error::new_spanned(&field.ident, text));
    }
    Ok(TaggedCase {
        ident: &variant.ident,
        value,
        description: docs::description(&variant.attrs),
        fields,
    })
}
