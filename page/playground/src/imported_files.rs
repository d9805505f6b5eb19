//! What files that the user gives to the playground are, and what the page says about them. Pure.

use volary_app::notice::Notice;
use volary_app::playground::tasks;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_protocol::library::NamedFile;

/// Checks the size of a file before it is read.
pub fn check_size(name: &str, size: f64, largest: f64) -> Result<(), Notice> {
    if size > largest {
        Err(Notice::new(
            format!("{name} is too large."),
            format!("Its size is {}.", size_text(size as u64)),
            "Choose a file smaller than 512 MB.",
        ))
    } else {
        Ok(())
    }
}

/// The text of a single file of tasks; `None` if the files are something else, such as an episode.
pub fn tasks_of(files: &[NamedFile]) -> Option<(String, Text)> {
    let [file] = files else { return None };
    let text = std::str::from_utf8(&file.bytes).ok()?;
    // Some editors write a byte order mark, which is no JSON.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    tasks::holds_tasks(text).then(|| (file.name.clone(), text.into()))
}

/// What can be done with an imported episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedKind {
    /// Its environment is on a server.
    OnServer,
    /// Its environment is known here.
    Known,
    Unknown,
}

/// The message after an import: the notes of the reader, and what can be done with the episode.
pub fn imported_text(notes: &[Text], kind: ImportedKind) -> String {
    let text = match kind {
        ImportedKind::OnServer => {
            "This is a recording from a server. The page asks before it repeats the actions there."
        }
        ImportedKind::Known => {
            "This is a recording. Step, Run and \"Continue from here\" first replay it in its \
             environment."
        }
        ImportedKind::Unknown => {
            "This is a recording. It can be viewed but not continued, because its environment is \
             unknown here."
        }
    };
    let notes = notes.iter().map(|note| &**note);
    notes.chain([text]).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &str = "\n{\"question\": \"1 + 1?\", \"answer\": \"#### 2\"}\n";

    fn file(name: &str, text: &str) -> NamedFile {
        NamedFile {
            name: name.to_owned(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_file_of_questions_and_answers_is_a_list_of_tasks() {
        let tasks = tasks_of(&[file("test.jsonl", TASKS)]);
        assert_eq!(tasks, Some(("test.jsonl".to_owned(), TASKS.into())));
        let marked = tasks_of(&[file("test.jsonl", &format!("\u{feff}{TASKS}"))]);
        assert_eq!(marked, tasks);
    }

    #[test]
    fn other_files_go_to_the_reader_of_episodes() {
        let no_text = NamedFile {
            name: "a.zip".to_owned(),
            bytes: b"PK\xff\xfe".to_vec(),
        };
        for files in [
            vec![],
            vec![no_text],
            vec![file("a.json", "{\"question\": 1}")],
            vec![file("a.json", "")],
            vec![file("a.jsonl", TASKS), file("b.jsonl", TASKS)],
        ] {
            assert_eq!(tasks_of(&files), None, "{} files", files.len());
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_with_its_size() {
        assert_eq!(check_size("a.json", 5e6, 5e6), Ok(()));
        let notice = check_size("a.json", 6e6, 5e6).expect_err("it is too large");
        assert_eq!(notice.what, "a.json is too large.");
        assert!(notice.why.contains("MB"), "{}", notice.why);
    }

    #[test]
    fn the_notes_of_the_reader_come_first() {
        let text = imported_text(&["One step had no action.".into()], ImportedKind::Known);
        assert!(
            text.starts_with("One step had no action. This is a recording."),
            "{text}"
        );
        assert!(imported_text(&[], ImportedKind::OnServer).contains("asks before it repeats"));
        assert!(imported_text(&[], ImportedKind::Unknown).contains("not continued"));
    }
}
