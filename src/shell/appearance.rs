//! The theme: `data-theme` on the document, absent where the system decides.

/// Sets the theme; `None` leaves it to the system.
pub fn set_theme(theme: Option<&str>) {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    let Some(root) = root else { return };
    // Setting a constant name can't fail.
    let _ = match theme {
        Some(theme) => root.set_attribute("data-theme", theme),
        None => root.remove_attribute("data-theme"),
    };
}
