//! Resolves references in Inspect logs: `attachment://…` replaces a long text, and ranges of a pool replace messages
//! that many events share.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};

use crate::import::expansion::{Expansion, size};

const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// Texts by attachment id.
#[derive(Clone, Debug, Default)]
pub(super) struct Attachments {
    texts: HashMap<Text, Text>,
}

impl Attachments {
    /// Reads an object of texts, or a list whose indices are the ids.
    pub fn read(value: Option<Json>) -> Attachments {
        let texts = match value {
            Some(Json::Object(object)) => object
                .into_iter()
                .filter_map(|(key, value)| Some((key.as_ref().into(), value.as_text()?.clone())))
                .collect(),
            Some(Json::List(list)) => list
                .into_iter()
                .enumerate()
                .filter_map(|(index, value)| {
                    Some((index.to_string().into(), value.as_text()?.clone()))
                })
                .collect(),
            _ => HashMap::new(),
        };
        Attachments { texts }
    }

    /// The total size of the texts in bytes, each counted once.
    pub fn size(&self) -> usize {
        self.texts.values().map(|text| text.len()).sum()
    }

    /// Replaces references by their texts, everywhere within a value, as far as the expansion limit allows.
    pub fn resolve(&self, value: &mut Json, expansion: &mut Expansion) -> Unresolved {
        let mut unresolved = Unresolved::default();
        self.resolve_within(value, expansion, &mut unresolved);
        unresolved
    }

    fn resolve_within(
        &self,
        value: &mut Json,
        expansion: &mut Expansion,
        unresolved: &mut Unresolved,
    ) {
        match value {
            Json::Text(text) => {
                let name = PROTOCOLS
                    .iter()
                    .find_map(|protocol| text.strip_prefix(protocol));
                match name.map(|name| self.texts.get(name)) {
                    Some(Some(found)) if expansion.take(found.len()) => *text = found.clone(),
                    Some(Some(_)) => unresolved.too_large += 1,
                    Some(None) => unresolved.missing += 1,
                    None => {}
                }
            }
            Json::List(list) => {
                for value in list {
                    self.resolve_within(value, expansion, unresolved);
                }
            }
            Json::Object(object) => {
                for value in object.values_mut() {
                    self.resolve_within(value, expansion, unresolved);
                }
            }
            _ => {}
        }
    }
}

/// Counts of references that were not resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unresolved {
    /// The file does not contain the text.
    pub missing: usize,
    /// The expansion limit was reached.
    pub too_large: usize,
}

impl std::ops::AddAssign for Unresolved {
    fn add_assign(&mut self, other: Unresolved) {
        self.missing += other.missing;
        self.too_large += other.too_large;
    }
}

/// The elements of a pool in some ranges: `[[0, 3], [5, 6]]`. Ranges may overlap: also returns the number of elements
/// that were dropped because of the expansion limit.
pub(super) fn ranges(pool: &[Json], ranges: &Json) -> (Vec<Json>, usize) {
    let sizes: Vec<usize> = pool.iter().map(size).collect();
    let mut expansion = Expansion::of(sizes.iter().sum());
    let (mut found, mut left_out) = (Vec::new(), 0);
    for range in ranges.as_list().unwrap_or_default() {
        let bound = |index: usize| {
            let bound = range.as_list()?.get(index)?.as_i64()?;
            usize::try_from(bound).ok()
        };
        let (Some(start), Some(end)) = (bound(0), bound(1)) else {
            continue;
        };
        let end = end.min(pool.len());
        let (Some(part), Some(sizes)) = (pool.get(start..end), sizes.get(start..end)) else {
            continue;
        };
        for (value, size) in part.iter().zip(sizes) {
            if left_out == 0 && expansion.take(*size) {
                found.push(value.clone());
            } else {
                left_out += part.len();
                break;
            }
        }
    }
    (found, left_out)
}

/// Removes a list from an object; empty if it has none.
pub(super) fn take_list(object: &mut Object, key: &str) -> Vec<Json> {
    match object.remove(key) {
        Some(Json::List(list)) => list,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::json;

    #[test]
    fn references_are_resolved() {
        let attachments = Attachments::read(Some(json!({"a1": "long"})));
        let mut value = json!([{"content": "attachment://a1"}, "tc://b", "attachment"]);
        let unresolved = attachments.resolve(&mut value, &mut Expansion::of(0));
        assert_eq!((unresolved.missing, unresolved.too_large), (1, 0));
        assert_eq!(value, json!([{"content": "long"}, "tc://b", "attachment"]));
    }

    #[test]
    fn ranges_never_leave_the_pool() {
        let pool = [json!(0), json!(1), json!(2)];
        let named = Json::parse("[[1, 9], [0, 1], [-1, 2], [5, 4], 3]").unwrap_or_default();
        let found = ranges(&pool, &named);
        assert_eq!(found, ([json!(1), json!(2), json!(0)].to_vec(), 0));
    }

    #[test]
    fn a_text_that_is_named_thousands_of_times_is_not_put_everywhere() {
        let length = 1 << 20;
        let long = "x".repeat(length);
        let attachments = Attachments::read(Some(json!({"a": (long.as_str())})));
        let mut value = Json::List(vec![json!("attachment://a"); 10_000]);
        let mut expansion = Expansion::of(attachments.size());
        let unresolved = attachments.resolve(&mut value, &mut expansion);
        assert_eq!(unresolved.missing, 0);
        assert_eq!(unresolved.too_large, 10_000 - 36);
        assert!(size(&value) < 38 * length);

        let pool = [json!(long.as_str()), json!("short")];
        let named = Json::List(vec![json!([0, 2]); 10_000]);
        let (found, left_out) = ranges(&pool, &named);
        assert!(found.len() < 150 && found.len() + left_out >= 19_999);
    }
}
