//! Finds sensitive data in the files to publish, and masks it.
//!
//! Invariants: with masking, no published file has a finding. Files that cannot be masked, because they are compressed
//! or not text, are left out. Nothing in the folder of trajectories changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use volary_analysis::sensitive::{Finding, check, check_document, masked_document};
use volary_formats::import::{InputFile, import};
use volary_parquet::{is_parquet, read_rows};

use crate::inputs::LARGEST_PARQUET;
use crate::sharing::{Check, Sensitive};

/// The findings, and the masked texts that replace files.
#[derive(Debug)]
pub struct Masking {
    check: Check,
    masked: BTreeMap<String, String>,
    left_out: BTreeSet<String>,
}

impl Masking {
    /// Checks files of a folder: relative paths with sizes.
    pub fn of(folder: &Path, files: &[(String, u64)], is_wanted: bool) -> Result<Masking> {
        let mut masking = Masking {
            check: Check::new(is_wanted),
            masked: BTreeMap::new(),
            left_out: BTreeSet::new(),
        };
        for (name, _) in files {
            let path = folder.join(name);
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let (found, text) = look_into(name, bytes);
            if found.is_empty() {
                continue;
            }
            masking.check.add(name, &found);
            let text = text
                .filter(|_| is_wanted)
                .map(|text| masked_document(&text));
            match text.filter(|text| check_document(text).is_empty()) {
                Some(text) => drop(masking.masked.insert(name.clone(), text)),
                None if is_wanted => drop(masking.left_out.insert(name.clone())),
                None => {}
            }
        }
        Ok(masking)
    }

    /// The report for the user before publishing.
    pub fn report(&self) -> String {
        let mut report = self.check.report();
        if !self.left_out.is_empty() {
            report += "Not published, because they are packed and cannot be masked (`volary convert --mask` writes \
                       masked trajectories):\n";
            report.extend(self.left_out.iter().map(|name| format!("  {name:?}\n")));
        }
        report
    }

    /// The names of files that are left out.
    pub fn left_out(&self) -> &BTreeSet<String> {
        &self.left_out
    }

    /// What was found in the files.
    pub fn found(&self) -> &[Sensitive] {
        self.check.found()
    }

    /// Whether a published file contains a secret that grants access.
    pub fn has_secrets(&self) -> bool {
        self.check.has_secrets()
    }

    /// The published files, with their sizes.
    pub fn files(&self, mut files: Vec<(String, u64)>) -> Vec<(String, u64)> {
        files.retain(|(name, _)| !self.left_out.contains(name));
        for (name, bytes) in &mut files {
            if let Some(text) = self.masked.get(name) {
                *bytes = text.len() as u64;
            }
        }
        files
    }

    /// The masked text that replaces a file; `None` if the file is unchanged.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.masked.get(name).map(String::as_str)
    }
}

/// The findings of a file, and its text if it is a text file. Compressed files are read as trajectories.
fn look_into(name: &str, bytes: Vec<u8>) -> (Vec<Finding>, Option<String>) {
    // An archive of texts may be UTF-8 by chance, but contains null bytes.
    let text = if bytes.contains(&0) {
        Err(bytes)
    } else {
        String::from_utf8(bytes).map_err(|error| error.into_bytes())
    };
    match text {
        Ok(text) => (check_document(&text), Some(text)),
        Err(bytes) if is_parquet(&bytes) => {
            let rows = read_rows(bytes, LARGEST_PARQUET);
            let lines = rows.map_or_else(|_| String::new(), |rows| rows.lines);
            (check_document(&lines), None)
        }
        Err(bytes) => {
            let name = Some(name.to_owned());
            let episodes = import(&[InputFile { name, bytes }]);
            let episodes = episodes.map_or_else(|_| Vec::new(), |outcome| outcome.episodes);
            (episodes.iter().flat_map(check).collect(), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestFolder;
    use super::*;

    const KEY: &str = "sk-ant-0123456789abcdef0123";

    fn folder(name: &str) -> (TestFolder, Vec<(String, u64)>) {
        let folder = TestFolder::with(name, &["plain.json"]);
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path(name), bytes).unwrap();
        write(
            "key.json",
            format!("{{\"messages\": [\"{KEY}\"]}}").as_bytes(),
        );
        let lines = r#"{"messages": [{"role": "user", "content": "Mail ada@example.org"}]}"#;
        let packed = zip(lines.as_bytes());
        write("packed.zip", &packed);
        let names = ["key.json", "packed.zip", "plain.json"];
        (folder, names.map(|name| (name.to_owned(), 1)).to_vec())
    }

    /// A zip file with one stored member.
    fn zip(member: &[u8]) -> Vec<u8> {
        let name = b"runs.jsonl";
        let checksum = checksum(member).to_le_bytes();
        let size = (member.len() as u32).to_le_bytes();
        let same = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &checksum,
            &size,
            &size,
            &[name.len() as u8, 0, 0, 0],
        ]
        .concat();
        let local = [&b"PK\x03\x04"[..], &same, name, member].concat();
        let central = [&b"PK\x01\x02\x14\0"[..], &same, &[0; 14], name].concat();
        let end = [
            &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
            &(central.len() as u32).to_le_bytes(),
            &(local.len() as u32).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        [local, central, end].concat()
    }

    fn checksum(bytes: &[u8]) -> u32 {
        let bits = bytes.iter().fold(!0, |sum: u32, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                (sum >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(sum & 1))
            })
        });
        !bits
    }

    #[test]
    fn findings_are_listed_and_files_stay_as_they_are() {
        let (folder, files) = folder("listed");
        let masking = Masking::of(&folder.path(""), &files, false).unwrap();
        let report = masking.report();
        assert!(
            report.contains("  key.json: messages[0]: API key"),
            "{report}"
        );
        assert!(report.contains("  packed.zip: "), "{report}");
        assert!(masking.has_secrets() && masking.left_out().is_empty());
        assert_eq!(masking.files(files.clone()), files);
        assert_eq!(masking.text_of("key.json"), None);
    }

    #[test]
    fn masked_files_have_no_finding_and_packed_ones_are_left_out() {
        let (folder, files) = folder("masked");
        let masking = Masking::of(&folder.path(""), &files, true).unwrap();
        let text = masking.text_of("key.json").unwrap();
        assert_eq!(text, "{\"messages\": [\"[API key]\"]}\n");
        assert!(!masking.left_out().is_empty() && !masking.has_secrets());
        let published = masking.files(files);
        let names: Vec<&str> = published.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["key.json", "plain.json"]);
        assert_eq!(published[0].1, text.len() as u64);
        assert!(masking.report().contains("\"packed.zip\""));
        // The original file is unchanged.
        let kept = fs::read_to_string(folder.path("key.json")).unwrap();
        assert!(kept.contains(KEY));
    }
}
