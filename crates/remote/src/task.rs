//! The recipe of a task on a server: the server's address is used as the name of the environment, and the body of
//! `/start` as the configuration. So an episode records its origin, and code that reads recipes does
//! not depend on servers.

use volary_connectivity::Address;
use volary_core::json;
use volary_core::json::Json;

/// The key of the index of a task.
pub const TASK_INDEX: &str = "task_idx";
/// The key of the arguments of a task.
pub const TASK_ARGUMENTS: &str = "task_kwargs";

/// The key of the code of a Python file, in the configuration of a recipe.
pub const PYTHON_CODE: &str = "code";
/// The key of the wheels that a Python file needs, in the configuration of a recipe.
pub const PYTHON_WHEELS: &str = "wheels";
/// The prefix of the name of a Python file, followed by the hash of its code.
const PYTHON: &str = "python://";
/// The number of digits of a hash in such a name.
const HASH_DIGITS: usize = 64;
/// The number of digits in the names of older episodes. Different code can be made for such a name on purpose, so it
/// only says that the episode was played in Python, and never which code the user knows.
const SHORT_HASH_DIGITS: usize = 16;

/// Whether an environment is played through the protocol of servers: its name is the address of a server, or that of a
/// Python file.
pub fn is_server(environment: &str) -> bool {
    Address::of(environment).is_some() || python_file(environment).is_some()
}

/// The hash of the Python file in an environment's name; its first digits in the name of an older episode.
pub fn python_file(environment: &str) -> Option<&str> {
    let hash = environment.strip_prefix(PYTHON)?;
    let is_hash = matches!(hash.len(), HASH_DIGITS | SHORT_HASH_DIGITS)
        && hash
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some(hash)
}

/// The name of the environment in a Python file, from the SHA-256 of its code in hexadecimal digits.
pub fn python_name(digest: &str) -> String {
    format!("{PYTHON}{digest}")
}

/// Whether an environment's name, which may be that of an older episode, is one of the Python file with this SHA-256.
pub fn is_name_of_python(environment: &str, digest: &str) -> bool {
    python_file(environment).is_some_and(|hash| digest.starts_with(hash))
}

/// The name of an environment for people: that of a Python file with the first digits of its hash.
pub fn shown_name(environment: &str) -> &str {
    match python_file(environment) {
        Some(_) => environment
            .get(..PYTHON.len() + SHORT_HASH_DIGITS)
            .unwrap_or(environment),
        None => environment,
    }
}

/// A server's address without surrounding spaces and trailing slashes.
pub fn tidied(url: &str) -> &str {
    url.trim().trim_end_matches('/')
}

/// The JSON Schema of a task on a server: by index, or by arguments.
pub fn configuration(dataset_size: Option<u64>) -> Json {
    let last = dataset_size.and_then(|size| i64::try_from(size).ok()?.checked_sub(1));
    let which = match last {
        Some(last) => format!("Which task, from 0 to {last}; negative numbers count from the end."),
        None => "Which task, where the dataset has numbered ones.".to_owned(),
    };
    json!({
        "type": "object",
        "properties": {
            TASK_INDEX: {
                "anyOf": [{"type": "integer"}, {"type": "null"}],
                "description": which,
                "default": null
            },
            TASK_ARGUMENTS: {
                "anyOf": [{"type": "object", "additionalProperties": true}, {"type": "null"}],
                "description": "Or arguments from which the dataset makes a task, as a JSON object.",
                "default": null
            }
        },
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Start;

    #[test]
    fn servers_are_distinguished_from_environments() {
        for server in ["http://127.0.0.1:8041", "https://env.example/class"] {
            assert!(is_server(server), "{server}");
        }
        let digest = "0123456789abcdef".repeat(4);
        let python = python_name(&digest);
        assert!(is_server(&python));
        assert_eq!(python_file(&python), Some(&*digest));
        let short = "python://0123456789abcdef";
        assert!(is_server(short));
        assert_eq!(python_file(short), Some("0123456789abcdef"));
        for environment in [
            "counter",
            "",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "python://0123456789abcde",
            "python://0123456789abcdef0",
            "python://0123456789ABCDEF",
            "python://0123456789abcdef/x",
            "python://",
        ] {
            assert!(!is_server(environment), "{environment}");
        }
        assert_eq!(tidied(" http://a:1// "), "http://a:1");
    }

    #[test]
    fn a_python_file_is_named_by_its_whole_hash_and_recognised_by_its_old_name() {
        let digest = "0123456789abcdef".repeat(4);
        let other = format!("0123456789abcdef{}", "0".repeat(48));
        assert_ne!(python_name(&digest), python_name(&other));
        assert!(is_name_of_python(&python_name(&digest), &digest));
        assert!(!is_name_of_python(&python_name(&other), &digest));
        for digest in [&digest, &other] {
            assert!(is_name_of_python("python://0123456789abcdef", digest));
        }
        for name in ["python://", "python://0123", "counter"] {
            assert!(!is_name_of_python(name, &digest), "{name}");
        }
        let short = "python://0123456789abcdef";
        assert_eq!(shown_name(&python_name(&digest)), short);
        for name in [short, "counter", "https://env.example/class"] {
            assert_eq!(shown_name(name), name);
        }
    }

    #[test]
    fn a_configuration_is_the_body_of_a_start() {
        assert!(configuration(Some(3)).get("properties").is_some());
        let body = json!({TASK_INDEX: 2, TASK_ARGUMENTS: null});
        assert_eq!(Start::read(Some(&body)), Ok(Start::Index(2)));
    }
}
