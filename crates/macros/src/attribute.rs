//! Parses the `#[tool(…)]` attributes of functions, parameters and fields, and types.
//!
//! Each position has its own options; options that do not apply at a position are an error.

use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Attribute, Expr, Lit, LitBool, LitStr, Result, Type};

/// The options in `#[tool(…)]` on a function.
pub struct FunctionOptions {
    pub name: Option<LitStr>,
    pub allow_missing_descriptions: bool,
    pub types_in_descriptions: bool,
    pub concurrency_safe: bool,
}

impl FunctionOptions {
    pub fn parse(tokens: proc_macro2::TokenStream) -> Result<Self> {
        let mut options = FunctionOptions {
            name: None,
            allow_missing_descriptions: false,
            types_in_descriptions: false,
            concurrency_safe: true,
        };
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("name") {
                options.name = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("allow_missing_descriptions") {
                options.allow_missing_descriptions = flag(&meta)?;
            } else if meta.path.is_ident("types_in_descriptions") {
                options.types_in_descriptions = flag(&meta)?;
            } else if meta.path.is_ident("concurrency_safe") {
                options.concurrency_safe = flag(&meta)?;
            } else {
                return Err(meta.error(
                    "A tool has the options `name = \"…\"`, `allow_missing_descriptions`, \
                     `types_in_descriptions` and `concurrency_safe = false`.",
                ));
            }
            Ok(())
        });
        parser.parse2(tokens)?;
        Ok(options)
    }
}

/// `option` or `option = true` or `option = false`.
fn flag(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    if meta.input.peek(syn::Token![=]) {
        Ok(meta.value()?.parse::<LitBool>()?.value)
    } else {
        Ok(true)
    }
}

/// The default of a parameter or field.
#[derive(Clone)]
pub enum DefaultValue {
    /// The default of its type.
    OfType,
    Expression(Box<Expr>),
}

/// The options in `#[tool(…)]` on a parameter or a field.
#[derive(Default)]
pub struct ParameterOptions {
    pub default: Option<DefaultValue>,
    pub hidden: bool,
    pub rename: Option<LitStr>,
    pub schema: Option<Type>,
}

impl ParameterOptions {
    /// Parses the options of a function's parameter.
    pub fn of_parameter(attributes: &[Attribute]) -> Result<Self> {
        let mut options = ParameterOptions::default();
        each(attributes, |meta| {
            if options.common(&meta)? {
                Ok(())
            } else if meta.path.is_ident("hidden") {
                options.hidden = flag(&meta)?;
                Ok(())
            } else if meta.path.is_ident("schema") {
                options.schema = Some(meta.value()?.parse()?);
                Ok(())
            } else {
                Err(meta.error(
                    "A parameter has the options `default`, `default = …`, `rename = \"…\"`, \
                     `schema = Type` and `hidden`.",
                ))
            }
        })?;
        Ok(options)
    }

    /// Parses the options of a struct's field.
    pub fn of_field(attributes: &[Attribute]) -> Result<Self> {
        let mut options = ParameterOptions::default();
        each(attributes, |meta| {
            if options.common(&meta)? {
                Ok(())
            } else {
                Err(meta.error(
                    "A field has the options `default`, `default = …` and `rename = \"…\"`.",
                ))
            }
        })?;
        Ok(options)
    }

    fn common(&mut self, meta: &ParseNestedMeta<'_>) -> Result<bool> {
        if meta.path.is_ident("default") {
            self.default = Some(if meta.input.peek(syn::Token![=]) {
                DefaultValue::Expression(Box::new(meta.value()?.parse()?))
            } else {
                DefaultValue::OfType
            });
        } else if meta.path.is_ident("rename") {
            self.rename = Some(meta.value()?.parse()?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// The options in `#[tool(…)]` on a variant.
#[derive(Default)]
pub struct VariantOptions {
    pub value: Option<Lit>,
}

impl VariantOptions {
    pub fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut options = VariantOptions::default();
        each(attributes, |meta| {
            if meta.path.is_ident("rename") {
                options.value = Some(Lit::Str(meta.value()?.parse()?));
            } else if meta.path.is_ident("value") {
                options.value = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error("A case has the options `rename = \"…\"` and `value = …`."));
            }
            Ok(())
        })?;
        Ok(options)
    }
}

/// The options in `#[tool(…)]` on a type.
#[derive(Default)]
pub struct TypeOptions {
    pub rename: Option<LitStr>,
    pub rename_all: Option<Case>,
    pub inline: bool,
    pub untagged: bool,
    pub tag: Option<LitStr>,
}

impl TypeOptions {
    pub fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut options = TypeOptions::default();
        each(attributes, |meta| {
            if meta.path.is_ident("rename") {
                options.rename = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("rename_all") {
                options.rename_all = Some(Case::of(&meta.value()?.parse()?)?);
            } else if meta.path.is_ident("inline") {
                options.inline = flag(&meta)?;
            } else if meta.path.is_ident("untagged") {
                options.untagged = flag(&meta)?;
            } else if meta.path.is_ident("tag") {
                options.tag = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error(
                    "A type has the options `rename = \"…\"`, `rename_all = \"…\"`, `inline`, \
                     `untagged` and `tag = \"…\"`.",
                ));
            }
            Ok(())
        })?;
        Ok(options)
    }
}

fn each(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("tool"))
        .try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

/// The conversion of Rust names to names on the wire.
#[derive(Clone, Copy)]
pub enum Case {
    Lower,
    Upper,
    Snake,
    ScreamingSnake,
    Kebab,
    Camel,
    Pascal,
}

impl Case {
    fn of(name: &LitStr) -> Result<Case> {
        match name.value().as_str() {
            "lowercase" => Ok(Case::Lower),
            "UPPERCASE" => Ok(Case::Upper),
            "snake_case" => Ok(Case::Snake),
            "SCREAMING_SNAKE_CASE" => Ok(Case::ScreamingSnake),
            "kebab-case" => Ok(Case::Kebab),
            "camelCase" => Ok(Case::Camel),
            "PascalCase" => Ok(Case::Pascal),
            _ => Err(syn::Error::new_spanned(
                name,
                "Takes lowercase, UPPERCASE, snake_case, SCREAMING_SNAKE_CASE, kebab-case, \
                 camelCase or PascalCase.",
            )),
        }
    }

    /// Converts a Rust name of any case to this case.
    pub fn apply(self, name: &str) -> String {
        let words = words(name);
        let capital = |word: &String| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_uppercase().chain(letters).collect::<String>())
                .unwrap_or_default()
        };
        match self {
            Case::Lower => words.concat(),
            Case::Upper => words.concat().to_uppercase(),
            Case::Snake => words.join("_"),
            Case::ScreamingSnake => words.join("_").to_uppercase(),
            Case::Kebab => words.join("-"),
            Case::Pascal => words.iter().map(capital).collect(),
            Case::Camel => words
                .iter()
                .enumerate()
                .map(|(place, word)| {
                    if place == 0 {
                        word.clone()
                    } else {
                        capital(word)
                    }
                })
                .collect(),
        }
    }
}

/// The words of a name in lower case, both of `LeftHand` and of `left_hand`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut new_word = true;
    for character in name.chars() {
        if character == '_' {
            new_word = true;
            continue;
        }
        if new_word || character.is_uppercase() {
            words.push(String::new());
        }
        new_word = false;
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn names_in_every_case() {
        for (case, variant, field) in [
            (Case::Lower, "lefthand2", "lefthand2"),
            (Case::Upper, "LEFTHAND2", "LEFTHAND2"),
            (Case::Snake, "left_hand2", "left_hand2"),
            (Case::ScreamingSnake, "LEFT_HAND2", "LEFT_HAND2"),
            (Case::Kebab, "left-hand2", "left-hand2"),
            (Case::Camel, "leftHand2", "leftHand2"),
            (Case::Pascal, "LeftHand2", "LeftHand2"),
        ] {
            assert_eq!(case.apply("LeftHand2"), variant);
            assert_eq!(case.apply("left_hand2"), field);
        }
    }
}
