//! Checks the arguments of a call, with CPython's error messages, since
//! aviary calls a tool as a Python function.

use std::borrow::Cow;

use super::ToolError;
use super::parameter::{Parameter, ParameterError};
use crate::json::{Json, Key, Object};

/// The parameters that a model may pass, and those that are injected.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name of the function.
    pub function: Key,
    /// The parameters by name, and whether each is required.
    pub parameters: Cow<'static, [(Key, bool)]>,
    /// Whether the state is injected; a `state` from the model then fails.
    pub takes_state: bool,
    /// Whether the id of the call is injected, replacing any value from the model.
    pub takes_call_id: bool,
}

impl Signature {
    /// Checks for unknown and missing arguments.
    ///
    /// # Errors
    ///
    /// A `TypeError` with CPython's message for such a call.
    pub fn check(&self, arguments: &Object) -> Result<(), ToolError> {
        let mut known = 0;
        for (name, required) in &*self.parameters {
            if arguments.contains_key(name) {
                known += 1;
            } else if *required {
                return Err(self.misfit(arguments));
            }
        }
        let ignored = usize::from(self.takes_call_id && arguments.contains_key(CALL_ID));
        if known + ignored == arguments.len() {
            Ok(())
        } else {
            Err(self.misfit(arguments))
        }
    }

    /// Reads an argument by name.
    ///
    /// # Errors
    ///
    /// A `TypeError` if it is missing or malformed.
    pub fn read<T: Parameter>(&self, arguments: &Object, name: &str) -> Result<T, ToolError> {
        let value = self.value(arguments, name)?;
        T::read(value).map_err(|error| self.unfit(name, &error))
    }

    /// Reads an argument by name, or returns the default.
    ///
    /// # Errors
    ///
    /// A `TypeError` if it is malformed.
    pub fn read_or<T: Parameter>(
        &self,
        arguments: &Object,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, ToolError> {
        match arguments.get(name) {
            Some(value) => T::read(value).map_err(|error| self.unfit(name, &error)),
            None => Ok(default()),
        }
    }

    /// An argument by name, unparsed.
    ///
    /// # Errors
    ///
    /// A `TypeError` if it is missing.
    pub fn value<'a>(&self, arguments: &'a Object, name: &str) -> Result<&'a Json, ToolError> {
        arguments.get(name).ok_or_else(|| self.misfit(arguments))
    }

    /// A text argument by name, borrowed.
    ///
    /// # Errors
    ///
    /// A `TypeError` if it is missing or not a text.
    pub fn text<'a>(&self, arguments: &'a Object, name: &str) -> Result<&'a str, ToolError> {
        let value = self.value(arguments, name)?;
        match value {
            Json::Text(text) => Ok(text),
            _ => Err(self.unfit(name, &ParameterError::expected("a string", value))),
        }
    }

    fn unfit(&self, name: &str, error: &ParameterError) -> ToolError {
        ToolError::arguments(format!(
            "{}() argument '{name}{}' {}",
            self.function, error.path, error.problem
        ))
    }

    /// The error for wrong argument names, in the order of CPython's checks.
    #[cold]
    fn misfit(&self, arguments: &Object) -> ToolError {
        let function = &self.function;
        let is_known = |key: &str| {
            self.parameters.iter().any(|(name, _)| name == key)
                || (self.takes_call_id && key == CALL_ID)
        };
        if self.takes_state && arguments.contains_key(STATE) {
            return ToolError::arguments(format!(
                "{function}() got multiple values for keyword argument '{STATE}'"
            ));
        }
        if let Some(key) = arguments.keys().find(|key| !is_known(key)) {
            return ToolError::arguments(format!(
                "{function}() got an unexpected keyword argument '{key}'"
            ));
        }
        let missing: Vec<String> = self
            .parameters
            .iter()
            .filter(|(name, required)| *required && !arguments.contains_key(name))
            .map(|(name, _)| format!("'{name}'"))
            .collect();
        ToolError::arguments(format!(
            "{function}() missing {} required positional argument{}: {}",
            missing.len(),
            if missing.len() == 1 { "" } else { "s" },
            listed(&missing)
        ))
    }
}

/// Reads an argument in a handler of a [`ToolBuilder`](super::ToolBuilder).
///
/// # Errors
///
/// A `TypeError` if it is missing or malformed.
pub fn argument<T: Parameter>(arguments: &Object, name: &str) -> Result<T, ToolError> {
    match arguments.get(name) {
        Some(value) => T::read(value).map_err(|error| {
            let ParameterError { path, problem } = error;
            ToolError::arguments(format!("argument '{name}{path}' {problem}"))
        }),
        None => Err(ToolError::arguments(format!(
            "argument '{name}' is missing"
        ))),
    }
}

/// Reads an optional argument in a handler of a [`ToolBuilder`](super::ToolBuilder).
///
/// # Errors
///
/// A `TypeError` if it is malformed.
pub fn argument_or<T: Parameter>(
    arguments: &Object,
    name: &str,
    default: T,
) -> Result<T, ToolError> {
    if arguments.contains_key(name) {
        argument(arguments, name)
    } else {
        Ok(default)
    }
}

/// The name under which the state is injected.
pub const STATE: &str = "state";

/// The name under which the id of the call is injected.
pub const CALL_ID: &str = "tool_call_id";

/// `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;
    use crate::object;

    fn signature(takes_state: bool, takes_call_id: bool) -> Signature {
        let names = ["a", "b", "c", "d"].map(|name| (Key::from(name), name != "d"));
        Signature {
            function: "f".into(),
            parameters: Cow::Owned(names.into()),
            takes_state,
            takes_call_id,
        }
    }

    fn misfit(signature: &Signature, arguments: Object) -> String {
        let error = signature.check(&arguments).unwrap_err();
        assert_eq!(error.class, "TypeError");
        error.to_string()
    }

    #[test]
    fn texts_are_those_of_cpython() {
        let plain = signature(false, false);
        assert_eq!(
            misfit(&plain, object!({"a": 1, "c": 1})),
            "f() missing 1 required positional argument: 'b'"
        );
        assert_eq!(
            misfit(&plain, object!({"c": 1})),
            "f() missing 2 required positional arguments: 'a' and 'b'"
        );
        assert_eq!(
            misfit(&plain, object!({"d": 1})),
            "f() missing 3 required positional arguments: 'a', 'b', and 'c'"
        );
        // Unknown arguments are reported first.
        assert_eq!(
            misfit(&plain, object!({"a": 1, "y": 1, "z": 1})),
            "f() got an unexpected keyword argument 'y'"
        );
    }

    #[test]
    fn injected_names() {
        let all = |extra: &'static str| {
            let mut arguments = object!({"a": 1, "b": 1, "c": 1});
            arguments.insert(extra, 1);
            arguments
        };
        let plain = signature(false, false);
        let injected = signature(true, true);
        for name in ["state", "tool_call_id"] {
            assert_eq!(
                misfit(&plain, all(name)),
                format!("f() got an unexpected keyword argument '{name}'")
            );
        }
        assert_eq!(
            misfit(&injected, all("state")),
            "f() got multiple values for keyword argument 'state'"
        );
        assert_eq!(injected.check(&all("tool_call_id")), Ok(()));
        assert_eq!(injected.check(&all("d")), Ok(()));
    }

    #[test]
    fn arguments_are_read() {
        let signature = signature(false, false);
        let arguments = object!({"a": 1, "b": "x", "c": [1, 2, "three"]});
        assert_eq!(signature.read::<i64>(&arguments, "a"), Ok(1));
        assert_eq!(signature.text(&arguments, "b"), Ok("x"));
        assert_eq!(signature.read_or(&arguments, "d", || 7_i64), Ok(7));
        assert_eq!(signature.read_or(&arguments, "a", || 7_i64), Ok(1));
        let error = signature.read::<Vec<i64>>(&arguments, "c").unwrap_err();
        assert_eq!(
            error,
            ToolError::arguments("f() argument 'c[2]' must be an integer, not \"three\"")
        );
        let error = argument::<Vec<i64>>(&arguments, "c").unwrap_err();
        assert_eq!(
            error.to_string(),
            "argument 'c[2]' must be an integer, not \"three\""
        );
        let missing = argument::<i64>(&arguments, "d").unwrap_err();
        assert_eq!(missing.to_string(), "argument 'd' is missing");
        assert_eq!(argument_or(&arguments, "d", 7_i64), Ok(7));
        assert_eq!(argument_or(&arguments, "a", 7_i64), Ok(1));
        let error = signature.text(&arguments, "a").unwrap_err();
        assert_eq!(
            error.to_string(),
            "f() argument 'a' must be a string, not 1"
        );
        assert!(signature.read::<Text>(&arguments, "d").is_err());
    }
}
