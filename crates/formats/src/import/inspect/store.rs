//! The state of a sample, and the changes (JSON Patch) that events make to it.

use volary_core::json::{Json, Key, Object};

use crate::import::expansion::{Expansion, size};

/// Applies the changes of an event. Changes that do not apply are dropped, and copies beyond the expansion limit;
/// returns the number of dropped changes.
pub(super) fn apply(state: &mut Json, changes: &[Json], expansion: &mut Expansion) -> usize {
    let changes = changes.iter();
    changes
        .filter(|change| change_one(state, change, expansion).is_none())
        .count()
}

/// The maximum nesting depth of a state, because readers have limits.
const DEEPEST: usize = 256;
/// The number of visited members or elements that counts as one created byte.
const SEARCHED: usize = 8;

fn change_one(state: &mut Json, change: &Json, expansion: &mut Expansion) -> Option<()> {
    if !expansion.take(1) {
        return None;
    }
    let path = pointer(change.get("path")?.as_text()?);
    if path.len() > DEEPEST {
        return None;
    }
    let value = || change.get("value").cloned().unwrap_or_default();
    let from = || Some(pointer(change.get("from")?.as_text()?));
    // Moves and copies could double or nest the state with every change.
    let allowed = |value: &Json, expansion: &mut Expansion| {
        if !expansion.take(size(value)) {
            // Measuring the size of the next value would take as long again.
            expansion.end();
            return false;
        }
        depth(value) + path.len() <= DEEPEST
    };
    match change.get("op")?.as_text()?.as_ref() {
        "add" => add(state, &path, value(), expansion),
        "replace" => {
            *find(state, &path, expansion)? = value();
            Some(())
        }
        "remove" => remove(state, &path, expansion).map(|_| ()),
        "move" => {
            let from = from()?;
            if !allowed(find(state, &from, expansion)?, expansion) {
                return None;
            }
            let value = remove(state, &from, expansion)?;
            add(state, &path, value, expansion)
        }
        "copy" => {
            let value = find(state, &from()?, expansion)?;
            if !allowed(value, expansion) {
                return None;
            }
            let value = value.clone();
            add(state, &path, value, expansion)
        }
        "test" => Some(()),
        _ => None,
    }
}

/// The segments of a JSON pointer.
fn pointer(path: &str) -> Vec<String> {
    let parts = path.split('/').skip(1);
    parts
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

/// The nesting depth of a value.
fn depth(value: &Json) -> usize {
    match value {
        Json::List(list) => 1 + list.iter().map(depth).max().unwrap_or_default(),
        Json::Object(object) => 1 + object.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn find<'a>(
    state: &'a mut Json,
    path: &[String],
    expansion: &mut Expansion,
) -> Option<&'a mut Json> {
    path.iter().try_fold(state, |value, part| match value {
        Json::Object(object) if expansion.take(object.len() / SEARCHED) => object.get_mut(part),
        Json::List(list) => list.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

fn add(state: &mut Json, path: &[String], value: Json, expansion: &mut Expansion) -> Option<()> {
    let Some((last, around)) = path.split_last() else {
        *state = value;
        return Some(());
    };
    match find(state, around, expansion)? {
        Json::Object(object) if expansion.take(object.len() / SEARCHED) => {
            object.insert(Key::Owned(last.clone()), value);
        }
        Json::List(list) => {
            let index = match last.as_str() {
                "-" => list.len(),
                index => index.parse().ok().filter(|index| *index <= list.len())?,
            };
            if !expansion.take((list.len() - index) / SEARCHED) {
                return None;
            }
            list.insert(index, value);
        }
        // A null becomes an object: stores start as null in some logs.
        null @ Json::Null => {
            *null = Json::Object(Object::from_distinct(vec![(
                Key::Owned(last.clone()),
                value,
            )]));
        }
        _ => return None,
    }
    Some(())
}

fn remove(state: &mut Json, path: &[String], expansion: &mut Expansion) -> Option<Json> {
    let (last, around) = path.split_last()?;
    match find(state, around, expansion)? {
        Json::Object(object) if expansion.take(object.len() / SEARCHED) => object.remove(last),
        Json::List(list) => {
            let index: usize = last.parse().ok()?;
            let is_there = index < list.len();
            (is_there && expansion.take((list.len() - index) / SEARCHED))
                .then(|| list.remove(index))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::json;

    #[test]
    fn changes_are_made_in_order() {
        let mut state = json!({"a": [1, 2]});
        let changes = [
            json!({"op": "add", "path": "/b~1c", "value": {"d": 1}}),
            json!({"op": "add", "path": "/a/-", "value": 3}),
            json!({"op": "remove", "path": "/a/0"}),
            json!({"op": "replace", "path": "/b~1c/d", "value": 2}),
            json!({"op": "move", "from": "/b~1c/d", "path": "/e"}),
            json!({"op": "replace", "path": "/nowhere/x", "value": 2}),
            json!({"op": "add", "path": "/a/9", "value": 2}),
        ];
        assert_eq!(apply(&mut state, &changes, &mut Expansion::of(0)), 2);
        assert_eq!(state, json!({"a": [2, 3], "b/c": {}, "e": 2}));
    }

    #[test]
    fn copies_do_not_double_the_state_without_end() {
        let mut state = json!({"a": ["some text"]});
        let copy = json!({"op": "copy", "from": "", "path": "/a/-"});
        let changes = vec![copy; 60];
        assert!(apply(&mut state, &changes, &mut Expansion::of(0)) > 30);
        assert!(size(&state) < 2 * crate::import::expansion::FREE);
    }

    #[test]
    fn changes_do_not_nest_the_state_without_end() {
        let mut state = json!({"a": {}, "b": {}});
        let turns = (0..4_000).map(|turn| match turn % 2 {
            0 => json!({"op": "move", "from": "/a", "path": "/b/x"}),
            _ => json!({"op": "move", "from": "/b", "path": "/a"}),
        });
        let changes: Vec<Json> = turns.collect();
        apply(&mut state, &changes, &mut Expansion::of(0));
        assert!(depth(&state) <= DEEPEST, "{}", depth(&state));
    }
}
