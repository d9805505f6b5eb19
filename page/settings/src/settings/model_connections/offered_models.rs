//! The models that a provider lists, from the request to the answer. Pure.
//!
//! Invariant: an answer counts only if it is the one to the last request, and that connection is still selected.

use volary_app::notice::Notice;
use volary_core::quantity::count_text;

use volary_connections::models::list::Names;

/// The list of the selected connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum ModelList {
    /// Not requested yet.
    #[default]
    NotYet,
    /// Requested; there is no response yet.
    Asking,
    /// The provider listed these models.
    Names(Names),
    Failed(Notice),
}

#[derive(Debug, Default)]
pub(super) struct OfferedModels {
    list: ModelList,
    /// The number of the last request, or of the last change of the connection.
    last: u32,
}

impl OfferedModels {
    pub fn list(&self) -> &ModelList {
        &self.list
    }

    /// Resets the list, because it belongs to another connection.
    pub fn forget(&mut self) {
        self.last = self.last.wrapping_add(1);
        self.list = ModelList::NotYet;
    }

    /// Starts a request. Returns its number.
    pub fn ask(&mut self) -> u32 {
        self.forget();
        self.list = ModelList::Asking;
        self.last
    }

    /// Takes the answer to a request.
    pub fn answered(&mut self, request: u32, names: Result<Names, Notice>) {
        if request != self.last {
            return;
        }
        self.list = match names {
            Ok(names) if names.shown.is_empty() => ModelList::Failed(Notice::new(
                "The list of models is empty.",
                "The server responded but listed no models.",
                "Install or load a model on the server, or type a name.",
            )),
            Ok(names) => ModelList::Names(names),
            Err(notice) => ModelList::Failed(notice),
        };
    }
}

/// The first option of the select of listed models.
pub(super) fn choice_words(names: &Names) -> String {
    let shown = count_text(names.shown.len());
    match names.more {
        0 => format!("Choose one of {shown}"),
        1 => format!("Choose one of the first {shown}, or type the other one"),
        more => format!(
            "Choose one of the first {shown}, or type one of the {} others",
            count_text(more)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize, more: usize) -> Names {
        Names {
            shown: (0..count).map(|name| name.to_string().into()).collect(),
            more,
        }
    }

    #[test]
    fn a_late_answer_of_another_connection_is_dropped() {
        let mut models = OfferedModels::default();
        let first = models.ask();
        models.forget();
        models.answered(first, Ok(names(1, 0)));
        assert_eq!(*models.list(), ModelList::NotYet);
        let second = models.ask();
        models.answered(first, Ok(names(1, 0)));
        assert_eq!(*models.list(), ModelList::Asking);
        models.answered(second, Ok(names(2, 0)));
        assert_eq!(*models.list(), ModelList::Names(names(2, 0)));
        let failed = Notice::new("Late.", "", "");
        models.answered(first, Err(failed));
        assert_eq!(*models.list(), ModelList::Names(names(2, 0)));
    }

    #[test]
    fn a_new_request_removes_the_failure_of_the_last_one() {
        let mut models = OfferedModels::default();
        let request = models.ask();
        let failed = Notice::new("The key is wrong.", "", "");
        models.answered(request, Err(failed.clone()));
        assert_eq!(*models.list(), ModelList::Failed(failed));
        models.ask();
        assert_eq!(*models.list(), ModelList::Asking);
    }

    #[test]
    fn a_server_without_models_is_explained() {
        let mut models = OfferedModels::default();
        let request = models.ask();
        models.answered(request, Ok(names(0, 0)));
        let ModelList::Failed(notice) = models.list() else {
            panic!("{models:?}");
        };
        assert_eq!(notice.what, "The list of models is empty.");
        assert!(notice.advice.starts_with("Install or load a model"));
    }

    #[test]
    fn models_that_are_not_listed_can_be_typed() {
        for (shown, more, words) in [
            (3, 0, "Choose one of 3"),
            (
                2_000,
                1,
                "Choose one of the first 2,000, or type the other one",
            ),
            (
                2_000,
                148_001,
                "Choose one of the first 2,000, or type one of the 148,001 others",
            ),
        ] {
            assert_eq!(choice_words(&names(shown, more)), words);
        }
    }
}
