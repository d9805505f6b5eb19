//! Reads the rows of Parquet files as JSON Lines, which the readers of `volary-formats` know: TRL's completions, and
//! data sets of conversations. Writes rows of JSON values as Parquet files ([`RowWriter`]).
//!
//! - A struct becomes an object, a list a list, and a map an object if its keys are texts, numbers or booleans. Text
//!   that is not UTF-8 becomes Base64. Dates and times become texts.
//! - Missing values are `null`; NaN stays NaN. In structs within a row they are left out, because a table gives all structs
//!   of a column the members of all of them: arguments of other tools, for example.
//!
//! Invariants: the output has a limit, which depends on the size of the file, and so has what is built at once; rows before
//! the first damaged page are returned.

mod column_type;
mod declared;
mod field;
mod rows;
mod thrift;
mod write;

pub use rows::{ParquetError, Rows, contradictory, is_parquet, read_rows};
pub use write::RowWriter;
