//! Random values that match a JSON Schema: small ones, like those that people type.
//!
//! Invariant: the same source of randomness and the same schema give the same value.

use volary_core::json::{Json, Key, Object};
use volary_core::random::Random;
use volary_core::schema;

/// Below this depth only required members are drawn, so that recursive schemas terminate.
const DEEP: usize = 4;

/// Below this depth every value is null.
const DEEPEST: usize = 24;

const WORDS: [&str; 12] = [
    "red", "lamp", "seven", "north", "open", "blue", "door", "apple", "left", "story", "stone",
    "bird",
];

/// Draws an object for a schema of type object.
pub fn draw_object(root: &Json, random: &mut Random) -> Object {
    // Some keywords of schemas are not supported; a value that violates them is drawn again.
    const TRIES: usize = 8;
    let mut drawn = Json::default();
    for _ in 0..TRIES {
        drawn = Draw { root, random }.object(root, 0).into();
        if schema::check(root, &drawn).is_empty() {
            break;
        }
    }
    match drawn {
        Json::Object(drawn) => drawn,
        _ => Object::new(),
    }
}

struct Draw<'a> {
    root: &'a Json,
    random: &'a mut Random,
}

impl Draw<'_> {
    fn chance(&mut self, of: u64) -> bool {
        self.random.below(of) == 0
    }

    fn value(&mut self, schema: &Json, depth: usize) -> Json {
        let Some(schema) = schema::resolve(self.root, schema) else {
            return Json::Null;
        };
        if depth > DEEPEST {
            return Json::Null;
        }
        if let Some(default) = schema.get("default")
            && self.chance(4)
        {
            return default.clone();
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = list(schema, "enum") {
            return self.random.pick(values).cloned().unwrap_or_default();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = list(schema, key).filter(|branches| !branches.is_empty()) {
                let branch = self.branch(branches, depth);
                return self.value(&branch, depth + 1);
            }
        }
        if let Some(parts) = list(schema, "allOf") {
            let merged = self.merged(schema, parts);
            return self.value(&merged, depth + 1);
        }
        let kinds = match schema.get("type") {
            Some(Json::List(kinds)) => kinds,
            Some(kind) => std::slice::from_ref(kind),
            None => &[],
        };
        let kind = self.random.pick(kinds).and_then(Json::as_text);
        self.of_kind(kind.map_or("", |kind| kind), schema, depth)
    }

    /// At depth, the first branch without nested values is chosen.
    fn branch(&mut self, branches: &[Json], depth: usize) -> Json {
        let ends = |branch: &&Json| {
            let resolved = schema::resolve(self.root, branch);
            let kind = resolved.and_then(|schema| schema.get("type")?.as_text());
            kind.is_some_and(|kind| !matches!(&**kind, "object" | "array"))
        };
        let last = branches.iter().find(ends).filter(|_| depth >= DEEP);
        let branch = last.or_else(|| self.random.pick(branches));
        branch.cloned().unwrap_or_default()
    }

    /// Merges all parts of a schema and their siblings into one schema.
    fn merged(&self, schema: &Json, parts: &[Json]) -> Json {
        let parts = parts
            .iter()
            .filter_map(|part| schema::resolve(self.root, part));
        let mut merged = Object::new();
        for part in parts.chain([schema]).filter_map(Json::as_object) {
            for (key, value) in part.iter().filter(|(key, _)| *key != "allOf") {
                let joined = match (merged.get(key), value) {
                    (Some(Json::Object(before)), Json::Object(more)) => {
                        let before = before.clone().into_iter();
                        Object::from_pairs(before.chain(more.clone()).collect()).into()
                    }
                    (Some(Json::List(before)), Json::List(more)) if key == "required" => {
                        [before.as_slice(), more].concat().into()
                    }
                    _ => value.clone(),
                };
                merged.insert(key.clone(), joined);
            }
        }
        merged.into()
    }

    fn of_kind(&mut self, kind: &str, schema: &Json, depth: usize) -> Json {
        match kind {
            "string" => self.text(schema).into(),
            "integer" => self.integer(schema).into(),
            "number" => self.number(schema).into(),
            "boolean" => self.random.bool().into(),
            "null" => Json::Null,
            "array" => self.array(schema, depth).into(),
            "object" => self.object(schema, depth).into(),
            _ => match self.random.below(4) {
                0 => self.integer(schema).into(),
                1 => self.random.bool().into(),
                2 => self.text(schema).into(),
                _ => Json::Null,
            },
        }
    }

    fn text(&mut self, schema: &Json) -> String {
        let mut text = match self.random.below(4) {
            0 => self.random.range(0..=20).to_string(),
            1 => {
                let sign = self.random.pick(&["+", "-", "*", "/"]).copied();
                let (left, right) = (self.random.range(0..=20), self.random.range(1..=20));
                format!("{left} {} {right}", sign.unwrap_or("+"))
            }
            2 => self.word().to_owned(),
            _ => format!("{} {}", self.word(), self.word()),
        };
        let least = count(schema, "minLength").unwrap_or(0);
        while text.chars().count() < least {
            text.push(' ');
            text.push_str(self.word());
        }
        if let Some(most) = count(schema, "maxLength") {
            text = text.chars().take(most).collect();
        }
        text
    }

    fn word(&mut self) -> &'static str {
        self.random.pick(&WORDS).copied().unwrap_or_default()
    }

    fn integer(&mut self, schema: &Json) -> i64 {
        let (low, high) = limits(schema, |_| 1.0);
        // Saturating: bounds beyond `i64` are clamped.
        let (low, high) = (low.ceil() as i64, high.floor() as i64);
        self.random.range(low..=high)
    }

    fn number(&mut self, schema: &Json) -> f64 {
        let (low, high) = limits(schema, |bound| f64::EPSILON * bound.abs().max(1.0));
        let drawn = low + (high - low) * self.random.float01();
        let rounded = (drawn * 100.0).round() / 100.0;
        if (low..=high).contains(&rounded) {
            rounded
        } else {
            drawn.clamp(low, high.max(low))
        }
    }

    fn array(&mut self, schema: &Json, depth: usize) -> Vec<Json> {
        let front = list(schema, "prefixItems").unwrap_or_default();
        let least = count(schema, "minItems").unwrap_or(0);
        let most = count(schema, "maxItems").unwrap_or(least.max(3));
        let more = if depth >= DEEP { 0 } else { 3 };
        let wanted = least.max(front.len()) + self.random.below(more + 1) as usize;
        let length = wanted.min(most.max(least));
        let unique = schema.get("uniqueItems").and_then(Json::as_bool) == Some(true);
        let mut values: Vec<Json> = Vec::new();
        for index in 0..length {
            let items = front.get(index).or_else(|| schema.get("items"));
            let value = match items {
                Some(items) => self.value(items, depth + 1),
                None if index >= front.len() && !front.is_empty() => break,
                None => self.value(&Json::Null, depth + 1),
            };
            if !unique || !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    fn object(&mut self, schema: &Json, depth: usize) -> Object {
        let required = list(schema, "required").unwrap_or_default();
        let mut drawn = Object::new();
        let properties = schema.get("properties").and_then(Json::as_object);
        for (name, property) in properties.into_iter().flat_map(Object::iter) {
            let must = required
                .iter()
                .filter_map(Json::as_text)
                .any(|key| **key == **name);
            if must || (depth < DEEP && self.random.bool()) {
                let value = self.value(property, depth + 1);
                drawn.insert(name.clone(), value);
            }
        }
        if let (None, Some(others @ Json::Object(_))) =
            (properties, schema.get("additionalProperties"))
        {
            for _ in 0..self.random.below(3) {
                let value = self.value(others, depth + 1);
                drawn.insert(Key::Borrowed(self.word()), value);
            }
        }
        drawn
    }
}

fn list<'a>(schema: &'a Json, key: &str) -> Option<&'a [Json]> {
    schema.get(key)?.as_list()
}

/// A length bound. Capped, so that a bound of millions does not draw millions of values.
fn count(schema: &Json, key: &str) -> Option<usize> {
    bound(schema, key).map(|count| count.clamp(0.0, 1000.0) as usize)
}

fn bound(schema: &Json, key: &str) -> Option<f64> {
    schema.get(key)?.as_f64().filter(|bound| bound.is_finite())
}

/// The bounds of a number, near zero where the schema has none. `step` moves an exclusive bound inwards.
fn limits(schema: &Json, step: fn(f64) -> f64) -> (f64, f64) {
    const WIDTH: f64 = 20.0;
    let above = bound(schema, "exclusiveMinimum").map(|bound| bound + step(bound));
    let below = bound(schema, "exclusiveMaximum").map(|bound| bound - step(bound));
    let low = bound(schema, "minimum").into_iter().chain(above);
    let high = bound(schema, "maximum").into_iter().chain(below);
    match (low.reduce(f64::max), high.reduce(f64::min)) {
        (Some(low), Some(high)) => (low, high.max(low)),
        (Some(low), None) => (low, low + WIDTH),
        (None, Some(high)) => (high - WIDTH, high),
        (None, None) => (-WIDTH / 2.0, WIDTH / 2.0),
    }
}
