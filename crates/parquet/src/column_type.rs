//! Types of columns, in the notation of Arrow: `list<struct<role: string, content: string>>`.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};

use crate::ParquetError;

/// The type of a column. Every value may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Text,
    Bool,
    Int8,
    Int32,
    Int64,
    Float,
    Double,
    List(Box<ColumnType>),
    Struct(Vec<(String, ColumnType)>),
}

/// The maximum depth of a type.
const DEEPEST: usize = 16;

impl ColumnType {
    /// Parses a type.
    ///
    /// # Errors
    /// If the text is no type.
    pub fn parse(text: &str) -> std::result::Result<ColumnType, ParquetError> {
        let mut rest = text;
        match read(&mut rest, DEEPEST) {
            Some(parsed) if rest.trim().is_empty() => Ok(parsed),
            _ => Err(ParquetError::Type {
                text: text.to_owned(),
            }),
        }
    }

    /// The type in a Parquet schema. Lists have three levels, as other writers use them.
    pub fn to_schema(&self, name: &str) -> Result<TypePtr> {
        let leaf = |physical, logical| {
            Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical)
                .build()
        };
        let schema = match self {
            ColumnType::Text => leaf(Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Bool => leaf(Physical::BOOLEAN, None),
            ColumnType::Int8 => leaf(Physical::INT32, Some(LogicalType::integer(8, true))),
            ColumnType::Int32 => leaf(Physical::INT32, None),
            ColumnType::Int64 => leaf(Physical::INT64, None),
            ColumnType::Float => leaf(Physical::FLOAT, None),
            ColumnType::Double => leaf(Physical::DOUBLE, None),
            ColumnType::List(element) => {
                let repeated = Type::group_type_builder("list")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![element.to_schema("element")?])
                    .build()?;
                Type::group_type_builder(name)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_logical_type(Some(LogicalType::List))
                    .with_fields(vec![Arc::new(repeated)])
                    .build()
            }
            ColumnType::Struct(fields) => {
                let fields = fields.iter().map(|(name, kind)| kind.to_schema(name));
                Type::group_type_builder(name)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_fields(fields.collect::<Result<_>>()?)
                    .build()
            }
        };
        Ok(Arc::new(schema?))
    }
}

/// Reads a type at the beginning of a text.
fn read(rest: &mut &str, depth: usize) -> Option<ColumnType> {
    let depth = depth.checked_sub(1)?;
    let text = rest.trim_start();
    let end = text
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    *rest = after;
    Some(match word {
        "string" => ColumnType::Text,
        "bool" => ColumnType::Bool,
        "int8" => ColumnType::Int8,
        "int32" => ColumnType::Int32,
        "int64" => ColumnType::Int64,
        "float" => ColumnType::Float,
        "double" => ColumnType::Double,
        "list" => {
            take(rest, '<')?;
            let element = read(rest, depth)?;
            take(rest, '>')?;
            ColumnType::List(Box::new(element))
        }
        "struct" => {
            take(rest, '<')?;
            let mut fields = Vec::new();
            loop {
                let (name, after) = rest.split_once(':')?;
                *rest = after;
                fields.push((name.trim().to_owned(), read(rest, depth)?));
                if take(rest, ',').is_none() {
                    break;
                }
            }
            take(rest, '>')?;
            ColumnType::Struct(fields)
        }
        _ => return None,
    })
}

fn take(rest: &mut &str, sign: char) -> Option<()> {
    *rest = rest.trim_start().strip_prefix(sign)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_parsed_or_refused() {
        let parsed = ColumnType::parse("list<struct<a: string, b: list< int8 >>>").unwrap();
        let inner = ColumnType::Struct(vec![
            ("a".to_owned(), ColumnType::Text),
            ("b".to_owned(), ColumnType::List(Box::new(ColumnType::Int8))),
        ]);
        assert_eq!(parsed, ColumnType::List(Box::new(inner)));
        let deep = "list<".repeat(DEEPEST) + "int8" + &">".repeat(DEEPEST);
        for text in [
            "",
            "int9",
            "list<int8",
            "struct<>",
            "struct<a>",
            "int8 x",
            &deep,
        ] {
            assert!(ColumnType::parse(text).is_err(), "{text}");
        }
    }
}
