//! Writes rows as a Parquet file, compressed with Snappy.
//!
//! Invariants: every column is optional, and a value of another type than its column is missing, except that a text column
//! takes any value as JSON; NaN stays NaN. Rows are collected up to [`GROUP`] bytes, then written as a row group.

use std::sync::Arc;

use parquet::basic::{Compression, Repetition};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use volary_core::json::{Json, Object};

use crate::ParquetError;
use crate::column_type::ColumnType;

/// The size at which collected rows are written, in bytes.
const GROUP: usize = 32 << 20;

/// A file under construction.
pub struct RowWriter {
    file: SerializedFileWriter<Vec<u8>>,
    columns: Vec<(String, Node)>,
    leaves: Vec<Leaf>,
    /// The approximate size of the collected rows, in bytes.
    size: usize,
}

/// A type, with the indices of its leaves.
enum Node {
    Leaf(usize),
    List {
        element: Box<Node>,
        /// The repetition level of its elements after the first one.
        level: i16,
    },
    Struct(Vec<(String, Node)>),
}

/// The collected values of a leaf of the schema, with their definition and repetition levels.
struct Leaf {
    values: Values,
    defined: Vec<i16>,
    repeated: Vec<i16>,
    is_repeated: bool,
}

enum Values {
    Texts(Vec<ByteArray>),
    Bools(Vec<bool>),
    Bytes(Vec<i32>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
}

impl RowWriter {
    /// Begins a file with these columns: a name, and a type such as `list<int32>`. The types are `string`, `bool`, `int8`,
    /// `int32`, `int64`, `float`, `double`, `list<…>` and `struct<name: …, …>`.
    ///
    /// # Errors
    /// If a type is invalid, or there is no column.
    pub fn new<'a>(
        columns: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> std::result::Result<RowWriter, ParquetError> {
        let mut leaves = Vec::new();
        let mut nodes = Vec::new();
        let mut fields = Vec::new();
        for (name, kind) in columns {
            let kind = ColumnType::parse(kind)?;
            fields.push(kind.to_schema(name).map_err(unwritten)?);
            nodes.push((name.to_owned(), Node::of(&kind, 0, &mut leaves)));
        }
        let file = begin(fields).map_err(unwritten)?;
        Ok(RowWriter {
            file,
            columns: nodes,
            leaves,
            size: 0,
        })
    }

    /// Adds a row. Members without a column are left out.
    ///
    /// # Errors
    /// If the rows so far cannot be written.
    pub fn push(&mut self, row: &Object) -> std::result::Result<(), ParquetError> {
        for (name, node) in &self.columns {
            self.size += put(node, row.get(name.as_str()), 0, 0, &mut self.leaves);
        }
        if self.size >= GROUP {
            self.flush().map_err(unwritten)
        } else {
            Ok(())
        }
    }

    /// Ends the file and returns its bytes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> std::result::Result<Vec<u8>, ParquetError> {
        self.flush().map_err(unwritten)?;
        self.file.into_inner().map_err(unwritten)
    }

    /// Writes the collected rows.
    fn flush(&mut self) -> Result<()> {
        self.size = 0;
        if self.leaves.iter().all(|leaf| leaf.defined.is_empty()) {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for leaf in &mut self.leaves {
            if let Some(mut column) = group.next_column()? {
                leaf.write(column.untyped())?;
                column.close()?;
            }
        }
        group.close()?;
        Ok(())
    }
}

fn begin(fields: Vec<TypePtr>) -> Result<SerializedFileWriter<Vec<u8>>> {
    let schema = Type::group_type_builder("schema")
        .with_repetition(Repetition::REQUIRED)
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("volary version ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))
}

fn unwritten(error: parquet::errors::ParquetError) -> ParquetError {
    ParquetError::Unwritten {
        reason: crate::rows::reason(&error),
    }
}

impl Node {
    /// The node of a type whose parents have this repetition level.
    fn of(kind: &ColumnType, level: i16, leaves: &mut Vec<Leaf>) -> Node {
        let values = match kind {
            ColumnType::List(element) => {
                let level = level + 1;
                let element = Box::new(Node::of(element, level, leaves));
                return Node::List { element, level };
            }
            ColumnType::Struct(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, kind)| (name.clone(), Node::of(kind, level, leaves)));
                return Node::Struct(fields.collect());
            }
            ColumnType::Text => Values::Texts(Vec::new()),
            ColumnType::Bool => Values::Bools(Vec::new()),
            ColumnType::Int8 => Values::Bytes(Vec::new()),
            ColumnType::Int32 => Values::Ints(Vec::new()),
            ColumnType::Int64 => Values::Longs(Vec::new()),
            ColumnType::Float => Values::Floats(Vec::new()),
            ColumnType::Double => Values::Doubles(Vec::new()),
        };
        leaves.push(Leaf {
            values,
            defined: Vec::new(),
            repeated: Vec::new(),
            is_repeated: level > 0,
        });
        Node::Leaf(leaves.len() - 1)
    }
}

/// Adds a value, or that it is missing, to all leaves of a node. `defined` is the definition level of its parent, and
/// `repeated` the repetition level of the value. Returns the approximate size in bytes.
fn put(
    node: &Node,
    value: Option<&Json>,
    defined: i16,
    repeated: i16,
    leaves: &mut [Leaf],
) -> usize {
    match (node, value) {
        (Node::Leaf(index), value) => {
            let Some(leaf) = leaves.get_mut(*index) else {
                return 0;
            };
            let size = value.and_then(|value| leaf.values.push(value));
            leaf.defined.push(defined + i16::from(size.is_some()));
            leaf.repeated.push(repeated);
            size.unwrap_or_default() + 2 * size_of::<i16>()
        }
        (Node::List { element, level }, Some(Json::List(list))) if !list.is_empty() => {
            let values = list.iter().enumerate();
            let sizes = values.map(|(index, value)| {
                let repeated = if index == 0 { repeated } else { *level };
                put(element, Some(value), defined + 2, repeated, leaves)
            });
            sizes.sum()
        }
        (Node::List { element, .. }, value) => {
            let is_list = matches!(value, Some(Json::List(_)));
            put(
                element,
                None,
                defined + i16::from(is_list),
                repeated,
                leaves,
            )
        }
        (Node::Struct(fields), value) => {
            let object = value.and_then(Json::as_object);
            let defined = defined + i16::from(object.is_some());
            let sizes = fields.iter().map(|(name, node)| {
                let value = object.and_then(|object| object.get(name.as_str()));
                put(node, value, defined, repeated, leaves)
            });
            sizes.sum()
        }
    }
}

impl Values {
    /// Adds a value. Returns its size in bytes; `None` if it is missing or has another type.
    fn push(&mut self, value: &Json) -> Option<usize> {
        match self {
            Values::Texts(texts) => {
                let text = match value {
                    Json::Null => return None,
                    Json::Text(text) => text.to_string(),
                    value => value.to_compact_text(),
                };
                let size = text.len() + size_of::<ByteArray>();
                texts.push(ByteArray::from(text.into_bytes()));
                return Some(size);
            }
            Values::Bools(values) => values.push(value.as_bool()?),
            Values::Bytes(values) => values.push(i8::try_from(value.as_i64()?).ok()?.into()),
            Values::Ints(values) => values.push(i32::try_from(value.as_i64()?).ok()?),
            Values::Longs(values) => values.push(value.as_i64()?),
            #[allow(clippy::cast_possible_truncation, reason = "the caller chose 32 bits")]
            Values::Floats(values) => values.push(value.as_f64()? as f32),
            Values::Doubles(values) => values.push(value.as_f64()?),
        }
        Some(size_of::<f64>())
    }
}

impl Leaf {
    /// Writes the collected values as a column chunk, and forgets them.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let defined = Some(self.defined.as_slice());
        let repeated = self.is_repeated.then_some(self.repeated.as_slice());
        match (writer, &mut self.values) {
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Texts(values)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (ColumnWriter::BoolColumnWriter(writer), Values::Bools(values)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (
                ColumnWriter::Int32ColumnWriter(writer),
                Values::Bytes(values) | Values::Ints(values),
            ) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (ColumnWriter::Int64ColumnWriter(writer), Values::Longs(values)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (ColumnWriter::FloatColumnWriter(writer), Values::Floats(values)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Doubles(values)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            // The schema was made from the same types.
            _ => {}
        }
        self.defined.clear();
        self.repeated.clear();
        Ok(())
    }
}
