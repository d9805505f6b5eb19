//! The bytes of a pickle.

use super::PickleError;

/// Reads operands. No length is trusted: a slice is returned only if all its bytes exist.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// The number of bytes read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes that were not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Continues at a position, which must be within the bytes.
    pub fn skip_to(&mut self, position: usize) {
        self.at = position.min(self.bytes.len());
    }

    fn truncated(&self) -> PickleError {
        let at = self.bytes.len();
        PickleError::Truncated { at }
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], PickleError> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.truncated())?;
        self.at += length;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, PickleError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Bytes prefixed with their length, which takes `N` bytes.
    pub fn counted<const N: usize>(&mut self) -> Result<&'a [u8], PickleError> {
        let mut length = [0; 8];
        let prefix = self.array::<N>()?;
        for (to, from) in length.iter_mut().zip(prefix) {
            *to = from;
        }
        let length = usize::try_from(u64::from_le_bytes(length));
        let length = length.map_err(|_| self.truncated())?;
        self.take(length)
    }

    /// The bytes up to the next line break, which is consumed too.
    pub fn line(&mut self) -> Result<&'a [u8], PickleError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n');
        let line = self.take(length.ok_or_else(|| self.truncated())?)?;
        self.at += 1;
        Ok(line)
    }
}
