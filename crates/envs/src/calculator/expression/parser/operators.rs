//! Operands and the operators between them.
//!
//! Operators wait on an explicit stack until a weaker one follows, so that neither a chain of
//! thousands of terms nor one of signs, powers or `not`s recurses.

use super::super::lexer::TokenKind;
use super::super::program::{Instruction, Node, Operator, Refusal};
use super::{Parsed, Parser, Shape};

/// The precedence of an operator, from the weakest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Term,
    Sign,
    Power,
}

/// The effect of an operator once its operands are complete.
#[derive(Clone, Copy, Debug)]
enum Action {
    Boolean,
    Not,
    Compare,
    /// An unsupported binary operator, by its Python class.
    Unsupported(&'static str),
    Binary(Operator),
    Negate,
    Plus,
    Invert,
}

/// An operator waiting for its right operand.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    precedence: Precedence,
    action: Action,
    /// The start of its left operand's code; for a prefix, its own position.
    start: usize,
}

impl Parser<'_> {
    /// Operands joined by operators that bind at least as tightly as `weakest`.
    pub(super) fn operators(&mut self, weakest: Precedence) -> Parsed {
        let base = self.pending.len();
        // The position after the last complete operand, and its shape.
        let mut complete: Option<(usize, Shape)> = None;
        loop {
            let mut start = self.code.len();
            let operand = self.prefixes(base, weakest).and_then(|()| {
                start = self.code.len();
                self.operand()
            });
            let mut shape = match (operand, complete) {
                (Ok(shape), _) => shape,
                (Err(fault), Some((at, shape))) if self.lenient && fault.message.is_none() => {
                    self.at = at;
                    self.pending.truncate(base);
                    return Ok(shape);
                }
                (Err(fault), _) => return Err(fault),
            };
            let Some((precedence, action, width)) = self
                .infix()
                .filter(|(precedence, ..)| *precedence >= weakest)
            else {
                self.reduce(base, Precedence::Or, &mut start, &mut shape);
                return Ok(shape);
            };
            // A power is right-associative; all others are left-associative.
            if precedence != Precedence::Power {
                self.reduce(base, precedence, &mut start, &mut shape);
            }
            complete = Some((self.at, shape));
            self.at += width;
            self.pending.push(Pending {
                precedence,
                action,
                start,
            });
        }
    }

    /// Signs and `not`s before an operand.
    fn prefixes(&mut self, base: usize, weakest: Precedence) -> Parsed<()> {
        loop {
            let (precedence, action) = match self.peek() {
                TokenKind::Minus => (Precedence::Sign, Action::Negate),
                TokenKind::Plus => (Precedence::Sign, Action::Plus),
                TokenKind::Tilde => (Precedence::Sign, Action::Invert),
                TokenKind::Not => {
                    let before = self.pending.get(base..).and_then(<[_]>::last);
                    let allowed = weakest <= Precedence::Not
                        && before.is_none_or(|pending| pending.precedence <= Precedence::Not);
                    if !allowed {
                        return Err(self.unexpected());
                    }
                    (Precedence::Not, Action::Not)
                }
                _ => return Ok(()),
            };
            self.advance();
            let start = self.code.len();
            self.pending.push(Pending {
                precedence,
                action,
                start,
            });
        }
    }

    /// The operator at this position, if there is one, and its number of tokens.
    fn infix(&mut self) -> Option<(Precedence, Action, usize)> {
        use Action::*;
        let binary = |precedence, operator| Some((precedence, Binary(operator), 1));
        let unsupported = |precedence, class| Some((precedence, Unsupported(class), 1));
        match self.peek() {
            TokenKind::Plus => binary(Precedence::Sum, Operator::Add),
            TokenKind::Minus => binary(Precedence::Sum, Operator::Subtract),
            TokenKind::Star => binary(Precedence::Term, Operator::Multiply),
            TokenKind::Slash => binary(Precedence::Term, Operator::Divide),
            TokenKind::DoubleSlash => binary(Precedence::Term, Operator::FloorDivide),
            TokenKind::Percent => binary(Precedence::Term, Operator::Modulo),
            TokenKind::DoubleStar => binary(Precedence::Power, Operator::Power),
            TokenKind::At => unsupported(Precedence::Term, "MatMult"),
            TokenKind::LeftShift => unsupported(Precedence::Shift, "LShift"),
            TokenKind::RightShift => unsupported(Precedence::Shift, "RShift"),
            TokenKind::Ampersand => unsupported(Precedence::BitAnd, "BitAnd"),
            TokenKind::Caret => unsupported(Precedence::BitXor, "BitXor"),
            TokenKind::Pipe => unsupported(Precedence::BitOr, "BitOr"),
            TokenKind::Comparison | TokenKind::In => Some((Precedence::Comparison, Compare, 1)),
            TokenKind::Is => {
                let width = if self.peek_second() == TokenKind::Not {
                    2
                } else {
                    1
                };
                Some((Precedence::Comparison, Compare, width))
            }
            TokenKind::Not if self.peek_second() == TokenKind::In => {
                Some((Precedence::Comparison, Compare, 2))
            }
            TokenKind::And => Some((Precedence::And, Boolean, 1)),
            TokenKind::Or => Some((Precedence::Or, Boolean, 1)),
            _ => None,
        }
    }

    /// Completes the operators above `base` that bind at least as tightly as `precedence`. `start`
    /// and `shape` are those of the last operand, and are updated to those of the whole.
    fn reduce(
        &mut self,
        base: usize,
        precedence: Precedence,
        start: &mut usize,
        shape: &mut Shape,
    ) {
        while self.pending.len() > base {
            let Some(pending) = self
                .pending
                .pop_if(|pending| pending.precedence >= precedence)
            else {
                return;
            };
            *start = pending.start;
            *shape = match pending.action {
                Action::Binary(operator) => {
                    self.code.push(Instruction::Binary(operator));
                    Shape::value(Node::BinaryOperation)
                }
                Action::Unsupported(class) => {
                    self.refuse(pending.start, Refusal::Operator(class));
                    Shape::value(Node::BinaryOperation)
                }
                Action::Negate => {
                    self.code.push(Instruction::Negate);
                    Shape::value(Node::UnaryOperation)
                }
                Action::Plus => {
                    self.code.push(Instruction::Plus);
                    Shape::value(Node::UnaryOperation)
                }
                Action::Invert => {
                    self.refuse(pending.start, Refusal::UnaryOperator("Invert"));
                    Shape::value(Node::UnaryOperation)
                }
                Action::Not => {
                    self.refuse(pending.start, Refusal::UnaryOperator("Not"));
                    Shape::value(Node::UnaryOperation)
                }
                Action::Compare => self.refuse_node(pending.start, Node::Compare),
                Action::Boolean => self.refuse_node(pending.start, Node::BooleanOperation),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::evaluate;

    #[test]
    fn operators_bind_as_in_python() {
        for (source, result) in [
            ("1 - 2 - 3", "-4"),
            ("2 ** 3 ** 2", "512"),
            ("-2 ** 2", "-4"),
            ("2 ** -1 * 4", "2"),
            ("2 ** -2 ** 2", "0.0625"),
            ("7 % 4 * 2 // 3", "2"),
            ("2 + 3 * 4 ** 2 - -1", "51"),
            ("- - + 5", "5"),
        ] {
            let outcome = evaluate(source).map(|outcome| outcome.to_text());
            assert_eq!(outcome.as_deref(), Ok(result), "{source}");
        }
    }

    #[test]
    fn not_is_only_allowed_in_its_positions() {
        let is_syntax_error = |source| {
            let error = evaluate(source).expect_err(source).to_string();
            error.contains("invalid syntax")
        };
        for source in [
            "not 1 < 2",
            "1 and not 2",
            "1 not in 2",
            "not not 1",
            "1 is not 2",
        ] {
            assert!(!is_syntax_error(source), "{source}");
        }
        for source in [
            "1 + not 2",
            "- not 1",
            "1 < not 2",
            "1 not 2",
            "1 is not not 2",
        ] {
            assert!(is_syntax_error(source), "{source}");
        }
    }
}
