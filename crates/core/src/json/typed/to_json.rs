//! The serializer whose output is a [`Json`].

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::ShapeError;
use crate::json::object::Key;
use crate::json::serde_impl::LARGE;
use crate::json::{Integer, Json, Object};

/// Serializes a value; within a newtype struct named [`LARGE`], the digits of an integer.
#[derive(Default)]
pub(super) struct Writer {
    is_digits: bool,
}

/// A partial list, and the variant name if it is the content of a variant.
pub(super) struct ListWriter {
    variant: Option<&'static str>,
    list: Vec<Json>,
}

/// A partial object, the key of its next value, and the variant name if it is the content of a variant.
pub(super) struct ObjectWriter {
    variant: Option<&'static str>,
    object: Object,
    key: Option<Key>,
}

fn list(variant: Option<&'static str>, length: usize) -> ListWriter {
    ListWriter {
        variant,
        list: Vec::with_capacity(length),
    }
}

fn object(variant: Option<&'static str>) -> ObjectWriter {
    ObjectWriter {
        variant,
        object: Object::new(),
        key: None,
    }
}

fn content_of(variant: Option<&'static str>, content: Json) -> Json {
    match variant {
        None => content,
        Some(name) => Object::from_distinct(vec![(Key::Borrowed(name), content)]).into(),
    }
}

impl Serializer for Writer {
    type Ok = Json;
    type Error = ShapeError;
    type SerializeSeq = ListWriter;
    type SerializeTuple = ListWriter;
    type SerializeTupleStruct = ListWriter;
    type SerializeTupleVariant = ListWriter;
    type SerializeMap = ObjectWriter;
    type SerializeStruct = ObjectWriter;
    type SerializeStructVariant = ObjectWriter;

    /// Determines the form of large integers: digits if false, floats if true.
    fn is_human_readable(&self) -> bool {
        !self.is_digits
    }

    fn serialize_bool(self, value: bool) -> Result<Json, ShapeError> {
        Ok(Json::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<Json, ShapeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Json, ShapeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Json, ShapeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Json, ShapeError> {
        Ok(Json::from(value))
    }

    fn serialize_i128(self, value: i128) -> Result<Json, ShapeError> {
        Ok(Json::Integer(Integer::from(value)))
    }

    fn serialize_u8(self, value: u8) -> Result<Json, ShapeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<Json, ShapeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Json, ShapeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<Json, ShapeError> {
        self.serialize_i128(value.into())
    }

    fn serialize_f32(self, value: f32) -> Result<Json, ShapeError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<Json, ShapeError> {
        Ok(Json::Float(value))
    }

    fn serialize_char(self, value: char) -> Result<Json, ShapeError> {
        Ok(Json::from(String::from(value)))
    }

    fn serialize_str(self, value: &str) -> Result<Json, ShapeError> {
        if self.is_digits {
            Integer::from_digits(value)
                .map(Json::Integer)
                .ok_or_else(|| ShapeError::custom("expected digits"))
        } else {
            Ok(Json::from(value))
        }
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Json, ShapeError> {
        let bytes = value.iter().map(|byte| Json::from(i64::from(*byte)));
        Ok(Json::List(bytes.collect()))
    }

    fn serialize_none(self) -> Result<Json, ShapeError> {
        Ok(Json::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, ShapeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Json, ShapeError> {
        Ok(Json::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Json, ShapeError> {
        Ok(Json::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Json, ShapeError> {
        Ok(Json::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Json, ShapeError> {
        value.serialize(Writer {
            is_digits: name == LARGE,
        })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json, ShapeError> {
        Ok(content_of(Some(variant), value.serialize(self)?))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ListWriter, ShapeError> {
        Ok(list(None, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<ListWriter, ShapeError> {
        Ok(list(None, length))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        length: usize,
    ) -> Result<ListWriter, ShapeError> {
        Ok(list(None, length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ListWriter, ShapeError> {
        Ok(list(Some(variant), length))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<ObjectWriter, ShapeError> {
        Ok(object(None))
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<ObjectWriter, ShapeError> {
        Ok(object(None))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<ObjectWriter, ShapeError> {
        Ok(object(Some(variant)))
    }
}

impl ListWriter {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ShapeError> {
        self.list.push(value.serialize(Writer::default())?);
        Ok(())
    }

    fn finish(self) -> Json {
        content_of(self.variant, Json::List(self.list))
    }
}

impl SerializeSeq for ListWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ShapeError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}

impl SerializeTuple for ListWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ShapeError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}

impl SerializeTupleStruct for ListWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ShapeError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}

impl SerializeTupleVariant for ListWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ShapeError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}

impl ObjectWriter {
    fn insert<T: Serialize + ?Sized>(&mut self, key: Key, value: &T) -> Result<(), ShapeError> {
        let value = value.serialize(Writer::default())?;
        self.object.insert(key, value);
        Ok(())
    }

    fn finish(self) -> Json {
        content_of(self.variant, Json::Object(self.object))
    }
}

impl SerializeMap for ObjectWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ShapeError> {
        match key.serialize(Writer::default())? {
            Json::Text(key) => {
                self.key = Some(Key::Owned(key.to_string()));
                Ok(())
            }
            _ => Err(ShapeError::custom("a key of a map is not a string")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ShapeError> {
        let key = self.key.take();
        let key = key.ok_or_else(|| ShapeError::custom("a value of a map has no key"))?;
        self.insert(key, value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}

impl SerializeStruct for ObjectWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ShapeError> {
        self.insert(Key::Borrowed(key), value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for ObjectWriter {
    type Ok = Json;
    type Error = ShapeError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ShapeError> {
        self.insert(Key::Borrowed(key), value)
    }

    fn end(self) -> Result<Json, ShapeError> {
        Ok(self.finish())
    }
}
