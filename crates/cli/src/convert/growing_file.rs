//! A file that is written in parts, and takes its place when all are there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The output of a conversion. Invariant: until [`GrowingFile::finish`] a file of its name is unchanged, so that it can
/// be read meanwhile; without it nothing is left.
pub struct GrowingFile {
    file: File,
    /// Where the user wants it.
    path: PathBuf,
    /// The hidden file that is written, and the one that it replaces; `None` for what is no file, such as a pipe.
    places: Option<(PathBuf, PathBuf)>,
}

impl GrowingFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<GrowingFile> {
        let known = fs::metadata(path).ok();
        let (file, places) = match &known {
            Some(known) if !known.is_file() => (File::create(path), None),
            _ => {
                // A link stays one.
                let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
                let name = target.file_name().unwrap_or_default().to_string_lossy();
                let hidden = format!(".{name}.{}.part", std::process::id());
                let hidden = target.with_file_name(hidden);
                (File::create(&hidden), Some((hidden, target)))
            }
        };
        let file = file.with_context(|| cannot_write(path))?;
        if let (Some(known), Some(_)) = (known, &places) {
            // Not all file systems have permissions.
            let _ = file.set_permissions(known.permissions());
        }
        Ok(GrowingFile {
            file,
            path: path.to_owned(),
            places,
        })
    }

    /// Appends a part.
    pub fn write(&mut self, part: &[u8]) -> Result<()> {
        self.file
            .write_all(part)
            .with_context(|| cannot_write(&self.path))
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<()> {
        if let Some((hidden, target)) = self.places.take()
            && let Err(error) = fs::rename(&hidden, target)
        {
            let _ = fs::remove_file(hidden);
            return Err(error).with_context(|| cannot_write(&self.path));
        }
        Ok(())
    }
}

impl Drop for GrowingFile {
    fn drop(&mut self) {
        if let Some((hidden, _)) = &self.places {
            let _ = fs::remove_file(hidden);
        }
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_when_all_is_written() {
        let folder = std::env::temp_dir().join(format!("volary-growing-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.jsonl");
        fs::write(&path, "before").unwrap();
        drop(GrowingFile::create(&path).unwrap());
        let mut file = GrowingFile::create(&path).unwrap();
        file.write(b"one ").unwrap();
        file.write(b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one two");
        assert_eq!(folder.read_dir().unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
