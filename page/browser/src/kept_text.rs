//! JavaScript strings, which carry texts of episodes from a worker to the database and to files without a copy in
//! wasm memory.

use js_sys::{Array, JsString};
use wasm_bindgen::prelude::*;

/// A JavaScript string.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptText(JsString);

impl KeptText {
    /// Wraps a value; `None` if it is not a string.
    pub fn from_js(value: JsValue) -> Option<KeptText> {
        value.dyn_into().ok().map(KeptText)
    }

    /// The JavaScript value.
    pub fn as_js(&self) -> &JsValue {
        &self.0
    }

    /// Copies it into wasm memory.
    pub fn to_text(&self) -> String {
        String::from(&self.0)
    }

    /// The length in UTF-16 units.
    pub fn length(&self) -> u32 {
        self.0.length()
    }

    /// Splits it into parts of at most `most` units, in order; a short text is one part.
    pub fn parts(&self, most: u32) -> Vec<KeptText> {
        let length = self.length();
        if length <= most {
            return vec![self.clone()];
        }
        let starts = (0..length).step_by(most.max(1) as usize);
        starts
            .map(|start| {
                KeptText(
                    self.0
                        .substring(start, length.min(start.saturating_add(most))),
                )
            })
            .collect()
    }

    /// Concatenates parts.
    pub fn joined(parts: &[KeptText]) -> KeptText {
        match parts {
            [only] => only.clone(),
            _ => {
                let list = Array::new();
                for part in parts {
                    list.push(part.as_js());
                }
                KeptText(list.join(""))
            }
        }
    }
}

impl From<&str> for KeptText {
    fn from(text: &str) -> Self {
        KeptText(text.into())
    }
}

impl From<String> for KeptText {
    fn from(text: String) -> Self {
        KeptText(text.into())
    }
}
