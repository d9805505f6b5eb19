//! The mappings of members to fields that the user made, as the browser stores them.

use volary_formats::import::fields::{FieldMapping, Mappings, Shape};

use crate::browser::storage::{self, Keep};

/// The storage key.
const KEPT: &str = "field-mappings";

/// The stored mappings; none if they can't be read.
pub fn stored() -> Mappings {
    let text = storage::get(Keep::Always, KEPT);
    let read = text.and_then(|text| serde_json::from_str(&text).ok());
    read.unwrap_or_default()
}

/// Stores the mapping of a shape. False if the browser refuses.
pub fn remember(shape: Shape, fields: FieldMapping) -> bool {
    let mut mappings = stored();
    mappings.remember(shape, fields);
    store(&mappings)
}

/// Removes the mapping of a shape. False if the browser refuses.
pub fn forget(shape: &Shape) -> bool {
    let mut mappings = stored();
    mappings.forget(shape);
    store(&mappings)
}

fn store(mappings: &Mappings) -> bool {
    let text = serde_json::to_string(mappings);
    text.is_ok_and(|text| storage::set(Keep::Always, KEPT, &text))
}
