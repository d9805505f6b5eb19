//! The description of a server at `/openapi.json`. The original's framework serves it by default.

use volary_core::json::Json;

/// The paths of the protocol.
pub const PROTOCOL: [&str; 6] = [
    "/start",
    "/reset",
    "/step",
    "/close",
    "/close_old_envs",
    "/info",
];

/// The described paths of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    paths: Vec<String>,
}

impl Description {
    /// Reads a description; `None` if the value is not one.
    pub fn read(body: &Json) -> Option<Description> {
        let paths = body.get("paths")?.as_object()?;
        Some(Description {
            paths: paths.iter().map(|(path, _)| path.to_string()).collect(),
        })
    }

    /// Whether the path exists.
    pub fn has(&self, path: &str) -> bool {
        self.paths.iter().any(|known| known == path)
    }

    /// Whether it describes a TaskDatasetServer of any version.
    pub fn is_of_a_server(&self) -> bool {
        ["/start", "/reset", "/step"]
            .iter()
            .all(|path| self.has(path))
    }

    /// The paths of the protocol that are missing.
    pub fn lacks(&self) -> Vec<&'static str> {
        let lacking = PROTOCOL.into_iter().filter(|path| !self.has(path));
        lacking.collect()
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn descriptions_tell_servers_apart() {
        let body = json!({"paths": {"/start": {}, "/reset": {}, "/step": {}, "/close": {}}});
        let old = Description::read(&body);
        assert!(old.as_ref().is_some_and(Description::is_of_a_server));
        assert_eq!(
            old.map(|old| old.lacks()),
            Some(vec!["/close_old_envs", "/info"])
        );
        let other = Description::read(&json!({"paths": {"/pets": {}}}));
        assert!(other.is_some_and(|other| !other.is_of_a_server()));
        for none in [json!([]), json!({}), json!({"paths": 5}), json!(null)] {
            assert_eq!(Description::read(&none), None);
        }
    }
}
