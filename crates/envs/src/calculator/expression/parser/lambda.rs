//! The parameters of a lambda.

use super::super::lexer::{Bracket, TokenKind};
use super::{Parsed, Parser};

/// The progress in the list; each stage allows less than the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Plain,
    /// After a parameter with a default: all further plain ones need a default.
    Defaulted,
    /// After a bare `*`, which must be followed by a parameter.
    BareStar,
    /// After `*` and a parameter.
    Keyword,
    /// After `**name`, which must be last.
    Closed,
}

impl Parser<'_> {
    /// The parameters up to and including the colon.
    pub(super) fn lambda_parameters(&mut self) -> Parsed<()> {
        let mut stage = Stage::Plain;
        let mut slash = false;
        let mut any = false;
        while !self.eat(TokenKind::Colon) {
            let start = self.at;
            if stage == Stage::Closed {
                let parameter = matches!(
                    self.peek(),
                    TokenKind::Name | TokenKind::Star | TokenKind::DoubleStar | TokenKind::Slash
                );
                return Err(if parameter {
                    self.explained("arguments cannot follow var-keyword argument", start)
                } else {
                    self.unexpected()
                });
            }
            match self.peek() {
                TokenKind::Name => {
                    self.advance();
                    let default = self.lambda_default()?;
                    stage = match stage {
                        Stage::Defaulted if !default => {
                            self.end_of_parameter()?;
                            return Err(self.explained(
                                "non-default argument follows default argument",
                                start,
                            ));
                        }
                        Stage::Plain if default => Stage::Defaulted,
                        Stage::BareStar => Stage::Keyword,
                        same => same,
                    };
                }
                TokenKind::Slash => {
                    self.advance();
                    if slash {
                        return Err(self.explained("/ may appear only once", start));
                    }
                    if stage >= Stage::BareStar {
                        return Err(self.explained("/ must be ahead of *", start));
                    }
                    if !any {
                        return Err(match self.peek() {
                            TokenKind::Comma => {
                                self.explained("at least one argument must precede /", start)
                            }
                            _ => self.unexpected(),
                        });
                    }
                    if self.peek() == TokenKind::Star {
                        return Err(self.explained("expected comma between / and *", self.at));
                    }
                    slash = true;
                }
                TokenKind::Star => {
                    self.advance();
                    stage = self.lambda_star(stage, start)?;
                }
                TokenKind::DoubleStar => {
                    self.advance();
                    if stage == Stage::BareStar {
                        return Err(self.explained("named arguments must follow bare *", start));
                    }
                    self.expect(TokenKind::Name)?;
                    if self.peek() == TokenKind::Equal {
                        return Err(self
                            .explained("var-keyword argument cannot have default value", self.at));
                    }
                    stage = Stage::Closed;
                }
                TokenKind::Open(Bracket::Round) if self.hints => {
                    return Err(self.hint_parenthesized_parameters());
                }
                _ => return Err(self.unexpected()),
            }
            any = true;
            self.end_of_parameter()?;
        }
        if stage == Stage::BareStar {
            return Err(self.explained("named arguments must follow bare *", self.at - 1));
        }
        Ok(())
    }

    fn lambda_star(&mut self, stage: Stage, start: usize) -> Parsed<Stage> {
        if stage >= Stage::BareStar {
            return Err(match self.peek() {
                TokenKind::Name | TokenKind::Comma => {
                    self.explained("* argument may appear only once", start)
                }
                _ => self.unexpected(),
            });
        }
        if !self.eat(TokenKind::Name) {
            return Ok(Stage::BareStar);
        }
        if self.peek() == TokenKind::Equal {
            return Err(
                self.explained("var-positional argument cannot have default value", self.at)
            );
        }
        Ok(Stage::Keyword)
    }

    fn lambda_default(&mut self) -> Parsed<bool> {
        let found = self.eat(TokenKind::Equal);
        if found {
            self.expression()?;
        }
        Ok(found)
    }

    /// A comma, or the colon, which is not consumed.
    fn end_of_parameter(&mut self) -> Parsed<()> {
        if self.eat(TokenKind::Comma) || self.peek() == TokenKind::Colon {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }
}
