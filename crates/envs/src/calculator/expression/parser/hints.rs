//! Selects the error message for a source that does not parse.
//!
//! The rules are in Python's order, so that the same one of several mistakes is reported.
//! They only run in the second pass over a source that failed in the first. Each either finds its
//! mistake, which is an error, or changes nothing.

use super::super::lexer::{Bracket, TokenKind};
use super::super::program::Node;
use super::SyntaxFault;
use super::operators::Precedence;
use super::{Parsed, Parser, Shape};

const ASSIGNMENT: &str = "invalid syntax. Maybe you meant '==' or ':=' instead of '='?";
const GENERATOR: &str = "Generator expression must be parenthesized";

impl Parser<'_> {
    /// Parses ahead without hints, then backtracks. Returns the result if it parses.
    ///
    /// # Errors
    /// Malformed literals, which are reported wherever they are found.
    fn speculate<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<Option<T>> {
        let hints = std::mem::replace(&mut self.hints, false);
        let found = self.look_ahead(parse);
        self.hints = hints && self.looks > 0;
        found
    }

    fn parses<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<bool> {
        self.speculate(parse).map(|found| found.is_some())
    }

    /// Parses ahead with hints, then backtracks. Returns the result if it parses.
    ///
    /// # Errors
    /// Those of hints and malformed literals.
    fn look_ahead<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<Option<T>> {
        let Some(looks) = self.looks.checked_sub(1) else {
            self.hints = false;
            return Ok(None);
        };
        self.looks = looks;
        let (at, code, pending, depth) = (self.at, self.code.len(), self.pending.len(), self.depth);
        let found = parse(self);
        self.at = at;
        self.code.truncate(code);
        self.pending.truncate(pending);
        self.depth = depth;
        match found {
            Ok(found) => Ok(Some(found)),
            Err(fault) if fault.message.is_some() => Err(fault),
            Err(_) => Ok(None),
        }
    }

    /// After operators that started at token `first`: a missing comma, `else`, or call brackets.
    pub(super) fn hint_after_expression(&mut self, first: usize, shape: Shape) -> Parsed<()> {
        let start = self.tokens.tokens[first];
        let name = (start.kind == TokenKind::Name).then(|| self.text(start));
        let second = self.tokens.tokens.get(first + 1).map(|token| token.kind);
        let is_prefix = name.is_some() && second == Some(TokenKind::String);
        // Python treats the beginning of a soft keyword as the keyword here.
        let is_soft_keyword = name.is_some_and(|name| {
            ["_", "case", "match"]
                .iter()
                .any(|keyword| keyword.starts_with(name))
        });
        let is_statement = matches!(name, Some("print" | "exec"));
        if !is_prefix && !is_soft_keyword && starts_expression(self.peek()) {
            let last = self.speculate(|parser| {
                parser.expression()?;
                Ok(parser.at - 1)
            })?;
            let inside = last.is_some_and(|last| self.tokens.tokens[last].level > 0);
            if inside && !(is_statement && shape.node == Node::Name) {
                return Err(self.fault("invalid syntax. Perhaps you forgot a comma?", first));
            }
        }
        if self.peek() == TokenKind::If {
            let condition = self.look_ahead(|parser| {
                parser.advance();
                parser.operators(Precedence::Or)?;
                Ok(parser.peek())
            })?;
            if condition.is_some_and(|next| !matches!(next, TokenKind::Else | TokenKind::Colon)) {
                return Err(self.fault("expected 'else' after 'if' expression", first));
            }
        }
        if name.is_some() && second != Some(TokenKind::Open(Bracket::Round)) {
            self.hint_statement(first, is_statement)?;
        }
        Ok(())
    }

    /// At a name without a following bracket: perhaps a statement of Python 2. Python tries one
    /// after every name, and reports mistakes in it.
    fn hint_statement(&mut self, first: usize, is_statement: bool) -> Parsed<()> {
        let visited = self
            .visited
            .get_mut(first)
            .map(|visited| std::mem::replace(visited, true));
        if visited != Some(false) {
            return Ok(());
        }
        let found = self.look_ahead(|parser| {
            parser.at = first + 1;
            parser.starred_list()
        })?;
        if found.is_some() && is_statement {
            let name = self.text(self.tokens.tokens[first]);
            let message =
                format!("Missing parentheses in call to '{name}'. Did you mean {name}(...)?");
            return Err(self.fault(message, first));
        }
        Ok(())
    }

    /// After an expression where a name is allowed: `=` instead of `==` or `:=`.
    pub(super) fn hint_after_named_expression(&mut self, first: usize, shape: Shape) -> Parsed<()> {
        if self.peek() == TokenKind::ColonEqual
            && self.parses(|parser| {
                parser.advance();
                parser.expression()
            })?
        {
            let message = format!(
                "cannot use assignment expressions with {}",
                shape.node.described()
            );
            return Err(self.fault(message, first));
        }
        if self.peek() != TokenKind::Equal {
            return Ok(());
        }
        let value = self.speculate(|parser| {
            parser.advance();
            parser.operators(Precedence::BitOr)?;
            Ok(parser.peek())
        })?;
        if value.is_none_or(|next| matches!(next, TokenKind::Equal | TokenKind::ColonEqual)) {
            return Ok(());
        }
        if self.tokens.tokens[first].kind == TokenKind::Name && self.at == first + 1 {
            return Err(self.fault(ASSIGNMENT, first));
        }
        if self.is_loose(shape.node) || self.starts_with_display(first)? {
            return Ok(());
        }
        let message = format!(
            "cannot assign to {} here. Maybe you meant '==' instead of '='?",
            shape.node.described()
        );
        Err(self.fault(message, first))
    }

    /// Whether an expression binds more loosely than `|`, unless it is in brackets.
    fn is_loose(&self, node: Node) -> bool {
        let bracketed = matches!(self.tokens.tokens[self.at - 1].kind, TokenKind::Close(_));
        !bracketed
            && matches!(
                node,
                Node::Compare | Node::BooleanOperation | Node::IfExpression | Node::Lambda
            )
    }

    fn starts_with_display(&mut self, first: usize) -> Parsed<bool> {
        Ok(match self.tokens.tokens[first].kind {
            TokenKind::Open(Bracket::Square)
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None => true,
            TokenKind::Open(Bracket::Round) => {
                let shape = self.speculate(|parser| {
                    parser.at = first;
                    parser.round_brackets()
                })?;
                shape.is_some_and(|shape| matches!(shape.node, Node::Tuple | Node::Generator))
            }
            _ => false,
        })
    }

    /// At `(`: `(**mapping)`.
    pub(super) fn hint_double_starred_group(&mut self) -> Parsed<()> {
        let found = self.peek() == TokenKind::DoubleStar
            && self.parses(|parser| {
                parser.advance();
                parser.expression()?;
                parser.expect(TokenKind::Close(Bracket::Round))
            })?;
        if found {
            return Err(self.fault("cannot use double starred expression here", self.at));
        }
        Ok(())
    }

    /// At the first element in brackets: mistakes after its star.
    pub(super) fn hint_starred(&mut self) -> Parsed<()> {
        if self.peek() == TokenKind::Star {
            self.look_ahead(|parser| {
                parser.advance();
                parser.expression()
            })?;
        }
        Ok(())
    }

    /// At a possible start of a comprehension after `count` elements, the last of them just read or
    /// still unread.
    pub(super) fn hint_comprehension(
        &mut self,
        bracket: Bracket,
        count: u32,
        is_starred: bool,
    ) -> Parsed<()> {
        if !matches!(self.peek(), TokenKind::For | TokenKind::Async)
            || !self.parses(Self::comprehension_clauses)?
        {
            return Ok(());
        }
        let message = if count == 1 && is_starred {
            "iterable unpacking cannot be used in comprehension"
        } else if count > 1 && bracket != Bracket::Round {
            "did you forget parentheses around the comprehension target?"
        } else {
            return Ok(());
        };
        Err(self.fault(message, self.at))
    }

    /// After `{**mapping`.
    pub(super) fn hint_unpacking_comprehension(&mut self) -> Parsed<()> {
        let found = matches!(self.peek(), TokenKind::For | TokenKind::Async)
            && self.parses(|parser| {
                parser.comprehension_clauses()?;
                parser.expect(TokenKind::Close(Bracket::Curly))
            })?;
        if found {
            return Err(self.fault(
                "dict unpacking cannot be used in dict comprehension",
                self.at,
            ));
        }
        Ok(())
    }

    /// After the key of a pair.
    pub(super) fn hint_pair(&mut self) -> Parsed<()> {
        if self.peek() != TokenKind::Colon {
            return Err(self.fault("':' expected after dictionary key", self.at - 1));
        }
        if self.peek_second() == TokenKind::Star
            && self.parses(|parser| {
                parser.at += 2;
                parser.operators(Precedence::BitOr)
            })?
        {
            let message = "cannot use a starred expression in a dictionary value";
            return Err(self.fault(message, self.at + 1));
        }
        if matches!(
            self.peek_second(),
            TokenKind::Comma | TokenKind::Close(Bracket::Curly)
        ) {
            let message = "expression expected after dictionary key and ':'";
            return Err(self.fault(message, self.at));
        }
        Ok(())
    }

    /// After `for`, if no targets and `in` could be parsed.
    pub(super) fn hint_targets(&mut self) -> Parsed<()> {
        let begin = self.at;
        self.look_ahead(Self::starred_list)?;
        let obstacle = self.speculate(|parser| {
            loop {
                parser.eat(TokenKind::Star);
                let start = parser.at;
                let mut shape = parser.expression()?;
                if shape.node == Node::Compare {
                    // `target in iterable` looks like a comparison.
                    parser.at = start;
                    shape = parser.operators(Precedence::BitOr)?;
                }
                if shape.obstacle.is_some()
                    || !parser.eat(TokenKind::Comma)
                    || parser.peek() == TokenKind::In
                {
                    return Ok(shape.obstacle);
                }
            }
        })?;
        match obstacle.flatten() {
            Some(node) => Err(self.fault(format!("cannot assign to {}", node.described()), begin)),
            None => Ok(()),
        }
    }

    /// After `name=value` among arguments: the target of a generator cannot be one.
    pub(super) fn hint_keyword_generator(&mut self, name: usize) -> Parsed<()> {
        if matches!(self.peek(), TokenKind::For | TokenKind::Async)
            && self.parses(Self::comprehension_clauses)?
        {
            return Err(self.fault(ASSIGNMENT, name));
        }
        Ok(())
    }

    /// After a positional argument: `=` makes a keyword of names only.
    pub(super) fn hint_assignment_argument(&mut self, first: usize) -> Parsed<()> {
        if self.peek() != TokenKind::Equal {
            return Ok(());
        }
        let start = self.tokens.tokens[first];
        let is_constant = matches!(
            start.kind,
            TokenKind::True | TokenKind::False | TokenKind::None
        );
        Err(if is_constant && self.at == first + 1 {
            self.fault(format!("cannot assign to {}", self.text(start)), first)
        } else {
            let message = "expression cannot contain assignment, perhaps you meant \"==\"?";
            self.fault(message, first)
        })
    }

    /// Before the clauses of a generator among arguments.
    pub(super) fn hint_generator_argument(
        &mut self,
        first: usize,
        after_others: bool,
    ) -> Parsed<()> {
        let next = self.speculate(|parser| {
            parser.comprehension_clauses()?;
            Ok(parser.peek())
        })?;
        match next {
            Some(next) if after_others || next == TokenKind::Comma => {
                Err(self.fault(GENERATOR, first))
            }
            _ => Ok(()),
        }
    }

    /// At a bracket among the parameters of a lambda.
    pub(super) fn hint_parenthesized_parameters(&mut self) -> SyntaxFault {
        let close = TokenKind::Close(Bracket::Round);
        let found = self.parses(|parser| {
            parser.advance();
            parser.expect(TokenKind::Name)?;
            while parser.eat(TokenKind::Comma) && parser.peek() != close {
                parser.expect(TokenKind::Name)?;
            }
            parser.expect(close)
        });
        match found {
            Ok(true) => self.fault(
                "Lambda expression parameters cannot be parenthesized",
                self.at,
            ),
            Ok(false) => self.unexpected(),
            Err(fault) => fault,
        }
    }
}

/// Whether a token can be the first of an expression.
fn starts_expression(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Name
            | TokenKind::Number
            | TokenKind::String
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
            | TokenKind::Ellipsis
            | TokenKind::Lambda
            | TokenKind::Not
            | TokenKind::Await
            | TokenKind::Tilde
            | TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::Open(_)
    )
}
