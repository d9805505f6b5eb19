//! The compiled form of an expression: instructions for a stack machine, in order of evaluation.
//!
//! There is no tree, so neither building, running nor dropping a program recurses, however long
//! the expression is. An unsupported construct becomes an [`Instruction::Refuse`] that
//! replaces *all* code of the construct, since Python checks a node before its children:
//! `(1 / 0) ^ 2` is rejected because of `^`, not because of the division.

use std::ops::Range;

use super::error::EvaluationError;
use super::functions::Function;
use super::numbers::Value;

/// One instruction.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// Pushes a value.
    Push(Value),
    /// Replaces the two topmost values by the result of the operator.
    Binary(Operator),
    /// Negates the topmost value.
    Negate,
    /// `+`, which converts a boolean to an integer.
    Plus,
    /// Replaces this many topmost values by the result of the function.
    Call(Function, u32),
    /// Ends the evaluation with an error.
    Refuse(Refusal),
}

/// The supported binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
}

impl Operator {
    /// The operator as it is written, for error texts.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
            Operator::Power => "** or pow()",
        }
    }
}

/// A construct that parses but is not supported.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// A literal of this Python type.
    Constant(&'static str),
    /// A syntax node.
    Node(Node),
    /// A bare name, by its position in the source, in case it turns out to be called.
    Name(Range<u32>),
    /// A binary operator, by its Python class.
    Operator(&'static str),
    /// A unary operator, by its Python class.
    UnaryOperator(&'static str),
    /// A call of anything but a plain name.
    Callee,
    /// A call of an unknown function.
    Function(String),
}

impl Refusal {
    /// The error that Python's evaluator raises.
    pub fn into_error(self) -> EvaluationError {
        EvaluationError::invalid(match self {
            Refusal::Constant(kind) => format!("Unsupported constant type: <class '{kind}'>"),
            Refusal::Node(node) => {
                format!("Unsupported AST node type: <class 'ast.{}'>", node.class())
            }
            Refusal::Name(_) => "Unsupported AST node type: <class 'ast.Name'>".into(),
            Refusal::Operator(class) => format!("Unsupported operation: <class 'ast.{class}'>"),
            Refusal::UnaryOperator(class) => {
                format!("Unsupported unary operation: <class 'ast.{class}'>")
            }
            Refusal::Callee => "Only simple function calls are supported".into(),
            Refusal::Function(name) => format!("Unsupported function: {name}"),
        })
    }
}

/// Python's kinds of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    Attribute,
    Await,
    BinaryOperation,
    BooleanOperation,
    Call,
    Compare,
    /// A literal other than the four below.
    Constant,
    Dict,
    DictComprehension,
    Ellipsis,
    False,
    FormatString,
    Generator,
    IfExpression,
    Lambda,
    List,
    ListComprehension,
    Name,
    NamedExpression,
    None,
    Set,
    SetComprehension,
    Starred,
    Subscript,
    True,
    Tuple,
    UnaryOperation,
    Yield,
    YieldFrom,
}

impl Node {
    /// The name of Python's class.
    fn class(self) -> &'static str {
        match self {
            Node::Attribute => "Attribute",
            Node::Await => "Await",
            Node::BinaryOperation => "BinOp",
            Node::BooleanOperation => "BoolOp",
            Node::Call => "Call",
            Node::Compare => "Compare",
            Node::Constant | Node::Ellipsis | Node::False | Node::None | Node::True => "Constant",
            Node::Dict => "Dict",
            Node::DictComprehension => "DictComp",
            Node::FormatString => "JoinedStr",
            Node::Generator => "GeneratorExp",
            Node::IfExpression => "IfExp",
            Node::Lambda => "Lambda",
            Node::List => "List",
            Node::ListComprehension => "ListComp",
            Node::Name => "Name",
            Node::NamedExpression => "NamedExpr",
            Node::Set => "Set",
            Node::SetComprehension => "SetComp",
            Node::Starred => "Starred",
            Node::Subscript => "Subscript",
            Node::Tuple => "Tuple",
            Node::UnaryOperation => "UnaryOp",
            Node::Yield => "Yield",
            Node::YieldFrom => "YieldFrom",
        }
    }

    /// Its name in syntax errors.
    pub fn described(self) -> &'static str {
        match self {
            Node::Attribute => "attribute",
            Node::Await => "await expression",
            Node::BinaryOperation | Node::BooleanOperation | Node::UnaryOperation => "expression",
            Node::Call => "function call",
            Node::Compare => "comparison",
            Node::Constant => "literal",
            Node::Dict => "dict literal",
            Node::DictComprehension => "dict comprehension",
            Node::Ellipsis => "ellipsis",
            Node::False => "False",
            Node::FormatString => "f-string expression",
            Node::Generator => "generator expression",
            Node::IfExpression => "conditional expression",
            Node::Lambda => "lambda",
            Node::List => "list",
            Node::ListComprehension => "list comprehension",
            Node::Name => "name",
            Node::NamedExpression => "named expression",
            Node::None => "None",
            Node::Set => "set display",
            Node::SetComprehension => "set comprehension",
            Node::Starred => "starred",
            Node::Subscript => "subscript",
            Node::True => "True",
            Node::Tuple => "tuple",
            Node::Yield | Node::YieldFrom => "yield expression",
        }
    }
}
