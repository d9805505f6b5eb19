//! The types of a tool's parameters: forms of the state, and of other parameters.

use syn::{Error, GenericArgument, PathArguments, Result, Type, TypeParamBound};

/// How the function receives the state.
#[derive(Clone, Copy, PartialEq)]
pub enum StateForm {
    /// `&mut S`
    Exclusive,
    /// `&S`
    Shared,
    /// `&RefCell<S>`
    Cell,
}

/// How the function receives a parameter.
pub enum Form {
    /// By value, of this type.
    Value(Box<Type>),
    /// `&str`
    Text,
    /// `&Json`
    Json,
}

/// The form of a `state` parameter, and the state's type.
pub fn state(ty: &Type, is_async: bool) -> Result<(StateForm, Type)> {
    let Type::Reference(reference) = ty else {
        return Err(state_error(ty, is_async));
    };
    let inner = bare(&reference.elem);
    if let Type::ImplTrait(_) = inner {
        return Err(Error::new_spanned(
            inner,
            "A tool works on one type of state; name it.",
        ));
    }
    let cell = if reference.mutability.is_none() {
        only_argument(inner, "RefCell")
    } else {
        None
    };
    match cell {
        Some(state) => Ok((StateForm::Cell, state.clone())),
        None if is_async => Err(state_error(ty, is_async)),
        None => {
            let form = match reference.mutability {
                Some(_) => StateForm::Exclusive,
                None => StateForm::Shared,
            };
            Ok((form, inner.clone()))
        }
    }
}

fn state_error(ty: &Type, is_async: bool) -> Error {
    let text = if is_async {
        "An async tool takes `state: &RefCell<State>`, and borrows it only between awaits: other \
         tools run while it waits."
    } else {
        "A tool takes `state: &mut State`, `&State` or `&RefCell<State>`."
    };
    Error::new_spanned(ty, text)
}

/// A type without parentheses and invisible groups (macros produce the latter).
pub fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(ty) => bare(&ty.elem),
        Type::Group(ty) => bare(&ty.elem),
        ty => ty,
    }
}

/// `T` of `Name<T>`.
fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(argument) if segment.ident == name => Some(argument),
        _ => None,
    }
}

/// Whether a type is `&dyn Clock`.
pub fn is_clock(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else {
        return false;
    };
    let Type::TraitObject(object) = bare(&reference.elem) else {
        return false;
    };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => is_named(&bound.path, "Clock"),
        _ => false,
    })
}

fn is_named(path: &syn::Path, name: &str) -> bool {
    path.segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}

/// The form of a parameter that the model passes.
pub fn form(ty: &Type) -> Result<Form> {
    let Type::Reference(reference) = ty else {
        return match ty {
            Type::ImplTrait(_) => Err(Error::new_spanned(
                ty,
                "A tool parameter needs its own type, because the model sees it.",
            )),
            _ => Ok(Form::Value(Box::new(ty.clone()))),
        };
    };
    match bare(&reference.elem) {
        Type::Path(path) if reference.mutability.is_none() && path.path.is_ident("str") => {
            Ok(Form::Text)
        }
        Type::Path(path) if reference.mutability.is_none() && is_named(&path.path, "Json") => {
            Ok(Form::Json)
        }
        _ => Err(Error::new_spanned(
            ty,
            "A tool takes its parameters by value, or as `&str` or `&Json`.",
        )),
    }
}
