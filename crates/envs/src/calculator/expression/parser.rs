//! The parser: the whole expression grammar of Python 3.11, compiled to a program in one pass.
//!
//! - this module: the input as a whole, conditional expressions, where lambdas are allowed;
//! - [`operators`]: everything between operands, without recursion;
//! - [`operands`]: names, literals, calls, subscripts, attributes;
//! - [`displays`]: expressions in brackets, comprehensions, assignment targets;
//! - [`arguments`], [`lambda`]: the two lists with rules of their own;
//! - [`walk`]: moves over the tokens;
//! - [`passes`], [`hints`]: the error message for a source that does not parse.

mod arguments;
mod displays;
mod hints;
mod lambda;
mod operands;
mod operators;
mod passes;
mod walk;

use std::borrow::Cow;

use super::error::SyntaxFault;
use super::lexer::{TokenKind, Tokens, tokenize};
use super::program::{Instruction, Node, Refusal};
use operators::{Pending, Precedence};

/// The program of an expression.
///
/// # Errors
/// The syntax error that Python reports.
pub fn parse(source: &str) -> Result<Vec<Instruction>, SyntaxFault> {
    Parser::new(source, tokenize(source)?, 0).run()
}

/// Checks an expression inside a format string that is nested `depth` levels deep.
///
/// # Errors
/// Python's message, which names the format string unless a token is malformed.
pub fn parse_in_format(source: &str, depth: u32) -> Result<(), Cow<'static, str>> {
    let plain = Cow::Borrowed("invalid syntax");
    let tokens = tokenize(source).map_err(|fault| fault.message.unwrap_or(plain.clone()))?;
    match Parser::new(source, tokens, depth).run() {
        Ok(_) => Ok(()),
        Err(fault) => Err(format!("f-string: {}", fault.message.unwrap_or(plain)).into()),
    }
}

type Parsed<T = Shape> = Result<T, SyntaxFault>;

/// The properties of a compiled expression that the rest of the grammar depends on.
#[derive(Clone, Copy, Debug)]
struct Shape {
    node: Node,
    /// The node that prevents an assignment to it: itself, or one of its elements.
    obstacle: Option<Node>,
}

impl Shape {
    fn value(node: Node) -> Self {
        Shape {
            node,
            obstacle: Some(node),
        }
    }

    fn target(node: Node) -> Self {
        Shape {
            node,
            obstacle: None,
        }
    }
}

/// The maximum nesting of expressions that the limit on brackets does not cover: defaults of
/// lambda parameters, and format strings.
const MAXIMUM_DEPTH: u32 = 300;

struct Parser<'s> {
    source: &'s str,
    tokens: Tokens,
    at: usize,
    /// The index of the last token inspected.
    furthest: usize,
    code: Vec<Instruction>,
    pending: Vec<Pending>,
    depth: u32,
    /// Whether hints are enabled.
    hints: bool,
    /// Whether an operator or bracket without a valid continuation ends the expression before it,
    /// as in Python's grammar. Only error messages depend on it.
    lenient: bool,
    /// The tokens at which a statement without brackets was already tried.
    visited: Vec<bool>,
    /// The remaining number of look-aheads for hints.
    looks: u32,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, tokens: Tokens, depth: u32) -> Self {
        Parser {
            source,
            tokens,
            at: 0,
            furthest: 0,
            code: Vec::with_capacity(8),
            pending: Vec::with_capacity(8),
            depth,
            hints: false,
            lenient: false,
            visited: Vec::new(),
            looks: 0,
        }
    }

    /// Replaces all code from `start` on by a refusal.
    fn refuse(&mut self, start: usize, refusal: Refusal) {
        self.code.truncate(start);
        self.code.push(Instruction::Refuse(refusal));
    }

    fn refuse_node(&mut self, start: usize, node: Node) -> Shape {
        self.refuse(start, Refusal::Node(node));
        Shape::value(node)
    }

    /// Expressions up to the end of the source; several are a tuple.
    fn input(&mut self) -> Parsed<()> {
        let mut tuple = false;
        self.expression()?;
        while self.eat(TokenKind::Comma) {
            tuple = true;
            if matches!(self.peek(), TokenKind::Newline | TokenKind::End) {
                break;
            }
            self.expression()?;
        }
        if tuple {
            self.refuse_node(0, Node::Tuple);
        }
        while self.eat(TokenKind::Newline) {}
        self.expect(TokenKind::End)
    }

    /// One expression: operators, a conditional expression, or a lambda.
    fn expression(&mut self) -> Parsed {
        if self.depth >= MAXIMUM_DEPTH {
            return Err(if self.lenient {
                self.unexpected()
            } else {
                self.fault("too many nested parentheses", self.at)
            });
        }
        self.depth += 1;
        let shape = self.expression_inside();
        self.depth -= 1;
        shape
    }

    /// After `else` and a lambda's colon the grammar expects an expression of the same precedence, so
    /// these chains are parsed in a loop.
    fn expression_inside(&mut self) -> Parsed {
        let code = self.code.len();
        let mut outermost = None;
        loop {
            let first = self.at;
            if self.eat(TokenKind::Lambda) {
                self.lambda_parameters()?;
                outermost.get_or_insert(Node::Lambda);
                self.code.truncate(code);
                continue;
            }
            let shape = self.operators(Precedence::Or)?;
            if self.hints {
                self.hint_after_expression(first, shape)?;
            }
            if self.condition()? {
                outermost.get_or_insert(Node::IfExpression);
                self.code.truncate(code);
                continue;
            }
            return Ok(match outermost {
                Some(node) => self.refuse_node(code, node),
                None => shape,
            });
        }
    }

    /// `if condition else`, if it follows.
    fn condition(&mut self) -> Parsed<bool> {
        let start = self.at;
        if !self.eat(TokenKind::If) {
            return Ok(false);
        }
        let condition = self.operators(Precedence::Or);
        match condition.and_then(|_| self.expect(TokenKind::Else)) {
            Ok(()) => Ok(true),
            Err(fault) if self.lenient && fault.message.is_none() => {
                self.at = start;
                Ok(false)
            }
            Err(fault) => Err(fault),
        }
    }

    /// An expression or `name := expression`.
    fn named_expression(&mut self) -> Parsed {
        let first = self.at;
        if self.peek() == TokenKind::Name && self.peek_second() == TokenKind::ColonEqual {
            let code = self.code.len();
            self.at += 2;
            self.expression()?;
            return Ok(self.refuse_node(code, Node::NamedExpression));
        }
        let shape = self.expression()?;
        if self.hints {
            self.hint_after_named_expression(first, shape)?;
        }
        Ok(shape)
    }

    /// `*` and operators, or an expression, with names if `named`.
    fn starred_or(&mut self, named: bool) -> Parsed {
        let code = self.code.len();
        if self.eat(TokenKind::Star) {
            let value = self.operators(Precedence::BitOr)?;
            self.refuse(code, Refusal::Node(Node::Starred));
            return Ok(Shape {
                node: Node::Starred,
                obstacle: value.obstacle,
            });
        }
        if named {
            self.named_expression()
        } else {
            self.expression()
        }
    }
}
