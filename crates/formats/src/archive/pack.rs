//! Writes zip files: every member deflated.

use std::io::Write;

use miniz_oxide::deflate::compress_to_vec;
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter};

use super::ArchiveError;
use super::checksum::crc32;

/// A zip file under construction.
pub struct Packer {
    writer: ZipArchiveWriter<Vec<u8>>,
}

impl Default for Packer {
    fn default() -> Self {
        Packer {
            writer: ZipArchiveWriter::new(Vec::new()),
        }
    }
}

impl Packer {
    /// Adds a member with this name.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.try_add(name, bytes)
            .map_err(|error| ArchiveError::DamagedMember {
                name: name.to_owned(),
                reason: error.to_string(),
            })
    }

    fn try_add(&mut self, name: &str, bytes: &[u8]) -> Result<(), rawzip::Error> {
        // The fastest levels compress frames, which are repetitive, nearly as well as the others.
        const LEVEL: u8 = 3;
        let packed = compress_to_vec(bytes, LEVEL);
        let (mut entry, _) = self
            .writer
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE)
            .start()?;
        entry.write_all(&packed)?;
        entry.finish(DataDescriptorOutput::new(crc32(bytes), bytes.len() as u64))?;
        Ok(())
    }

    /// Writes the directory and returns the bytes of the zip file.
    pub fn finish(self) -> Result<Vec<u8>, ArchiveError> {
        self.writer.finish().map_err(|error| ArchiveError::Damaged {
            reason: error.to_string(),
        })
    }
}
