//! The binary format of WebAssembly, as far as we change modules.

/// The section of a module in which its imports stand.
pub(super) const IMPORTS: u8 = 2;
/// The one with its exports.
pub(super) const EXPORTS: u8 = 7;

/// The module with another section in the place of one. `None` if it can't be read.
pub(super) fn with_section(
    module: &[u8],
    changed: u8,
    mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut reader = Reader(module);
    let mut result = reader.take(8)?.to_vec();
    while !reader.0.is_empty() {
        let id = reader.byte()?;
        let length = reader.number()?;
        let section = reader.take(length)?;
        let section = match id == changed {
            true => change(section)?,
            false => section.to_vec(),
        };
        result.push(id);
        push_number(&mut result, section.len());
        result.extend(section);
    }
    Some(result)
}

/// Reads the binary format of WebAssembly, as far as imports and exports need it.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// A number in LEB128.
    pub(super) fn number(&mut self) -> Option<usize> {
        let mut number = 0usize;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn name(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    /// What is imported: a function, a table, a memory, a global or a tag.
    pub(super) fn import(&mut self) -> Option<()> {
        match self.byte()? {
            0 => self.number().map(drop),
            1 => {
                self.byte()?;
                self.limits()
            }
            2 => self.limits(),
            3 => self.take(2).map(drop),
            4 => {
                self.byte()?;
                self.number().map(drop)
            }
            _ => None,
        }
    }

    fn limits(&mut self) -> Option<()> {
        let has_most = self.byte()? & 1 == 1;
        self.number()?;
        if has_most {
            self.number()?;
        }
        Some(())
    }
}

pub(super) fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn push_name(bytes: &mut Vec<u8>, name: &[u8]) {
    push_number(bytes, name.len());
    bytes.extend(name);
}

/// A module of one section with a part for each name, to try things on.
#[cfg(test)]
pub(super) fn module_of(id: u8, names: &[&str], part: impl Fn(&mut Vec<u8>, &str)) -> Vec<u8> {
    let mut section = Vec::new();
    push_number(&mut section, names.len());
    for name in names {
        part(&mut section, name);
    }
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    module.push(id);
    push_number(&mut module, section.len());
    module.extend(section);
    module
}
