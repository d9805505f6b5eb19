//! Reads Thrift's compact protocol, without building anything: what the metadata and page headers of a file declare is
//! checked before the crate `parquet` trusts it.

/// Types of fields that are read here.
const BINARY: u8 = 8;
pub(crate) const I32: u8 = 5;
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;
/// The maximum nesting of values that are skipped.
const DEEPEST: u8 = 32;

/// A position in bytes. Every method returns `None` at the end, or if the bytes are malformed.
pub(crate) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The header of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub id: i64,
    pub kind: u8,
}

impl<'a> Thrift<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Thrift { bytes, at: 0 }
    }

    /// The number of bytes that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at)?;
        self.at += 1;
        Some(*byte)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// An integer of any size but one byte.
    pub fn integer(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads the fields of a structure. `read` gets each with its header, and either reads it or returns `false`.
    pub fn fields(&mut self, mut read: impl FnMut(&mut Self, Field) -> Option<bool>) -> Option<()> {
        let mut id = 0_i64;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            id = match header >> 4 {
                0 => self.integer()?,
                more => id.checked_add(i64::from(more))?,
            };
            let field = Field {
                id,
                kind: header & 0x0f,
            };
            if !read(self, field)? {
                self.skip(field.kind, DEEPEST)?;
            }
        }
    }

    /// The type of the elements of a list, and their number.
    pub fn list(&mut self) -> Option<(u8, u64)> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.unsigned()?,
            few => u64::from(few),
        };
        Some((header & 0x0f, count))
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // The value of a boolean field is its type.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.unsigned()?),
            7 => self.at = self.at.checked_add(8)?,
            BINARY => {
                let length = usize::try_from(self.unsigned()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            LIST | 10 => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    self.skip_element(kind, depth)?;
                }
            }
            11 => {
                let count = self.unsigned()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..count {
                        self.skip_element(kinds >> 4, depth)?;
                        self.skip_element(kinds & 0x0f, depth)?;
                    }
                }
            }
            STRUCT => loop {
                let header = self.byte()?;
                if header == 0 {
                    break;
                }
                if header >> 4 == 0 {
                    self.integer()?;
                }
                self.skip(header & 0x0f, depth)?;
            },
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }

    /// An element of a list or map: booleans take a byte there.
    fn skip_element(&mut self, kind: u8, depth: u8) -> Option<()> {
        match kind {
            1 | 2 => self.byte().map(drop),
            _ => self.skip(kind, depth),
        }
    }
}
