//! Extracts values from Python source files, without running them.
//!
//! Supports the syntax of lists of tasks: literals, and calls with keyword arguments, which become
//! objects. Everything else is an error that names the line. The recursion depth is limited by
//! [`DEPTH_LIMIT`].

use std::iter::Peekable;
use std::str::CharIndices;

use volary_core::json::{Integer, Key};
use volary_core::{Json, Object};

/// The maximum number of open brackets.
pub const DEPTH_LIMIT: usize = 100;

/// Why a source cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LiteralError {
    /// The line, from 1.
    pub line: usize,
    pub reason: String,
}

/// The value assigned to a name at the start of a line.
///
/// # Errors
///
/// There is no such assignment, or its value contains something other than literals.
pub fn assigned(source: &str, name: &str) -> Result<Json, LiteralError> {
    let value = |line: &str| {
        let rest = line.strip_prefix(name)?;
        let (annotation, value) = rest.split_once('=')?;
        let annotation = annotation.trim();
        (annotation.is_empty() || annotation.starts_with(':')).then(|| line.len() - value.len())
    };
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        if let Some(from) = value(line) {
            return LiteralParser::new(source, at + from).whole();
        }
        at += line.len();
    }
    Err(LiteralError {
        line: 1,
        reason: format!("nothing is assigned to {name}"),
    })
}

/// The value of the first `return` of a function.
///
/// # Errors
///
/// There is no such function, or it does not return literals directly.
pub fn returned(source: &str, function: &str) -> Result<Json, LiteralError> {
    let definition = format!("def {function}(");
    let found = source.find(&definition).and_then(|at| {
        let behind = source[at..].find("return ")?;
        Some(at + behind + "return ".len())
    });
    let at = found.ok_or_else(|| LiteralError {
        line: 1,
        reason: format!("{function} returns nothing"),
    })?;
    LiteralParser::new(source, at).whole()
}

struct LiteralParser<'a> {
    source: &'a str,
    characters: Peekable<CharIndices<'a>>,
    offset: usize,
    depth: usize,
}

type Read<T = Json> = Result<T, LiteralError>;

impl<'a> LiteralParser<'a> {
    fn new(source: &'a str, offset: usize) -> Self {
        LiteralParser {
            source,
            characters: source[offset..].char_indices().peekable(),
            offset,
            depth: 0,
        }
    }

    /// The value, which must be followed by the end of the line.
    fn whole(mut self) -> Read {
        let value = self.value()?;
        while let Some(character) = self.peek() {
            match character {
                '\n' => break,
                '#' => self.skip_comment(),
                ' ' | '\t' | '\r' => self.advance(),
                other => return Err(self.fault(format!("{other:?} does not belong here"))),
            }
        }
        Ok(value)
    }

    fn value(&mut self) -> Read {
        self.skip_space();
        match self.peek() {
            Some('[') => Ok(Json::List(self.items('[', ']')?.0)),
            Some('(') => Ok(match self.items('(', ')')? {
                // One value in brackets without a comma is not a tuple.
                (mut items, false) if items.len() == 1 => items.remove(0),
                (items, _) => Json::List(items),
            }),
            Some('{') => self.dictionary(),
            Some('"' | '\'') => self.texts(false),
            Some('+' | '-' | '.' | '0'..='9') => self.number(),
            Some(first) if first.is_alphabetic() || first == '_' => self.named(),
            Some(other) => Err(self.fault(format!("{other:?} does not belong here"))),
            None => Err(self.fault("the file ends within a value")),
        }
    }

    /// The values in brackets, and whether there is a trailing comma.
    fn items(&mut self, open: char, close: char) -> Read<(Vec<Json>, bool)> {
        let mut items = Vec::new();
        let comma = self.bracketed(open, close, |parser| {
            items.push(parser.value()?);
            Ok(())
        })?;
        Ok((items, comma))
    }

    fn dictionary(&mut self) -> Read {
        let mut pairs: Vec<(Key, Json)> = Vec::new();
        self.bracketed('{', '}', |parser| {
            let Json::Text(key) = parser.value()? else {
                return Err(parser.fault("a key must be a text"));
            };
            parser.expect(':')?;
            pairs.push((key.to_string().into(), parser.value()?));
            Ok(())
        })?;
        Ok(Object::from_pairs(pairs).into())
    }

    /// `True`, `False`, `None`, a text with a prefix, or a call with keyword arguments.
    fn named(&mut self) -> Read {
        let name = self.name();
        match (name, self.peek()) {
            ("True", _) => Ok(true.into()),
            ("False", _) => Ok(false.into()),
            ("None", _) => Ok(Json::Null),
            ("r" | "R", Some('"' | '\'')) => self.texts(true),
            ("u" | "U", Some('"' | '\'')) => self.texts(false),
            (_, Some('(')) => self.arguments(),
            _ => Err(self.fault(format!("{name} is not a literal"))),
        }
    }

    fn arguments(&mut self) -> Read {
        let mut pairs: Vec<(Key, Json)> = Vec::new();
        self.bracketed('(', ')', |parser| {
            let name = parser.name().to_owned();
            if name.is_empty() {
                return Err(parser.fault("only keyword arguments are known here"));
            }
            parser.expect('=')?;
            pairs.push((name.into(), parser.value()?));
            Ok(())
        })?;
        Ok(Object::from_pairs(pairs).into())
    }

    /// Elements separated by commas. Returns whether there is a trailing comma.
    fn bracketed(
        &mut self,
        open: char,
        close: char,
        mut element: impl FnMut(&mut Self) -> Read<()>,
    ) -> Read<bool> {
        self.expect(open)?;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(self.fault("too many brackets are open"));
        }
        let mut comma = false;
        loop {
            self.skip_space();
            if self.peek() == Some(close) {
                self.advance();
                break;
            }
            element(self)?;
            self.skip_space();
            comma = self.peek() == Some(',');
            match self.peek() {
                Some(',') => self.advance(),
                Some(end) if end == close => {}
                _ => return Err(self.fault(format!("a comma or {close:?} is missing"))),
            }
        }
        self.depth -= 1;
        Ok(comma)
    }

    /// Adjacent string literals, which form one.
    fn texts(&mut self, mut raw: bool) -> Read {
        let mut whole = String::new();
        while let Some(quote @ ('"' | '\'')) = self.peek() {
            self.text(quote, raw, &mut whole)?;
            raw = false;
            // Outside brackets, the next line is another statement.
            match self.depth {
                0 => break,
                _ => self.skip_space(),
            }
        }
        Ok(whole.into())
    }

    fn text(&mut self, quote: char, raw: bool, out: &mut String) -> Read<()> {
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let long = self.rest().starts_with(&triple);
        (0..if long { 3 } else { 1 }).for_each(|_| self.advance());
        loop {
            match self.peek() {
                None => return Err(self.fault("the file ends within a text")),
                Some('\n') if !long => return Err(self.fault("the line ends within a text")),
                Some(same) if same == quote && (!long || self.rest().starts_with(&triple)) => {
                    (0..if long { 3 } else { 1 }).for_each(|_| self.advance());
                    return Ok(());
                }
                Some('\\') if raw => {
                    out.push('\\');
                    self.advance();
                    out.extend(self.peek());
                    self.advance();
                }
                Some('\\') => {
                    self.advance();
                    self.escape(out)?;
                }
                Some(other) => {
                    out.push(other);
                    self.advance();
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Read<()> {
        let Some(character) = self.peek() else {
            return Err(self.fault("the file ends within a text"));
        };
        self.advance();
        let code = match character {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => u32::from(character),
            'a' => 0x07,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            'x' => self.hexadecimal(2)?,
            'u' => self.hexadecimal(4)?,
            'U' => self.hexadecimal(8)?,
            '0'..='7' => {
                let mut code = character.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|next| next.to_digit(8)) else {
                        break;
                    };
                    code = code * 8 + digit;
                    self.advance();
                }
                code
            }
            'N' => return Err(self.fault("characters by name are not known here")),
            other => {
                out.extend(['\\', other]);
                return Ok(());
            }
        };
        let character = char::from_u32(code);
        out.push(character.ok_or_else(|| self.fault("the escape is not a character"))?);
        Ok(())
    }

    fn hexadecimal(&mut self, digits: usize) -> Read<u32> {
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.peek().and_then(|next| next.to_digit(16));
            let digit = digit.ok_or_else(|| self.fault("the escape needs more digits"))?;
            code = code << 4 | digit;
            self.advance();
        }
        Ok(code)
    }

    fn number(&mut self) -> Read {
        let belongs = |character: char| {
            character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.' | '_')
        };
        let rest = self.rest();
        let text = &rest[..rest.find(|one| !belongs(one)).unwrap_or(rest.len())];
        let digits = text.replace('_', "");
        let number = Integer::from_digits(&digits)
            .map(Json::Integer)
            .or_else(|| {
                let plain = digits
                    .bytes()
                    .all(|byte| b"0123456789.eE+-".contains(&byte));
                digits.parse().ok().filter(|_| plain).map(Json::Float)
            });
        let fault = format!("{text} is not a number");
        text.chars().for_each(|_| self.advance());
        number.ok_or_else(|| self.fault(fault))
    }

    fn name(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let ends = |character: char| !character.is_alphanumeric() && character != '_';
        let name = &rest[..rest.find(ends).unwrap_or(rest.len())];
        name.chars().for_each(|_| self.advance());
        name
    }

    fn expect(&mut self, wanted: char) -> Read<()> {
        self.skip_space();
        if self.peek() != Some(wanted) {
            return Err(self.fault(format!("{wanted:?} is missing")));
        }
        self.advance();
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(character) = self.peek() {
            match character {
                '#' => self.skip_comment(),
                '\\' if self.rest().starts_with("\\\n") => self.advance(),
                ' ' | '\t' | '\r' | '\n' => self.advance(),
                _ => break,
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|character| character != '\n') {
            self.advance();
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.characters.peek().map(|(_, character)| *character)
    }

    fn advance(&mut self) {
        self.characters.next();
    }

    fn at(&mut self) -> usize {
        let end = self.source.len() - self.offset;
        self.offset + self.characters.peek().map_or(end, |(at, _)| *at)
    }

    fn rest(&mut self) -> &'a str {
        let at = self.at();
        &self.source[at..]
    }

    fn fault(&mut self, reason: impl Into<String>) -> LiteralError {
        let at = self.at();
        LiteralError {
            line: 1 + self.source[..at].matches('\n').count(),
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn tasks_become_objects() {
        let source = "from x import Task\n\nTASKS: list = [\n    Task(  # one\n        n=-1, f=1_0.5e1,\n        \
                      t=\"a\\\"b\\n\\u00e9\\101\" 'c',\n        d={'k': (True, None), \"l\": []},\n    ),\n]\nX = 1\n";
        assert_eq!(
            assigned(source, "TASKS"),
            Ok(
                json!([{"n": (-1), "f": 105.0, "t": "a\"b\né\u{41}c", "d": {"k": [true, null], "l": []}}])
            )
        );
        assert_eq!(assigned(source, "X"), Ok(json!(1)));
        assert_eq!(assigned("A = ('a'\n 'b')\n", "A"), Ok(json!("ab")));
        assert_eq!(assigned("A = ((1,), ())\n", "A"), Ok(json!([[1], []])));
        assert_eq!(assigned("A = '''x\ny'''\n", "A"), Ok(json!("x\ny")));
        let source =
            "class X:\n    def f() -> dict:\n        return {\n            'a': 1\n        }\n";
        assert_eq!(returned(source, "f"), Ok(json!({"a": 1})));
        assert!(returned(source, "g").is_err());
        assert_eq!(assigned("A = r'\\n'\n'b'\n", "A"), Ok(json!("\\n")));
    }

    #[test]
    fn faults_name_the_line() {
        let deep = format!("A = {}", "[".repeat(DEPTH_LIMIT + 1));
        for (source, said) in [
            ("B = 1", "line 1: nothing is assigned to A"),
            ("A = [\n  f(1),\n]", "line 2: '=' is missing"),
            ("A = [\n  open]", "line 2: open is not a literal"),
            ("A = [1 2]", "line 1: a comma or ']' is missing"),
            ("A = \"x\n\"", "line 1: the line ends within a text"),
            ("A = [1,", "line 1: the file ends within a value"),
            ("A = 1.2.3", "line 1: 1.2.3 is not a number"),
            ("A = 1 + 1", "line 1: '+' does not belong here"),
            ("A = {1: 2}", "line 1: a key must be a text"),
            (&*deep, "line 1: too many brackets are open"),
        ] {
            let error = assigned(source, "A").map_err(|error| error.to_string());
            assert_eq!(error, Err(said.to_owned()), "{source}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_source_panics(source in "A = [\\[\\](){}'\"\\\\,:=#a-z0-9.\n é-]{0,40}") {
            let _ = assigned(&source, "A");
        }
    }
}
