//! The result of running the code in the editor. Pure.
//!
//! Invariant: a result is shown only for the code that it is of. It is dropped if the code was changed or run again
//! meanwhile.

use volary_core::quantity::plural;

use volary_app::python::files::Description;
use volary_connections::python::runtime::LoadError;

/// The result of running the code.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CodeResult {
    /// The code was not run since it changed.
    #[default]
    None,
    Running,
    /// The code ran and defines this environment.
    Loaded(Description),
    /// The code failed to run.
    Failed(LoadError),
}

/// The runs of the code, of which the last one counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeCheck {
    last: u32,
    result: CodeResult,
    is_changed: bool,
}

impl CodeCheck {
    pub fn result(&self) -> &CodeResult {
        &self.result
    }

    /// Whether the code differs from the last stored version.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Notes that the code was changed.
    pub fn changed(&mut self) {
        self.is_changed = true;
        self.result = CodeResult::None;
    }

    /// Notes that the code is that of the last stored version.
    pub fn stored(&mut self) {
        self.is_changed = false;
    }

    /// Starts a run of the stored code, and returns its number.
    pub fn begin(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.is_changed = false;
        self.result = CodeResult::Running;
        self.last
    }

    /// Takes the result of a run. Returns whether it is shown.
    pub fn end(&mut self, number: u32, result: CodeResult) -> bool {
        let counts = number == self.last && self.result == CodeResult::Running;
        if counts {
            self.result = result;
        }
        counts
    }
}

/// Says what the code defines.
pub fn ready_text(description: &Description) -> String {
    let size = description.size.map(|size| {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        format!(" with {}", plural(size, "task"))
    });
    format!(
        "{}{} is ready to be played.",
        description.class(),
        size.unwrap_or_default()
    )
}

/// The title of an error: its class and its line, as far as they are known.
pub fn error_title(error: &LoadError) -> String {
    let what = match &*error.kind {
        "" => "Python could not run the file",
        kind => kind,
    };
    match error.line {
        Some(line) => format!("{what} in line {line}"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn loaded(number: u64) -> CodeResult {
        CodeResult::Loaded(Description {
            size: Some(number),
            ..Description::default()
        })
    }

    #[test]
    fn a_result_is_shown_until_the_code_changes() {
        let mut check = CodeCheck::default();
        let run = check.begin();
        assert_eq!(*check.result(), CodeResult::Running);
        assert!(check.end(run, loaded(1)));
        assert_eq!(*check.result(), loaded(1));
        check.changed();
        assert_eq!(*check.result(), CodeResult::None);
    }

    #[test]
    fn a_result_of_code_that_was_changed_meanwhile_is_not_shown() {
        let mut check = CodeCheck::default();
        let run = check.begin();
        check.changed();
        assert!(!check.end(run, loaded(1)));
        assert_eq!(*check.result(), CodeResult::None);
        assert!(check.is_changed());
    }

    #[test]
    fn of_two_runs_the_last_one_counts() {
        let mut check = CodeCheck::default();
        let first = check.begin();
        check.changed();
        let second = check.begin();
        assert!(!check.end(first, CodeResult::Failed(LoadError::default())));
        assert_eq!(*check.result(), CodeResult::Running);
        assert!(check.end(second, loaded(2)));
        // Each run ends once.
        assert!(!check.end(second, loaded(3)));
        assert_eq!(*check.result(), loaded(2));
    }

    #[test]
    fn saving_is_needed_until_the_code_is_stored() {
        let mut check = CodeCheck::default();
        assert!(!check.is_changed());
        check.changed();
        assert!(check.is_changed());
        check.begin();
        assert!(!check.is_changed());
        check.changed();
        check.stored();
        assert!(!check.is_changed());
    }

    #[derive(Clone, Debug)]
    enum Happening {
        Begin,
        Change,
        End(usize),
    }

    fn happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            Just(Happening::Begin),
            Just(Happening::Change),
            (0..8usize).prop_map(Happening::End),
        ]
    }

    proptest! {
        /// Whatever the order of runs, changes and results: a shown result is that of the code in the editor.
        #[test]
        fn a_shown_result_is_that_of_the_code(happenings in prop::collection::vec(happening(), 0..40)) {
            let mut check = CodeCheck::default();
            let mut version = 0;
            let mut runs: Vec<(u32, u64)> = Vec::new();
            for happening in happenings {
                match happening {
                    Happening::Begin => runs.push((check.begin(), version)),
                    Happening::Change => {
                        version += 1;
                        check.changed();
                    }
                    Happening::End(at) => {
                        if let Some((number, of)) = runs.get(at) {
                            check.end(*number, loaded(*of));
                        }
                    }
                }
                if let CodeResult::Loaded(description) = check.result() {
                    prop_assert_eq!(description.size, Some(version));
                }
            }
        }
    }

    #[test]
    fn the_class_and_its_tasks_are_named() {
        let text = |class: &str, size| {
            ready_text(&Description {
                environment: Some(class.to_owned()),
                size,
                ..Description::default()
            })
        };
        assert_eq!(text("Story", None), "Story is ready to be played.");
        assert_eq!(
            text("Story", Some(1)),
            "Story with 1 task is ready to be played."
        );
        assert_eq!(
            text("Story", Some(6)),
            "Story with 6 tasks is ready to be played."
        );
    }

    #[test]
    fn an_error_is_named_as_far_as_it_is_known() {
        let title = |kind: &str, line| {
            error_title(&LoadError {
                kind: kind.into(),
                line,
                ..LoadError::default()
            })
        };
        assert_eq!(title("SyntaxError", Some(3)), "SyntaxError in line 3");
        assert_eq!(title("MemoryError", None), "MemoryError");
        assert_eq!(title("", None), "Python could not run the file");
        assert_eq!(
            title("", Some(2)),
            "Python could not run the file in line 2"
        );
    }
}
