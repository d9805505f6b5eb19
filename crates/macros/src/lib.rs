//! `#[tool]`: a function with doc comments becomes a tool. `#[derive(ToolParameter)]` and
//! `#[derive(ToolRecord)]`: structs and enums as parameters and as results.
//!
//! Invariants: what aviary rejects at run time (no description, a parameter without one) is
//! a compile-time error here, with the span of its source; and the generated schema
//! equals aviary's for the same Python function. The generated code refers to
//! `::volary_core`.

mod attribute;
mod derive;
mod docs;
mod tool;

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemFn, parse_macro_input};

/// Makes a function into a tool.
///
/// The function is unchanged. A namespace of the same name is added: `name::tool()` returns
/// the tool with its handler, typed by the state, or by any state if the function takes none
/// (`name::tool::<S>()`); `name::definition()` gives the definition alone.
///
/// **Texts.** The doc comment up to its first heading is the description. The section
/// `# Arguments` describes the parameters, one list item each: ``- `name`: text``, continued on
/// indented lines. Every other section (`# Hidden`, `# Errors`, …) is for people only.
///
/// **Parameters** are taken by value, of any type that implements `Parameter`, or as `&str` or `&Json`.
/// A leading `_` is not part of the name. Some are injected and never shown to a model:
///
/// | parameter | value |
/// |---|---|
/// | `state: &mut S` or `&S` | the state, borrowed while the function runs (not in async ones) |
/// | `state: &RefCell<S>` | the state, to be borrowed by the function, never over an await |
/// | `tool_call_id: &str` (`&Text`, `Text`, `String`) | the id of the call |
/// | `clock: &dyn Clock` | time |
///
/// On a parameter: `#[tool(default = expr)]` (`#[tool(default)]` for the type's own default)
/// makes it optional; `#[tool(rename = "name")]` renames it; `#[tool(schema = Type)]` shows the schema
/// of another type to the model; `#[tool(hidden)]` hides it from the model, so that it always has its
/// default.
///
/// **Results** are anything that implements `IntoToolResult`: texts, numbers, `bool`, `()`, `Option`, `Vec`,
/// `Json`, `Message`, records, and `Result`s of these.
///
/// Options: `#[tool(name = "…")]`, `allow_missing_descriptions`, `types_in_descriptions` (of
/// ``- `name` (type): text``), `concurrency_safe = false`.
///
/// ```
/// use volary_core::tool::BoundTool;
/// use volary_macros::tool;
///
/// /// Add to the sum.
/// ///
/// /// # Arguments
/// ///
/// /// - `by`: How much to add.
/// #[tool]
/// fn add(#[tool(default = 1)] by: i64, state: &mut i64) -> i64 {
///     *state += by;
///     *state
/// }
///
/// let tool: BoundTool<i64> = add::tool();
/// assert_eq!(&*tool.tool.info.description, "Add to the sum.");
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    tool::expand(options.into(), function).into()
}

/// Makes a struct or an enum into a type of parameters.
///
/// - A struct with named fields is a pydantic model: a reference into `$defs`. Doc comments are
///   descriptions. On fields: `#[tool(default)]`, `#[tool(default = expr)]`, `#[tool(rename = "…")]`.
/// - A struct around one value is that value.
/// - An enum without data is an enumeration of texts: a reference into `$defs`, or with
///   `#[tool(inline)]` a `Literal`. On variants: `#[tool(rename = "…")]`, or `#[tool(value = 1)]` for
///   a value that is no text.
/// - An enum with data and `#[tool(untagged)]` is a union: each case holds one value.
/// - An enum with data and `#[tool(tag = "kind")]` is a union of models told apart by that field.
///
/// On all: `#[tool(rename = "…")]` names the type, `#[tool(rename_all = "snake_case")]` its fields
/// or variants.
#[proc_macro_derive(ToolParameter, attributes(tool))]
pub fn derive_parameter(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    derive::parameter(&item)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct into a result of tools: compact JSON without null fields, as aviary gives models.
/// Fields are anything that converts into `Json`. An enum without data becomes a text.
///
/// On fields: `#[tool(rename = "…")]`; on the type: `#[tool(rename_all = "snake_case")]`.
#[proc_macro_derive(ToolRecord, attributes(tool))]
pub fn derive_record(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    derive::record(&item)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
