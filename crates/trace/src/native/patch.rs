//! Patches in the native format.
//!
//! A patch is null (nothing changed) or an object with one member: `set` with the new value;
//! `splice` with `[start, cut, end, insert]` for a text; `members` with `change`, `remove` and
//! `add` (of `[place, key, value]`) for an object; `elements` for a list, with numbers (so many stay),
//! `{"remove": n}`, `{"add": [...]}` and patches of single elements.

use volary_core::json::{Json, Key, Object};
use volary_core::{json, object};

use super::NativeError;
use super::node::{Fault, Node};
use crate::frames::FramePatch;
use crate::patch::{ListEdit, ObjectPatch, Patch, Splice};

impl FramePatch {
    /// The JSON form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::new();
        if let Some(deepcopy) = self.deepcopy {
            object.insert("deepcopy", deepcopy);
        }
        for (key, patch) in [("state", &self.state), ("info", &self.info)] {
            if *patch != Patch::Same {
                object.insert(key, patch_to_json(patch));
            }
        }
        object.into()
    }

    /// Reads the JSON form.
    pub fn from_json(value: &Json) -> Result<FramePatch, NativeError> {
        Ok(frame_patch(Node::root(value))?)
    }
}

pub(super) fn frame_patch(node: Node<'_>) -> Result<FramePatch, Fault> {
    Ok(FramePatch {
        deepcopy: node.optional("deepcopy", |node| node.boolean())?,
        state: node.optional("state", patch)?.unwrap_or_default(),
        info: node.optional("info", patch)?.unwrap_or_default(),
    })
}

fn patch_to_json(patch: &Patch) -> Json {
    match patch {
        Patch::Same => Json::Null,
        Patch::Set(value) => json!({ "set": (value.clone()) }),
        Patch::Splice(splice) => json!({
            "splice": [
                (count(splice.start)), (count(splice.cut)), (count(splice.end)),
                (splice.insert.clone())
            ]
        }),
        Patch::Object(patch) => json!({ "members": (members_to_json(patch)) }),
        Patch::List(edits) => {
            json!({ "elements": (edits.iter().map(edit_to_json).collect::<Vec<_>>()) })
        }
    }
}

fn count(count: usize) -> Json {
    // No list or text in memory is longer.
    Json::from(i64::try_from(count).unwrap_or(i64::MAX))
}

fn members_to_json(patch: &ObjectPatch) -> Object {
    let mut object = Object::new();
    if !patch.change.is_empty() {
        let change = patch.change.iter();
        let change = change.map(|(key, patch)| (key.clone(), patch_to_json(patch)));
        object.insert("change", Object::from_pairs(change.collect()));
    }
    if !patch.remove.is_empty() {
        let remove = patch.remove.iter();
        let remove: Vec<Json> = remove.map(|key| Json::from(key.as_ref())).collect();
        object.insert("remove", remove);
    }
    if !patch.add.is_empty() {
        let add = patch.add.iter();
        let add: Vec<Json> = add
            .map(|(place, key, value)| json!([(count(*place)), (key.as_ref()), (value.clone())]))
            .collect();
        object.insert("add", add);
    }
    object
}

fn edit_to_json(edit: &ListEdit) -> Json {
    match edit {
        ListEdit::Keep(length) => count(*length),
        ListEdit::Remove(length) => Json::Object(object!({ "remove": (count(*length)) })),
        ListEdit::Add(values) => Json::Object(object!({ "add": (values.clone()) })),
        ListEdit::Change(patch) => patch_to_json(patch),
    }
}

fn patch(node: Node<'_>) -> Result<Patch, Fault> {
    if node.value().is_null() {
        return Ok(Patch::Same);
    }
    let mut members = node.object()?.iter();
    let (Some((key, value)), None) = (members.next(), members.next()) else {
        return Err(node.refuse("must have exactly one member"));
    };
    match key.as_ref() {
        "set" => Ok(Patch::Set(value.clone())),
        "splice" => Ok(Patch::Splice(node.member("splice", splice)?)),
        "members" => Ok(Patch::Object(node.member("members", members_patch)?)),
        "elements" => Ok(Patch::List(
            node.member("elements", |node| node.each(edit))?,
        )),
        other => Err(node.refuse(format!("says \"{other}\", which no change is called"))),
    }
}

fn splice(node: Node<'_>) -> Result<Splice, Fault> {
    let [start, cut, end, insert] = node.list()? else {
        return Err(node.refuse("must have four elements"));
    };
    let count = |value| {
        Node::root(value)
            .count()
            .map_err(|_| node.refuse("must begin with three counts"))
    };
    let insert = insert.as_text().cloned();
    Ok(Splice {
        start: count(start)?,
        cut: count(cut)?,
        end: count(end)?,
        insert: insert.ok_or_else(|| node.refuse("must end with a text"))?,
    })
}

fn members_patch(node: Node<'_>) -> Result<ObjectPatch, Fault> {
    let change = node.optional("change", |node| {
        node.each_member(|key, node| Ok((Key::Owned(key.to_owned()), patch(node)?)))
    })?;
    let remove = node.optional("remove", |node| {
        node.each(|node| Ok(Key::Owned(node.text()?.to_string())))
    })?;
    let add = node.optional("add", |node| node.each(added))?;
    Ok(ObjectPatch {
        change: change.unwrap_or_default(),
        remove: remove.unwrap_or_default(),
        add: add.unwrap_or_default(),
    })
}

fn added(node: Node<'_>) -> Result<(usize, Key, Json), Fault> {
    match node.list()? {
        [place, Json::Text(key), value] => {
            let place = Node::root(place).count();
            let place = place.map_err(|_| node.refuse("must begin with a place"))?;
            Ok((place, Key::Owned(key.to_string()), value.clone()))
        }
        _ => Err(node.refuse("must be a place, a key and a value")),
    }
}

fn edit(node: Node<'_>) -> Result<ListEdit, Fault> {
    if let Json::Integer(_) = node.value() {
        return Ok(ListEdit::Keep(node.count()?));
    }
    if let Some(length) = node.value().get("remove") {
        return match length {
            Json::Integer(_) => Ok(ListEdit::Remove(
                node.member("remove", |node| node.count())?,
            )),
            _ => Err(node.refuse("must remove a number of elements")),
        };
    }
    if node.value().get("add").is_some() {
        return Ok(ListEdit::Add(
            node.member("add", |node| Ok(node.list()?.to_vec()))?,
        ));
    }
    Ok(ListEdit::Change(patch(node)?))
}
