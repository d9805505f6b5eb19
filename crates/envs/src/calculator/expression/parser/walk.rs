//! Moves over the tokens, and makes errors with positions.

use std::borrow::Cow;

use super::super::error::SyntaxFault;
use super::super::lexer::{Token, TokenKind};
use super::{Parsed, Parser};

impl<'s> Parser<'s> {
    /// The token `ahead` of the next one; the end token past the end.
    pub(super) fn token(&mut self, ahead: usize) -> Token {
        let last = self.tokens.tokens.len() - 1;
        let index = (self.at + ahead).min(last);
        self.furthest = self.furthest.max(index);
        self.tokens.tokens[index]
    }

    pub(super) fn peek(&mut self) -> TokenKind {
        self.token(0).kind
    }

    pub(super) fn peek_second(&mut self) -> TokenKind {
        self.token(1).kind
    }

    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, kind: TokenKind) -> Parsed<()> {
        if self.eat(kind) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    pub(super) fn unexpected(&self) -> SyntaxFault {
        SyntaxFault::unexpected(self.position(self.at))
    }

    pub(super) fn fault(&self, message: impl Into<Cow<'static, str>>, token: usize) -> SyntaxFault {
        SyntaxFault::new(message, self.position(token))
    }

    /// An error that Python reports only in its second pass.
    pub(super) fn explained(
        &self,
        message: impl Into<Cow<'static, str>>,
        token: usize,
    ) -> SyntaxFault {
        if self.hints {
            self.fault(message, token)
        } else {
            self.unexpected()
        }
    }

    pub(super) fn position(&self, token: usize) -> usize {
        let tokens = &self.tokens.tokens;
        tokens
            .get(token)
            .or(tokens.last())
            .map_or(0, |token| token.start as usize)
    }

    pub(super) fn text(&self, token: Token) -> &'s str {
        self.source
            .get(token.start as usize..token.end as usize)
            .unwrap_or_default()
    }
}
