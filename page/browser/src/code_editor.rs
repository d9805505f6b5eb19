//! The code editor, CodeMirror, which is loaded when the first editor is opened (`public/editor/editor.js`).

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Element;

#[wasm_bindgen]
extern "C" {
    /// Defined in `start.js`.
    #[wasm_bindgen(catch, js_name = loadEditor)]
    fn load_editor() -> Result<Promise, JsValue>;

    type Module;
    #[wasm_bindgen(method, catch)]
    fn open(
        this: &Module,
        host: &Element,
        text: &str,
        label: &str,
        changed: &JsValue,
    ) -> Result<Handle, JsValue>;

    type Handle;
    #[wasm_bindgen(method)]
    fn text(this: &Handle) -> String;
    #[wasm_bindgen(method)]
    fn set(this: &Handle, text: &str);
    #[wasm_bindgen(method)]
    fn mark(this: &Handle, line: u32, message: &str);
    #[wasm_bindgen(method)]
    fn focus(this: &Handle);
    #[wasm_bindgen(method)]
    fn end(this: &Handle);
}

/// An editor on the page. Dropping it removes it.
pub struct CodeEditor {
    handle: Handle,
    _changed: Closure<dyn Fn()>,
}

impl CodeEditor {
    /// Loads the editor and puts it into an element. `changed` is called after each change of the text.
    pub async fn open(
        host: &Element,
        text: &str,
        label: &str,
        changed: impl Fn() + 'static,
    ) -> Result<CodeEditor, String> {
        let said = |error: JsValue| super::js_error::text_of(&error);
        let module = JsFuture::from(load_editor().map_err(said)?).await;
        let module: Module = module.map_err(said)?.unchecked_into();
        let changed = Closure::<dyn Fn()>::new(changed);
        let handle = module
            .open(host, text, label, changed.as_ref())
            .map_err(said)?;
        Ok(CodeEditor {
            handle,
            _changed: changed,
        })
    }

    /// The current text.
    pub fn text(&self) -> String {
        self.handle.text()
    }

    /// Replaces the text.
    pub fn set_text(&self, text: &str) {
        self.handle.set(text);
    }

    /// Marks a line, counted from 1, with an error message; `None` removes the mark.
    pub fn mark(&self, line: Option<u32>, message: &str) {
        self.handle.mark(line.unwrap_or(0), message);
    }

    /// Focuses the editor.
    pub fn focus(&self) {
        self.handle.focus();
    }
}

impl Drop for CodeEditor {
    fn drop(&mut self) {
        self.handle.end();
    }
}
