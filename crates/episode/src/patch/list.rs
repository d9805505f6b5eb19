//! Patches of lists: a sequence of edits from front to back.

use volary_core::json::Json;

use super::{Allowance, ListEdit, Patch, PatchError, misfit, weight};
use crate::diff::{ListDiff, RunKind};

pub(super) fn list_edits(
    diff: &ListDiff,
    old: &[Json],
    new: &[Json],
    depth: usize,
) -> Vec<ListEdit> {
    let runs = diff.runs.iter();
    runs.map(|run| match &run.kind {
        RunKind::Same => ListEdit::Keep(run.length),
        RunKind::Removed => ListEdit::Remove(run.length),
        RunKind::Added => ListEdit::Add(new[run.new..run.new + run.length].to_vec()),
        RunKind::Changed(diff) => {
            ListEdit::Change(Patch::of(diff, &old[run.old], &new[run.new], depth))
        }
    })
    .collect()
}

/// Applies edits. Elements before the first insertion or removal are not touched; the list is rebuilt from there on.
pub(super) fn apply_edits(
    edits: &[ListEdit],
    list: &mut Vec<Json>,
    allowance: &mut Allowance,
) -> Result<(), PatchError> {
    let mut index = 0;
    let mut edits = edits.iter();
    while let Some(edit) = edits.as_slice().first() {
        match edit {
            ListEdit::Keep(count) => index = within(list, index, *count)?,
            ListEdit::Change(patch) => {
                let element = list.get_mut(index).ok_or(misfit("list"))?;
                patch.apply_within(element, allowance)?;
                index += 1;
            }
            ListEdit::Remove(_) | ListEdit::Add(_) => break,
        }
        edits.next();
    }
    let tail = list.split_off(within(list, index, 0)?);
    allowance.take_elements(tail.len())?;
    list.reserve(tail.len());
    let mut tail = tail.into_iter();
    for edit in edits {
        match edit {
            ListEdit::Keep(count) => {
                enough(&tail, *count)?;
                list.extend(tail.by_ref().take(*count));
            }
            ListEdit::Remove(count) => {
                enough(&tail, *count)?;
                tail.by_ref().take(*count).for_each(drop);
            }
            ListEdit::Add(values) => list.extend_from_slice(values),
            ListEdit::Change(patch) => {
                let mut element = tail.next().ok_or(misfit("list"))?;
                patch.apply_within(&mut element, allowance)?;
                list.push(element);
            }
        }
    }
    if tail.len() > 0 {
        return Err(misfit("list"));
    }
    Ok(())
}

fn within(list: &[Json], index: usize, count: usize) -> Result<usize, PatchError> {
    index
        .checked_add(count)
        .filter(|end| *end <= list.len())
        .ok_or(misfit("list"))
}

fn enough(tail: &std::vec::IntoIter<Json>, count: usize) -> Result<(), PatchError> {
    if count > tail.len() {
        return Err(misfit("list"));
    }
    Ok(())
}

pub(super) fn edits_weight(edits: &[ListEdit]) -> usize {
    let mut weight_of_all = 1;
    let mut moves = false;
    for edit in edits {
        weight_of_all += 1 + match edit {
            // Moving elements is much cheaper than creating them.
            ListEdit::Keep(count) if moves => count / 256,
            ListEdit::Keep(_) => 0,
            ListEdit::Remove(_) => {
                moves = true;
                0
            }
            ListEdit::Add(values) => {
                moves = true;
                values.iter().map(weight).sum()
            }
            ListEdit::Change(patch) => patch.weight(),
        };
    }
    weight_of_all
}
