//! From tokens to a program: the whole expression grammar of Python 3.11, in one pass.
//!
//! - this module: the input as a whole, conditional expressions, lambda's place, walking the tokens;
//! - [`operators`]: everything between operands, without recursion;
//! - [`operands`]: names, literals, calls, subscripts, attributes;
//! - [`displays`]: what stands in brackets, comprehensions, assignment targets;
//! - [`arguments`], [`lambda`]: the two lists with rules of their own;
//! - [`hints`]: which message fits a source that does not parse.
//!
//! A source that does not parse is parsed a second time with hints on, as Python does: only then
//! is it worth the time to find out what was meant.

mod arguments;
mod displays;
mod hints;
mod lambda;
mod operands;
mod operators;

use std::borrow::Cow;

use super::error::SyntaxFault;
use super::lexer::{Kind, Token, Tokens, tokenize};
use super::program::{Instruction, Node, Refusal};
use operators::{Pending, Precedence};

/// The program of an expression.
///
/// # Errors
/// The syntax error that Python reports.
pub fn parse(source: &str) -> Result<Vec<Instruction>, SyntaxFault> {
    Parser::new(source, tokenize(source)?, 0).run()
}

/// Checks an expression inside a format string that stands `depth` levels deep in others.
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

/// What the rest of the grammar needs to know of an expression whose code is made already.
#[derive(Clone, Copy, Debug)]
struct Shape {
    node: Node,
    /// What prevents an assignment to it: itself, or an element of it.
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

/// Expressions inside expressions that are not held back by the limit on brackets: defaults of
/// lambda parameters, and format strings.
const MAXIMUM_DEPTH: u32 = 300;

/// Hints go over the same tokens again and again, so long sources get none, and after so many
/// looks ahead the search ends.
const MAXIMUM_HINTED_TOKENS: usize = 4096;
const MAXIMUM_LOOKS: u32 = 4096;

struct Parser<'s> {
    source: &'s str,
    tokens: Tokens,
    at: usize,
    /// The last token that was looked at.
    furthest: usize,
    code: Vec<Instruction>,
    pending: Vec<Pending>,
    depth: u32,
    /// Whether to look for what was meant.
    hints: bool,
    /// Whether an operator or bracket without a proper rest just ends the expression before it,
    /// as it does in Python's grammar. Only messages depend on it.
    lenient: bool,
    /// The tokens from which a statement without brackets has been looked for.
    visited: Vec<bool>,
    /// How many more looks ahead hints may take.
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
            looks: MAXIMUM_LOOKS,
        }
    }

    /// Parses; if that fails, finds out what to say.
    fn run(mut self) -> Result<Vec<Instruction>, SyntaxFault> {
        let depth = self.depth;
        let fault = match self.input() {
            Ok(()) if self.tokens.ending.is_none() => return Ok(self.code),
            Ok(()) => self.unexpected(),
            Err(fault) => fault,
        };
        if let Some(ending) = self.reached_ending() {
            return Err(ending);
        }
        if fault.message.is_some() {
            return Err(fault);
        }
        let plain = SyntaxFault::unexpected(self.position(self.furthest));
        let hinted = self.input_with_hints(depth);
        let beyond = self.tokens.beyond.take();
        let fault = self.reached_ending().or(beyond).or(hinted).unwrap_or(plain);
        Err(self.prefer_unclosed(fault))
    }

    /// Parses a second time. Gives the fault if a hint explains it.
    fn input_with_hints(&mut self, depth: u32) -> Option<SyntaxFault> {
        if self.tokens.tokens.len() > MAXIMUM_HINTED_TOKENS {
            return None;
        }
        self.at = 0;
        self.depth = depth;
        self.code.clear();
        self.pending.clear();
        self.hints = true;
        self.lenient = true;
        self.visited = vec![false; self.tokens.tokens.len()];
        self.input().err().filter(|fault| fault.message.is_some())
    }

    /// What is wrong about the end of the source, if the parser came there.
    fn reached_ending(&self) -> Option<SyntaxFault> {
        let at_end = self.furthest + 1 >= self.tokens.tokens.len();
        self.tokens.ending.clone().filter(|_| at_end)
    }

    /// A bracket that is never closed is the likelier cause of a fault on a later line.
    fn prefer_unclosed(&self, fault: SyntaxFault) -> SyntaxFault {
        let furthest = self.position(self.furthest);
        match &self.tokens.unclosed {
            Some(unclosed)
                if self
                    .source
                    .get(unclosed.at..furthest)
                    .is_some_and(|text| text.contains('\n')) =>
            {
                unclosed.clone()
            }
            _ => fault,
        }
    }

    /// The token `ahead` of the next one; at the end, the end.
    fn token(&mut self, ahead: usize) -> Token {
        let last = self.tokens.tokens.len() - 1;
        let index = (self.at + ahead).min(last);
        self.furthest = self.furthest.max(index);
        self.tokens.tokens[index]
    }

    fn peek(&mut self) -> Kind {
        self.token(0).kind
    }

    fn peek_second(&mut self) -> Kind {
        self.token(1).kind
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, kind: Kind) -> Parsed<()> {
        if self.eat(kind) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn unexpected(&self) -> SyntaxFault {
        SyntaxFault::unexpected(self.position(self.at))
    }

    fn fault(&self, message: impl Into<Cow<'static, str>>, token: usize) -> SyntaxFault {
        SyntaxFault::new(message, self.position(token))
    }

    /// A message that Python finds only in its second pass.
    fn explained(&self, message: impl Into<Cow<'static, str>>, token: usize) -> SyntaxFault {
        if self.hints {
            self.fault(message, token)
        } else {
            self.unexpected()
        }
    }

    fn position(&self, token: usize) -> usize {
        let tokens = &self.tokens.tokens;
        tokens
            .get(token)
            .or(tokens.last())
            .map_or(0, |token| token.start as usize)
    }

    fn text(&self, token: Token) -> &'s str {
        self.source
            .get(token.start as usize..token.end as usize)
            .unwrap_or_default()
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

    /// Expressions up to the end of the source; several of them are a tuple.
    fn input(&mut self) -> Parsed<()> {
        let mut tuple = false;
        self.expression()?;
        while self.eat(Kind::Comma) {
            tuple = true;
            if matches!(self.peek(), Kind::Newline | Kind::End) {
                break;
            }
            self.expression()?;
        }
        if tuple {
            self.refuse_node(0, Node::Tuple);
        }
        while self.eat(Kind::Newline) {}
        self.expect(Kind::End)
    }

    /// One expression: operators, a conditional expression, or a lambda.
    ///
    /// What follows `else` and a lambda's colon is again an expression that reaches just as far,
    /// so these chains are a loop.
    fn expression(&mut self) -> Parsed {
        let code = self.code.len();
        let mut outermost = None;
        self.depth += 1;
        if self.depth > MAXIMUM_DEPTH {
            return Err(match self.lenient {
                true => self.unexpected(),
                false => self.fault("too many nested parentheses", self.at),
            });
        }
        let shape = loop {
            let first = self.at;
            if self.eat(Kind::Lambda) {
                self.lambda_parameters()?;
                outermost.get_or_insert(Node::Lambda);
                self.code.truncate(code);
                continue;
            }
            let shape = self.operators(Precedence::Or)?;
            if self.hints {
                self.hint_after_expression(first, shape)?;
            }
            let end = self.at;
            if !self.eat(Kind::If) {
                break shape;
            }
            let condition = self.operators(Precedence::Or);
            match condition.and_then(|_| self.expect(Kind::Else)) {
                Err(fault) if self.lenient && fault.message.is_none() => {
                    self.at = end;
                    break shape;
                }
                found => found?,
            }
            outermost.get_or_insert(Node::IfExpression);
            self.code.truncate(code);
        };
        self.depth -= 1;
        Ok(match outermost {
            Some(node) => self.refuse_node(code, node),
            None => shape,
        })
    }

    /// An expression or `name := expression`.
    fn named_expression(&mut self) -> Parsed {
        let first = self.at;
        if self.peek() == Kind::Name && self.peek_second() == Kind::ColonEqual {
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
        if self.eat(Kind::Star) {
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
