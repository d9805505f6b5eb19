//! What stands for something else in Inspect logs: `attachment://…` for a long text, and ranges of a pool for
//! messages that many events share.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};

const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// Texts by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Attachments {
    texts: HashMap<Text, Text>,
}

impl Attachments {
    /// From an object of texts, or a list whose places are the names.
    pub fn read(value: Option<Json>) -> Attachments {
        let texts = match value {
            Some(Json::Object(object)) => object
                .into_iter()
                .filter_map(|(key, value)| Some((key.as_ref().into(), value.as_text()?.clone())))
                .collect(),
            Some(Json::List(list)) => list
                .into_iter()
                .enumerate()
                .filter_map(|(place, value)| {
                    Some((place.to_string().into(), value.as_text()?.clone()))
                })
                .collect(),
            _ => HashMap::new(),
        };
        Attachments { texts }
    }

    /// Puts the texts in place of their names, everywhere within a value. Gives how many are missing.
    pub fn resolve(&self, value: &mut Json) -> usize {
        match value {
            Json::Text(text) => {
                let name = PROTOCOLS
                    .iter()
                    .find_map(|protocol| text.strip_prefix(protocol));
                match name.map(|name| self.texts.get(name)) {
                    Some(Some(found)) => *text = found.clone(),
                    Some(None) => return 1,
                    None => {}
                }
                0
            }
            Json::List(list) => list.iter_mut().map(|value| self.resolve(value)).sum(),
            Json::Object(object) => object.values_mut().map(|value| self.resolve(value)).sum(),
            _ => 0,
        }
    }
}

/// The elements of a pool that ranges name: `[[0, 3], [5, 6]]`. Bounded, since ranges may overlap.
pub(super) fn ranges(pool: &[Json], ranges: &Json) -> Vec<Json> {
    const MOST: usize = 1_000_000;
    let mut found = Vec::new();
    for range in ranges.as_list().unwrap_or_default() {
        let bound = |place: usize| {
            let bound = range.as_list()?.get(place)?.as_i64()?;
            usize::try_from(bound).ok()
        };
        let (Some(start), Some(end)) = (bound(0), bound(1)) else {
            continue;
        };
        let end = end.min(pool.len());
        let part = pool.get(start..end).unwrap_or_default();
        found.extend(part.iter().take(MOST - found.len()).cloned());
    }
    found
}

/// Takes a list out of an object.
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
    fn names_become_what_they_stand_for() {
        let attachments = Attachments::read(Some(json!({"a1": "long"})));
        let mut value = json!([{"content": "attachment://a1"}, "tc://b", "attachment"]);
        assert_eq!(attachments.resolve(&mut value), 1);
        assert_eq!(value, json!([{"content": "long"}, "tc://b", "attachment"]));
    }

    #[test]
    fn ranges_never_leave_the_pool() {
        let pool = [json!(0), json!(1), json!(2)];
        let named = Json::parse("[[1, 9], [0, 1], [-1, 2], [5, 4], 3]").unwrap_or_default();
        let found = ranges(&pool, &named);
        assert_eq!(found, [json!(1), json!(2), json!(0)]);
    }
}
