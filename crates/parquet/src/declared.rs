//! Checks what a file declares before it is read: a few bytes can declare a value with millions of elements, pages of
//! gigabytes, or a schema that is nested without end, and the crate `parquet` would build all of it at once.

use parquet::basic::Type as PhysicalType;
use parquet::column::reader::ColumnReader;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::ParquetError;
use crate::thrift::{I32, LIST, STRUCT, Thrift};

/// The maximum depth of a schema. Calls of tools in messages in lists take about 20.
const DEEPEST: usize = 100;
/// A value takes memory for itself in addition to its text, so there may be this many times fewer values than bytes.
const BYTES_OF_VALUE: u64 = 8;
/// Texts of which each repeats the beginning of the one before it.
const DELTA_BYTE_ARRAY: i64 = 7;
/// The bytes that texts in that encoding may become in the worst case.
const MOST_DELTA_BYTES: u64 = 1 << 30;

/// Checks the depth of the schema. Malformed metadata pass: their reader reports them.
pub(crate) fn check_schema(file: &[u8]) -> Result<(), ParquetError> {
    match depth(file) {
        Some(depth) if depth > DEEPEST => Err(ParquetError::Damaged {
            reason: format!("its columns are nested in more than {DEEPEST} levels"),
        }),
        _ => Ok(()),
    }
}

/// The depth of the schema, or a number that is too large.
fn depth(file: &[u8]) -> Option<usize> {
    const TRAILER: usize = 8;
    const SCHEMA: i64 = 2;
    const CHILDREN: i64 = 5;
    let end = file.len().checked_sub(TRAILER)?;
    let length = u32::from_le_bytes(file.get(end..end + 4)?.try_into().ok()?);
    let start = end.checked_sub(usize::try_from(length).ok()?)?;
    let mut metadata = Thrift::new(file.get(start..end)?);
    let mut deepest = 0;
    let read = metadata.fields(|metadata, field| {
        if (field.id, field.kind) != (SCHEMA, LIST) {
            return Some(false);
        }
        // The numbers of children that are still to come, of each group around.
        let mut open: Vec<i64> = Vec::new();
        let (kind, count) = metadata.list()?;
        if kind != STRUCT {
            return None;
        }
        for _ in 0..count {
            let mut children = 0;
            metadata.fields(|metadata, field| match (field.id, field.kind) {
                (CHILDREN, I32) => {
                    children = metadata.integer()?;
                    Some(true)
                }
                _ => Some(false),
            })?;
            while open.pop_if(|left| *left < 1).is_some() {}
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            deepest = deepest.max(open.len());
            if deepest > DEEPEST {
                return None;
            }
        }
        Some(true)
    });
    read.map_or((deepest > DEEPEST).then_some(deepest), |()| Some(deepest))
}

/// Checks the sizes of all pages against `limit` bytes.
pub(crate) fn check_pages(
    file: &[u8],
    reader: &SerializedFileReader<bytes::Bytes>,
    limit: usize,
) -> Result<(), ParquetError> {
    let limit = limit as u64;
    let mut all = Pages::default();
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            all.add(file, column);
            if all.bytes > limit || all.values > limit / BYTES_OF_VALUE || all.is_delta_too_large {
                return Err(ParquetError::TooLarge {
                    size: (all.bytes.max(all.values.saturating_mul(BYTES_OF_VALUE))) >> 20,
                    limit: limit >> 20,
                });
            }
        }
    }
    Ok(())
}

/// What the headers of pages declare, in all.
#[derive(Default)]
struct Pages {
    /// The unpacked bytes.
    bytes: u64,
    values: u64,
    is_delta_too_large: bool,
}

impl Pages {
    /// Adds the pages of a column.
    fn add(&mut self, file: &[u8], column: &ColumnChunkMetaData) {
        let start = column
            .dictionary_page_offset()
            .unwrap_or(column.data_page_offset());
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let length = usize::try_from(column.compressed_size()).unwrap_or(0);
        let end = start.saturating_add(length).min(file.len());
        let mut rest = file.get(start..end).unwrap_or_default();
        // The reader reports a page that is malformed.
        while let Some(page) = Page::read(rest) {
            self.bytes = self.bytes.saturating_add(page.unpacked);
            self.values = self.values.saturating_add(page.values);
            self.is_delta_too_large |= page.encoding == Some(DELTA_BYTE_ARRAY)
                && page.values.saturating_mul(page.unpacked) > MOST_DELTA_BYTES;
            rest = rest.get(page.length..).unwrap_or_default();
        }
    }
}

/// The header of a page.
#[derive(Default)]
struct Page {
    /// The length of header and content.
    length: usize,
    unpacked: u64,
    values: u64,
    encoding: Option<i64>,
}

impl Page {
    fn read(bytes: &[u8]) -> Option<Page> {
        const UNPACKED: i64 = 2;
        const PACKED: i64 = 3;
        const DATA: i64 = 5;
        const DICTIONARY: i64 = 7;
        const DATA_2: i64 = 8;
        const VALUES: i64 = 1;
        let mut page = Page::default();
        let mut packed = 0;
        let mut header = Thrift::new(bytes);
        header.fields(|header, field| {
            match (field.id, field.kind) {
                (UNPACKED, I32) => page.unpacked = u64::try_from(header.integer()?).unwrap_or(0),
                (PACKED, I32) => packed = usize::try_from(header.integer()?).ok()?,
                (DATA | DICTIONARY | DATA_2, STRUCT) => {
                    let encoding = if field.id == DATA_2 { 4 } else { 2 };
                    header.fields(|header, field| {
                        match (field.id, field.kind) {
                            (VALUES, I32) => {
                                page.values = u64::try_from(header.integer()?).unwrap_or(0);
                            }
                            (id, I32) if id == encoding => page.encoding = Some(header.integer()?),
                            _ => return Some(false),
                        }
                        Some(true)
                    })?;
                }
                _ => return Some(false),
            }
            Some(true)
        })?;
        page.length = header.position().checked_add(packed)?;
        Some(page)
    }
}

/// The first row, from 0, whose lists of texts are larger than `limit` bytes; `None` if no row of the first `most` is. A
/// column may have a long text once, and refer to it millions of times in one row.
pub(crate) fn first_large_row(
    reader: &SerializedFileReader<bytes::Bytes>,
    limit: usize,
    most: usize,
) -> Option<usize> {
    let mut before = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).ok()?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let rows = rows.min(most.saturating_sub(before));
        let mut sizes: Vec<usize> = Vec::new();
        for (index, column) in group.metadata().columns().iter().enumerate() {
            let description = column.column_descr();
            let is_text = matches!(
                description.physical_type(),
                PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY
            );
            if !is_text || description.max_rep_level() == 0 {
                continue;
            }
            // Errors are reported when the rows are read.
            let Ok(mut column) = group.get_column_reader(index) else {
                continue;
            };
            for row in 0..rows {
                let Some(size) = size_of_record(&mut column) else {
                    break;
                };
                if row == sizes.len() {
                    sizes.push(0);
                }
                if let Some(sum) = sizes.get_mut(row) {
                    *sum = sum.saturating_add(size);
                    if *sum > limit {
                        return Some(before + row);
                    }
                }
            }
        }
        before = before.saturating_add(rows);
    }
    None
}

/// The bytes of the texts of the next record of a column; `None` at the end, or if it is damaged.
fn size_of_record(column: &mut ColumnReader) -> Option<usize> {
    let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
    let (read, sizes): (_, usize) = match column {
        ColumnReader::ByteArrayColumnReader(column) => {
            let mut values = Vec::new();
            let read = column.read_records(
                1,
                Some(&mut definitions),
                Some(&mut repetitions),
                &mut values,
            );
            (read.ok()?, values.iter().map(|value| value.len()).sum())
        }
        ColumnReader::FixedLenByteArrayColumnReader(column) => {
            let mut values = Vec::new();
            let read = column.read_records(
                1,
                Some(&mut definitions),
                Some(&mut repetitions),
                &mut values,
            );
            (read.ok()?, values.iter().map(|value| value.len()).sum())
        }
        _ => return None,
    };
    (read.0 > 0).then_some(sizes)
}
