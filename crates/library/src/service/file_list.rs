//! A list of files as it arrives: its lines, and its division into groups of files that are read together.
//!
//! Invariant: the files of a folder are in one group as far as its limits allow, because some formats spread an episode over
//! several files. So are annotations and the traces that they belong to.

use crate::file_server::ListedFile;

/// A group has at most this many files…
const MOST_FILES: usize = 512;
/// …and this many bytes, apart from its last file.
const MOST_BYTES: u64 = 16 << 20;
/// The first files are shown as soon as there are this many, if the others are in another folder.
const FIRST_FILES: usize = 16;
/// Later groups have at least this many files, whatever their folders.
const LEAST_FILES: usize = 64;

/// Splits what arrives into lines.
#[derive(Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    /// The lines that a piece completes; without a piece, the last one.
    pub(super) fn take(&mut self, piece: Option<Vec<u8>>) -> Vec<String> {
        let is_end = piece.is_none();
        self.0.extend(piece.unwrap_or_default());
        let last = self.0.iter().rposition(|byte| *byte == b'\n');
        let whole = if is_end {
            self.0.len()
        } else {
            last.map_or(0, |last| last + 1)
        };
        let lines: Vec<u8> = self.0.drain(..whole).collect();
        let lines = String::from_utf8_lossy(&lines);
        lines.lines().map(str::to_owned).collect()
    }
}

/// Divides the list into groups of files that are read together. Annotations are in the group of the traces that follow
/// them, whatever its size: those are joined with them.
#[derive(Default)]
pub(super) struct Groups {
    group: Vec<ListedFile>,
    bytes: u64,
    had_first: bool,
    /// The folder around the annotations of the group.
    annotated: Option<String>,
}

/// The folder in which prime-rl stores annotations, beside the traces.
const ANNOTATIONS: &str = "annotations/";

/// The folder around that of annotations, if a file is in one.
fn around_annotations(name: &str) -> Option<&str> {
    let (around, _) = name.rsplit_once(ANNOTATIONS)?;
    (around.is_empty() || around.ends_with('/')).then_some(around)
}

impl Groups {
    /// Adds a file; returns the group before it, if that is complete.
    pub(super) fn push(&mut self, listed: ListedFile) -> Option<Vec<ListedFile>> {
        let folder = |listed: &ListedFile| {
            listed
                .file
                .name
                .rsplit_once('/')
                .map(|(folder, _)| folder.to_owned())
        };
        let is_other = self
            .group
            .last()
            .is_some_and(|last| folder(last) != folder(&listed));
        let least = if self.had_first {
            LEAST_FILES
        } else {
            FIRST_FILES
        };
        let count = self.group.len();
        let is_full = count >= MOST_FILES || self.bytes >= MOST_BYTES;
        let annotated = self.annotated.as_ref();
        let is_annotated =
            annotated.is_some_and(|around| listed.file.name.starts_with(around.as_str()));
        let ends = !is_annotated && (is_full || is_other && count >= least);
        let group = ends.then(|| self.rest());
        if let Some(around) = around_annotations(&listed.file.name) {
            self.annotated = Some(around.to_owned());
        }
        self.bytes += listed.bytes;
        self.group.push(listed);
        group
    }

    /// The last group.
    pub(super) fn rest(&mut self) -> Vec<ListedFile> {
        self.had_first = true;
        self.bytes = 0;
        self.annotated = None;
        std::mem::take(&mut self.group)
    }
}

#[cfg(test)]
mod tests {
    use volary_protocol::library::RemoteFile;

    use super::*;

    fn listed(name: &str, bytes: u64) -> ListedFile {
        let file = RemoteFile {
            name: name.into(),
            url: "".into(),
        };
        ListedFile { file, bytes }
    }

    fn sizes(files: impl IntoIterator<Item = ListedFile>) -> Vec<usize> {
        let mut groups = Groups::default();
        let mut sizes: Vec<usize> = files
            .into_iter()
            .filter_map(|file| groups.push(file))
            .map(|group| group.len())
            .collect();
        sizes.push(groups.rest().len());
        sizes
    }

    #[test]
    fn files_of_a_folder_are_read_together() {
        let in_folders =
            (0..400).map(|number| listed(&format!("{:03}/{number}.json", number / 10), 10));
        assert_eq!(sizes(in_folders), [20, 70, 70, 70, 70, 70, 30]);
        let in_one = (0..1200).map(|number| listed(&format!("a/{number}.json"), 10));
        assert_eq!(sizes(in_one), [512, 512, 176]);
        let run = [
            "annotations/trainer/0.jsonl",
            "annotations/trainer.index.jsonl",
            "stream/0.jsonl",
            "stream/1.jsonl",
        ];
        let run = run.map(|name| listed(&format!("run/traces/{name}"), 20 << 20));
        assert_eq!(
            sizes(run.into_iter().chain([listed("run/x.jsonl", 1)])),
            [4, 1]
        );
        let large = (0..3).map(|number| listed(&format!("a/{number}.json"), 20 << 20));
        assert_eq!(sizes(large), [1, 1, 1]);
        assert_eq!(sizes([]), [0]);
    }

    #[test]
    fn lines_may_arrive_in_any_pieces() {
        let text = "{\"a\": \"ü\"}\n{}\nlast".as_bytes();
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut all: Vec<String> = Vec::new();
            for piece in text.chunks(size) {
                all.extend(lines.take(Some(piece.to_vec())));
            }
            all.extend(lines.take(None));
            assert_eq!(all, ["{\"a\": \"ü\"}", "{}", "last"]);
        }
    }
}
