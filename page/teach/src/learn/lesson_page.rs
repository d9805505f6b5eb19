//! What the page of lessons shows: the list, a lesson, a sequence, or why there is none. Pure: effects are requests for
//! files.
//!
//! Invariants: a file that arrives is shown only if it was the last one that was asked for, by an address, a click or a
//! drop. A file of another origin is requested only after the reader agreed.

use std::sync::Arc;

use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_lesson::{Lesson, Problem, catalog, parse};
use volary_view::route::LearnPlace;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum LearnContent {
    #[default]
    List,
    Loading,
    /// The lesson is in a file of another origin, which is fetched only with the reader's consent.
    Ask(Elsewhere),
    Lesson {
        key: String,
        lesson: Arc<Lesson>,
    },
    /// Shared links that are presented.
    Sequence(Vec<String>),
    /// The file is not a valid lesson.
    Broken(Vec<Problem>),
    /// The file could not be loaded.
    Failed(String),
}

/// A file that was asked for. Its text is handed in with [`LessonPage::arrived`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LessonRequest {
    number: u32,
    /// The key of the reader's progress.
    key: String,
}

/// A request for the file at an address, relative to the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LessonFetch {
    pub url: String,
    pub request: LessonRequest,
}

#[derive(Debug, Default)]
pub(super) struct LessonPage {
    content: LearnContent,
    /// The number of the last request. Any change of the content gives up the requests before it.
    last: u32,
}

impl LessonPage {
    pub fn content(&self) -> &LearnContent {
        &self.content
    }

    /// Handles a change of the address. `linked` decides about a file that the address names.
    pub fn follow(
        &mut self,
        place: LearnPlace,
        linked: impl FnOnce(&str) -> LinkedFile,
    ) -> Option<LessonFetch> {
        match place {
            LearnPlace::List => self.show(LearnContent::List),
            LearnPlace::Sequence(links) => self.show(LearnContent::Sequence(links)),
            LearnPlace::Lesson(id) => match catalog::find(&id) {
                Some(entry) => return Some(self.fetch(format!("lessons/{id}.md"), entry.id)),
                None => self.fail("There is no lesson with this name."),
            },
            LearnPlace::Linked(url) => match linked(&url) {
                LinkedFile::SameOrigin { url } => return Some(self.fetch(url.clone(), &url)),
                LinkedFile::Elsewhere(file) => self.show(LearnContent::Ask(file)),
                LinkedFile::Refused(why) => self.fail(&why.to_string()),
            },
        }
        None
    }

    /// The reader agrees to fetch the file of another origin.
    pub fn agree(&mut self) -> Option<LessonFetch> {
        let LearnContent::Ask(file) = &self.content else {
            return None;
        };
        let url = file.url.clone();
        Some(self.fetch(url.clone(), &url))
    }

    /// The reader drops a file of this size. Returns a request to read it, unless it is too large.
    pub fn dropped(&mut self, name: &str, size: f64) -> Option<LessonRequest> {
        if size > parse::LARGEST as f64 {
            self.fail("The file is too large for a lesson.");
            return None;
        }
        Some(self.request(name))
    }

    /// Takes the text of a file, or why it could not be loaded.
    pub fn arrived(&mut self, request: LessonRequest, text: Result<String, String>) {
        if request.number != self.last {
            return;
        }
        self.show(match text.map(|text| volary_lesson::parse(&text)) {
            Ok(Ok(lesson)) => LearnContent::Lesson {
                key: request.key,
                lesson: Arc::new(lesson),
            },
            Ok(Err(problems)) => LearnContent::Broken(problems),
            Err(reason) => LearnContent::Failed(reason),
        });
    }

    fn fetch(&mut self, url: String, key: &str) -> LessonFetch {
        self.content = LearnContent::Loading;
        let request = self.request(key);
        LessonFetch { url, request }
    }

    fn request(&mut self, key: &str) -> LessonRequest {
        self.last = self.last.wrapping_add(1);
        LessonRequest {
            number: self.last,
            key: key.to_owned(),
        }
    }

    fn show(&mut self, content: LearnContent) {
        self.last = self.last.wrapping_add(1);
        self.content = content;
    }

    fn fail(&mut self, reason: &str) {
        self.show(LearnContent::Failed(reason.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ORIGIN: &str = "https://volary.example";
    const LESSON: &str = include_str!("../../../../public/lessons/agent-loop.md");

    fn linked(url: &str) -> LinkedFile {
        LinkedFile::of(url, ORIGIN)
    }

    fn follow(page: &mut LessonPage, path: &str) -> Option<LessonFetch> {
        page.follow(LearnPlace::read(path), linked)
    }

    fn link_to(url: &str) -> String {
        format!("?url={}", url.replace(':', "%3A").replace('/', "%2F"))
    }

    /// The key of the shown lesson.
    fn shown(page: &LessonPage) -> Option<&str> {
        match page.content() {
            LearnContent::Lesson { key, .. } => Some(key),
            _ => None,
        }
    }

    fn first_id() -> &'static str {
        catalog::LESSONS[0].id
    }

    #[test]
    fn a_lesson_of_the_page_is_fetched_at_once() {
        let mut page = LessonPage::default();
        let fetch = follow(&mut page, &format!("/{}", first_id())).unwrap();
        assert_eq!(fetch.url, format!("lessons/{}.md", first_id()));
        assert_eq!(*page.content(), LearnContent::Loading);
        page.arrived(fetch.request, Ok(LESSON.to_owned()));
        assert_eq!(shown(&page), Some(first_id()));
    }

    #[test]
    fn a_file_of_another_origin_is_fetched_only_after_a_click() {
        let mut page = LessonPage::default();
        assert_eq!(page.agree(), None);
        let elsewhere = "https://other.example/lesson.md";
        assert_eq!(follow(&mut page, &link_to(elsewhere)), None);
        assert!(matches!(page.content(), LearnContent::Ask(file) if file.url == elsewhere));
        let fetch = page.agree().unwrap();
        assert_eq!(fetch.url, elsewhere);
        // A second click asks for nothing more.
        assert_eq!(page.agree(), None);
        page.arrived(fetch.request, Ok(LESSON.to_owned()));
        assert_eq!(shown(&page), Some(elsewhere));
    }

    #[test]
    fn consent_ends_with_the_address_that_it_is_for() {
        let mut page = LessonPage::default();
        follow(&mut page, &link_to("https://other.example/lesson.md"));
        follow(&mut page, "");
        assert_eq!(page.agree(), None);
        assert_eq!(*page.content(), LearnContent::List);
    }

    #[test]
    fn a_file_of_the_page_s_origin_needs_no_click() {
        let mut page = LessonPage::default();
        let url = format!("{ORIGIN}/mine.md");
        let fetch = follow(&mut page, &link_to(&url)).unwrap();
        assert_eq!(fetch.url, url);
    }

    #[test]
    fn what_cannot_be_loaded_is_explained() {
        let mut page = LessonPage::default();
        let reason = |page: &LessonPage| match page.content() {
            LearnContent::Failed(reason) => reason.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(follow(&mut page, "/no-such-lesson"), None);
        assert_eq!(reason(&page), "There is no lesson with this name.");
        assert_eq!(follow(&mut page, &link_to("file:///etc/passwd")), None);
        assert!(reason(&page).starts_with("It starts with \"file:\""));
        let too_large = parse::LARGEST as f64 + 1.0;
        assert_eq!(page.dropped("large.md", too_large), None);
        assert_eq!(reason(&page), "The file is too large for a lesson.");
        let request = page.dropped("mine.md", parse::LARGEST as f64).unwrap();
        page.arrived(request, Err("The file is gone.".to_owned()));
        assert_eq!(reason(&page), "The file is gone.");
    }

    #[test]
    fn a_file_that_is_no_lesson_names_its_errors() {
        let mut page = LessonPage::default();
        let request = page.dropped("mine.md", 10.0).unwrap();
        page.arrived(request, Ok("{\"a\": 1}".to_owned()));
        assert!(
            matches!(page.content(), LearnContent::Broken(problems) if !problems.is_empty()),
            "{:?}",
            page.content()
        );
    }

    #[test]
    fn a_dropped_file_is_not_replaced_by_an_earlier_fetch() {
        let mut page = LessonPage::default();
        let fetch = follow(&mut page, &format!("/{}", first_id())).unwrap();
        let dropped = page.dropped("mine.md", 10.0).unwrap();
        page.arrived(dropped, Ok(LESSON.to_owned()));
        page.arrived(fetch.request, Ok(LESSON.to_owned()));
        assert_eq!(shown(&page), Some("mine.md"));
    }

    #[test]
    fn a_file_that_is_read_slowly_does_not_replace_a_newer_place() {
        let mut page = LessonPage::default();
        let dropped = page.dropped("mine.md", 10.0).unwrap();
        follow(&mut page, "/present?play=%23%2Frun%2Fcounter&slide=1");
        page.arrived(dropped, Ok(LESSON.to_owned()));
        let links = vec!["#/run/counter".to_owned()];
        assert_eq!(*page.content(), LearnContent::Sequence(links));
    }

    proptest! {
        /// A lesson that is shown is the last one that was asked for, whatever the order in which files arrive, and the
        /// page does not wait for a file that nobody loads.
        #[test]
        fn files_arrive_in_any_order(steps in prop::collection::vec((0..5_u8, 0..4_usize), 1..40)) {
            let mut page = LessonPage::default();
            let mut flying: Vec<(LessonRequest, String)> = Vec::new();
            let mut wanted = None;
            for (kind, place) in steps {
                match kind {
                    0 => {
                        let fetch = follow(&mut page, &format!("/{}", first_id())).unwrap();
                        wanted = Some(first_id().to_owned());
                        flying.push((fetch.request, first_id().to_owned()));
                    }
                    1 => {
                        let name = format!("{place}.md");
                        let request = page.dropped(&name, 1.0).unwrap();
                        wanted = Some(name.clone());
                        flying.push((request, name));
                    }
                    2 => {
                        follow(&mut page, "");
                        wanted = None;
                    }
                    3 => {
                        let url = "https://other.example/a.md";
                        follow(&mut page, &link_to(url));
                        let fetch = page.agree().unwrap();
                        wanted = Some(url.to_owned());
                        flying.push((fetch.request, url.to_owned()));
                    }
                    _ if flying.is_empty() => {}
                    _ => {
                        let before = page.content().clone();
                        let (request, key) = flying.remove(place % flying.len());
                        page.arrived(request, Ok(LESSON.to_owned()));
                        if *page.content() != before {
                            prop_assert_eq!(shown(&page), Some(&*key));
                            prop_assert_eq!(wanted.as_deref(), Some(&*key));
                        }
                    }
                }
            }
            for (request, _) in flying {
                page.arrived(request, Ok(LESSON.to_owned()));
            }
            prop_assert_eq!(shown(&page), wanted.as_deref());
            prop_assert_ne!(page.content(), &LearnContent::Loading);
        }
    }
}
