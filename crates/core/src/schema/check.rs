//! The validator: walks schema and value together and collects violations.

use std::borrow::Cow;

use super::messages::{self, JsonType};
use super::{CHECKS_LIMIT, DEPTH_LIMIT, resolve};
use crate::fields::FieldError;
use crate::json::{Json, Key, Object};

pub(super) fn check(schema: &Json, value: &Json) -> Vec<FieldError> {
    let mut checker = Checker {
        root: schema,
        path: String::new(),
        depth: DEPTH_LIMIT,
        left: CHECKS_LIMIT,
        problems: Vec::new(),
    };
    checker.check(schema, value);
    match checker.left {
        0 => vec![FieldError::new(
            "",
            "is too large, or its schema too involved, to be checked",
        )],
        _ => checker.problems,
    }
}

struct Checker<'a> {
    root: &'a Json,
    path: String,
    /// The remaining nesting of schemas.
    depth: usize,
    /// The remaining number of schemas to apply.
    left: usize,
    problems: Vec<FieldError>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Json, value: &Json) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return;
        }
        let Some(depth) = self.depth.checked_sub(1) else {
            return self.report("is nested too deeply to be checked");
        };
        let Some(resolved) = resolve(self.root, schema) else {
            return self.report("has a schema with an unresolved reference");
        };
        let outer = std::mem::replace(&mut self.depth, depth);
        match resolved {
            Json::Bool(false) => self.report("is not allowed"),
            Json::Object(schema) => self.check_object(schema, value),
            _ => {}
        }
        self.depth = outer;
    }

    fn check_object(&mut self, schema: &'a Object, value: &Json) {
        let mut kinds = JsonType::of_schema(schema).peekable();
        if kinds.peek().is_some() && !kinds.any(|kind| kind.holds(value)) {
            // A value of the wrong type gets only that error.
            let kinds: Vec<JsonType> = JsonType::of_schema(schema).collect();
            return self.report(messages::wrong_type(&kinds, value));
        }
        if let Some(constant) = schema.get("const")
            && !equal(constant, value)
        {
            self.report(format!("must be {}", constant.to_compact_text()));
        }
        if let Some(Json::List(options)) = schema.get("enum")
            && !options.iter().any(|option| equal(option, value))
        {
            self.report(messages::not_an_option(options));
        }
        if let Some(Json::List(parts)) = schema.get("allOf") {
            parts.iter().for_each(|part| self.check(part, value));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::List(branches)) = schema.get(key) {
                self.check_any(branches, value);
            }
        }
        match value {
            Json::Object(object) => self.check_members(schema, object),
            Json::List(list) => self.check_elements(schema, list),
            Json::Text(text) => self.check_length(schema, text),
            Json::Integer(_) | Json::Float(_) => self.check_size(schema, value),
            Json::Null | Json::Bool(_) => {}
        }
    }

    /// One branch must match. If none does but one has the value's type, its violations are reported.
    fn check_any(&mut self, branches: &'a [Json], value: &Json) {
        let before = self.problems.len();
        let mut told: Option<Vec<FieldError>> = None;
        let mut of_its_type = 0;
        for branch in branches {
            self.check(branch, value);
            if self.problems.len() == before {
                return;
            }
            let problems = self.problems.split_off(before);
            let resolved = resolve(self.root, branch).and_then(Json::as_object);
            let mut kinds = resolved.into_iter().flat_map(JsonType::of_schema);
            if kinds.any(|kind| kind.holds(value)) {
                of_its_type += 1;
                told = Some(problems);
            }
        }
        match told {
            Some(problems) if of_its_type == 1 => self.problems.extend(problems),
            _ => {
                let resolved = branches
                    .iter()
                    .filter_map(|branch| resolve(self.root, branch)?.as_object());
                let wanted = messages::any_of(resolved);
                self.report(wanted);
            }
        }
    }

    fn check_members(&mut self, schema: &'a Object, object: &Object) {
        let properties = schema.get("properties").and_then(Json::as_object);
        let known = |name: &Key| properties.and_then(|properties| properties.get(name));
        for name in names(schema.get("required")) {
            if !object.contains_key(name) {
                self.within(&member(name), |checker| checker.report("is required"));
            }
        }
        for (name, value) in object.iter() {
            let additional = schema.get("additionalProperties");
            match (known(name), additional) {
                (Some(property), _) => {
                    self.within(&member(name), |checker| checker.check(property, value));
                }
                (None, Some(Json::Bool(false))) => {
                    let message = messages::unknown(properties);
                    self.within(&member(name), |checker| checker.report(message));
                }
                (None, Some(schema)) => {
                    self.within(&member(name), |checker| checker.check(schema, value));
                }
                (None, None) => {}
            }
        }
    }

    fn check_elements(&mut self, schema: &'a Object, list: &[Json]) {
        let prefix = schema
            .get("prefixItems")
            .and_then(Json::as_list)
            .unwrap_or_default();
        for (index, element) in list.iter().enumerate() {
            if let Some(schema) = prefix.get(index).or(schema.get("items")) {
                self.within(&format!("[{index}]"), |checker| {
                    checker.check(schema, element);
                });
            }
        }
        if let Some(least) = limit(schema, "minItems")
            && (list.len() as f64) < least
        {
            self.report(format!(
                "must have at least {}",
                messages::count(least, "element")
            ));
        }
        if let Some(most) = limit(schema, "maxItems")
            && (list.len() as f64) > most
        {
            self.report(format!(
                "must have at most {}",
                messages::count(most, "element")
            ));
        }
        if schema.get("uniqueItems") == Some(&Json::Bool(true)) {
            let repeated = list.iter().enumerate().find(|(index, element)| {
                list[..*index].iter().any(|earlier| equal(earlier, element))
            });
            if let Some((index, _)) = repeated {
                self.within(&format!("[{index}]"), |checker| {
                    checker.report("is a duplicate; elements must be unique");
                });
            }
        }
    }

    fn check_length(&mut self, schema: &Object, text: &str) {
        if let Some(least) = limit(schema, "minLength")
            && (text.chars().count() as f64) < least
        {
            self.report(match least {
                1.0 => "must not be empty".to_owned(),
                least => format!("must have at least {}", messages::count(least, "character")),
            });
        }
    }

    fn check_size(&mut self, schema: &Object, value: &Json) {
        let size = value.as_f64().unwrap_or_default();
        // NaN compares with nothing, so this form makes it violate every bound.
        if let Some(least) = limit(schema, "minimum")
            && (size < least || size.is_nan())
        {
            self.report(format!("must be at least {}", messages::number(least)));
        }
        if let Some(most) = limit(schema, "maximum")
            && (size > most || size.is_nan())
        {
            self.report(format!("must be at most {}", messages::number(most)));
        }
    }

    fn within(&mut self, step: &str, check: impl FnOnce(&mut Self)) {
        let before = self.path.len();
        if !step.starts_with('[') && before > 0 {
            self.path.push('.');
        }
        self.path.push_str(step);
        check(self);
        self.path.truncate(before);
    }

    fn report(&mut self, reason: impl Into<String>) {
        self.problems
            .push(FieldError::new(self.path.clone(), reason));
    }
}

/// A member's segment of a path, with brackets around ambiguous names.
fn member(name: &str) -> Cow<'_, str> {
    if name.is_empty() || name.contains(['.', '[', ']', ' ']) {
        format!("[{}]", Json::from(name).to_compact_text()).into()
    } else {
        name.into()
    }
}

fn names(list: Option<&Json>) -> impl Iterator<Item = &str> {
    list.and_then(Json::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(|name| name.as_text().map(|name| &**name))
}

fn limit(schema: &Object, key: &str) -> Option<f64> {
    schema.get(key).and_then(Json::as_f64)
}

/// Equality by value: an integer equals a float of the same value.
fn equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Integer(integer), Json::Float(float))
        | (Json::Float(float), Json::Integer(integer)) => integer.to_f64() == *float,
        (Json::List(one), Json::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    /// The violations as texts.
    fn problems(schema: Json, value: Json) -> Vec<String> {
        let problems = check(&schema, &value);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn types() {
        assert!(problems(json!({"type": "integer"}), json!(2.0)).is_empty());
        assert!(problems(json!({"type": ["string", "null"]}), json!(null)).is_empty());
        assert_eq!(
            problems(json!({"type": "integer"}), json!(2.5)),
            ["must be a whole number, not 2.5"]
        );
        assert_eq!(
            problems(json!({"type": ["string", "null"]}), json!([])),
            ["must be a string or null, not a list"]
        );
    }

    #[test]
    fn all_problems_are_reported() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": {"type": "number", "minimum": 0, "maximum": 1},
                "t": {"type": "string", "minLength": 1},
                "e": {"enum": ["a", 1]},
                "l": {"type": "array", "items": {"type": "string"}, "maxItems": 1, "uniqueItems": true}
            },
            "required": ["n", "missing"],
            "additionalProperties": false
        });
        let value = json!({"n": 2, "t": "", "e": 1.0, "l": ["x", 5, "x"], "more": 1});
        assert_eq!(
            problems(schema, value),
            [
                "missing: is required",
                "n: must be at most 1",
                "t: must not be empty",
                "l[1]: must be a string, not a whole number",
                "l: must have at most 1 element",
                "l[2]: is a duplicate; elements must be unique",
                "more: is unknown; known are n, t, e, l",
            ]
        );
    }

    #[test]
    fn references_prefixes_and_maps() {
        let schema = json!({
            "$defs": {"Pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"const": "x"}], "minItems": 2}},
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Pair"}
        });
        assert!(problems(schema.clone(), json!({"a": [1, "x", null]})).is_empty());
        assert_eq!(
            problems(schema, json!({"a": ["1", "y"], "b.c": [1]})),
            [
                "a[0]: must be a whole number, not a string",
                "a[1]: must be \"x\"",
                "[\"b.c\"]: must have at least 2 elements",
            ]
        );
    }

    #[test]
    fn one_branch_must_fit() {
        let schema = json!({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]});
        assert!(problems(schema.clone(), json!(null)).is_empty());
        assert_eq!(problems(schema.clone(), json!(1)), ["must be at least 3"]);
        assert_eq!(
            problems(schema, json!("x")),
            ["must be a whole number or null"]
        );
    }

    #[test]
    fn circles_end() {
        let schema =
            json!({"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}, "$ref": "#/$defs/A"});
        assert_eq!(problems(schema, json!(1)).len(), 1);
        let branching = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
        assert_eq!(
            problems(branching, json!(1)),
            ["is too large, or its schema too involved, to be checked"]
        );
    }
}
