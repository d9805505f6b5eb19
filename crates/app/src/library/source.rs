//! The files of the last import, so that one of them can be read again once its members are mapped.

/// The name of a file at an address.
pub fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

/// The files of an import that are read again for the file `wanted`: those with this name. If none has it, the file is
/// a member of an archive or of a folder among them, so that all are read.
pub fn files_with<F: Clone>(files: &[F], wanted: &str, name: impl Fn(&F) -> &str) -> Vec<F> {
    let named = files.iter().filter(|file| name(file) == wanted);
    let named: Vec<F> = named.cloned().collect();
    if named.is_empty() {
        files.to_vec()
    } else {
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path() {
        for (url, name) in [
            ("https://a.example/runs/a.jsonl", "a.jsonl"),
            ("https://a.example/a.jsonl?download=1/2", "a.jsonl"),
            ("https://a.example/a.jsonl#L1", "a.jsonl"),
            ("https://a.example/runs/", ""),
        ] {
            assert_eq!(file_name(url), name);
        }
    }

    #[test]
    fn only_the_mapped_file_is_read_again() {
        let files = ["a.jsonl", "b.jsonl", "a.jsonl"];
        let again = |wanted| files_with(&files, wanted, |file| file);
        assert_eq!(again("b.jsonl"), ["b.jsonl"]);
        assert_eq!(again("a.jsonl"), ["a.jsonl", "a.jsonl"]);
        assert_eq!(again("archive.zip/c.jsonl"), files);
    }
}
