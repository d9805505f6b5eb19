//! Converts a JSON Schema into form fields.
//!
//! Schemas come from arbitrary tools and servers. Unsupported parts become fields for free JSON, so that every
//! schema gives a form that can hold every value.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};

/// The maximum number of fields per schema; deeper parts are edited as JSON.
const MOST_FIELDS: usize = 400;
/// Strings with a longer default or a larger maximum length get a multi-line field.
const LONG_TEXT: i64 = 200;

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key of the value.
    pub name: Text,
    /// The description.
    pub help: Option<Text>,
    /// Whether a value is required.
    pub required: bool,
    /// Whether `null` is allowed.
    pub nullable: bool,
    /// The default value.
    pub default: Option<Json>,
    /// Whether the value is hidden until it is edited: `writeOnly` in the schema.
    pub is_hidden: bool,
    /// The kind of value.
    pub kind: FieldKind,
}

/// The kind of value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A string, multi-line if `long`.
    Text {
        /// Whether the field starts with several lines.
        long: bool,
    },
    /// A whole number.
    Integer,
    Number,
    /// A boolean.
    Flag,
    /// One of these values.
    Choice(Vec<Json>),
    /// A constant.
    Fixed(Json),
    List {
        /// The field of each element.
        item: Arc<Field>,
        /// The minimum length.
        fewest: usize,
        /// The maximum length.
        most: Option<usize>,
    },
    Tuple(Vec<Arc<Field>>),
    /// An object with known keys.
    Group(Vec<Arc<Field>>),
    /// An object with arbitrary keys.
    Map {
        /// The field of each value.
        value: Arc<Field>,
    },
    /// One of several variants.
    Either(Vec<Arc<Field>>),
    /// Any JSON.
    Free,
}

impl Field {
    /// The field of the whole value.
    pub fn root(schema: &Json) -> Self {
        let mut maker = Maker {
            root: schema,
            references: Vec::new(),
            fields_left: MOST_FIELDS,
            is_hidden: false,
        };
        let mut root = maker.field("", schema, true);
        // The arguments of a tool are an object, even if its schema does not say so.
        if root.kind == FieldKind::Free && schema.get("properties").is_none() {
            root.kind = FieldKind::Group(Vec::new());
        }
        root
    }

    /// The possible meanings of a blank field, preferred ones first.
    pub fn blanks(&self) -> Vec<super::Blank> {
        use super::Blank;
        let mut blanks = Vec::with_capacity(2);
        let null_is_default = self.default.as_ref().is_none_or(Json::is_null);
        if self.nullable && (self.required || !null_is_default) {
            blanks.push(Blank::Null);
        }
        if !self.required {
            blanks.push(Blank::LeftOut);
        }
        if self.nullable && !blanks.contains(&Blank::Null) {
            blanks.push(Blank::Null);
        }
        blanks
    }

    /// The variant at an index, for a field with several variants.
    pub fn variant(&self, place: usize) -> Option<&Arc<Field>> {
        match &self.kind {
            FieldKind::Either(variants) => variants.get(place),
            _ => None,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self.kind, FieldKind::Integer | FieldKind::Number)
    }

    /// The name of the kind.
    pub fn kind_text(&self) -> &'static str {
        match &self.kind {
            FieldKind::Text { .. } => "text",
            FieldKind::Integer => "whole number",
            FieldKind::Number => "number",
            FieldKind::Flag => "yes or no",
            FieldKind::Choice(_) => "choice",
            FieldKind::Fixed(_) => "fixed",
            FieldKind::List { .. } | FieldKind::Tuple(_) => "list",
            FieldKind::Group(_) | FieldKind::Map { .. } => "object",
            FieldKind::Either(_) => "one of several",
            FieldKind::Free => "JSON",
        }
    }
}

struct Maker<'a> {
    root: &'a Json,
    /// The references that are being resolved. A recursive one becomes free JSON.
    references: Vec<Text>,
    fields_left: usize,
    /// Whether the field that is being made is hidden.
    is_hidden: bool,
}

/// Whether a value is meant to be written and not read, such as an answer that a player should not see.
pub fn is_write_only(schema: &Json) -> bool {
    schema.get("writeOnly").and_then(Json::as_bool) == Some(true)
}

impl<'a> Maker<'a> {
    fn field(&mut self, name: &str, schema: &'a Json, required: bool) -> Field {
        let mut field = Field {
            name: name.into(),
            help: text_at(schema, "description"),
            required,
            nullable: false,
            default: schema.get("default").cloned(),
            is_hidden: self.is_hidden || is_write_only(schema),
            kind: FieldKind::Free,
        };
        if self.fields_left == 0 {
            return field;
        }
        self.fields_left -= 1;
        // A hidden field is hidden in each variant.
        let outer = std::mem::replace(&mut self.is_hidden, field.is_hidden);
        let (kind, nullable) = self.kind(schema, &mut field.help);
        self.is_hidden = outer;
        field.kind = match kind {
            // An optional constant is a choice between present and absent.
            FieldKind::Fixed(value) if !required => FieldKind::Choice(vec![value]),
            kind => kind,
        };
        field.nullable = nullable;
        field
    }

    /// The kind, and whether `null` is allowed. The description of a referenced schema is used if the field has
    /// none.
    fn kind(&mut self, schema: &'a Json, help: &mut Option<Text>) -> (FieldKind, bool) {
        if let Some(reference) = text_at(schema, "$ref") {
            if self.references.contains(&reference) {
                return (FieldKind::Free, false);
            }
            let Some(target) = self.target(&reference) else {
                return (FieldKind::Free, false);
            };
            if help.is_none() {
                *help = text_at(target, "description");
            }
            self.references.push(reference);
            let kind = self.kind(target, help);
            self.references.pop();
            return kind;
        }
        if let Some(fixed) = schema.get("const") {
            return (FieldKind::Fixed(fixed.clone()), false);
        }
        if let Some(options) = schema.get("enum").and_then(Json::as_list) {
            let nullable = options.iter().any(Json::is_null);
            let given = options.iter().filter(|option| !option.is_null());
            return (FieldKind::Choice(given.cloned().collect()), nullable);
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(variants) = schema.get(union).and_then(Json::as_list) {
                return self.union(variants.iter(), help);
            }
        }
        if let Some([only]) = schema.get("allOf").and_then(Json::as_list) {
            return self.kind(only, help);
        }
        match schema.get("type") {
            Some(Json::Text(name)) => (self.typed(name, schema), false),
            Some(Json::List(names)) => self.types(names, schema),
            _ if schema.get("properties").is_some() => (self.typed("object", schema), false),
            _ => (FieldKind::Free, false),
        }
    }

    fn target(&self, reference: &str) -> Option<&'a Json> {
        let mut target = self.root;
        for step in reference.strip_prefix('#')?.split('/').skip(1) {
            target = target.get(&step.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(target)
    }

    fn union(
        &mut self,
        variants: impl Iterator<Item = &'a Json>,
        help: &mut Option<Text>,
    ) -> (FieldKind, bool) {
        let mut fields = Vec::new();
        let mut nullable = false;
        for variant in variants {
            if is_null_type(variant) {
                nullable = true;
                continue;
            }
            let title = text_at(variant, "title").or_else(|| {
                let target = self.target(&text_at(variant, "$ref")?)?;
                text_at(target, "title")
            });
            let name = title.unwrap_or_default();
            let field = self.field(&name, variant, true);
            nullable |= field.nullable;
            fields.push(field);
        }
        (self.either(fields, help), nullable)
    }

    fn types(&mut self, names: &'a [Json], schema: &'a Json) -> (FieldKind, bool) {
        let names: Vec<&Text> = names.iter().filter_map(Json::as_text).collect();
        let nullable = names.iter().any(|name| &***name == "null");
        let fields = names
            .into_iter()
            .filter(|name| &***name != "null")
            .map(|name| Field {
                name: Text::default(),
                help: None,
                required: true,
                nullable: false,
                default: None,
                is_hidden: self.is_hidden,
                kind: self.typed(name, schema),
            })
            .collect();
        (self.either(fields, &mut None), nullable)
    }

    /// One of several variants; a single variant replaces the choice.
    fn either(&mut self, mut fields: Vec<Field>, help: &mut Option<Text>) -> FieldKind {
        match fields.len() {
            0 => FieldKind::Free,
            1 => fields.pop().map_or(FieldKind::Free, |only| {
                if help.is_none() {
                    *help = only.help;
                }
                only.kind
            }),
            _ if fields.iter().all(Field::is_number) => FieldKind::Number,
            _ => {
                for field in &mut fields {
                    if field.name.is_empty() {
                        field.name = field.kind_text().into();
                    }
                }
                FieldKind::Either(fields.into_iter().map(Arc::new).collect())
            }
        }
    }

    fn typed(&mut self, name: &str, schema: &'a Json) -> FieldKind {
        match name {
            "string" => FieldKind::Text {
                long: is_long(schema),
            },
            "integer" => FieldKind::Integer,
            "number" => FieldKind::Number,
            "boolean" => FieldKind::Flag,
            "null" => FieldKind::Fixed(Json::Null),
            "array" => self.list(schema),
            "object" => self.object(schema),
            _ => FieldKind::Free,
        }
    }

    fn list(&mut self, schema: &'a Json) -> FieldKind {
        if let Some(prefix) = schema.get("prefixItems").and_then(Json::as_list) {
            // Only if each of them has exactly one value.
            let exact = number_at(schema, "minItems") == Some(prefix.len())
                && (number_at(schema, "maxItems") == Some(prefix.len())
                    || schema.get("items").and_then(Json::as_bool) == Some(false));
            if !exact {
                return FieldKind::Free;
            }
            return FieldKind::Tuple(
                prefix
                    .iter()
                    .enumerate()
                    .map(|(place, item)| Arc::new(self.field(&(place + 1).to_string(), item, true)))
                    .collect(),
            );
        }
        match schema.get("items") {
            Some(item @ Json::Object(_)) => FieldKind::List {
                item: Arc::new(self.field("", item, true)),
                fewest: number_at(schema, "minItems").unwrap_or_default(),
                most: number_at(schema, "maxItems"),
            },
            _ => FieldKind::Free,
        }
    }

    fn object(&mut self, schema: &'a Json) -> FieldKind {
        if let Some(properties) = schema.get("properties").and_then(Json::as_object)
            && (!properties.is_empty() || !has_free_keys(schema))
        {
            let required = schema.get("required").and_then(Json::as_list);
            return FieldKind::Group(self.members(properties, required.unwrap_or_default()));
        }
        match schema.get("additionalProperties") {
            Some(value @ Json::Object(_)) => FieldKind::Map {
                value: Arc::new(self.field("", value, true)),
            },
            _ if schema.get("properties").is_some() => FieldKind::Group(Vec::new()),
            _ => FieldKind::Free,
        }
    }

    fn members(&mut self, properties: &'a Object, required: &[Json]) -> Vec<Arc<Field>> {
        properties
            .iter()
            .map(|(name, schema)| {
                let required = required
                    .iter()
                    .any(|key| key.as_text().is_some_and(|key| **key == **name));
                Arc::new(self.field(name, schema, required))
            })
            .collect()
    }
}

/// Whether the schema describes additional keys.
fn has_free_keys(schema: &Json) -> bool {
    matches!(schema.get("additionalProperties"), Some(Json::Object(_)))
}

fn is_null_type(schema: &Json) -> bool {
    let by_type = schema.get("type").and_then(Json::as_text);
    by_type.is_some_and(|name| &**name == "null") || schema.get("const").is_some_and(Json::is_null)
}

fn is_long(schema: &Json) -> bool {
    let most = schema.get("maxLength").and_then(Json::as_i64);
    let default = text_at(schema, "default");
    text_at(schema, "contentMediaType").is_some()
        || text_at(schema, "format").is_some_and(|format| &*format == "multiline")
        || most.is_some_and(|most| most > LONG_TEXT)
        || default.is_some_and(|text| text.contains('\n') || text.len() as i64 > LONG_TEXT)
}

fn text_at(schema: &Json, key: &str) -> Option<Text> {
    let text = schema.get(key)?.as_text()?;
    (!text.is_empty()).then(|| text.clone())
}

fn number_at(schema: &Json, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_i64()?).ok()
}
