//! Where the annotations of traces are (`prime_rl::annotations`), for traces in a file that is read in ranges: an episode
//! of such a file has its range in the bytes of the traces followed by those of the annotations, so it is opened with
//! them.
//!
//! Invariant: memory is bounded by one range for each line, and by the longest line.

use std::collections::HashMap;
use std::ops::Range;

use volary_core::json::{Json, Text};

use super::super::members::id;

/// The ranges of annotations, by their trace.
#[derive(Clone, Debug, Default)]
pub struct AnnotationRanges {
    by_trace: HashMap<Text, Vec<Range<u64>>>,
    /// The bytes of the unfinished line.
    held: Vec<u8>,
    /// The offset of the next byte.
    at: u64,
}

/// Whether a file that begins with this line has annotations.
pub fn is_annotation(line: &[u8]) -> bool {
    trace_of(line).is_some()
}

/// The trace of an annotation.
fn trace_of(line: &[u8]) -> Option<Text> {
    let value = Json::parse(std::str::from_utf8(line).ok()?.trim()).ok()?;
    value.get("branches")?.as_list()?;
    id(value.get("trace_id")?)
}

impl AnnotationRanges {
    /// Feeds the next bytes of the files, which follow each other.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut start = 0;
        while let Some(length) = bytes
            .get(start..)
            .and_then(|rest| memchr::memchr(b'\n', rest))
        {
            let end = start + length;
            self.held.extend_from_slice(&bytes[start..end]);
            self.at += (end - start) as u64;
            self.end_line();
            // The line break.
            self.at += 1;
            start = end + 1;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        self.held.extend_from_slice(rest);
        self.at += rest.len() as u64;
    }

    /// Ends a file. The next one begins with a line of its own.
    pub fn end_file(&mut self) {
        self.end_line();
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.held);
        let start = self.at - line.len() as u64;
        if let Some(trace) = trace_of(&line) {
            let ranges = self.by_trace.entry(trace).or_default();
            ranges.push(start..self.at);
        }
    }

    /// The annotations of a trace, in order.
    pub fn of(&self, trace: &str) -> &[Range<u64>] {
        self.by_trace.get(trace).map_or(&[], Vec::as_slice)
    }

    /// The ranges of all annotations whose trace passes, in order.
    pub fn of_others(&self, is_wanted: impl Fn(&Text) -> bool) -> Vec<Range<u64>> {
        let traces = self.by_trace.iter().filter(|(trace, _)| is_wanted(trace));
        let mut ranges: Vec<Range<u64>> = traces.flat_map(|(_, ranges)| ranges.clone()).collect();
        ranges.sort_by_key(|range| range.start);
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_lines_however_the_bytes_arrive() {
        let line =
            |trace: &str| format!(r#"{{"trace_id": "{trace}", "info": {{}}, "branches": []}}"#);
        let (first, second) = (
            format!("{}\nnot JSON\n{}\n", line("a"), line("b")),
            line("a"),
        );
        let whole = format!("{first}{second}");
        for piece in [1, 7, 1000] {
            let mut ranges = AnnotationRanges::default();
            for file in [&first, &second] {
                file.as_bytes()
                    .chunks(piece)
                    .for_each(|bytes| ranges.feed(bytes));
                ranges.end_file();
            }
            let text = |range: &Range<u64>| &whole[range.start as usize..range.end as usize];
            let of = |trace: &str| ranges.of(trace).iter().map(text).collect::<Vec<_>>();
            assert_eq!(of("a"), [line("a"), line("a")]);
            assert_eq!(of("b"), [line("b")]);
            assert_eq!(of("c"), Vec::<&str>::new());
            let others = ranges.of_others(|trace| &**trace != "b");
            assert_eq!(
                others.iter().map(text).collect::<Vec<_>>(),
                [line("a"), line("a")]
            );
        }
        assert!(is_annotation(line("a").as_bytes()));
        assert!(!is_annotation(br#"{"trace_id": "a"}"#));
    }
}
