//! Timestamps of 96 bits (`INT96`), which Spark and older tools write: the nanoseconds of a day, and the day.
//!
//! The records of the crate have their milliseconds only, so the columns of this type are read a second time. A record has the
//! values of a column in its order, so each one that is not null takes the next one.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use parquet::basic::Type as PhysicalType;
use parquet::column::reader::ColumnReader;
use parquet::data_type::Int96;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::Type;

use crate::field::timestamp_of;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldTime {
    micros: i64,
    /// The nanoseconds after them.
    rest: i64,
}

impl OldTime {
    fn of(value: &Int96) -> OldTime {
        let low = value.data().first().copied().unwrap_or_default();
        let high = value.data().get(1).copied().unwrap_or_default();
        let nanoseconds = u64::from(high) << 32 | u64::from(low);
        OldTime {
            micros: value.to_micros(),
            rest: i64::try_from(nanoseconds % 1_000).unwrap_or_default(),
        }
    }

    pub fn to_text(self) -> String {
        timestamp_of(self.micros, self.rest)
    }
}

/// The times of a file that its rows have not taken yet, by the address of the type of their column in the schema.
#[derive(Debug, Default)]
pub(crate) struct OldTimes(HashMap<*const Type, RefCell<VecDeque<OldTime>>>);

impl OldTimes {
    /// Reads the columns of this type, up to what is damaged, and as many values as fit in `limit` bytes of JSON.
    pub fn read(reader: &SerializedFileReader<Bytes>, limit: usize) -> OldTimes {
        /// The least bytes of a time as JSON.
        const LEAST: usize = 28;
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let is_old = |place: &usize| columns[*place].physical_type() == PhysicalType::INT96;
        let mut room = limit / LEAST;
        let columns = (0..columns.len()).filter(is_old).map(|place| {
            let kind: *const Type = columns[place].self_type();
            let times = column(reader, place, room);
            room -= times.len().min(room);
            (kind, RefCell::new(times))
        });
        OldTimes(columns.collect())
    }

    /// Takes the next time of a column, which has these milliseconds; `None` if it is another one, or beyond those that have
    /// microseconds.
    pub fn next(&self, column: &Type, milliseconds: i64) -> Option<OldTime> {
        let times = self.0.get(&std::ptr::from_ref(column))?;
        let next = times.borrow_mut().pop_front()?;
        (next.micros.div_euclid(1_000) == milliseconds).then_some(next)
    }
}

/// The times of a column that are not null, in all groups of rows, and about `most` of them.
fn column(reader: &SerializedFileReader<Bytes>, place: usize, most: usize) -> VecDeque<OldTime> {
    let mut times = VecDeque::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group);
        let read = group.and_then(|group| add_times(&*group, place, most, &mut times));
        if read.is_err() || times.len() >= most {
            break;
        }
    }
    times
}

fn add_times(
    group: &dyn RowGroupReader,
    place: usize,
    most: usize,
    times: &mut VecDeque<OldTime>,
) -> Result<(), ParquetError> {
    /// The number of rows that are read at once.
    const PIECE: usize = 1 << 12;
    let ColumnReader::Int96ColumnReader(mut column) = group.get_column_reader(place)? else {
        return Ok(());
    };
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let (rows, ..) = column.read_records(
            PIECE,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        )?;
        times.extend(values.drain(..).map(|value| OldTime::of(&value)));
        if rows == 0 || times.len() >= most {
            return Ok(());
        }
        definitions.clear();
        repetitions.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::Int96Type;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use crate::read_rows;

    use super::*;

    /// 00:00:00 on 2026-03-04, and these nanoseconds.
    fn time(nanoseconds: u64) -> Int96 {
        const DAY: u32 = 2_440_588 + 20_516;
        let mut value = Int96::new();
        let low = u32::try_from(nanoseconds & u64::from(u32::MAX)).unwrap();
        value.set_data(low, u32::try_from(nanoseconds >> 32).unwrap(), DAY);
        value
    }

    /// The rows of a file with these columns, each with its values and levels, in two groups.
    fn rows(schema: &str, columns: &[(Vec<Int96>, Vec<i16>, Option<Vec<i16>>)]) -> Vec<String> {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        for _ in 0..2 {
            let mut group = writer.next_row_group().unwrap();
            for (values, definitions, repetitions) in columns {
                let mut column = group.next_column().unwrap().unwrap();
                let typed = column.typed::<Int96Type>();
                let repetitions = repetitions.as_deref();
                typed
                    .write_batch(values, Some(definitions), repetitions)
                    .unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        let rows = read_rows(writer.into_inner().unwrap(), 1 << 20).unwrap();
        rows.lines.lines().map(str::to_owned).collect()
    }

    #[test]
    fn times_are_exact_and_have_no_zone() {
        let second = 1_000_000_000;
        let found = rows(
            "message m { optional int96 a; repeated int96 b; }",
            &[
                (
                    vec![time(5 * second + 123_456_000), time(86_399 * second + 7)],
                    vec![1, 0, 1],
                    None,
                ),
                (
                    vec![time(1_000), time(2_000), time(3_000)],
                    vec![1, 1, 0, 1],
                    Some(vec![0, 1, 0, 0]),
                ),
            ],
        );
        let expected = [
            r#"{"a": "2026-03-04 00:00:05.123456", "b": ["2026-03-04 00:00:00.000001", "2026-03-04 00:00:00.000002"]}"#,
            r#"{"a": null, "b": []}"#,
            r#"{"a": "2026-03-04 23:59:59.000000007", "b": ["2026-03-04 00:00:00.000003"]}"#,
        ];
        assert_eq!(found, [expected, expected].concat());
    }
}
