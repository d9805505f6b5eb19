//! The lexer, with the rules of Python 3.11.
//!
//! The whole source is tokenized before it is parsed: Python reports a malformed token anywhere
//! before any other error. Only an unexpected end of the source is reported
//! when the parser reaches it.

mod number;
mod token;

use std::borrow::Cow;

pub use token::{Bracket, Token, TokenKind};

use super::error::SyntaxFault;
use super::identifier::{is_printable, stranger};

/// The maximum number of open brackets.
const MAXIMUM_LEVEL: usize = 200;

/// The tokens of a source, the last of which is [`TokenKind::End`].
#[derive(Debug)]
pub struct Tokens {
    pub tokens: Vec<Token>,
    /// The error at the end, if any.
    pub ending: Option<SyntaxFault>,
    /// A malformed token after the end, if the source continues there.
    pub beyond: Option<SyntaxFault>,
    /// The position of the innermost bracket that is still open at the end.
    pub unclosed: Option<SyntaxFault>,
}

/// Splits a source into tokens. Line ends must be `\n`.
///
/// # Errors
/// The first malformed token, with Python's message.
pub fn tokenize(source: &str) -> Result<Tokens, SyntaxFault> {
    let mut lexer = Lexer {
        source,
        bytes: source.as_bytes(),
        at: 0,
        tokens: Vec::with_capacity(16.max(source.len() / 3).min(1 << 12)),
        open: Vec::new(),
    };
    let ending = lexer.run()?;
    lexer.push(TokenKind::End, lexer.at);
    let unclosed = lexer.open.last().map(|&(bracket, position)| {
        let message = format!("'{}' was never closed", bracket.open());
        SyntaxFault::new(message, position as usize)
    });
    let length = lexer.tokens.len();
    let beyond = ending.as_ref().and_then(|_| lexer.run_on());
    lexer.tokens.truncate(length);
    Ok(Tokens {
        tokens: lexer.tokens,
        ending: ending.or_else(|| unclosed.clone()),
        beyond,
        unclosed,
    })
}

struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    tokens: Vec<Token>,
    open: Vec<(Bracket, u32)>,
}

impl Lexer<'_> {
    /// Reads all tokens except the end. Returns the error at the end, brackets aside; a second call
    /// continues after it.
    fn run(&mut self) -> Result<Option<SyntaxFault>, SyntaxFault> {
        let mut at_line_start = self.at == 0;
        loop {
            if at_line_start {
                at_line_start = false;
                if let Some(fault) = self.line_start() {
                    return Ok(Some(fault));
                }
            }
            self.skip_spaces();
            let start = self.at;
            let Some(byte) = self.peek(0) else {
                return Ok(None);
            };
            match byte {
                b'#' => self.skip_comment(),
                b'\n' => {
                    self.at += 1;
                    if self.open.is_empty() {
                        self.push(TokenKind::Newline, start);
                        at_line_start = true;
                    }
                }
                b'\\' => {
                    if let Some(fault) = self.continuation() {
                        return Ok(Some(fault));
                    }
                }
                b'0'..=b'9' => self.number()?,
                b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number()?,
                b'\'' | b'"' => self.string(start)?,
                b'(' => self.open_bracket(Bracket::Round)?,
                b'[' => self.open_bracket(Bracket::Square)?,
                b'{' => self.open_bracket(Bracket::Curly)?,
                b')' => self.close_bracket(Bracket::Round)?,
                b']' => self.close_bracket(Bracket::Square)?,
                b'}' => self.close_bracket(Bracket::Curly)?,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word()?,
                _ => match token::punctuation(&self.bytes[start..]) {
                    Some((kind, length)) => {
                        self.at += length as usize;
                        self.push(kind, start);
                    }
                    None => return Err(self.invalid_character(char::from(byte), start)),
                },
            }
        }
    }

    /// Continues after the end, to find a malformed token there.
    fn run_on(&mut self) -> Option<SyntaxFault> {
        loop {
            let start = self.at;
            match self.run() {
                Err(fault) => return Some(fault),
                Ok(Some(_)) if self.at > start => {}
                Ok(_) => return None,
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token {
            kind,
            level: self.open.len() as u8,
            start: start as u32,
            end: self.at as u32,
        });
    }

    fn fault(&self, message: impl Into<Cow<'static, str>>, at: usize) -> SyntaxFault {
        SyntaxFault::new(message, at)
    }

    /// Skips lines with only white space and comments, and the white space before the
    /// first token, which is an error. Lines joined by a backslash are one line, whose indentation is
    /// that of the first of them that is indented.
    fn line_start(&mut self) -> Option<SyntaxFault> {
        loop {
            let (mut indented, mut continued) = (false, false);
            loop {
                match self.peek(0) {
                    Some(b' ' | b'\t') => indented = true,
                    // A form feed resets the column.
                    Some(b'\x0c') => indented = false,
                    Some(b'\\') => {
                        continued |= indented;
                        if let Some(fault) = self.continuation() {
                            return Some(fault);
                        }
                        continue;
                    }
                    _ => break,
                }
                self.at += 1;
            }
            let has_comment = self.peek(0) == Some(b'#');
            if has_comment {
                self.skip_comment();
            }
            match self.peek(0) {
                Some(b'\n') => self.at += 1,
                Some(_) if indented || continued => {
                    return Some(self.fault("unexpected indent", self.at));
                }
                _ => return None,
            }
        }
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(0), Some(b' ' | b'\t' | b'\x0c')) {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    /// A backslash, which may only join a line with the next one.
    fn continuation(&mut self) -> Option<SyntaxFault> {
        if self.peek(1) != Some(b'\n') {
            let message = "unexpected character after line continuation character";
            return Some(self.fault(message, self.at));
        }
        self.at += 2;
        None
    }

    fn number(&mut self) -> Result<(), SyntaxFault> {
        let start = self.at;
        self.at = number::scan(self.bytes, start).map_err(|message| self.fault(message, start))?;
        self.push(TokenKind::Number, start);
        Ok(())
    }

    /// A name, a keyword, or the prefix of a string.
    fn word(&mut self) -> Result<(), SyntaxFault> {
        let start = self.at;
        if let Some(length) = string_prefix(&self.bytes[start..]) {
            self.at += length;
            return self.string(start);
        }
        let mut is_ascii = true;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => {}
                0x80.. => is_ascii = false,
                _ => break,
            }
            self.at += 1;
        }
        if !is_ascii {
            self.check_identifier(start)?;
        }
        self.push(token::word(&self.bytes[start..self.at]), start);
        Ok(())
    }

    fn check_identifier(&self, start: usize) -> Result<(), SyntaxFault> {
        let word = self.source.get(start..self.at).unwrap_or_default();
        match stranger(word) {
            None => Ok(()),
            Some((index, character)) => Err(self.invalid_character(character, start + index)),
        }
    }

    fn invalid_character(&self, character: char, at: usize) -> SyntaxFault {
        let code = u32::from(character);
        self.fault(
            if is_printable(character) {
                format!("invalid character '{character}' (U+{code:04X})")
            } else {
                format!("invalid non-printable character U+{code:04X}")
            },
            at,
        )
    }

    /// The rest of a string literal, starting at its opening quote.
    fn string(&mut self, start: usize) -> Result<(), SyntaxFault> {
        let quote = self.bytes[self.at];
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        self.at += if triple { 3 } else { 1 };
        loop {
            match self.peek(0) {
                Some(byte) if byte == quote => {
                    if !triple {
                        self.at += 1;
                        break;
                    }
                    if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
                        self.at += 3;
                        break;
                    }
                    self.at += 1;
                }
                Some(b'\\') if self.peek(1).is_some() => self.at += 2,
                None => return Err(self.unterminated(start, triple)),
                Some(b'\n') if !triple => return Err(self.unterminated(start, triple)),
                Some(_) => self.at += 1,
            }
        }
        self.push(TokenKind::String, start);
        Ok(())
    }

    fn unterminated(&self, start: usize, triple: bool) -> SyntaxFault {
        let line = 1 + self.bytes[..self.at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        let kind = if triple { "triple-quoted " } else { "" };
        self.fault(
            format!("unterminated {kind}string literal (detected at line {line})"),
            start,
        )
    }

    fn open_bracket(&mut self, bracket: Bracket) -> Result<(), SyntaxFault> {
        let start = self.at;
        if self.open.len() >= MAXIMUM_LEVEL {
            return Err(self.fault("too many nested parentheses", start));
        }
        self.open.push((bracket, start as u32));
        self.at += 1;
        self.push(TokenKind::Open(bracket), start);
        Ok(())
    }

    fn close_bracket(&mut self, bracket: Bracket) -> Result<(), SyntaxFault> {
        let start = self.at;
        let close = bracket.close();
        match self.open.pop() {
            None => return Err(self.fault(format!("unmatched '{close}'"), start)),
            Some((opened, position)) if opened != bracket => {
                let open = opened.open();
                let line = |at: usize| {
                    self.bytes[..at]
                        .iter()
                        .filter(|byte| **byte == b'\n')
                        .count()
                        + 1
                };
                let opened_at = line(position as usize);
                let line_text = if opened_at == line(start) {
                    String::new()
                } else {
                    format!(" on line {opened_at}")
                };
                return Err(self.fault(
                    format!("closing parenthesis '{close}' does not match opening parenthesis '{open}'{line_text}"),
                    start,
                ));
            }
            Some(_) => {}
        }
        self.at += 1;
        self.push(TokenKind::Close(bracket), start);
        Ok(())
    }
}

/// The length of the string prefix at the start of `text`, if a quote follows it.
fn string_prefix(text: &[u8]) -> Option<usize> {
    let is_quote = |index: usize| matches!(text.get(index), Some(b'\'' | b'"'));
    match text {
        [b'b' | b'B' | b'f' | b'F' | b'r' | b'R' | b'u' | b'U', ..] if is_quote(1) => Some(1),
        [b'b' | b'B' | b'f' | b'F', b'r' | b'R', ..] if is_quote(2) => Some(2),
        [b'r' | b'R', b'b' | b'B' | b'f' | b'F', ..] if is_quote(2) => Some(2),
        _ => None,
    }
}
