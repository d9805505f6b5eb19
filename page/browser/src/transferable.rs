//! Messages between threads: encoded bytes, and browser objects that cannot be encoded.
//!
//! Long bytes are transferred instead of copied. Copies would stay in memory on both sides until the garbage
//! collector runs.

use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{Blob, DedicatedWorkerGlobalScope, Worker};

use super::files::GivenFile;
use super::kept_text::KeptText;

/// Bytes of at least this length are transferred; shorter ones are copied, which is faster.
const LONG: usize = 1 << 15;

/// A message.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The encoded message.
    pub bytes: Vec<u8>,
    /// The objects sent with it.
    pub attachments: Vec<Attachment>,
}

/// A browser object that is sent with a message.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// A file to be read by the receiver.
    File(GivenFile),
    /// A file to be saved.
    Blob(Blob),
    /// Texts to be stored, which the receiver only passes on.
    Texts(Vec<KeptText>),
}

/// The receiving end of letters.
pub(super) trait Recipient {
    /// Posts a value and transfers the listed buffers.
    fn post(&self, value: &JsValue, transfer: &Array) -> Result<(), JsValue>;
}

impl Recipient for Worker {
    fn post(&self, value: &JsValue, transfer: &Array) -> Result<(), JsValue> {
        self.post_message_with_transfer(value, transfer)
    }
}

impl Recipient for DedicatedWorkerGlobalScope {
    fn post(&self, value: &JsValue, transfer: &Array) -> Result<(), JsValue> {
        self.post_message_with_transfer(value, transfer)
    }
}

#[wasm_bindgen]
extern "C" {
    /// A buffer whose memory can be released early.
    #[wasm_bindgen(extends = ArrayBuffer)]
    type Released;
    #[wasm_bindgen(method, catch)]
    fn transfer(this: &Released, length: u32) -> Result<ArrayBuffer, JsValue>;
}

impl Letter {
    /// Posts the letter. Its contents can always be cloned or transferred, so this does not fail.
    pub(super) fn post(self, recipient: &impl Recipient) {
        let bytes = Uint8Array::from(&*self.bytes);
        let transfer = Array::new();
        if self.bytes.len() >= LONG {
            transfer.push(&bytes.buffer());
        }
        let value: JsValue = if self.attachments.is_empty() {
            bytes.into()
        } else {
            let letter = Array::of1(&bytes);
            for attachment in &self.attachments {
                letter.push(&attachment.to_js());
            }
            letter.into()
        };
        let _ = recipient.post(&value, &transfer);
    }

    /// Decodes a posted letter; `None` if the value is none.
    pub(super) fn from_js(value: JsValue) -> Option<Letter> {
        let (bytes, attachments) = match value.dyn_into::<Array>() {
            Err(bytes) => (bytes, Vec::new()),
            Ok(letter) => {
                let attachments = letter.iter().skip(1).filter_map(Attachment::from_js);
                (letter.get(0), attachments.collect())
            }
        };
        let array = bytes.dyn_into::<Uint8Array>().ok()?;
        let bytes = array.to_vec();
        if bytes.len() >= LONG {
            // A browser without this function releases the memory later.
            let _ = array.buffer().unchecked_into::<Released>().transfer(0);
        }
        Some(Letter { bytes, attachments })
    }
}

impl Attachment {
    /// Makes a file to be saved that consists of these parts; `None` if the browser is out of space.
    pub fn of_parts(parts: Vec<Vec<u8>>) -> Option<Attachment> {
        let parts = parts.into_iter().map(|part| Uint8Array::from(&*part));
        let parts: Array = parts.map(JsValue::from).collect();
        let blob = Blob::new_with_u8_array_sequence(&parts).ok()?;
        Some(Attachment::Blob(blob))
    }

    /// Encodes the attachment as a tagged array.
    fn to_js(&self) -> JsValue {
        match self {
            // A file's path is lost when it is cloned, so its name is sent separately.
            Attachment::File(file) => {
                Array::of3(&"file".into(), &file.name.as_str().into(), file.as_js())
            }
            Attachment::Blob(blob) => Array::of2(&"blob".into(), blob),
            Attachment::Texts(texts) => {
                let tagged = Array::of1(&"texts".into());
                for text in texts {
                    tagged.push(text.as_js());
                }
                tagged
            }
        }
        .into()
    }

    fn from_js(value: JsValue) -> Option<Attachment> {
        let tagged = value.dyn_into::<Array>().ok()?;
        match tagged.get(0).as_string()?.as_str() {
            "file" => {
                GivenFile::of(&tagged.get(1).as_string()?, tagged.get(2)).map(Attachment::File)
            }
            "blob" => tagged.get(1).dyn_into().ok().map(Attachment::Blob),
            "texts" => {
                let texts = tagged.iter().skip(1).map(KeptText::from_js);
                texts.collect::<Option<_>>().map(Attachment::Texts)
            }
            _ => None,
        }
    }
}
