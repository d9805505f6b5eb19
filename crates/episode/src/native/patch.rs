//! Patches in the native format.
//!
//! A patch is null (nothing changed) or an object with one member: `set` with the new value; `splice` with
//! `[start, cut, end, insert]` for a text; `members` with `change`, `remove` and `add` (of `[position, key,
//! value]`) for an object; `elements` for a list, with counts of unchanged elements, `{"remove": n}`, `{"add":
//! [...]}` and patches of single elements.

use volary_core::json::value_writer::{Members, ValueWriter, tree};
use volary_core::json::{Json, Key};

use super::NativeError;
use super::node::{Fault, Node};
use crate::frames::FramePatch;
use crate::patch::{ListEdit, ObjectPatch, Patch, Splice};

impl FramePatch {
    /// Serializes the patch.
    pub fn to_json(&self) -> Json {
        tree(|writer| self.put(writer))
    }

    pub(super) fn put(&self, writer: ValueWriter<'_>) {
        writer.object(|members| {
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

fn put_patch(writer: ValueWriter<'_>, patch: &Patch) {
    let one = match patch {
        Patch::Same => return writer.json(&Json::Null),
        Patch::Set(_) => "set",
        Patch::Splice(_) => "splice",
        Patch::Object(_) => "members",
        Patch::List(_) => "elements",
    };
    writer.object(|members| {
        let writer = members.at(one);
        match patch {
            Patch::Same => {}
            Patch::Set(value) => writer.json(value),
            Patch::Splice(splice) => put_splice(writer, splice),
            Patch::Object(patch) => writer.object(|members| put_members(members, patch)),
            Patch::List(edits) => writer.list(edits, put_edit),
        }
    });
}

fn put_splice(writer: ValueWriter<'_>, splice: &Splice) {
    let counts = [splice.start, splice.cut, splice.end].map(Some);
    writer.list(
        counts.into_iter().chain([None]),
        |writer, part| match part {
            Some(part) => writer.integer(count(part)),
            None => writer.text(&splice.insert),
        },
    );
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
        remove.list(&patch.remove, |writer, key| writer.word(key));
    }
    if !patch.add.is_empty() {
        members
            .at("add")
            .list(&patch.add, |writer, (at, key, value)| {
                writer.list(0..3, |writer, part| match part {
                    0 => writer.integer(count(*at)),
                    1 => writer.word(key),
                    _ => writer.json(value),
                });
            });
    }
}

fn put_edit(writer: ValueWriter<'_>, edit: &ListEdit) {
    match edit {
        ListEdit::Keep(length) => writer.integer(count(*length)),
        ListEdit::Remove(length) => {
            writer.object(|members| members.at("remove").integer(count(*length)));
        }
        ListEdit::Add(values) => {
            writer.object(|members| {
                members
                    .at("add")
                    .list(values, |writer, value| writer.json(value))
            });
        }
        ListEdit::Change(patch) => put_patch(writer, patch),
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
        [index, Json::Text(key), value] => {
            let index = Node::root(index).count();
            let index = index.map_err(|_| node.refuse("must begin with an index"))?;
            Ok((index, Key::Owned(key.to_string()), value.clone()))
        }
        _ => Err(node.refuse("must be an index, a key and a value")),
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
