//! Printing.

/// Opens the browser's dialog for printing the page.
pub fn print() {
    if let Some(window) = web_sys::window() {
        // Fails only where printing is forbidden, which the browser reports.
        let _ = window.print();
    }
}
