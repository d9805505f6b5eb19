//! The theme, stored as `data-theme` on the document (absent if the system decides), the style sheets of lazy pages,
//! and whether a view covers the window.

use std::cell::{Cell, RefCell};

use wasm_bindgen::{JsCast, JsValue};
use web_sys::CssStyleSheet;

/// Adopts the style sheet of a lazy page. In `index.html` it would be part of the first load.
pub fn adopt(css: &'static str) {
    thread_local! {
        static ADOPTED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }
    if ADOPTED.with_borrow(|adopted| adopted.contains(&css)) {
        return;
    }
    ADOPTED.with_borrow_mut(|adopted| adopted.push(css));
    // All supported browsers know these; without them the page is unstyled but works.
    let adopt = || -> Result<(), JsValue> {
        let sheet = CssStyleSheet::new()?;
        sheet.replace_sync(css)?;
        let document = web_sys::window().and_then(|window| window.document());
        let sheets = js_sys::Reflect::get(&document.into(), &"adoptedStyleSheets".into())?;
        sheets.dyn_into::<js_sys::Array>()?.push(&sheet);
        Ok(())
    };
    let _ = adopt();
}

/// Sets the theme; `None` leaves it to the system.
pub fn set_theme(theme: Option<&str>) {
    mark_document("data-theme", theme);
}

/// Counts the views that cover the window: one more, or one less. While there is one, the document has `data-covered`,
/// and the style sheet of such a view hides what is around the page.
pub fn cover(begins: bool) {
    thread_local! {
        static COVERS: Cell<usize> = const { Cell::new(0) };
    }
    let former = COVERS.get();
    let count = if begins {
        former + 1
    } else {
        former.saturating_sub(1)
    };
    COVERS.set(count);
    mark_document("data-covered", (count > 0).then_some(""));
}

fn mark_document(attribute: &str, value: Option<&str>) {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    let Some(root) = root else { return };
    // Setting a constant name cannot fail.
    let _ = match value {
        Some(value) => root.set_attribute(attribute, value),
        None => root.remove_attribute(attribute),
    };
}
