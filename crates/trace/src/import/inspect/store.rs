//! The state of a sample, and the changes (JSON Patch) that events make to it.

use volary_core::json::{Json, Key, Object};

/// Applies the changes of an event. What does not fit is left out; gives how many did not.
pub(super) fn apply(state: &mut Json, changes: &[Json]) -> usize {
    let changes = changes.iter();
    changes
        .filter(|change| change_one(state, change).is_none())
        .count()
}

fn change_one(state: &mut Json, change: &Json) -> Option<()> {
    let path = pointer(change.get("path")?.as_text()?);
    let value = || change.get("value").cloned().unwrap_or_default();
    let from = || Some(pointer(change.get("from")?.as_text()?));
    match change.get("op")?.as_text()?.as_ref() {
        "add" => add(state, &path, value()),
        "replace" => {
            *find(state, &path)? = value();
            Some(())
        }
        "remove" => remove(state, &path).map(|_| ()),
        "move" => {
            let value = remove(state, &from()?)?;
            add(state, &path, value)
        }
        "copy" => {
            let value = find(state, &from()?)?.clone();
            add(state, &path, value)
        }
        "test" => Some(()),
        _ => None,
    }
}

/// The parts of a JSON pointer.
fn pointer(path: &str) -> Vec<String> {
    let parts = path.split('/').skip(1);
    parts
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

fn find<'a>(state: &'a mut Json, path: &[String]) -> Option<&'a mut Json> {
    path.iter().try_fold(state, |value, part| match value {
        Json::Object(object) => object.get_mut(part),
        Json::List(list) => list.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

fn add(state: &mut Json, path: &[String], value: Json) -> Option<()> {
    let Some((last, around)) = path.split_last() else {
        *state = value;
        return Some(());
    };
    match find(state, around)? {
        Json::Object(object) => {
            object.insert(Key::Owned(last.clone()), value);
        }
        Json::List(list) => {
            let place = match last.as_str() {
                "-" => list.len(),
                place => place.parse().ok().filter(|place| *place <= list.len())?,
            };
            list.insert(place, value);
        }
        // What was null becomes an object: stores begin so in some logs.
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

fn remove(state: &mut Json, path: &[String]) -> Option<Json> {
    let (last, around) = path.split_last()?;
    match find(state, around)? {
        Json::Object(object) => object.remove(last),
        Json::List(list) => {
            let place: usize = last.parse().ok()?;
            (place < list.len()).then(|| list.remove(place))
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
        assert_eq!(apply(&mut state, &changes), 2);
        assert_eq!(state, json!({"a": [2, 3], "b/c": {}, "e": 2}));
    }
}
