//! String literals: their kind, and whether Python
//! accepts them. Their values are never needed.
//!
//! Format strings contain expressions, which must parse; Python 3.11 finds them by scanning
//! for the closing brace, with rules that differ from those of expressions elsewhere.

use std::borrow::Cow;

use super::parser::parse_in_format;

/// The kinds of string literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    Text,
    Bytes,
    Format,
}

type Checked<T> = Result<T, Cow<'static, str>>;

/// The kind of a literal, by its prefix.
pub fn kind(literal: &str) -> StringKind {
    let (prefix, _) = literal.split_at(literal.find(['\'', '"']).unwrap_or_default());
    if prefix.contains(['f', 'F']) {
        StringKind::Format
    } else if prefix.contains(['b', 'B']) {
        StringKind::Bytes
    } else {
        StringKind::Text
    }
}

/// Checks a literal with its prefix and quotes. `depth` is its nesting in other expressions.
///
/// # Errors
/// Python's message.
pub fn check(literal: &str, depth: u32) -> Checked<()> {
    let quote = literal.find(['\'', '"']).unwrap_or_default();
    let (prefix, quoted) = literal.split_at(quote);
    let raw = prefix.contains(['r', 'R']);
    let triple = quoted.starts_with("'''") || quoted.starts_with("\"\"\"");
    let width = if triple && quoted.len() >= 6 { 3 } else { 1 };
    let body = quoted.get(width..quoted.len() - width).unwrap_or_default();
    match kind(literal) {
        StringKind::Format => Format {
            rest: body,
            raw,
            depth,
        }
        .text(0),
        StringKind::Bytes if !body.is_ascii() => {
            Err("bytes can only contain ASCII literal characters".into())
        }
        _ if raw => Ok(()),
        StringKind::Bytes => check_byte_escapes(body),
        StringKind::Text => check_escapes(body),
    }
}

fn check_byte_escapes(body: &str) -> Checked<()> {
    let mut rest = body;
    while let Some(position) = rest.find('\\') {
        let escape = &rest.as_bytes()[position + 1..];
        if escape.first() == Some(&b'x')
            && !escape
                .get(1..3)
                .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        {
            let position = body.len() - rest.len() + position;
            return Err(format!("(value error) invalid \\x escape at position {position}").into());
        }
        rest = rest.get(position + 2..).unwrap_or_default();
    }
    Ok(())
}

fn check_escapes(body: &str) -> Checked<()> {
    // Python reports offsets in an encoding in which each non-ASCII character takes ten bytes.
    let offset = |part: &str| {
        part.chars()
            .map(|character| if character.is_ascii() { 1 } else { 10 })
            .sum::<usize>()
    };
    let mut rest = body;
    while let Some(position) = rest.find('\\') {
        let start = offset(&body[..body.len() - rest.len() + position]);
        let escape = &rest[position + 1..];
        let length = match escape.chars().next() {
            Some('x') => hexadecimal(escape, 2, "truncated \\xXX escape", start)?,
            Some('u') => hexadecimal(escape, 4, "truncated \\uXXXX escape", start)?,
            Some('U') => hexadecimal(escape, 8, "truncated \\UXXXXXXXX escape", start)?,
            Some('N') => named(escape, start)?,
            Some(other) => other.len_utf8(),
            None => 0,
        };
        rest = &escape[length..];
    }
    Ok(())
}

/// The length of a hexadecimal escape, starting at its letter.
fn hexadecimal(escape: &str, digits: usize, reason: &str, start: usize) -> Checked<usize> {
    let found = escape[1..]
        .bytes()
        .take(digits)
        .take_while(u8::is_ascii_hexdigit)
        .count();
    if found < digits {
        return Err(undecodable(start, 2 + found, reason));
    }
    let value = u32::from_str_radix(&escape[1..=digits], 16).unwrap_or(u32::MAX);
    if value > 0x10_ffff {
        return Err(undecodable(start, 2 + digits, "illegal Unicode character"));
    }
    Ok(1 + digits)
}

/// The length of `N{name}`. Names are not looked up: a table of them is not worth its size here.
fn named(escape: &str, start: usize) -> Checked<usize> {
    let Some(name) = escape.strip_prefix("N{") else {
        return Err(undecodable(start, 2, "malformed \\N character escape"));
    };
    match name.find('}') {
        Some(0) => Err(undecodable(start, 3, "malformed \\N character escape")),
        None => Err(undecodable(
            start,
            escape.len() + 1,
            "malformed \\N character escape",
        )),
        Some(length) => Ok(length + 3),
    }
}

fn undecodable(start: usize, length: usize, reason: &str) -> Cow<'static, str> {
    let end = start + length - 1;
    format!("(unicode error) 'unicodeescape' codec can't decode bytes in position {start}-{end}: {reason}").into()
}

/// A partly parsed format string.
struct Format<'s> {
    rest: &'s str,
    raw: bool,
    depth: u32,
}

impl Format<'_> {
    fn next_is(&self, character: char) -> bool {
        self.rest.starts_with(character)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Text and replacement fields: to the end, or in a format specification to its `}`.
    fn text(&mut self, nesting: u32) -> Checked<()> {
        loop {
            self.literal(nesting)?;
            if self.rest.is_empty() || self.next_is('}') {
                return Ok(());
            }
            self.field(nesting)?;
        }
    }

    /// Text up to a single brace.
    fn literal(&mut self, nesting: u32) -> Checked<()> {
        let bytes = self.rest.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if !self.raw && at + 1 < bytes.len() => {
                    at += 1;
                    match bytes[at] {
                        b'N' if bytes.get(at + 1) == Some(&b'{') => {
                            while at < bytes.len() && bytes[at] != b'}' {
                                at += 1;
                            }
                            at += 1;
                        }
                        b'{' | b'}' => {}
                        _ => at += 1,
                    }
                }
                b'{' | b'}' if nesting == 0 && bytes.get(at + 1) == Some(&byte) => at += 2,
                b'}' if nesting == 0 => return Err("f-string: single '}' is not allowed".into()),
                b'{' | b'}' => break,
                _ => at += 1,
            }
        }
        // An escape may end in the middle of a character.
        while !self.rest.is_char_boundary(at.min(bytes.len())) {
            at += 1;
        }
        let (literal, rest) = self.rest.split_at(at.min(bytes.len()));
        if !self.raw {
            check_escapes(literal)?;
        }
        self.rest = rest;
        Ok(())
    }

    /// `{expression=!conversion:specification}`
    fn field(&mut self, nesting: u32) -> Checked<()> {
        const EXPECTED: &str = "f-string: expecting '}'";
        if nesting >= 2 {
            return Err("f-string: expressions nested too deeply".into());
        }
        self.skip(1);
        let length = expression_length(self.rest)?;
        let expression = self.rest.get(..length).unwrap_or_default();
        self.skip(length);
        if self.rest.is_empty() {
            return Err(EXPECTED.into());
        }
        if expression
            .trim_matches([' ', '\t', '\n', '\x0c'])
            .is_empty()
        {
            return Err(match self.rest.chars().next() {
                Some(end @ ('!' | ':' | '=')) => {
                    format!("f-string: expression required before '{end}'").into()
                }
                _ => "f-string: empty expression not allowed".into(),
            });
        }
        // Brackets allow the expression to begin with a space or a line break.
        parse_in_format(&format!("({expression})"), self.depth + 1)?;
        if self.next_is('=') {
            self.rest = self.rest[1..].trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
        }
        if self.next_is('!') {
            self.skip(1);
            match self.rest.bytes().next() {
                None => return Err(EXPECTED.into()),
                Some(b's' | b'r' | b'a') => self.skip(1),
                Some(_) => {
                    return Err(
                        "f-string: invalid conversion character: expected 's', 'r', or 'a'".into(),
                    );
                }
            }
        }
        if self.next_is(':') {
            self.skip(1);
            if self.rest.is_empty() {
                return Err(EXPECTED.into());
            }
            self.text(nesting + 1)?;
        }
        if !self.next_is('}') {
            return Err(EXPECTED.into());
        }
        self.skip(1);
        Ok(())
    }
}

/// The length of a field's expression: up to the `}`, `!`, `:` or `=` that ends it.
fn expression_length(text: &str) -> Checked<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut string: Option<(u8, bool)> = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let triple = bytes.get(at + 1) == Some(&byte) && bytes.get(at + 2) == Some(&byte);
        match (string, byte) {
            (_, b'\\') => return Err("f-string expression part cannot include a backslash".into()),
            (Some((quote, long)), _) if byte == quote && (!long || triple) => {
                string = None;
                at += if long { 2 } else { 0 };
            }
            (Some(_), _) => {}
            (None, b'\'' | b'"') => {
                string = Some((byte, triple));
                at += if triple { 2 } else { 0 };
            }
            (None, b'(' | b'[' | b'{') => {
                if open.len() >= 200 {
                    return Err("f-string: too many nested parenthesis".into());
                }
                open.push(byte);
            }
            (None, b'#') => return Err("f-string expression part cannot include '#'".into()),
            (None, b'!' | b'=' | b'<' | b'>')
                if open.is_empty() && bytes.get(at + 1) == Some(&b'=') =>
            {
                at += 1
            }
            (None, b'!' | b':' | b'}' | b'=') if open.is_empty() => break,
            (None, b')' | b']' | b'}') => close_bracket(&mut open, byte)?,
            _ => {}
        }
        at += 1;
    }
    if string.is_some() {
        return Err("f-string: unterminated string".into());
    }
    if let Some(&bracket) = open.last() {
        return Err(format!("f-string: unmatched '{}'", char::from(bracket)).into());
    }
    Ok(at)
}

fn close_bracket(open: &mut Vec<u8>, close: u8) -> Checked<()> {
    let close = char::from(close);
    let Some(opened) = open.pop() else {
        return Err(format!("f-string: unmatched '{close}'").into());
    };
    if !matches!((opened, close), (b'(', ')') | (b'[', ']') | (b'{', '}')) {
        return Err(format!(
            "f-string: closing parenthesis '{close}' does not match opening parenthesis '{}'",
            char::from(opened)
        )
        .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_prefix() {
        assert_eq!(kind("'a'"), StringKind::Text);
        assert_eq!(kind("u'f'"), StringKind::Text);
        assert_eq!(kind("Rb'a'"), StringKind::Bytes);
        assert_eq!(kind("rF'a'"), StringKind::Format);
    }

    #[test]
    fn accepts_what_python_accepts() {
        for literal in [
            r"'\q\x41\u00e9\U0001f600\N{DIGIT ONE}\'\\'",
            r"b'\x41\u\N'",
            r"rb'\x'",
            "''''a'''",
            "f'{{{a}}}'",
            "f'{a!r:>{width}.{digits}}'",
            "f'{a = }{b != c}{d[\"}\"]}{(lambda x: x)}'",
            r"f'\N{DIGIT ONE}\{a}'",
        ] {
            assert_eq!(check(literal, 0), Ok(()), "{literal}");
        }
    }

    #[test]
    fn refuses_what_python_refuses() {
        for (literal, message) in [
            (r"b'\x4'", r"(value error) invalid \x escape at position 0"),
            ("b'é'", "bytes can only contain ASCII literal characters"),
            ("f'{'", "f-string: expecting '}'"),
            ("f'}'", "f-string: single '}' is not allowed"),
            ("f'{ }'", "f-string: empty expression not allowed"),
            (
                "f'{a b}'",
                "f-string: invalid syntax. Perhaps you forgot a comma?",
            ),
            ("f'{a:{b:{c}}}'", "f-string: expressions nested too deeply"),
            ("f'{1×2}'", "invalid character '×' (U+00D7)"),
        ] {
            assert_eq!(check(literal, 0), Err(message.into()), "{literal}");
        }
    }
}
