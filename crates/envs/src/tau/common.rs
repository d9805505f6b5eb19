//! The tools that all domains share.

use volary_core::Json;

use super::python::{Computed, Exception, elements, evaluate};
use super::state::State;
use super::tool::{Arguments, Parameter, ParameterKind, TauTool};

/// The allowed characters of an expression.
const CHARACTERS: &str = "0123456789+-*/(). ";

/// Evaluates an expression.
pub const CALCULATE: TauTool = TauTool {
    name: "calculate",
    description: "Work out an arithmetic expression, rounded to two places.",
    parameters: &[Parameter {
        name: "expression",
        kind: ParameterKind::Text,
        description: "Digits, points, + - * / and round brackets, such as '(2.5 + 1) * 3'.",
    }],
    run: |_, arguments| calculate(arguments.get("expression")?).map(Some),
    terminates: false,
};

/// A note of the agent to itself.
pub const THINK: TauTool = TauTool {
    name: "think",
    description: "Write down a thought. Nothing is changed and nobody sees it.",
    parameters: &[Parameter {
        name: "thought",
        kind: ParameterKind::Text,
        description: "What to think about.",
    }],
    run: |_, _| said(""),
    terminates: false,
};

/// Transfers the customer to a person, which ends the episode.
pub const TRANSFER: TauTool = TauTool {
    name: "transfer_to_human_agents",
    description: "Hand the customer over to a person. Only for what the policy and the tools do \
                  not cover. This ends the conversation.",
    parameters: &[Parameter {
        name: "summary",
        kind: ParameterKind::Text,
        description: "What the person has to know.",
    }],
    run: |_, _| said("Transfer successful"),
    terminates: true,
};

/// A successful result with this text.
pub fn said(text: &str) -> Computed<Option<String>> {
    Ok(Some(text.to_owned()))
}

/// A result that reports an error.
pub fn refused(reason: impl std::fmt::Display) -> Computed<Option<String>> {
    Ok(Some(format!("Error: {reason}")))
}

/// A result with a value, formatted like Python's `json.dumps`.
pub fn shown(value: &Json) -> Computed<Option<String>> {
    Ok(Some(value.to_python_text()))
}

/// A result with the record whose key is the argument's value.
pub fn record(
    state: &State,
    table: &str,
    arguments: &Arguments<'_>,
    parameter: &str,
    missing: &str,
) -> Computed<Option<String>> {
    match state.find(table, arguments.get(parameter)?)? {
        Some(record) => shown(record),
        None => refused(missing),
    }
}

/// The calculator's result for an expression.
pub fn calculate(expression: &Json) -> Computed<String> {
    for character in elements(expression)? {
        match &character {
            Json::Text(part) if CHARACTERS.contains(&**part) => {}
            Json::Text(_) => return Ok("Error: invalid characters in expression".to_owned()),
            other => {
                let kind = crate::cast::type_name(other);
                return Err(Exception(format!(
                    "'in <string>' requires string as left operand, not {kind}"
                )));
            }
        }
    }
    let Json::Text(source) = expression else {
        return Ok("Error: eval() arg 1 must be a string, bytes or code object".to_owned());
    };
    Ok(evaluate(source).unwrap_or_else(|error| format!("Error: {error}")))
}
