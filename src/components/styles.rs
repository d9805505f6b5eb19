//! The styles of what a first visit does not show at once.

use crate::browser::appearance;

/// Adds them to the page.
pub fn adopt_later() {
    appearance::adopt(include_str!("../../style/later.css"));
    appearance::adopt(include_str!("../../style/model.css"));
    appearance::adopt(include_str!("../../style/remote.css"));
}
