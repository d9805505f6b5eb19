//! Small files that expand: the cost of importing and showing an input of at most [`LARGEST`] bytes.
//!
//! - [`case`]: a mutated seed of a format, with repeated parts, long texts, references and compression. It is
//!   derived from the format and a number.
//! - [`attacks`]: hand-written files, each for one kind of expansion. [`crowds`]: several such files at once.
//! - [`many`]: hand-written files that grow into very many episodes, files, rows or links. [`multiples`]: any format, as
//!   often as it fits.
//! - [`cost`]: the cost of importing and showing files. Memory is counted by the allocator, so the same input
//!   always costs the same; time is measured for long runs only.

use std::ops::Range;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use volary_core::json::Json;
use volary_core::random::Random;
use volary_formats::import::index::{Indexer, open};
use volary_formats::import::{InputFile, import};

use crate::judge::{as_lines, show};
use crate::seeds::Format;
use crate::tree::{Style, Tree};
use crate::{ALLOCATOR, PEAK};

mod attacks;
mod many;

pub use attacks::{attacks, crowds};
pub use many::{many, multiples};

/// The maximum size of an input, in bytes.
pub const LARGEST: usize = 100 << 10;
/// The maximum peak memory of an input, in bytes.
pub const MOST_MEMORY: usize = 512 << 20;
/// The maximum total allocation of an input, in bytes: a measure of work that does not depend on the machine.
pub const MOST_ALLOCATED: usize = 6 << 30;
/// The maximum time of an input, in a release build.
pub const MOST_TIME: Duration = Duration::from_secs(2);

/// The limit of the page for the rows of a Parquet file, in bytes.
const LARGEST_ROWS: usize = 512 << 20;
/// The maximum size of a case before compression, in bytes.
const LONGEST: usize = 12 << 20;

/// The cost of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The peak memory, in bytes.
    pub memory: usize,
    /// The total allocation, in bytes.
    pub allocated: usize,
    /// The CPU time.
    pub time: Duration,
}

impl Cost {
    /// Whether memory or allocation exceeds its limit; ignores time.
    pub fn is_too_much(&self) -> bool {
        self.memory > MOST_MEMORY || self.allocated > MOST_ALLOCATED
    }

    /// The maximum of both in each field.
    pub fn most(self, other: Cost) -> Cost {
        Cost {
            memory: self.memory.max(other.memory),
            allocated: self.allocated.max(other.allocated),
            time: self.time.max(other.time),
        }
    }
}

/// The cost of importing files and showing the result. A single file is also read in chunks, and the maximum of both
/// costs counts. Includes the allocations of other threads.
pub fn cost(files: &[InputFile]) -> Cost {
    let whole = measured(|| {
        let files = as_lines(files, LARGEST_ROWS).unwrap_or_default();
        if let Ok(outcome) = import(&files) {
            for episode in &outcome.episodes {
                let frames = episode.frames.len();
                show(
                    episode,
                    frames
                        .checked_sub(1)
                        .into_iter()
                        .chain((frames > 2).then_some(frames / 2)),
                );
            }
        }
    });
    match files {
        [file] => whole.most(measured(|| in_pieces(file))),
        _ => whole,
    }
}

fn measured(act: impl FnOnce()) -> Cost {
    let before = (PEAK.current_usage(), ALLOCATOR.total_allocated());
    PEAK.reset_peak_usage();
    let began = time();
    act();
    Cost {
        memory: PEAK.peak_usage().saturating_sub(before.0),
        allocated: ALLOCATOR.total_allocated().saturating_sub(before.1),
        time: time().saturating_sub(began),
    }
}

/// The CPU time of this thread, if the system reports it, since other programs may be running.
fn time() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = ran.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

fn in_pieces(file: &InputFile) {
    let name = file.name.as_deref().unwrap_or_default();
    let mut indexer = Indexer::new(name);
    for chunk in file.bytes.chunks(1 << 14) {
        indexer.feed(chunk);
    }
    indexer.finish();
    for entry in indexer.take_entries().iter().take(3) {
        let part = |range: &Range<u64>| file.bytes.get(range.start as usize..range.end as usize);
        let parts = entry.range.parts.iter();
        let parts = parts.map(|range| part(range).unwrap_or_default().to_vec());
        open(name, parts.collect(), &entry.range, &entry.row);
    }
}

/// The case with this number.
pub fn case(format: &Format, number: u64) -> Vec<InputFile> {
    let mut random = Random::new(number).fork(format.name);
    let Some(seed) = random.pick(&format.seeds) else {
        return Vec::new();
    };
    let mut files: Vec<InputFile> = seed.clone();
    let index = random.below(files.len() as u64) as usize;
    let packs = random.below(2) == 0;
    // A compressed input may be long if it is repetitive.
    let longest = if packs { LONGEST } else { LARGEST };
    if let Some(file) = files.get_mut(index)
        && let Ok(text) = std::str::from_utf8(&file.bytes)
    {
        file.bytes = grown(text, longest, &mut random).into_bytes();
        if packs {
            file.bytes = attacks::gzip(&file.bytes);
        }
    }
    let fits = files.iter().map(|file| file.bytes.len()).sum::<usize>() <= LARGEST;
    if fits { files } else { Vec::new() }
}

/// Repeats parts of a JSON text.
fn grown(text: &str, longest: usize, random: &mut Random) -> String {
    let mut lines: Vec<Tree> = match Json::parse(text) {
        Ok(value) => vec![Tree::from(&value)],
        Err(_) => {
            let lines = text.lines().filter_map(|line| Json::parse(line).ok());
            lines.map(|value| Tree::from(&value)).collect()
        }
    };
    if lines.is_empty() {
        return text.to_owned();
    }
    for _ in 0..1 + random.below(3) {
        let written: usize = lines
            .iter()
            .map(|line| line.write(Style::Compact).len())
            .sum();
        grow(&mut lines, longest.saturating_sub(written), random);
    }
    let texts = lines.iter().map(|line| line.write(Style::Compact));
    let texts: Vec<String> = texts.collect();
    texts.join("\n")
}

/// Repeats one part, adding at most `room` bytes.
fn grow(lines: &mut Vec<Tree>, room: usize, random: &mut Random) {
    let index = random.below(lines.len() as u64) as usize;
    if random.below(8) == 0 {
        let line = lines[index].clone();
        let times = room / (line.write(Style::Compact).len() + 1);
        lines.extend(std::iter::repeat_n(line, times.min(100_000)));
        return;
    }
    let node = lines[index].pick(random);
    let length = node.write(Style::Compact).len();
    match (random.below(6), node) {
        // Repeats elements of a list with their ids.
        (0..3, Tree::List(list)) if !list.is_empty() => {
            let child = list[random.below(list.len() as u64) as usize].clone();
            let times = room / (child.write(Style::Compact).len() + 1);
            list.extend(std::iter::repeat_n(child, times.min(2_000_000)));
        }
        (_, Tree::Object(members)) => {
            let (key, _) = match random.below(2) {
                0 => (format!("\"k{}\"", random.below(1000)), ()),
                _ => (
                    members
                        .first()
                        .map_or_else(|| "\"k\"".to_owned(), |(key, _)| key.clone()),
                    (),
                ),
            };
            let value = match random.below(3) {
                0 => format!("[{}0]", "0,".repeat(room / 2)),
                1 => format!("[{}[]]", "[],".repeat(room / 3)),
                _ => format!("[{}{{}}]", "{\"a\":{}},".repeat(room / 9)),
            };
            members.push((key, Tree::Leaf(value)));
        }
        (3, node) => *node = Tree::Leaf(format!("\"{}\"", "x".repeat(room))),
        (4, node) if length > 0 => {
            let one = node.clone();
            *node = Tree::List(vec![one; (room / (length + 1)).min(1_000_000)]);
        }
        (_, node) => {
            let depth = (room / 2).min(400);
            let inner = node.write(Style::Compact);
            *node = Tree::Leaf(format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::formats;

    #[test]
    fn a_case_follows_from_its_number_and_is_small() {
        for format in formats().unwrap() {
            for number in 0..2 {
                let made = case(&format, number);
                assert_eq!(made, case(&format, number));
                let length: usize = made.iter().map(|file| file.bytes.len()).sum();
                assert!(length <= LARGEST);
            }
        }
    }
}
