//! Column-oriented results, `{prompt: [], completion: [], reward: []}`: the return value of verifiers' `evaluate`,
//! serialised unchanged. Converts them to rows, as in `results.jsonl`.

use volary_core::json::{Json, Key, Object};

use crate::import::reader::Document;

/// The columns that all results have.
const COLUMNS: [&str; 3] = ["prompt", "completion", "reward"];

/// Converts a column-oriented document to rows, and returns the values that all rows share.
pub(super) fn rows(document: Document) -> (Document, Object) {
    match document {
        Document::Value(Json::Object(columns)) => match count(&columns) {
            Some(count) => turned(columns, count),
            None => (Document::Value(columns.into()), Object::new()),
        },
        document => (document, Object::new()),
    }
}

/// The number of rows. A single reward is never a list.
fn count(columns: &Object) -> Option<usize> {
    let length = |key| Some(columns.get(key)?.as_list()?.len());
    let count = length("reward")?;
    let same = |key| length(key) == Some(count);
    COLUMNS.into_iter().all(same).then_some(count)
}

fn turned(columns: Object, count: usize) -> (Document, Object) {
    let mut rows: Vec<Vec<(Key, Json)>> = vec![Vec::new(); count];
    let mut shared = Vec::new();
    for (key, value) in columns {
        match value {
            Json::List(column) if column.len() == count => {
                for (row, value) in rows.iter_mut().zip(column) {
                    row.push((key.clone(), value));
                }
            }
            Json::Object(inner) if are_columns(&inner, count) => {
                let mut parts: Vec<Vec<(Key, Json)>> = vec![Vec::new(); count];
                for (name, column) in inner {
                    let Json::List(column) = column else { continue };
                    for (part, value) in parts.iter_mut().zip(column) {
                        part.push((name.clone(), value));
                    }
                }
                for (row, part) in rows.iter_mut().zip(parts) {
                    row.push((key.clone(), Object::from_distinct(part).into()));
                }
            }
            other => shared.push((key, other)),
        }
    }
    let rows = rows.into_iter().map(Object::from_distinct);
    let rows = rows.map(Json::Object).collect::<Vec<_>>();
    (Document::Value(rows.into()), Object::from_distinct(shared))
}

/// Whether all members of an object are columns, as in metrics.
fn are_columns(object: &Object, count: usize) -> bool {
    let is_column = |value: &Json| value.as_list().is_some_and(|list| list.len() == count);
    !object.is_empty() && object.values().all(is_column)
}
