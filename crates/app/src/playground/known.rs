//! The environments that the page can open, and how far it trusts each.

use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_remote::task;

use super::consent::Reach;
use crate::python::files::PythonSource;

/// The environments that the page can open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownEnvironments {
    /// The names of the built-in environments.
    pub built_in: Vec<&'static str>,
    /// The environments of servers and of Python files, by name.
    pub others: Vec<(Text, Reach)>,
    /// The Python code that the user knows: it ran from a file of theirs, or they agreed to it.
    pub code: Vec<PythonSource>,
}

impl KnownEnvironments {
    /// Whether an environment can be opened. On a server the user must agree first.
    pub fn knows(&self, name: &str) -> bool {
        self.built_in.contains(&name) || self.others.iter().any(|(other, _)| **other == *name)
    }

    /// How far the page trusts the environment of a recipe. That of a Python file is trusted if the user knows its code;
    /// the code itself is compared, not its name.
    pub fn reach_of_recipe(&self, recipe: &Recipe) -> Reach {
        if task::python_file(&recipe.environment).is_none() {
            return self.reach(&recipe.environment);
        }
        match PythonSource::of_recipe(recipe) {
            Ok(source) if self.code.contains(&source) => Reach::Local,
            _ => Reach::Connected,
        }
    }

    /// How far the page trusts an environment, whether it knows it or not.
    pub fn reach(&self, name: &str) -> Reach {
        if self.built_in.contains(&name) {
            return Reach::Local;
        }
        if let Some((_, reach)) = self.others.iter().find(|(other, _)| **other == *name) {
            return *reach;
        }
        if task::python_file(name).is_some() {
            Reach::Connected
        } else if task::is_server(name) {
            Reach::NotConnected
        } else {
            Reach::Unknown
        }
    }
}

/// Whether an episode was played on a server.
pub fn is_remote(episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    recipe.is_some_and(|recipe| is_server_name(&recipe.environment))
}

/// Whether an environment is on a server. Names of environments were validated as addresses before, which this code
/// need not repeat: no other name looks like an address.
pub fn is_server_name(name: &str) -> bool {
    name.contains("://") && task::python_file(name).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_environment_is_told_apart_by_its_name() {
        let python = task::python_name(&"a".repeat(64));
        let known = KnownEnvironments {
            built_in: vec!["counter"],
            others: vec![
                ("https://a.example".into(), Reach::Connected),
                ("python file".into(), Reach::Local),
            ],
            code: Vec::new(),
        };
        for (name, is_known, reach) in [
            ("counter", true, Reach::Local),
            ("https://a.example", true, Reach::Connected),
            ("python file", true, Reach::Local),
            (&python, false, Reach::Connected),
            ("https://b.example", false, Reach::NotConnected),
            ("nothing", false, Reach::Unknown),
        ] {
            assert_eq!(known.knows(name), is_known, "{name}");
            assert_eq!(known.reach(name), reach, "{name}");
        }
        assert!(is_server_name("https://b.example"));
        assert!(!is_server_name(&python));
        assert!(!is_server_name("counter"));
    }
}
