//! A file of Python code that an address names: whether it is fetched, and whether it is still wanted once it arrives.
//!
//! Invariants:
//! - A file of another origin is fetched only after [`Event::Agree`].
//! - Only the file of the last address is shown. One that arrives after another file, or anything else, was opened is
//!   dropped, and so is its error.

use volary_connectivity::linked_file::{Elsewhere, LinkedFile};

/// The environment name in an address that points to Python code at another URL.
pub const ENVIRONMENT: &str = "python";

/// Identifies a fetch. Ids count up.
pub type FetchId = u32;

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An address names this file.
    Follow(LinkedFile),
    /// The user agrees to fetch the file of another origin.
    Agree,
    /// The user declines.
    Decline,
    /// Something else is opened.
    Leave,
    /// A fetch is over.
    Fetched { id: FetchId, result: Fetched },
}

/// The result of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The server responded.
    Response { status: u16, body: String },
    /// There was no response; the reason is for the user.
    Failed(String),
}

/// An output, to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Fetch the file and send [`Event::Fetched`].
    Fetch { id: FetchId, url: String },
    /// Show something behind the question of [`LinkedCode::asked`].
    ShowBackground,
    /// Show the code, and ask whether to run it.
    Plan { code: String },
    /// Report why the file is not shown.
    Refuse { reason: String },
}

/// The state of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedCode {
    stage: Stage,
    last: FetchId,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Nothing,
    /// The user is asked whether to fetch it.
    Asking(Elsewhere),
    Fetching(FetchId),
}

impl LinkedCode {
    /// The file that the user is asked about.
    pub fn asked(&self) -> Option<&Elsewhere> {
        match &self.stage {
            Stage::Asking(file) => Some(file),
            Stage::Nothing | Stage::Fetching(_) => None,
        }
    }

    /// Whether a file is asked for or fetched, so that the address still names what is about to be shown.
    pub fn is_pending(&self) -> bool {
        self.stage != Stage::Nothing
    }

    /// Applies an event and returns the effects in order.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Follow(LinkedFile::SameOrigin { url }) => vec![self.fetch(url)],
            Event::Follow(LinkedFile::Elsewhere(file)) => {
                self.stage = Stage::Asking(file);
                vec![Effect::ShowBackground]
            }
            Event::Follow(LinkedFile::Refused(why)) => {
                self.stage = Stage::Nothing;
                let reason = why.to_string();
                vec![Effect::Refuse { reason }]
            }
            Event::Agree => match self.asked().map(|file| file.url.clone()) {
                Some(url) => vec![self.fetch(url)],
                None => Vec::new(),
            },
            Event::Decline => {
                if self.asked().is_some() {
                    self.stage = Stage::Nothing;
                }
                Vec::new()
            }
            Event::Leave => {
                self.stage = Stage::Nothing;
                Vec::new()
            }
            Event::Fetched { id, result } if self.stage == Stage::Fetching(id) => {
                self.stage = Stage::Nothing;
                vec![result.shown()]
            }
            Event::Fetched { .. } => Vec::new(),
        }
    }

    fn fetch(&mut self, url: String) -> Effect {
        self.last += 1;
        self.stage = Stage::Fetching(self.last);
        Effect::Fetch { id: self.last, url }
    }
}

impl Fetched {
    fn shown(self) -> Effect {
        match self {
            Fetched::Response { status, body } if (200..300).contains(&status) => {
                Effect::Plan { code: body }
            }
            Fetched::Response { status, .. } => Effect::Refuse {
                reason: format!("The server responded with {status}."),
            },
            Fetched::Failed(reason) => Effect::Refuse { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_connectivity::Space;
    use volary_connectivity::linked_file::Refused;

    use super::*;

    fn own(name: &str) -> Event {
        let url = format!("https://page.example/{name}.py");
        Event::Follow(LinkedFile::SameOrigin { url })
    }

    fn other(name: &str) -> Event {
        Event::Follow(LinkedFile::Elsewhere(Elsewhere {
            url: format!("https://other.example/{name}.py"),
            host: "other.example".to_owned(),
            space: Space::Public,
        }))
    }

    fn arrives(id: FetchId, code: &str) -> Event {
        let result = Fetched::Response {
            status: 200,
            body: code.to_owned(),
        };
        Event::Fetched { id, result }
    }

    fn plan(code: &str) -> Effect {
        let code = code.to_owned();
        Effect::Plan { code }
    }

    #[test]
    fn a_file_of_the_page_is_fetched_and_shown() {
        let mut code = LinkedCode::default();
        let url = "https://page.example/a.py".to_owned();
        assert_eq!(code.update(own("a")), [Effect::Fetch { id: 1, url }]);
        assert!(code.is_pending());
        assert_eq!(code.asked(), None);
        assert_eq!(code.update(arrives(1, "a = 1")), [plan("a = 1")]);
        assert!(!code.is_pending());
    }

    #[test]
    fn a_file_of_another_origin_is_fetched_only_after_consent() {
        let mut code = LinkedCode::default();
        assert_eq!(code.update(other("a")), [Effect::ShowBackground]);
        assert_eq!(code.asked().unwrap().host, "other.example");
        let url = "https://other.example/a.py".to_owned();
        assert_eq!(code.update(Event::Agree), [Effect::Fetch { id: 1, url }]);
        assert_eq!(code.asked(), None, "the dialog closes");
        // The dialog reports that it closed.
        assert_eq!(code.update(Event::Decline), []);
        assert_eq!(code.update(arrives(1, "a = 1")), [plan("a = 1")]);
    }

    #[test]
    fn a_declined_file_is_not_fetched() {
        let mut code = LinkedCode::default();
        code.update(other("a"));
        assert_eq!(code.update(Event::Decline), []);
        assert!(!code.is_pending());
        assert_eq!(code.update(Event::Agree), [], "a second click");
    }

    #[test]
    fn a_file_that_arrives_late_is_not_shown() {
        for (next, shown) in [(own("b"), true), (other("b"), false), (Event::Leave, false)] {
            let mut code = LinkedCode::default();
            code.update(own("a"));
            code.update(next);
            assert_eq!(code.update(arrives(1, "late")), []);
            let failed = Event::Fetched {
                id: 1,
                result: Fetched::Failed("It timed out.".to_owned()),
            };
            assert_eq!(code.update(failed), [], "nor is its error");
            let newer = code.update(arrives(2, "b = 1"));
            assert_eq!(
                newer,
                shown.then(|| plan("b = 1")).into_iter().collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn the_same_file_followed_again_is_shown_once() {
        let mut code = LinkedCode::default();
        code.update(own("a"));
        code.update(own("a"));
        assert_eq!(code.update(arrives(1, "old")), []);
        assert_eq!(code.update(arrives(2, "new")), [plan("new")]);
        assert_eq!(code.update(arrives(2, "again")), []);
    }

    #[test]
    fn what_is_not_shown_has_a_reason() {
        let mut code = LinkedCode::default();
        code.update(other("a"));
        let refused = LinkedFile::Refused(Refused::Credentials);
        let reason = Refused::Credentials.to_string();
        assert_eq!(
            code.update(Event::Follow(refused)),
            [Effect::Refuse { reason }]
        );
        assert!(!code.is_pending(), "the earlier question is closed");
        for (result, reason) in [
            (
                Fetched::Response {
                    status: 404,
                    body: "<html>".to_owned(),
                },
                "The server responded with 404.",
            ),
            (
                Fetched::Failed("You are offline.".to_owned()),
                "You are offline.",
            ),
        ] {
            let mut code = LinkedCode::default();
            code.update(own("a"));
            let reason = reason.to_owned();
            let fetched = Event::Fetched { id: 1, result };
            assert_eq!(code.update(fetched), [Effect::Refuse { reason }]);
            assert!(!code.is_pending());
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            2 => (0..3u8).prop_map(|name| own(&name.to_string())),
            2 => (0..3u8).prop_map(|name| other(&name.to_string())),
            2 => Just(Event::Agree),
            1 => Just(Event::Decline),
            1 => Just(Event::Leave),
            6 => (1..12u32).prop_map(|id| arrives(id, &id.to_string())),
        ]
    }

    proptest! {
        #[test]
        fn only_the_last_wanted_file_is_shown_and_nothing_foreign_is_fetched_unasked(
            events in proptest::collection::vec(event(), 0..60)
        ) {
            let mut code = LinkedCode::default();
            // The fetch of the last address, unless something else was opened.
            let mut wanted = None;
            for event in events {
                let has_agreed = event == Event::Agree;
                if !matches!(event, Event::Fetched { .. } | Event::Agree | Event::Decline) {
                    wanted = None;
                }
                for effect in code.update(event) {
                    match effect {
                        Effect::Fetch { id, url } => {
                            prop_assert!(has_agreed || url.starts_with("https://page.example/"));
                            wanted = Some(id);
                        }
                        Effect::Plan { code } => {
                            prop_assert_eq!(Some(code), wanted.take().map(|id| id.to_string()));
                        }
                        Effect::ShowBackground | Effect::Refuse { .. } => {}
                    }
                }
            }
        }
    }
}
