//! Incremental parser of server-sent events.
//!
//! It follows the event stream format of the HTML standard: lines end in LF, CR or CRLF; a leading byte
//! order mark is dropped; comments (`:`) and unknown fields are ignored; several `data` lines are
//! joined by LF; an event without data is dropped. In addition, [`SseParser::finish`] returns the last event even
//! without the final empty line, since some servers just hang up. Invalid UTF-8 becomes U+FFFD.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; empty if missing (which means `message`).
    pub event: String,
    pub data: String,
}

/// Parses bytes into events. The result does not depend on how the bytes are split.
#[derive(Debug, Default)]
pub struct SseParser {
    /// Bytes of the unfinished line.
    line: Vec<u8>,
    /// Whether the last byte was a CR that ended a line: a following LF belongs to it.
    after_carriage_return: bool,
    /// Whether a line was read already; a byte order mark is expected only before that.
    started: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseParser {
    /// Adds bytes; calls `take` with each event that is now complete, and stops at its first error.
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        take: &mut impl FnMut(&SseEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_carriage_return)
                && let [b'\n', after @ ..] = rest
            {
                rest = after;
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                return Ok(());
            };
            let (line, ended) = rest.split_at(end);
            let has_event = if self.line.is_empty() {
                self.end_line(line)
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                let has_event = self.end_line(&whole);
                // Reuse the allocation.
                whole.clear();
                self.line = whole;
                has_event
            };
            self.after_carriage_return = ended.first() == Some(&b'\r');
            rest = ended.get(1..).unwrap_or(&[]);
            if has_event {
                take(&self.event)?;
                self.forget();
            }
        }
        Ok(())
    }

    /// Ends the stream and returns the unfinished event, if there is one.
    pub fn finish(mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line);
        }
        self.has_data.then_some(self.event)
    }

    /// The number of buffered bytes.
    pub fn pending(&self) -> usize {
        self.line.len() + self.event.data.len()
    }

    /// Parses a line; returns whether it completes an event with data.
    fn end_line(&mut self, line: &[u8]) -> bool {
        let mut line = line;
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                return true;
            }
            self.forget();
            return false;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => {
                self.event.event.clear();
                self.event.event.push_str(&String::from_utf8_lossy(value));
            }
            // Comments have an empty field name; other fields are ignored.
            _ => {}
        }
        false
    }

    fn forget(&mut self) {
        self.event.event.clear();
        self.event.data.clear();
        self.has_data = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for piece in pieces {
            let taken = parser.push(piece, &mut |event| {
                events.push(event.clone());
                Ok::<(), ()>(())
            });
            assert_eq!(taken, Ok(()));
        }
        events.extend(parser.finish());
        events
    }

    fn data(text: &str) -> Vec<String> {
        let events = parse([text.as_bytes()]);
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn lines_end_in_three_ways() {
        for text in [
            "data: a\n\ndata: b\n\n",
            "data: a\r\rdata: b\r\r",
            "data: a\r\n\r\ndata: b\r\n\r\n",
        ] {
            assert_eq!(data(text), ["a", "b"], "{text:?}");
        }
    }

    #[test]
    fn comments_types_and_several_data_lines() {
        assert_eq!(
            parse([
                b": keep-alive\n\nevent: ping\ndata: one\ndata:two\ndata:  three\nid: 7\n\n"
                    .as_slice()
            ]),
            [SseEvent {
                event: "ping".into(),
                data: "one\ntwo\n three".into()
            }]
        );
    }

    #[test]
    fn an_event_without_data_is_none() {
        assert_eq!(data("event: x\n\ndata\n\n"), [""]);
    }

    #[test]
    fn the_last_event_needs_no_empty_line() {
        assert_eq!(data("data: a\n\ndata: b"), ["a", "b"]);
        assert_eq!(data("data: a\n\n"), ["a"]);
    }

    #[test]
    fn a_byte_order_mark_and_bytes_that_are_no_text() {
        assert_eq!(
            parse([b"\xEF\xBB\xBFdata: \xFF!\n\n".as_slice()])[0].data,
            "\u{FFFD}!"
        );
    }

    proptest! {
        #[test]
        fn cutting_changes_nothing(
            bytes in prop::collection::vec(prop_oneof![
                3 => prop::sample::select(b"\n\r: ".to_vec()),
                1 => any::<u8>(),
                2 => prop::sample::select(b"dataevent\xC3\xA9".to_vec()),
            ], 0..200),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let whole = parse([bytes.as_slice()]);
            let mut offsets: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            offsets.sort_unstable();
            offsets.push(bytes.len());
            let mut start = 0;
            let pieces: Vec<&[u8]> = offsets
                .iter()
                .map(|end| {
                    let piece = &bytes[start..*end];
                    start = *end;
                    piece
                })
                .collect();
            prop_assert_eq!(parse(pieces), whole);
        }

        #[test]
        fn what_is_written_is_read(texts in prop::collection::vec("[^\r\n\u{0}]{0,12}(\n[^\r\n]{0,9}){0,2}", 0..6)) {
            let stream: String = texts
                .iter()
                .map(|text| text.split('\n').map(|line| format!("data: {line}\n")).collect::<String>() + "\n")
                .collect();
            prop_assert_eq!(data(&stream), texts);
        }
    }
}
