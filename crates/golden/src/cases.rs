//! Reads case files: `{"op": name, "cases": [{"name", "input", "expected"}]}`.

use std::path::{Path, PathBuf};

use volary_core::fields::{self, FieldError};
use volary_core::{Json, Object, Text};

/// The cases of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseFile {
    /// The operation.
    pub op: Text,
    /// Its cases, at least one.
    pub cases: Vec<Case>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub name: Text,
    /// The input of the operation.
    pub input: Json,
    /// The expected result.
    pub expected: Expected,
}

/// The expected result.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// A value that must match.
    Ok(Json),
    /// A text with this prefix.
    OkPrefix(Text),
    /// An error whose text contains this.
    Error(Option<Text>),
}

/// Why cases could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A file or directory can't be read.
    #[error("{}: can't be read: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
    /// The directory contains no case files.
    #[error("{}: no case files (*.json) here", path.display())]
    NoFiles {
        /// The directory.
        path: PathBuf,
    },
    /// A file is not a valid case file.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        reason: String,
    },
    /// The operation is unknown.
    #[error("{}: the operation {op} is unknown", path.display())]
    UnknownOp {
        /// The file.
        path: PathBuf,
        /// The operation.
        op: Text,
    },
}

/// The case files of a directory, sorted by name; at least one.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>, HarnessError> {
    let unreadable = |error| HarnessError::Unreadable {
        path: directory.to_owned(),
        error,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(HarnessError::NoFiles {
            path: directory.to_owned(),
        });
    }
    paths.sort();
    Ok(paths)
}

/// Reads a case file.
pub fn read_file(path: &Path) -> Result<CaseFile, HarnessError> {
    let text = std::fs::read_to_string(path).map_err(|error| HarnessError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    let malformed = |reason: String| HarnessError::Malformed {
        path: path.to_owned(),
        reason,
    };
    let value = Json::parse(&text).map_err(|error| malformed(error.to_string()))?;
    case_file(&value).map_err(|error| malformed(error.to_string()))
}

fn case_file(value: &Json) -> Result<CaseFile, FieldError> {
    let object = fields::object("", value)?;
    let op = fields::text("op", fields::required(object, "op")?)?;
    let list = fields::list("cases", fields::required(object, "cases")?)?;
    if list.is_empty() {
        return Err(FieldError::new("cases", "there are none"));
    }
    let cases = list
        .iter()
        .enumerate()
        .map(|(index, value)| case(value).map_err(|error| error.within(&format!("cases[{index}]"))))
        .collect::<Result<_, _>>()?;
    Ok(CaseFile { op, cases })
}

fn case(value: &Json) -> Result<Case, FieldError> {
    let object = fields::object("", value)?;
    let expected = fields::object("expected", fields::required(object, "expected")?)?;
    Ok(Case {
        name: fields::text("name", fields::required(object, "name")?)?,
        input: fields::required(object, "input")?.clone(),
        expected: self::expected(expected).map_err(|error| error.within("expected"))?,
    })
}

fn expected(object: &Object) -> Result<Expected, FieldError> {
    let mut members = object.iter();
    let (Some((key, value)), None) = (members.next(), members.next()) else {
        return Err(FieldError::new("", "exactly one key is needed"));
    };
    match &**key {
        "ok" => Ok(Expected::Ok(value.clone())),
        "ok_prefix" => Ok(Expected::OkPrefix(fields::text(key, value)?)),
        "error" => contained(value)
            .map(Expected::Error)
            .ok_or_else(|| FieldError::new("error", "only {\"contains\": text or null} is known")),
        unknown => Err(FieldError::new(unknown, "is no form of expectation")),
    }
}

/// The text that an error must contain; `Some(None)` for any error.
pub(crate) fn contained(value: &Json) -> Option<Option<Text>> {
    let object = value.as_object()?;
    match (object.len(), object.get("contains")?) {
        (1, Json::Text(text)) => Some(Some(text.clone())),
        (1, Json::Null) => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::json;

    fn read(expected: Json) -> Result<CaseFile, FieldError> {
        case_file(&json!({"op": "x", "cases": [{"name": "n", "input": 1, "expected": expected}]}))
    }

    #[test]
    fn expectations() {
        assert!(read(json!({"ok": null})).is_ok());
        assert!(read(json!({"ok_prefix": "a"})).is_ok());
        assert!(read(json!({"error": {"contains": null}})).is_ok());
        for bad in [
            json!({}),
            json!({"ok": 1, "error": {"contains": null}}),
            json!({"okay": 1}),
            json!({"ok_prefix": 1}),
            json!({"error": {}}),
            json!({"error": {"contains": 1}}),
            json!({"error": {"contains": "a", "starts": "b"}}),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_file_needs_cases() {
        assert!(case_file(&json!({"op": "x", "cases": []})).is_err());
        assert!(case_file(&json!({"op": "x"})).is_err());
    }
}
