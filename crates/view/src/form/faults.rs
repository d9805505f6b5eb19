//! Maps faults of the schema checker to errors at fields.

use std::sync::Arc;

use volary_core::Json;
use volary_core::schema;

use super::draft::FieldDraft;
use super::field::{Field, FieldKind};
use super::field_path::FieldPath;
use super::read::FieldError;

/// The faults of a value, each at the field that holds it.
pub(super) fn in_fields(
    schema: &Json,
    value: &Json,
    root: &Field,
    draft: &FieldDraft,
) -> Vec<FieldError> {
    schema::check(schema, value)
        .into_iter()
        .map(|fault| {
            let (place, rest) = locate(root, draft, &fault.path);
            FieldError {
                place,
                reason: sentence(&said(rest, &fault.reason)),
            }
        })
        .collect()
}

/// The faults of a value that was typed as JSON, each with its path.
pub(super) fn in_text(schema: &Json, value: &Json) -> Vec<FieldError> {
    schema::check(schema, value)
        .into_iter()
        .map(|fault| FieldError::whole(sentence(&said(&fault.path, &fault.reason))))
        .collect()
}

fn said(path: &str, reason: &str) -> String {
    if path.is_empty() {
        reason.to_owned()
    } else {
        format!("{path} {reason}")
    }
}

/// A reason as a sentence of its own: `must be …` becomes `Must be ….`
fn sentence(reason: &str) -> String {
    let subject = if reason.starts_with("is ") {
        "This "
    } else {
        ""
    };
    let mut text = format!("{subject}{reason}.");
    if text.starts_with("must ") {
        text.replace_range(..1, "M");
    }
    text
}

/// The innermost field on the path of a fault, and the rest of the path.
fn locate<'a>(root: &Field, draft: &FieldDraft, path: &'a str) -> (FieldPath, &'a str) {
    let (mut field, mut draft, mut place, mut rest) = (root, draft, FieldPath::default(), path);
    loop {
        while let (FieldDraft::Variant(variant, inner), Some(chosen)) =
            (draft, variant_of(field, draft))
        {
            place = place.then(*variant);
            (field, draft) = (chosen, inner);
        }
        let Some((step, after)) = next_step(rest) else {
            return (place, rest);
        };
        let Some((key, child, child_draft)) = child(field, draft, &step) else {
            return (place, rest);
        };
        place = place.then(key);
        (field, draft, rest) = (child, child_draft, after);
    }
}

fn variant_of<'a>(field: &'a Field, draft: &FieldDraft) -> Option<&'a Field> {
    match draft {
        FieldDraft::Variant(variant, _) => field.variant(*variant as usize).map(Arc::as_ref),
        _ => None,
    }
}

fn child<'a>(
    field: &'a Field,
    draft: &'a FieldDraft,
    step: &Step,
) -> Option<(u32, &'a Field, &'a FieldDraft)> {
    match (&field.kind, draft, step) {
        (FieldKind::Group(fields), FieldDraft::Members(members), Step::Key(name)) => (0..)
            .zip(fields.iter().zip(members))
            .find(|(_, (field, _))| *field.name == **name)
            .map(|(place, (field, draft))| (place, field.as_ref(), draft)),
        (FieldKind::Tuple(fields), FieldDraft::Members(members), Step::Index(index)) => Some((
            u32::try_from(*index).ok()?,
            fields.get(*index)?,
            members.get(*index)?,
        )),
        (FieldKind::List { item, .. }, FieldDraft::Entries(entries), Step::Index(index)) => {
            let entry = entries.get(*index)?;
            Some((entry.key, item, &entry.draft))
        }
        (FieldKind::Map { value }, FieldDraft::Entries(entries), Step::Key(name)) => {
            let entry = entries.iter().find(|entry| entry.name == *name)?;
            Some((entry.key, value, &entry.draft))
        }
        _ => None,
    }
}

/// A segment of a path.
#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Splits the first segment off a path such as `tags[2].name` or `["a key"][0]`.
fn next_step(path: &str) -> Option<(Step, &str)> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let Some(inside) = path.strip_prefix('[') else {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (key, rest) = path.split_at(end);
        return (!key.is_empty()).then(|| (Step::Key(key.to_owned()), rest));
    };
    if !inside.starts_with('"') {
        let (index, rest) = inside.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), rest));
    }
    // A quoted key may contain any character: it ends at the first quote at which it parses.
    inside
        .match_indices("\"]")
        .find_map(|(quote, _)| match Json::parse(inside.get(..=quote)?) {
            Ok(Json::Text(key)) => Some((Step::Key(key.to_string()), inside.get(quote + 2..)?)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let steps = |path: &str| {
            let mut rest = path.to_owned();
            let mut steps = Vec::new();
            while let Some((step, after)) = next_step(&rest) {
                steps.push(match step {
                    Step::Key(key) => key,
                    Step::Index(index) => format!("#{index}"),
                });
                rest = after.to_owned();
            }
            steps
        };
        assert_eq!(steps(""), [""; 0]);
        assert_eq!(steps("tags[2].name"), ["tags", "#2", "name"]);
        assert_eq!(steps(r#"a["b.c"][0]"#), ["a", "b.c", "#0"]);
        assert_eq!(steps(r#"["a\"]b"].c"#), ["a\"]b", "c"]);
        assert_eq!(steps(r#"[""]"#), [""]);
    }
}
