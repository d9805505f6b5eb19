//! The mappings of members to fields that the user made, shared by all tabs.

use leptos::prelude::*;
use volary_formats::import::fields::{FieldMapping, Mappings, Shape};

use volary_browser::shared::{Shared, Unsaved};

thread_local! {
    static MAPPINGS: Shared<Mappings> = Shared::new(
        "field-mappings",
        |text| serde_json::from_str(text).ok(),
        |mappings| serde_json::to_string(mappings).unwrap_or_default(),
        |_| {},
    );
}

/// The stored mappings; none if they can't be read.
pub fn stored() -> Mappings {
    MAPPINGS.with(Shared::signal).get_untracked()
}

/// Whether changes of the mappings are only in memory.
pub fn unsaved() -> Unsaved {
    MAPPINGS.with(Shared::unsaved)
}

/// Stores the mapping of a shape.
pub fn remember(shape: Shape, fields: FieldMapping) {
    MAPPINGS.with(|mappings| mappings.change(|mappings| mappings.remember(shape, fields)));
}

/// Removes the mapping of a shape.
pub fn forget(shape: &Shape) {
    MAPPINGS.with(|mappings| mappings.change(|mappings| mappings.forget(shape)));
}
