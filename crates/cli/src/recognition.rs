//! Recognises trajectory files by their names and first bytes, without reading them whole.
//!
//! A folder of runs also has checkpoints, pictures and keys, which `view` should not list and `publish` must not copy unasked.
//! Only the readers decide whether a file is a trajectory.

use std::fs;
use std::io::Read;

/// The extensions of the files that Review reads, compressed or not.
const TRAJECTORIES: [&str; 12] = [
    "eval", "gz", "json", "jsonl", "ndjson", "parquet", "tar", "tgz", "traj", "zip", "zst", "zstd",
];

/// Whether a name is that of a trajectory file: by its extension, or as the batches of a rank (`rank_0.bin`).
pub fn looks_like_trajectory(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let is_rank = || {
        let rank = stem.strip_prefix("rank_");
        ending == "bin" && rank.is_some_and(|rank| rank.parse::<u32>().is_ok())
    };
    TRAJECTORIES.contains(&ending.to_ascii_lowercase().as_str()) || is_rank()
}

/// The first bytes of a file, by which it is recognised; `None` if it cannot be read.
pub fn read_head(file: fs::File) -> Option<Vec<u8>> {
    /// The signature of a tar archive is not at the start.
    const LENGTH: usize = 512;
    let mut head = Vec::with_capacity(LENGTH);
    file.take(LENGTH as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Whether a file with these first bytes is a torch file with the samples of a rollout, rather than a checkpoint: a dictionary
/// that begins with their keys.
pub fn looks_like_dump(head: &[u8]) -> bool {
    const KEYS: [&[u8]; 2] = [b"rollout_id", b"samples"];
    let has = |key: &[u8]| head.windows(key.len()).any(|bytes| bytes == key);
    // The first member of torch's archives is the pickle; older files are pickles.
    let is_archive = head.starts_with(b"PK\x03\x04") && has(b"/data.pkl");
    let is_torch = is_archive || head.starts_with(b"\x80");
    is_torch && KEYS.into_iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_trajectories_are_told_from_others() {
        for name in [
            "a.json",
            "C.EVAL",
            "runs.tar.gz",
            "x y#?.traj",
            "rank_0.bin",
        ] {
            assert!(looks_like_trajectory(name), "{name}");
        }
        for name in [
            "id_rsa",
            "json",
            "z.png",
            "7.pt",
            "rank_a.bin",
            "pytorch_model.bin",
        ] {
            assert!(!looks_like_trajectory(name), "{name}");
        }
    }

    #[test]
    fn dumps_are_told_from_checkpoints_and_other_archives() {
        let torch = |first: &str| format!("PK\x03\x04\x00\x00 0/data.pkl \u{0}}}q {first}");
        let dump = torch("rollout_id");
        let legacy =
            b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02}(X\x0a\0\0\0rollout_idK\x07";
        for head in [dump.as_bytes(), legacy] {
            assert!(looks_like_dump(head), "{head:?}");
        }
        let checkpoint = torch("model.layers");
        for head in [
            checkpoint.as_bytes(),
            b"PK\x03\x04 samples.npy",
            b"rollout_id",
            b"",
        ] {
            assert!(!looks_like_dump(head), "{head:?}");
        }
    }
}
