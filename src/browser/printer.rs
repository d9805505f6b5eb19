//! The printer.

/// Opens the browser's dialog for printing the page.
pub fn print() {
    if let Some(window) = web_sys::window() {
        // Fails only where printing is forbidden, and then the browser says so.
        let _ = window.print();
    }
}
