//! Decodes the journal records that earlier versions wrote for evaluations, each with the texts of many episodes. They
//! are only read: [`super::migration`] stores their texts one by one.
//!
//! A record is a list of three elements for each store: its name, the keys with the lengths of their texts (as JSON),
//! and the concatenated UTF-8 texts, compressed with LZ4 if there are fewer bytes than the sum of the lengths. (Or a
//! key and a text.) The last element is the number of the format; the first versions wrote none.
//!
//! Invariant: a record is decoded completely or not at all.

use std::borrow::Cow;

use js_sys::{Array, Uint8Array};
use lz4_flex::block;
use volary_core::json::Json;
use wasm_bindgen::{JsCast, JsValue};

use super::damage::Damage;
use super::{KeptText, Store};

/// The only numbered format. Records without a number have the same form.
const FORMAT: u32 = 1;
/// Upper bound of LZ4's ratio. A larger claimed size is rejected as a decompression bomb.
const MOST_COMPRESSED: usize = 256;

/// The store of a text, its key, and the text.
pub(super) type Put = (Store, String, KeptText);

/// Decodes all texts of a record.
pub(super) fn decode(value: &JsValue) -> Result<Vec<Put>, Damage> {
    let record: &Array = value.dyn_ref().ok_or(Damage::Shape)?;
    let mut parts: Vec<_> = record.iter().collect();
    if parts.len() % 3 == 1 {
        let format = parts.pop().and_then(|format| format.as_f64());
        if format != Some(f64::from(FORMAT)) {
            return Err(Damage::Format(format.unwrap_or_default()));
        }
    }
    let (piles, rest) = parts.as_chunks::<3>();
    if piles.is_empty() || !rest.is_empty() {
        return Err(Damage::Shape);
    }
    let mut puts = Vec::new();
    for [name, keys, texts] in piles {
        let name = name.as_string().ok_or(Damage::Shape)?;
        let store = store_of(&name).ok_or(Damage::Store(name))?;
        let keys = keys.as_string().ok_or(Damage::Keys)?;
        match texts.dyn_ref::<Uint8Array>() {
            Some(bytes) => {
                let texts = decode_pile(&keys, &bytes.to_vec())?.into_iter();
                puts.extend(texts.map(|(key, text)| (store, key, text.into())));
            }
            None => {
                let text = KeptText::from_js(texts.clone()).ok_or(Damage::Texts)?;
                puts.push((store, keys, text));
            }
        }
    }
    Ok(puts)
}

fn store_of(name: &str) -> Option<Store> {
    Store::ALL.into_iter().find(|store| store.name() == name)
}

fn lengths(keys: &str) -> Option<Vec<(String, usize)>> {
    let keys = Json::parse(keys).ok()?;
    let (pairs, rest) = keys.as_list()?.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let pairs = pairs.iter().map(|[key, length]| {
        let length = usize::try_from(length.as_i64()?).ok()?;
        Some((key.as_text()?.to_string(), length))
    });
    pairs.collect()
}

/// Decodes the keys and texts of a pile. Every byte must belong to a text.
fn decode_pile(keys: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, Damage> {
    let lengths = lengths(keys).ok_or(Damage::Keys)?;
    let mut sum = 0_usize;
    for (_, length) in &lengths {
        sum = sum.checked_add(*length).ok_or(Damage::Keys)?;
    }
    let texts = unpacked(bytes, sum).ok_or(Damage::Texts)?;
    if texts.len() != sum {
        return Err(Damage::Texts);
    }
    let mut left = &*texts;
    let texts = lengths.into_iter().map(|(key, length)| {
        let (text, rest) = left.split_at_checked(length).ok_or(Damage::Texts)?;
        left = rest;
        let text = std::str::from_utf8(text).map_err(|_| Damage::Texts)?;
        Ok((key, text.to_owned()))
    });
    texts.collect()
}

/// Decompresses to exactly `length` bytes; `None` if that fails. The input is compressed if it is shorter than
/// `length`.
fn unpacked(bytes: &[u8], length: usize) -> Option<Cow<'_, [u8]>> {
    if bytes.len() >= length {
        return Some(bytes.into());
    }
    if length / MOST_COMPRESSED > bytes.len() {
        return None;
    }
    let texts = block::decompress(bytes, length).ok()?;
    (texts.len() == length).then(|| texts.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes a pile as earlier versions did.
    fn pile(texts: &[(String, String)]) -> (String, Vec<u8>) {
        let keys = texts
            .iter()
            .flat_map(|(key, text)| [Json::from(key.clone()), Json::from(text.len() as i64)]);
        let keys = Json::List(keys.collect()).to_python_text();
        let text: String = texts.iter().map(|(_, text)| text.as_str()).collect();
        let compressed = block::compress(text.as_bytes());
        if compressed.len() < text.len() {
            (keys, compressed)
        } else {
            (keys, text.into_bytes())
        }
    }

    #[test]
    fn a_pile_that_is_damaged_is_refused_as_a_whole() {
        let texts = [
            ("a".to_owned(), "one".to_owned()),
            ("b".to_owned(), "two".to_owned()),
        ];
        let (keys, bytes) = pile(&texts);
        assert_eq!(decode_pile(&keys, &bytes), Ok(texts.to_vec()));
        for (keys, bytes, damage) in [
            ("", &b"onetwo"[..], Damage::Keys),
            ("{}", b"onetwo", Damage::Keys),
            (r#"["a", 3, "b"]"#, b"onetwo", Damage::Keys),
            (r#"["a", 3, "b", -3]"#, b"onetwo", Damage::Keys),
            (
                r#"["a", 3, "b", 9223372036854775807]"#,
                b"onetwo",
                Damage::Texts,
            ),
            (r#"["a", 3, "b", 4]"#, b"onetwo", Damage::Texts),
            (r#"["a", 3, "b", 2]"#, b"onetwo", Damage::Texts),
            (r#"["a", 3, "b", 3]"#, b"one\xfftw", Damage::Texts),
        ] {
            assert_eq!(decode_pile(keys, bytes), Err(damage), "{keys}");
        }
    }

    #[test]
    fn texts_of_another_length_are_refused() {
        assert_eq!(unpacked(&[1, 2, 3], usize::MAX), None);
        assert_eq!(unpacked(&[0xff, 0xff, 0xff], 400), None);
        assert_eq!(unpacked(&[], 1), None);
        let bytes = block::compress(&[7; 1000]);
        assert_eq!(unpacked(&bytes, 999), None);
        assert_eq!(unpacked(&bytes, 1001), None);
        assert_eq!(unpacked(&bytes[..bytes.len() - 1], 1000), None);
        assert_eq!(unpacked(&bytes, 1000).as_deref(), Some(&[7; 1000][..]));
    }

    proptest! {
        #[test]
        fn piles_come_back(texts in proptest::collection::vec((".{0,9}", ".{0,40}"), 0..9)) {
            let (keys, bytes) = pile(&texts);
            prop_assert_eq!(decode_pile(&keys, &bytes), Ok(texts));
        }

        #[test]
        fn damaged_piles_never_panic(keys in ".{0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_pile(&keys, &bytes);
        }
    }
}
