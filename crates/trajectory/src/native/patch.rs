//! Patches in the native format.
//!
//! A patch is null (nothing changed) or an object with one member: `set` with the new value; `splice` with
//! `[start, cut, end, insert]` for a text; `members` with `change`, `remove` and `add` (of `[position, key,
//! value]`) for an object; `elements` for a list, with counts of unchanged elements, `{"remove": n}`, `{"add":
//! [...]}` and patches of single elements.

use volary_core::json::value_writer::{Members, Place, tree};
use volary_core::json::{Json, Key};

use super::NativeError;
use super::node::{Fault, Node};
use crate::frames::FramePatch;
use crate::patch::{ListEdit, ObjectPatch, Patch, Splice};

impl FramePatch {
    /// Serializes the patch.
    pub fn to_json(&self) -> Json {
        tree(|place| self.put(place))
    }

    pub(super) fn put(&self, place: Place<'_>) {
        place.object(|members| {
            if let Some(deepcopy) = self.deepcopy {
                members.at("deepcopy").flag(deepcopy);
            }
            for (key, patch) in [("state", &self.state), ("info", &self.info)] {
                if *patch != Patch::Same {
                    put_patch(members.at(key), patch);
                }
            }
        });
    }

    /// Deserializes a patch.
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

fn put_patch(place: Place<'_>, patch: &Patch) {
    let one = match patch {
        Patch::Same => return place.json(&Json::Null),
        Patch::Set(_) => "set",
        Patch::Splice(_) => "splice",
        Patch::Object(_) => "members",
        Patch::List(_) => "elements",
    };
    place.object(|members| {
        let place = members.at(one);
        match patch {
            Patch::Same => {}
            Patch::Set(value) => place.json(value),
            Patch::Splice(splice) => put_splice(place, splice),
            Patch::Object(patch) => place.object(|members| put_members(members, patch)),
            Patch::List(edits) => place.list(edits, put_edit),
        }
    });
}

fn put_splice(place: Place<'_>, splice: &Splice) {
    let counts = [splice.start, splice.cut, splice.end].map(Some);
    place.list(counts.into_iter().chain([None]), |place, part| match part {
        Some(part) => place.integer(count(part)),
        None => place.text(&splice.insert),
    });
}

fn count(count: usize) -> i64 {
    // No list or text in memory is longer.
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn put_members(members: &mut Members<'_>, patch: &ObjectPatch) {
    if !patch.change.is_empty() {
        members.at("change").object(|members| {
            for (key, patch) in &patch.change {
                put_patch(members.under(key), patch);
            }
        });
    }
    if !patch.remove.is_empty() {
        let remove = members.at("remove");
        remove.list(&patch.remove, |place, key| place.word(key));
    }
    if !patch.add.is_empty() {
        members
            .at("add")
            .list(&patch.add, |place, (at, key, value)| {
                place.list(0..3, |place, part| match part {
                    0 => place.integer(count(*at)),
                    1 => place.word(key),
                    _ => place.json(value),
                });
            });
    }
}

fn put_edit(place: Place<'_>, edit: &ListEdit) {
    match edit {
        ListEdit::Keep(length) => place.integer(count(*length)),
        ListEdit::Remove(length) => {
            place.object(|members| members.at("remove").integer(count(*length)));
        }
        ListEdit::Add(values) => {
            place.object(|members| {
                members
                    .at("add")
                    .list(values, |place, value| place.json(value))
            });
        }
        ListEdit::Change(patch) => put_patch(place, patch),
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
