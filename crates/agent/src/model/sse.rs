//! Server-sent events, from bytes that may be cut anywhere.
//!
//! By the event stream format of the HTML standard: lines end in LF, CR or CRLF; a leading byte
//! order mark is dropped; comments (`:`) and unknown fields are ignored; several `data` lines are
//! joined by LF; an event without data is none. Beyond it, [`SseParser::finish`] gives the last event even
//! if no empty line follows it, since some servers just hang up. Bytes that are no UTF-8 become U+FFFD.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; empty where none was said (which means `message`).
    pub event: String,
    /// Its data.
    pub data: String,
}

/// Turns bytes into events. How the bytes are cut changes nothing.
#[derive(Debug, Default)]
pub struct SseParser {
    /// Bytes of the line that has not ended yet.
    line: Vec<u8>,
    /// The last byte was a CR that ended a line: an LF right behind it belongs to it.
    after_carriage_return: bool,
    /// A line was read already, so no byte order mark can come.
    started: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseParser {
    /// Takes more bytes; gives the events that are complete by now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_carriage_return && !rest.is_empty() {
            self.after_carriage_return = false;
            if rest[0] == b'\n' {
                rest = &rest[1..];
            }
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            events.extend(self.end_line());
            let ended_by = rest[end];
            rest = &rest[end + 1..];
            if ended_by == b'\r' {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_carriage_return = true,
                }
            }
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// The stream is over: gives the event that was not closed, if there is one.
    pub fn finish(mut self) -> Option<SseEvent> {
        let closed = if self.line.is_empty() {
            None
        } else {
            self.end_line()
        };
        closed.or_else(|| self.dispatch())
    }

    /// How many bytes wait for their line's end.
    pub fn pending(&self) -> usize {
        self.line.len() + self.event.data.len()
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let mut line = std::mem::take(&mut self.line);
        if !self.started {
            self.started = true;
            if line.starts_with(b"\xEF\xBB\xBF") {
                line.drain(..3);
            }
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(0) => return None,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => self.event.event = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
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
            events.extend(parser.push(piece));
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
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.sort_unstable();
            places.push(bytes.len());
            let mut start = 0;
            let pieces: Vec<&[u8]> = places
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
