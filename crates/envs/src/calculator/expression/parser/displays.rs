//! Expressions in brackets: groups, tuples, lists, sets, dictionaries, comprehensions, slices.
//!
//! Only groups are supported, so the code of the elements is discarded; they are still
//! parsed by the grammar.

use super::super::lexer::{Bracket, TokenKind};
use super::super::program::Node;
use super::operators::Precedence;
use super::{Parsed, Parser, Shape};

/// The content of brackets.
enum Content {
    /// One element without a trailing comma.
    Single(Shape),
    /// Any number of elements, and the first one that cannot be assigned to.
    Several(Option<Node>),
    Comprehension,
    /// The first key of a dictionary; the rest is still unread.
    Key,
}

impl Parser<'_> {
    /// `(`: a group, a tuple, a generator, or a yield.
    pub(super) fn round_brackets(&mut self) -> Parsed {
        let code = self.code.len();
        self.advance();
        let close = TokenKind::Close(Bracket::Round);
        if self.peek() == TokenKind::Yield {
            let node = self.yield_expression()?;
            self.expect(close)?;
            return Ok(self.refuse_node(code, node));
        }
        if self.hints {
            self.hint_double_starred_group()?;
        }
        match self.elements(Bracket::Round)? {
            Content::Single(shape) if shape.node == Node::Starred => {
                Err(self.explained("cannot use starred expression here", self.at - 1))
            }
            Content::Single(shape) => Ok(shape),
            Content::Comprehension => Ok(self.refuse_node(code, Node::Generator)),
            Content::Several(obstacle) => {
                let node = Node::Tuple;
                self.refuse_node(code, node);
                Ok(Shape { node, obstacle })
            }
            Content::Key => Err(self.unexpected()),
        }
    }

    /// `[` that is no subscript: a list or a comprehension.
    pub(super) fn square_brackets(&mut self) -> Parsed {
        let code = self.code.len();
        self.advance();
        let obstacle = match self.elements(Bracket::Square)? {
            Content::Single(shape) => shape.obstacle,
            Content::Several(obstacle) => obstacle,
            Content::Comprehension => return Ok(self.refuse_node(code, Node::ListComprehension)),
            Content::Key => return Err(self.unexpected()),
        };
        let node = Node::List;
        self.refuse_node(code, node);
        Ok(Shape { node, obstacle })
    }

    /// `{`: a dictionary, a set, or a comprehension.
    pub(super) fn curly_brackets(&mut self) -> Parsed {
        let code = self.code.len();
        self.advance();
        let node = match self.peek() {
            TokenKind::Close(_) | TokenKind::DoubleStar => self.dictionary(false)?,
            _ => match self.elements(Bracket::Curly)? {
                Content::Single(_) | Content::Several(_) => Node::Set,
                Content::Comprehension => Node::SetComprehension,
                Content::Key => self.dictionary(true)?,
            },
        };
        Ok(self.refuse_node(code, node))
    }

    fn elements(&mut self, bracket: Bracket) -> Parsed<Content> {
        let close = TokenKind::Close(bracket);
        let mut obstacle = None;
        let mut count = 0;
        if self.hints {
            self.hint_starred()?;
        }
        while !self.eat(close) {
            let is_named =
                self.peek() == TokenKind::Name && self.peek_second() == TokenKind::ColonEqual;
            let shape = self.starred_or(true)?;
            let is_starred = shape.node == Node::Starred;
            count += 1;
            obstacle = obstacle.or(shape.obstacle);
            match self.peek() {
                TokenKind::For | TokenKind::Async => {
                    if self.hints {
                        self.hint_comprehension(bracket, count, is_starred)?;
                    }
                    if count > 1 || is_starred {
                        return Err(self.unexpected());
                    }
                    self.comprehension_clauses()?;
                    self.expect(close)?;
                    return Ok(Content::Comprehension);
                }
                TokenKind::Colon if bracket == Bracket::Curly && count == 1 => {
                    if is_named || is_starred {
                        return Err(self.unexpected());
                    }
                    return Ok(Content::Key);
                }
                TokenKind::Comma => {
                    self.advance();
                    if self.hints {
                        self.hint_comprehension(bracket, count + 1, false)?;
                    }
                }
                _ => {
                    self.expect(close)?;
                    return Ok(match count {
                        1 => Content::Single(shape),
                        _ => Content::Several(obstacle),
                    });
                }
            }
        }
        Ok(Content::Several(obstacle))
    }

    /// Pairs and `**` mappings up to the closing bracket, or a comprehension. The first key may
    /// already be consumed.
    fn dictionary(&mut self, mut after_key: bool) -> Parsed<Node> {
        let close = TokenKind::Close(Bracket::Curly);
        let mut is_first = true;
        while after_key || !self.eat(close) {
            if !after_key && self.eat(TokenKind::DoubleStar) {
                self.operators(Precedence::BitOr)?;
                if self.hints && is_first {
                    self.hint_unpacking_comprehension()?;
                }
            } else {
                if !after_key {
                    self.expression()?;
                }
                self.pair_value()?;
                if is_first && matches!(self.peek(), TokenKind::For | TokenKind::Async) {
                    self.comprehension_clauses()?;
                    self.expect(close)?;
                    return Ok(Node::DictComprehension);
                }
            }
            if !self.eat(TokenKind::Comma) && self.peek() != close {
                return Err(self.unexpected());
            }
            after_key = false;
            is_first = false;
        }
        Ok(Node::Dict)
    }

    /// The colon and value of a pair whose key is already consumed.
    fn pair_value(&mut self) -> Parsed<()> {
        if self.hints {
            self.hint_pair()?;
        }
        self.expect(TokenKind::Colon)?;
        self.expression()?;
        Ok(())
    }

    /// One or more `for targets in iterable`, each with conditions.
    pub(super) fn comprehension_clauses(&mut self) -> Parsed<()> {
        while matches!(self.peek(), TokenKind::For | TokenKind::Async) {
            self.eat(TokenKind::Async);
            self.expect(TokenKind::For)?;
            let targets = self.at;
            let found = self.targets().and_then(|()| self.expect(TokenKind::In));
            if self.hints && found.as_ref().is_err_and(|fault| fault.message.is_none()) {
                self.at = targets;
                self.hint_targets()?;
            }
            found?;
            self.operators(Precedence::Or)?;
            while self.eat(TokenKind::If) {
                self.operators(Precedence::Or)?;
            }
        }
        Ok(())
    }

    /// The targets of a `for`, up to its `in`.
    fn targets(&mut self) -> Parsed<()> {
        loop {
            self.eat(TokenKind::Star);
            if self.primary()?.obstacle.is_some() {
                return Err(self.unexpected());
            }
            if !self.eat(TokenKind::Comma) || self.peek() == TokenKind::In {
                return Ok(());
            }
        }
    }

    fn yield_expression(&mut self) -> Parsed<Node> {
        self.advance();
        if self.eat(TokenKind::From) {
            self.expression()?;
            return Ok(Node::YieldFrom);
        }
        if !matches!(self.peek(), TokenKind::Close(_)) {
            self.starred_list()?;
        }
        Ok(Node::Yield)
    }

    /// Expressions, starred or not, separated by commas, with an optional trailing comma.
    pub(super) fn starred_list(&mut self) -> Parsed<()> {
        loop {
            self.starred_or(false)?;
            if !self.eat(TokenKind::Comma) || matches!(self.peek(), TokenKind::Close(_)) {
                return Ok(());
            }
        }
    }

    /// The content of a subscript, up to the closing bracket.
    pub(super) fn slices(&mut self) -> Parsed<()> {
        let close = TokenKind::Close(Bracket::Square);
        loop {
            if self.eat(TokenKind::Star) {
                self.expression()?;
            } else {
                self.slice()?;
            }
            if self.eat(close) {
                return Ok(());
            }
            self.expect(TokenKind::Comma)?;
            if self.eat(close) {
                return Ok(());
            }
        }
    }

    fn slice(&mut self) -> Parsed<()> {
        if self.peek() == TokenKind::Name && self.peek_second() == TokenKind::ColonEqual {
            self.named_expression()?;
            return Ok(());
        }
        if self.peek() != TokenKind::Colon {
            self.named_expression()?;
        }
        // At most two colons, each optionally followed by an expression.
        for _ in 0..2 {
            if !self.eat(TokenKind::Colon) {
                break;
            }
            let ends = matches!(
                self.peek(),
                TokenKind::Colon | TokenKind::Comma | TokenKind::Close(_)
            );
            if !ends {
                self.expression()?;
            }
        }
        Ok(())
    }
}
