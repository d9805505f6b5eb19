//! Operands: names, literals and brackets, with their trailers: attributes, calls,
//! subscripts.

use super::super::functions::Function;
use super::super::identifier::fold;
use super::super::lexer::{Bracket, TokenKind};
use super::super::numbers::{Value, literal};
use super::super::program::{Instruction, Node, Refusal};
use super::super::strings::{self, StringKind};
use super::{Parsed, Parser, Shape};

impl Parser<'_> {
    /// An operand, optionally with `await`.
    pub(super) fn operand(&mut self) -> Parsed {
        if self.peek() != TokenKind::Await {
            return self.primary();
        }
        let code = self.code.len();
        self.advance();
        self.primary()?;
        Ok(self.refuse_node(code, Node::Await))
    }

    /// An atom with its trailers.
    pub(super) fn primary(&mut self) -> Parsed {
        let code = self.code.len();
        let mut shape = self.atom()?;
        loop {
            let at = self.at;
            match self.trailer(code) {
                Ok(Some(longer)) => shape = longer,
                Ok(None) => return Ok(shape),
                Err(fault) if self.lenient && fault.message.is_none() => {
                    self.at = at;
                    return Ok(shape);
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// A trailer (attribute, subscript or call) of the operand whose code begins at `start`, if one follows.
    fn trailer(&mut self, start: usize) -> Parsed<Option<Shape>> {
        let node = match self.peek() {
            TokenKind::Dot => {
                self.advance();
                self.expect(TokenKind::Name)?;
                Node::Attribute
            }
            TokenKind::Open(Bracket::Square) => {
                self.advance();
                self.slices()?;
                Node::Subscript
            }
            TokenKind::Open(Bracket::Round) => return self.call(start).map(Some),
            _ => return Ok(None),
        };
        self.refuse_node(start, node);
        Ok(Some(Shape::target(node)))
    }

    /// A call of the operand whose code begins at `start`.
    fn call(&mut self, start: usize) -> Parsed {
        let callee = match self.code.get(start..) {
            Some([Instruction::Refuse(Refusal::Name(range))]) => self
                .source
                .get(range.start as usize..range.end as usize)
                .map(fold),
            _ => None,
        };
        self.advance();
        self.code.truncate(start);
        let count = self.arguments()?;
        match callee {
            None => self.refuse(start, Refusal::Callee),
            Some(name) => match Function::by_name(&name) {
                Some(function) => self.code.push(Instruction::Call(function, count)),
                None => self.refuse(start, Refusal::Function(name.into_owned())),
            },
        }
        Ok(Shape::value(Node::Call))
    }

    fn atom(&mut self) -> Parsed {
        let token = self.token(0);
        let code = self.code.len();
        let node = match token.kind {
            TokenKind::Name => {
                self.advance();
                let name = Refusal::Name(token.start..token.end);
                self.code.push(Instruction::Refuse(name));
                return Ok(Shape::target(Node::Name));
            }
            TokenKind::Number => {
                self.advance();
                match literal(self.text(token))
                    .map_err(|message| self.fault(message, self.at - 1))?
                {
                    Some(value) => self.code.push(Instruction::Push(value)),
                    None => self.refuse(code, Refusal::Constant("complex")),
                }
                return Ok(Shape::value(Node::Constant));
            }
            TokenKind::String => return self.strings(),
            TokenKind::Open(Bracket::Round) => return self.round_brackets(),
            TokenKind::Open(Bracket::Square) => return self.square_brackets(),
            TokenKind::Open(Bracket::Curly) => return self.curly_brackets(),
            TokenKind::True | TokenKind::False => {
                let value = token.kind == TokenKind::True;
                self.code.push(Instruction::Push(Value::Boolean(value)));
                if value { Node::True } else { Node::False }
            }
            TokenKind::None => {
                self.refuse(code, Refusal::Constant("NoneType"));
                Node::None
            }
            TokenKind::Ellipsis => {
                self.refuse(code, Refusal::Constant("ellipsis"));
                Node::Ellipsis
            }
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(Shape::value(node))
    }

    /// Adjacent string literals, which form one.
    fn strings(&mut self) -> Parsed {
        let code = self.code.len();
        let mut is_format = false;
        let mut bytes = None;
        let first = self.at;
        while self.eat(TokenKind::String) {}
        let end = std::mem::replace(&mut self.at, first);
        while self.at < end {
            let literal = self.text(self.tokens.tokens[self.at]);
            let kind = strings::kind(literal);
            let is_bytes = kind == StringKind::Bytes;
            let mixed = *bytes.get_or_insert(is_bytes) != is_bytes;
            // Python checks format strings last.
            if kind != StringKind::Format || !mixed {
                strings::check(literal, self.depth)
                    .map_err(|message| self.fault(message, self.at))?;
            }
            if mixed {
                return Err(self.fault("cannot mix bytes and nonbytes literals", self.at));
            }
            is_format |= kind == StringKind::Format;
            self.advance();
        }
        if is_format {
            return Ok(self.refuse_node(code, Node::FormatString));
        }
        let kind = if bytes == Some(true) { "bytes" } else { "str" };
        self.refuse(code, Refusal::Constant(kind));
        Ok(Shape::value(Node::Constant))
    }
}
