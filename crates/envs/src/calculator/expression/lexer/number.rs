//! Finds the end of a number literal, and checks its form.
//!
//! Digits may be separated by single `_`. A literal extends as far as possible; a letter, digit
//! or `_` directly after it makes it invalid, unless a keyword starts there that may follow a value
//! (`1if x else 2` is legal in Python 3.11).

use std::borrow::Cow;

/// Finds the end of the number that starts at `start` with a digit, or with `.` and a digit.
///
/// # Errors
/// Python's message, if the literal is malformed.
pub fn scan(text: &[u8], start: usize) -> Result<usize, Cow<'static, str>> {
    let scan = Scan { text, at: start };
    if scan.peek() == Some(b'0') {
        match scan.text.get(start + 1) {
            Some(b'x' | b'X') => {
                return scan.prefixed("hexadecimal", |byte| byte.is_ascii_hexdigit());
            }
            Some(b'o' | b'O') => return scan.prefixed("octal", |byte| matches!(byte, b'0'..=b'7')),
            Some(b'b' | b'B') => {
                return scan.prefixed("binary", |byte| matches!(byte, b'0' | b'1'));
            }
            _ => {}
        }
    }
    scan.decimal()
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

type Scanned<T> = Result<T, Cow<'static, str>>;

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn at_digit(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    fn decimal(mut self) -> Scanned<usize> {
        let start = self.at;
        if self.at_digit() {
            self.digits()?;
        }
        let whole = &self.text[start..self.at];
        let old_octal =
            whole.first() == Some(&b'0') && whole.iter().any(|byte| matches!(byte, b'1'..=b'9'));
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            is_float = true;
            self.at += 1;
            if self.at_digit() {
                self.digits()?;
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            let exponent = self.at;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
                if !self.at_digit() {
                    return Err("invalid decimal literal".into());
                }
            }
            if self.at_digit() {
                is_float = true;
                self.digits()?;
            } else {
                // Not an exponent after all: `1else` is a number and a keyword, `1e` is invalid.
                self.at = exponent;
                return self.end("decimal");
            }
        }
        if matches!(self.peek(), Some(b'j' | b'J')) {
            self.at += 1;
            return self.end("imaginary");
        }
        if old_octal && !is_float {
            return Err(
                "leading zeros in decimal integer literals are not permitted; \
                        use an 0o prefix for octal integers"
                    .into(),
            );
        }
        self.end("decimal")
    }

    /// Digits, separated by single underscores.
    fn digits(&mut self) -> Scanned<()> {
        loop {
            while self.at_digit() {
                self.at += 1;
            }
            if self.peek() != Some(b'_') {
                return Ok(());
            }
            self.at += 1;
            if !self.at_digit() {
                return Err("invalid decimal literal".into());
            }
        }
    }

    /// The digits after `0x`, `0o` or `0b`; an underscore may precede them, too.
    fn prefixed(mut self, base: &'static str, is_digit: impl Fn(u8) -> bool) -> Scanned<usize> {
        self.at += 2;
        loop {
            if self.peek() == Some(b'_') {
                self.at += 1;
            }
            if !self.peek().is_some_and(&is_digit) {
                return Err(self
                    .wrong_digit(base)
                    .unwrap_or_else(|| format!("invalid {base} literal").into()));
            }
            while self.peek().is_some_and(&is_digit) {
                self.at += 1;
            }
            if self.peek() != Some(b'_') {
                break;
            }
        }
        match self.wrong_digit(base) {
            Some(message) => Err(message),
            None => self.end(base),
        }
    }

    fn wrong_digit(&self, base: &str) -> Option<Cow<'static, str>> {
        let digit = self.peek().filter(u8::is_ascii_digit)?;
        Some(format!("invalid digit '{}' in {base} literal", char::from(digit)).into())
    }

    /// Checks what follows the literal.
    fn end(&self, kind: &str) -> Scanned<usize> {
        let rest = &self.text[self.at..];
        let starts_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let keyword = |word: &[u8]| {
            rest.starts_with(word)
                && !rest
                    .get(word.len())
                    .is_some_and(|byte| starts_word(byte) || !byte.is_ascii())
        };
        let may_follow = keyword(b"and")
            || keyword(b"else")
            || keyword(b"for")
            || keyword(b"or")
            || keyword(b"not")
            || matches!(rest, [b'i', b'f' | b'n' | b's', ..]);
        if rest.first().is_some_and(starts_word) && !may_follow {
            return Err(format!("invalid {kind} literal").into());
        }
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_where_the_literal_ends() {
        for (text, length) in [
            ("12", 2),
            ("1_000+", 5),
            ("1.5.2", 3),
            (".5", 2),
            ("5.", 2),
            ("1.e3", 4),
            ("1E+5", 4),
            ("00_0", 4),
            ("09.5", 4),
            ("09j", 3),
            ("0x_1F", 5),
            ("0b1_0)", 5),
            ("1if", 1),
            ("1else", 1),
            ("1or 2", 1),
            ("0x1for", 4),
            ("3×4", 1),
        ] {
            assert_eq!(scan(text.as_bytes(), 0), Ok(length), "{text}");
        }
    }

    #[test]
    fn says_what_is_malformed() {
        for (text, message) in [
            ("1_", "invalid decimal literal"),
            ("1__0", "invalid decimal literal"),
            ("1e", "invalid decimal literal"),
            ("1e+", "invalid decimal literal"),
            ("12abc", "invalid decimal literal"),
            ("1orx", "invalid decimal literal"),
            ("1jx", "invalid imaginary literal"),
            ("0x", "invalid hexadecimal literal"),
            ("0b12", "invalid digit '2' in binary literal"),
            ("0o8", "invalid digit '8' in octal literal"),
        ] {
            assert_eq!(scan(text.as_bytes(), 0), Err(message.into()), "{text}");
        }
        assert!(scan(b"007", 0).is_err_and(|message| message.starts_with("leading zeros")));
    }
}
