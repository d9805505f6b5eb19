//! A tool of a domain: its name, its description for a model, and its effect on the data.

use volary_core::json::text_repr;
use volary_core::{Json, Object};

use super::python::{Computed, Exception, equal};
use super::state::State;

/// The effect of a call: returns its text, or `None` where the original returns no text, which ends the
/// episode with an error.
pub type Run = fn(&mut State, &Arguments<'_>) -> Computed<Option<String>>;

#[derive(Clone, Copy)]
pub struct TauTool {
    pub name: &'static str,
    /// The description for a model.
    pub description: &'static str,
    /// Its parameters, all required.
    pub parameters: &'static [Parameter],
    /// The effect of a call.
    pub run: Run,
    /// Whether a call ends the episode.
    pub terminates: bool,
}

#[derive(Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    /// Its type.
    pub kind: ParameterKind,
    /// The description for a model.
    pub description: &'static str,
}

/// The type of a parameter in the definition for a model; the arguments of calls are not checked against it.
#[derive(Clone, Copy)]
pub enum ParameterKind {
    Text,
    /// One of several texts.
    OneOf(&'static [&'static str]),
    Integer,
    Number,
    /// A list of texts.
    Texts,
    /// A list of objects with these members.
    Objects(&'static [(&'static str, &'static str)]),
}

/// The arguments of a call, whose names match the parameters.
pub struct Arguments<'a>(&'a Object);

impl TauTool {
    /// The name of the Python class of the tool.
    pub fn class(&self) -> String {
        self.name
            .split('_')
            .flat_map(|word| {
                let mut characters = word.chars();
                let first = characters.next().map(|first| first.to_ascii_uppercase());
                first.into_iter().chain(characters)
            })
            .collect()
    }

    /// Checks the names of the arguments like a call of a Python function: first one named `data`,
    /// then the first unexpected one, then the missing ones.
    pub fn bind<'a>(&self, domain: &str, arguments: &'a Object) -> Computed<Arguments<'a>> {
        let class = self.class();
        if arguments.contains_key("data") {
            let name = self.name;
            return Err(Exception(format!(
                "tau_bench.envs.{domain}.tools.{name}.{class}.invoke() got multiple values for \
                 keyword argument 'data'"
            )));
        }
        let is_known = |key: &str| self.parameters.iter().any(|known| known.name == key);
        if let Some(key) = arguments.keys().find(|key| !is_known(key)) {
            return Err(Exception(format!(
                "{class}.invoke() got an unexpected keyword argument '{key}'"
            )));
        }
        let names = self.parameters.iter().map(|parameter| parameter.name);
        let missing: Vec<String> = names
            .filter(|name| !arguments.contains_key(name))
            .map(text_repr)
            .collect();
        let listed = match &*missing {
            [] => return Ok(Arguments(arguments)),
            [one] => format!(": {one}"),
            [one, two] => format!("s: {one} and {two}"),
            [more @ .., last] => format!("s: {}, and {last}", more.join(", ")),
        };
        let count = missing.len();
        Err(Exception(format!(
            "{class}.invoke() missing {count} required positional argument{listed}"
        )))
    }
}

impl<'a> Arguments<'a> {
    /// The argument with this name. Those of the tool's own parameters always exist.
    pub fn get(&self, name: &str) -> Computed<&'a Json> {
        let missing = || Exception(text_repr(name));
        self.0.get(name).ok_or_else(missing)
    }

    /// Whether the argument equals one of these texts.
    pub fn is_any(&self, name: &str, texts: &[&str]) -> Computed<bool> {
        let argument = self.get(name)?;
        Ok(texts.iter().any(|text| equal(argument, &Json::from(*text))))
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    const TOOL: TauTool = TauTool {
        name: "find_it_2",
        description: "",
        parameters: &[parameter("a"), parameter("b"), parameter("c")],
        run: |_, _| Ok(None),
        terminates: false,
    };

    const fn parameter(name: &'static str) -> Parameter {
        Parameter {
            name,
            kind: ParameterKind::Text,
            description: "",
        }
    }

    #[test]
    fn arguments_that_do_not_fit() {
        let error = |arguments: Object| TOOL.bind("d", &arguments).err().map(|error| error.0);
        assert_eq!(error(object!({"c": 1, "a": 1, "b": 1})), None);
        for (arguments, text) in [
            (
                object!({"x": 1, "data": 1}),
                "tau_bench.envs.d.tools.find_it_2.FindIt2.invoke() got multiple values for keyword argument 'data'",
            ),
            (
                object!({"a": 1, "y": 1, "x": 1}),
                "FindIt2.invoke() got an unexpected keyword argument 'y'",
            ),
            (
                object!({"a": 1, "b": 1}),
                "FindIt2.invoke() missing 1 required positional argument: 'c'",
            ),
            (
                object!({"b": 1}),
                "FindIt2.invoke() missing 2 required positional arguments: 'a' and 'c'",
            ),
            (
                object!({}),
                "FindIt2.invoke() missing 3 required positional arguments: 'a', 'b', and 'c'",
            ),
        ] {
            assert_eq!(error(arguments).as_deref(), Some(text));
        }
    }
}
