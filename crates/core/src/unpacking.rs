//! How much the contents of a file may grow when they are unpacked.
//!
//! A few kilobytes of repeated text compress to almost nothing, and would fill memory, a table and a disk. Every reader of
//! compressed files takes its limits from here: archives, imports and Parquet files.

/// The largest ratio of unpacked to packed bytes. Logs stay below it, even repetitive ones.
const MOST_RATIO: usize = 100;
/// The unpacked bytes that are always allowed, however small the file.
const ALWAYS_BYTES: usize = 8 << 20;
/// The packed bytes of one episode, below which no real files were found: the smallest rollouts of trainers take three times
/// as many, conversations five times and more.
const LEAST_EPISODE: usize = 32;
/// The number of episodes that is always allowed, however small the file.
const ALWAYS_EPISODES: usize = 4_000;

/// The number of bytes that a compressed file of this many bytes may become.
pub const fn most_bytes(packed: usize) -> usize {
    let most = packed.saturating_mul(MOST_RATIO);
    if most > ALWAYS_BYTES {
        most
    } else {
        ALWAYS_BYTES
    }
}

/// The number of episodes that files of this many bytes in all, as they were given, may contain.
pub const fn most_episodes(packed: usize) -> usize {
    ALWAYS_EPISODES + packed / LEAST_EPISODE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_grow_with_the_packed_size() {
        assert_eq!(most_bytes(0), ALWAYS_BYTES);
        assert_eq!(most_bytes(10 << 20), 1000 << 20);
        assert_eq!(most_bytes(usize::MAX), usize::MAX);
        assert_eq!(most_episodes(0), ALWAYS_EPISODES);
        assert_eq!(most_episodes(32_000), ALWAYS_EPISODES + 1_000);
        assert!(most_episodes(usize::MAX) > usize::MAX / 64);
    }
}
