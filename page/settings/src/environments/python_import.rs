//! Reading files that the user gives to the catalogue. Pure.

/// The maximum size of a Python file in bytes.
const LARGEST_FILE: f64 = 1_048_576.0;

/// The ending of the names of Python files.
const PYTHON: &str = ".py";

/// A path that only files of a checkout of tau-bench contain.
const CHECKOUT: &str = "tau_bench/envs/";

/// A Python file: the name for its environment, and its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedCode {
    pub name: String,
    pub code: String,
}

/// Checks a file before it is read, so that a large one is not loaded into memory. The error is a message for the user.
pub fn check_file(file: &str, size: f64) -> Result<(), String> {
    if file.ends_with(".whl") {
        return Err("Open the environment that needs the wheel, and drop it there.".to_owned());
    }
    if size > LARGEST_FILE {
        Err(format!("{file} is larger than 1 MB."))
    } else {
        Ok(())
    }
}

/// Reads a Python file. The error is a message for the user.
pub fn read_code(file: &str, bytes: Vec<u8>) -> Result<ImportedCode, String> {
    Ok(ImportedCode {
        name: file.strip_suffix(PYTHON).unwrap_or(file).to_owned(),
        code: utf8(file, bytes)?,
    })
}

/// Decodes a Python file. Python skips a byte order mark at the start of a file, but not at the start of a text.
pub fn utf8(file: &str, bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|_| format!("{file} is not UTF-8 text."))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

/// Whether files are a checkout of tau-bench, or include a zip file that may contain one.
pub fn may_be_checkout<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| is_of_checkout(name) || is_zip(name))
}

/// Selects the files that can be a checkout: those of its folder, or else a zip file. A repository has many other
/// files. The error is a message for the user.
pub fn checkout_files<F>(
    mut files: Vec<F>,
    name: impl Fn(&F) -> &str,
) -> Result<Vec<F>, &'static str> {
    if files.len() < 2 {
        return Ok(files);
    }
    let is_folder = files.iter().any(|file| is_of_checkout(name(file)));
    if is_folder {
        files.retain(|file| is_of_checkout(name(file)))
    } else {
        files.retain(|file| is_zip(name(file)))
    }
    match (is_folder, files.len()) {
        (true, _) | (false, 1) => Ok(files),
        (false, 0) => Err("It does not contain tau-bench: no file is in a folder tau_bench/envs."),
        (false, _) => Err("Add one zip file at a time."),
    }
}

fn is_of_checkout(name: &str) -> bool {
    name.contains(CHECKOUT)
}

fn is_zip(name: &str) -> bool {
    name.ends_with(".zip")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(file: &str, bytes: &[u8]) -> Result<(String, String), String> {
        read_code(file, bytes.to_vec()).map(|imported| (imported.name, imported.code))
    }

    #[test]
    fn a_file_is_named_without_its_ending() {
        let read = |name: &str, file| {
            assert_eq!(
                imported(file, b"x = 1"),
                Ok((name.to_owned(), "x = 1".to_owned()))
            )
        };
        read("story", "story.py");
        read("story", "story");
        // Only the last ending is removed.
        read("story.py", "story.py.py");
        read("notes.txt", "notes.txt");
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_code() {
        let with_mark = "\u{feff}x = '\u{feff}'";
        let (_, code) = imported("a.py", with_mark.as_bytes()).expect("it is text");
        assert_eq!(code, "x = '\u{feff}'");
    }

    #[test]
    fn what_is_no_python_file_is_refused_with_its_reason() {
        let reason = imported("a.py", b"\xff\xfe").expect_err("it is no text");
        assert_eq!(reason, "a.py is not UTF-8 text.");
        let reason = check_file("a.whl", 3.0).expect_err("it is a wheel");
        assert!(reason.contains("drop it there"));
        let reason = check_file("a.py", LARGEST_FILE + 1.0);
        assert_eq!(reason, Err("a.py is larger than 1 MB.".to_owned()));
        assert_eq!(check_file("a.py", LARGEST_FILE), Ok(()));
    }

    fn selected(names: &[&'static str]) -> Result<Vec<&'static str>, &'static str> {
        checkout_files(names.to_vec(), |name| name)
    }

    #[test]
    fn of_a_repository_only_the_environments_are_read() {
        let retail = "tau-bench/tau_bench/envs/retail/tasks.py";
        assert_eq!(
            selected(&["README.md", retail, "data.zip"]),
            Ok(vec![retail])
        );
        let reason = selected(&["README.md", "run.py"]).expect_err("no checkout");
        assert!(reason.contains("tau_bench/envs"));
    }

    #[test]
    fn a_zip_file_is_found_among_other_files() {
        assert_eq!(selected(&["main.zip"]), Ok(vec!["main.zip"]));
        assert_eq!(selected(&["README.md", "main.zip"]), Ok(vec!["main.zip"]));
        let reason = selected(&["a.zip", "b.zip"]).expect_err("which one is unclear");
        assert!(reason.contains("one zip file"));
        assert_eq!(selected(&[]), Ok(vec![]));
    }

    #[test]
    fn a_checkout_is_told_from_python_files() {
        for (names, expected) in [
            (&["story.py"][..], false),
            (&["story.py", "main.zip"], true),
            (&["x/tau_bench/envs/airline/wiki.md"], true),
            (&["tau_bench/agents/base.py"], false),
            (&[], false),
        ] {
            assert_eq!(
                may_be_checkout(names.iter().copied()),
                expected,
                "{names:?}"
            );
        }
    }
}
