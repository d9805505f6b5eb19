//! Decodes bytes to text in any common encoding.
//!
//! UTF-8 with or without a byte order mark, UTF-16 and UTF-32 in both byte orders, and otherwise Windows-1252,
//! which accepts every byte.

use std::borrow::Cow;

/// A decoded text, and a remark about its encoding.
pub(crate) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub remark: Option<&'static str>,
}

/// Decodes a text; `None` if the bytes are not text.
pub(crate) fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return decode_bytes(rest);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe\0\0") {
        return Some(utf32(rest, u32::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        return Some(utf32(rest, u32::from_be_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Some(utf16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Some(utf16(rest, u16::from_be_bytes));
    }
    match bytes {
        // JSON starts with at least two ASCII characters.
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            Some(utf16(bytes, u16::from_le_bytes))
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            Some(utf16(bytes, u16::from_be_bytes))
        }
        _ => decode_bytes(bytes),
    }
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Decoded<'static> {
    let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    let characters = char::decode_utf16(units);
    let text: String = characters
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Decoded {
        text: Cow::Owned(text.trim_start_matches('\u{feff}').to_owned()),
        remark: Some("This is UTF-16; it was read as such."),
    }
}

fn utf32(bytes: &[u8], read: fn([u8; 4]) -> u32) -> Decoded<'static> {
    let (units, _) = bytes.as_chunks::<4>();
    let characters = units.iter().map(|unit| char::from_u32(read(*unit)));
    let text: String = characters
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Decoded {
        text: Cow::Owned(text),
        remark: Some("This is UTF-32; it was read as such."),
    }
}

fn decode_bytes(bytes: &[u8]) -> Option<Decoded<'_>> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => {
            return Some(Decoded {
                text: Cow::Borrowed(text),
                remark: None,
            });
        }
        Err(error) => error,
    };
    const LOOKED_AT: usize = 4096;
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    if start.contains(&0) {
        return None;
    }
    if error.error_len().is_none() || is_mostly_utf8(bytes) {
        return Some(Decoded {
            text: String::from_utf8_lossy(bytes).into_owned().into(),
            remark: Some("This is UTF-8 with invalid bytes; each is shown as \u{fffd}."),
        });
    }
    Some(Decoded {
        text: bytes
            .iter()
            .map(|byte| windows_1252(*byte))
            .collect::<String>()
            .into(),
        remark: Some("This is not UTF-8; it was read as Windows-1252 (Latin-1)."),
    })
}

/// Whether there are more multi-byte characters than invalid bytes.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut fit, mut unfit) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        fit += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        unfit += chunk.invalid().len();
    }
    fit > unfit
}

fn windows_1252(byte: u8) -> char {
    const UPPER: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => UPPER[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, bool) {
        let decoded = decode(bytes).unwrap();
        (decoded.text.into_owned(), decoded.remark.is_some())
    }

    #[test]
    fn encodings_are_recognised() {
        let little: Vec<u8> = "{\"é\"".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "{\"é\"".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let expected = ("{\"é\"".to_owned(), true);
        assert_eq!(text(&little), expected);
        assert_eq!(text(&big), expected);
        let wide: Vec<u8> = "\u{feff}{\"é\""
            .chars()
            .flat_map(|it| u32::from(it).to_le_bytes())
            .collect();
        assert_eq!(text(&wide), expected);
        assert_eq!(text(&[&b"\xff\xfe"[..], &little].concat()), expected);
        assert_eq!(text(&[&b"\xfe\xff"[..], &big].concat()), expected);
        assert_eq!(
            text(b"\xef\xbb\xbf{\"\xc3\xa9\""),
            ("{\"é\"".to_owned(), false)
        );
        assert_eq!(text(b"{\"\xe9\x80\""), ("{\"é€\"".to_owned(), true));
        let broken = [&b"\xff"[..], "ééé".as_bytes()].concat();
        assert_eq!(text(&broken), ("\u{fffd}ééé".to_owned(), true));
        assert!(decode(b"\x89PNG\x00\x00\xff").is_none());
    }
}
