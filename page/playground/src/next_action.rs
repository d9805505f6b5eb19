//! Where the person acts next: the focus goes there from the skip link, and after a demonstration.

use volary_browser::element;

/// Moves the focus to the first field of the chosen tool, or to the first tool. Returns `false` if there is neither.
pub fn focus_next_action() -> bool {
    element::focus_within("tools", "form :is(input, select, textarea)")
        || element::focus_within("tools", ".tools-list button")
}
