//! Raw values of stored records, undecoded, for export.

use js_sys::{Array, Object, Uint8Array};
use volary_core::json;
use volary_core::json::{Json, Object as JsonObject};
use wasm_bindgen::{JsCast, JsValue};

use super::{Database, DatabaseError, Store};

/// Returns the value under a key as JSON, with bytes as `{"hex": "…"}`; `None` if there is no record.
pub async fn raw_value(
    database: &Database,
    store: Store,
    key: &JsValue,
) -> Result<Option<Json>, DatabaseError> {
    let found = database.read(store)?.get(key.clone())?.await?;
    Ok(found.map(|value| json_of(&value)))
}

fn json_of(value: &JsValue) -> Json {
    if let Some(text) = value.as_string() {
        return text.into();
    }
    if let Some(number) = value.as_f64() {
        return number.into();
    }
    if let Some(flag) = value.as_bool() {
        return flag.into();
    }
    if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
        return json!({ "hex": (hex(&bytes.to_vec())) });
    }
    if let Some(list) = value.dyn_ref::<Array>() {
        return Json::List(list.iter().map(|part| json_of(&part)).collect());
    }
    let mut object = JsonObject::new();
    if let Some(fields) = value.dyn_ref::<Object>() {
        for field in Object::entries(fields).iter() {
            let field: Array = field.unchecked_into();
            if let Some(name) = field.get(0).as_string() {
                object.insert(name, json_of(&field.get(1)));
            }
        }
        return object.into();
    }
    Json::Null
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(hex(&[0, 7, 255, 128]), "0007ff80");
    }
}
