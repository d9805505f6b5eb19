//! Runs a program on a stack of values.

use super::error::EvaluationError;
use super::numbers::{Budget, Value, binary};
use super::program::Instruction;

/// Runs a program and returns its value.
///
/// # Errors
/// The first construct that is not supported or operation that fails, in Python's order.
pub fn run(program: Vec<Instruction>) -> Result<Value, EvaluationError> {
    let mut budget = Budget::default();
    let mut stack = Stack(Vec::with_capacity(8));
    for instruction in program {
        let value = match instruction {
            Instruction::Push(value) => value,
            Instruction::Binary(operator) => {
                let right = stack.pop()?;
                let left = stack.pop()?;
                binary(operator, left, right, &mut budget)?
            }
            Instruction::Negate => stack.pop()?.negate(),
            Instruction::Plus => stack.pop()?.plus(),
            Instruction::Call(function, count) => {
                let arguments = stack.pop_many(count as usize)?;
                function.call(arguments)?
            }
            Instruction::Refuse(refusal) => return Err(refusal.into_error()),
        };
        stack.0.push(value);
    }
    stack.pop()
}

/// The value stack. The parser makes programs that never pop more than they push; a violation is reported as an error
/// instead of a panic.
struct Stack(Vec<Value>);

impl Stack {
    fn pop(&mut self) -> Result<Value, EvaluationError> {
        self.0.pop().ok_or(UNBALANCED)
    }

    fn pop_many(&mut self, count: usize) -> Result<std::vec::Drain<'_, Value>, EvaluationError> {
        let rest = self.0.len().checked_sub(count).ok_or(UNBALANCED)?;
        Ok(self.0.drain(rest..))
    }
}

const UNBALANCED: EvaluationError = EvaluationError::Invalid {
    reason: std::borrow::Cow::Borrowed("the program takes more values than it makes"),
};

#[cfg(test)]
mod tests {
    use super::super::evaluate;

    /// The reason of an error, without the prefix that all errors share.
    fn reason(source: &str) -> String {
        let error = evaluate(source).expect_err(source).to_string();
        error.replace("Invalid mathematical expression: ", "")
    }

    #[test]
    fn a_construct_is_refused_before_what_is_inside_it() {
        for (source, expected) in [
            ("(1 / 0) ^ 2", "Unsupported operation: <class 'ast.BitXor'>"),
            (
                "~(1 / 0)",
                "Unsupported unary operation: <class 'ast.Invert'>",
            ),
            ("f(1 / 0)", "Unsupported function: f"),
            ("[1 / 0]", "Unsupported AST node type: <class 'ast.List'>"),
            ("(1 / 0) + (1 ^ 2)", "Division by zero is not allowed"),
            (
                "(1 ^ 2) + (1 / 0)",
                "Unsupported operation: <class 'ast.BitXor'>",
            ),
            ("max(1 / 0, x)", "Division by zero is not allowed"),
            (
                "max(x, 1 / 0)",
                "Unsupported AST node type: <class 'ast.Name'>",
            ),
            ("1 / 0 +", "invalid syntax (<unknown>, line 1)"),
        ] {
            assert_eq!(reason(source), expected, "{source}");
        }
    }

    #[test]
    fn keywords_are_not_evaluated() {
        assert!(evaluate("max(1, 2, key=1 / 0, **x)").is_ok());
    }
}
