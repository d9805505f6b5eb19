//! The theme, stored as `data-theme` on the document (absent if the system decides), and the style sheets of lazy
//! pages.

use std::cell::RefCell;

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
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    let Some(root) = root else { return };
    // Setting a constant name cannot fail.
    let _ = match theme {
        Some(theme) => root.set_attribute("data-theme", theme),
        None => root.remove_attribute("data-theme"),
    };
}
