//! The two passes over a source.
//!
//! A source that does not parse is parsed a second time with hints enabled, as in Python: only then is
//! the search for the cause worth its time.

use super::super::error::SyntaxFault;
use super::super::program::Instruction;
use super::Parser;

/// Hints visit the same tokens repeatedly, so longer sources get none, and the number of
/// look-aheads is limited.
const MAXIMUM_HINTED_TOKENS: usize = 4096;
const MAXIMUM_LOOKS: u32 = 4096;

impl Parser<'_> {
    /// Parses; on failure determines the error message.
    pub(super) fn run(mut self) -> Result<Vec<Instruction>, SyntaxFault> {
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

    /// Parses a second time. Returns the fault if a hint explains it.
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
        self.looks = MAXIMUM_LOOKS;
        self.input().err().filter(|fault| fault.message.is_some())
    }

    /// The error at the end of the source, if the parser reached it.
    fn reached_ending(&self) -> Option<SyntaxFault> {
        let at_end = self.furthest + 1 >= self.tokens.tokens.len();
        self.tokens.ending.clone().filter(|_| at_end)
    }

    /// An unclosed bracket is the more likely cause of a fault on a later line.
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
}
