//! Mode `fixed`: the suffix of the new text, provided that it begins with the text before.

use super::{Delta, DeltaError};
use crate::conversation::Change;
use crate::template::TemplateError;

pub(super) fn delta(
    change: &Change,
    with_header: bool,
    alone: impl FnOnce() -> Option<Result<String, TemplateError>>,
) -> Result<Delta, DeltaError> {
    match &change.prompted {
        Some(prompted) => assistant(change, prompted, with_header),
        None => observation(change, alone),
    }
}

fn assistant(change: &Change, prompted: &str, with_header: bool) -> Result<Delta, DeltaError> {
    let header = prompted
        .strip_prefix(&*change.before)
        .ok_or(DeltaError::Rewrote(
            "the generation prompt does not follow the messages",
        ))?;
    let said = change
        .after
        .strip_prefix(prompted)
        .ok_or(DeltaError::Rewrote(
            "the text with the assistant's message does not begin with the text before it",
        ))?;
    Ok(if with_header {
        Delta {
            text: format!("{header}{said}"),
            header: header.len(),
            is_trained: true,
        }
    } else {
        Delta {
            text: said.to_owned(),
            header: 0,
            is_trained: true,
        }
    })
}

fn observation(
    change: &Change,
    alone: impl FnOnce() -> Option<Result<String, TemplateError>>,
) -> Result<Delta, DeltaError> {
    let text = match change.after.strip_prefix(&*change.before) {
        Some(added) => added.to_owned(),
        None => {
            let alone = alone().ok_or(DeltaError::Rewrote(
                "the text with the tool's message does not begin with the text before it",
            ))??;
            if !change.after.ends_with(&alone) {
                return Err(DeltaError::NoSuffix);
            }
            alone
        }
    };
    Ok(Delta {
        text,
        header: 0,
        is_trained: false,
    })
}
