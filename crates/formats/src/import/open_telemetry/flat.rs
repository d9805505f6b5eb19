//! Rebuilds lists and objects that are flattened to attributes with dotted names: `llm.input_messages.0.message.role`.
//!
//! Invariants: indices in a name only determine the order, so missing ones take no memory.

use std::collections::BTreeMap;

use volary_core::json::{Json, Key, Object};

/// The maximum number of parts of a name; the rest stays one part.
const DEEPEST: usize = 12;

/// The value at a prefix of a name.
enum Node {
    Value(Json),
    Below(BTreeMap<Part, Node>),
}

/// A part of a name: a list index, or a member name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Index(usize),
    Name(String),
}

/// The list whose elements have names with this prefix.
pub(super) fn list(attributes: &Object, prefix: &str) -> Vec<Json> {
    let below = attributes.iter().filter_map(|(key, value)| {
        let rest = key.strip_prefix(prefix)?.strip_prefix('.')?;
        rest.starts_with(|first: char| first.is_ascii_digit())
            .then_some((rest, value))
    });
    let elements = tree(below).into_iter();
    elements
        .filter(|(part, _)| matches!(part, Part::Index(_)))
        .map(|(_, node)| json(node))
        .collect()
}

/// Rebuilds an object whose members have dotted names.
pub(super) fn opened(object: Object) -> Object {
    if !object.keys().any(|key| key.contains('.')) {
        return object;
    }
    let pairs = object.iter().map(|(key, value)| (&**key, value));
    members(tree(pairs))
}

fn tree<'a>(pairs: impl Iterator<Item = (&'a str, &'a Json)>) -> BTreeMap<Part, Node> {
    let mut root = BTreeMap::new();
    for (name, value) in pairs {
        insert(&mut root, name, value);
    }
    root
}

/// Sets a value. If two names contradict each other, the first one wins.
fn insert(root: &mut BTreeMap<Part, Node>, name: &str, value: &Json) {
    let mut at = root;
    let mut parts = name.splitn(DEEPEST, '.').map(part).peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            at.entry(part).or_insert_with(|| Node::Value(value.clone()));
            return;
        }
        match at
            .entry(part)
            .or_insert_with(|| Node::Below(BTreeMap::new()))
        {
            Node::Below(below) => at = below,
            Node::Value(_) => return,
        }
    }
}

fn part(text: &str) -> Part {
    match text.parse() {
        Ok(index) => Part::Index(index),
        Err(_) => Part::Name(text.to_owned()),
    }
}

fn json(node: Node) -> Json {
    match node {
        Node::Value(value) => value,
        Node::Below(below) if below.keys().all(|part| matches!(part, Part::Index(_))) => {
            Json::List(below.into_values().map(json).collect())
        }
        Node::Below(below) => members(below).into(),
    }
}

fn members(below: BTreeMap<Part, Node>) -> Object {
    let pairs = below.into_iter().map(|(part, node)| {
        let key: Key = match part {
            Part::Index(index) => index.to_string().into(),
            Part::Name(name) => name.into(),
        };
        (key, json(node))
    });
    Object::from_pairs(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str, prefix: &str) -> String {
        let attributes = Json::parse(text).unwrap();
        Json::List(list(attributes.as_object().unwrap(), prefix)).to_compact_text()
    }

    #[test]
    fn long_names_are_lists_and_objects() {
        for (text, expected) in [
            (
                r#"{"m.1.a": 1, "m.0.b.c": 2, "m.0.b.d": 3}"#,
                r#"[{"b":{"c":2,"d":3}},{"a":1}]"#,
            ),
            (
                r#"{"m.0.l.10.a": 1, "m.0.l.9.a": 2}"#,
                r#"[{"l":[{"a":2},{"a":1}]}]"#,
            ),
            // Large indices create no elements in between.
            (
                r#"{"m.99999999999.a": 1, "m.7.a.88888888.b": 2}"#,
                r#"[{"a":[{"b":2}]},{"a":1}]"#,
            ),
            (
                r#"{"m.0.a": 1, "m.0.a.b": 2, "m.1.a.b": 3, "m.1.a": 4}"#,
                r#"[{"a":1},{"a":{"b":3}}]"#,
            ),
            (
                r#"{"m.x": 1, "mm.0.a": 2, "m": 3, "m.": 4, "m.0x.a": 5}"#,
                "[]",
            ),
            (r#"{"m.0": "text"}"#, r#"["text"]"#),
        ] {
            assert_eq!(listed(text, "m"), expected, "{text}");
        }
    }

    #[test]
    fn names_without_end_are_no_depth_without_end() {
        let name = format!("m.0{}", ".a".repeat(100_000));
        let attributes = Object::from_pairs(vec![(name.into(), Json::from(1))]);
        assert_eq!(list(&attributes, "m").len(), 1);
    }
}
