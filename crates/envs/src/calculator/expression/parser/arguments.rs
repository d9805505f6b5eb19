//! The arguments of a call.

use super::super::error::SyntaxFault;
use super::super::lexer::{Bracket, TokenKind};
use super::super::program::{Node, Refusal};
use super::{Parsed, Parser};

const CLOSE: TokenKind = TokenKind::Close(Bracket::Round);

/// The kinds of arguments seen so far.
#[derive(Default)]
struct Seen {
    count: u32,
    keyword: bool,
    unpacked_mapping: bool,
    /// An argument in the wrong position; errors inside other arguments take precedence.
    misplaced: Option<SyntaxFault>,
}

impl Parser<'_> {
    /// The arguments up to the closing bracket. Emits the code of the positional ones, including starred
    /// ones, and returns their number; the calculator ignores keywords.
    pub(super) fn arguments(&mut self) -> Parsed<u32> {
        let mut seen = Seen::default();
        let read = self.read_arguments(&mut seen);
        let explained = read.as_ref().is_err_and(|fault| fault.message.is_some());
        match seen.misplaced {
            Some(misplaced) if !explained => Err(misplaced),
            _ => read.map(|()| seen.count),
        }
    }

    fn read_arguments(&mut self, seen: &mut Seen) -> Parsed<()> {
        while !self.eat(CLOSE) {
            self.argument(seen)?;
            if !self.eat(TokenKind::Comma) {
                return self.expect(CLOSE);
            }
        }
        Ok(())
    }

    fn argument(&mut self, seen: &mut Seen) -> Parsed<()> {
        let code = self.code.len();
        if self.eat(TokenKind::Star) {
            if seen.unpacked_mapping {
                let message = "iterable argument unpacking follows keyword argument unpacking";
                let fault = self.explained(message, self.at - 1);
                seen.misplaced.get_or_insert(fault);
            }
            self.expression()?;
            self.refuse(code, Refusal::Node(Node::Starred));
            seen.count += 1;
        } else if self.eat(TokenKind::DoubleStar) {
            self.expression()?;
            self.code.truncate(code);
            seen.unpacked_mapping = true;
        } else if self.peek() == TokenKind::Name && self.peek_second() == TokenKind::Equal {
            let name = self.at;
            self.at += 2;
            self.expression()?;
            if self.hints {
                self.hint_keyword_generator(name)?;
            }
            self.code.truncate(code);
            seen.keyword = true;
        } else {
            self.positional(seen)?;
        }
        Ok(())
    }

    fn positional(&mut self, seen: &mut Seen) -> Parsed<()> {
        let code = self.code.len();
        let first = self.at;
        self.argument_expression()?;
        if self.hints {
            self.hint_assignment_argument(first)?;
        }
        if matches!(self.peek(), TokenKind::For | TokenKind::Async) {
            if self.hints {
                self.hint_generator_argument(
                    first,
                    seen.count > 0 || seen.keyword || seen.unpacked_mapping,
                )?;
            }
            self.comprehension_clauses()?;
            if first_of_call(seen) && self.peek() == CLOSE {
                self.refuse_node(code, Node::Generator);
                seen.count = 1;
                return Ok(());
            }
            return Err(self.unexpected());
        }
        if seen.unpacked_mapping || seen.keyword {
            let after = if seen.unpacked_mapping {
                " unpacking"
            } else {
                ""
            };
            let message = format!("positional argument follows keyword argument{after}");
            let fault = self.explained(message, first);
            seen.misplaced.get_or_insert(fault);
        }
        seen.count += 1;
        Ok(())
    }

    /// `name := expression` or an expression, without the hints of named expressions.
    fn argument_expression(&mut self) -> Parsed {
        if self.peek() == TokenKind::Name && self.peek_second() == TokenKind::ColonEqual {
            self.named_expression()
        } else {
            self.expression()
        }
    }
}

fn first_of_call(seen: &Seen) -> bool {
    seen.count == 0 && !seen.keyword && !seen.unpacked_mapping
}
