//! When a new worker can take this one's place. The memory of a worker never shrinks: one that read a long episode
//! would hold the room for it as long as the page lives.

use super::super::protocol::{Answer, Number};
use super::under_way::UnderWay;
use super::{Librarian, Said, Say};

/// With more episodes than that a new worker would have too much to learn.
const MOST_KNOWN: usize = 500;

impl Librarian {
    /// Waits until all is done that was asked, and says if a new worker would find all that this one knows; is silent
    /// otherwise.
    pub(super) async fn retire(&self, number: Number, say: Say<'_>) {
        while self.asked.is_any() || self.under_way.is_any() {
            self.asked.over().await;
            self.under_way.over().await;
        }
        if self.is_replaceable().await {
            say(Said::Answer(Answer::Replaceable { number }));
        }
    }

    /// The index is none of it: who wants to search has it made again.
    async fn is_replaceable(&self) -> bool {
        let known = self.known.borrow().episodes.len();
        let holds = self.guests.has_any() || self.found.borrow().is_some();
        if holds || known > MOST_KNOWN {
            return false;
        }
        // Files that the browser does not keep can be read here alone.
        let windows: Vec<_> = self.windows.borrow().keys().cloned().collect();
        for id in windows {
            let file = self.store.file(&id).await;
            if file.is_none_or(|file| file.source.is_none()) {
                return false;
            }
        }
        true
    }
}

impl UnderWay {
    /// Waits until nothing is under way.
    async fn over(&self) {
        while self.is_any() {
            self.changed(self.state()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use futures_util::FutureExt;

    use super::super::super::protocol::Request;
    use super::super::super::source::Window;
    use super::super::tests::{ask, episode, file, large, librarian, read};
    use super::*;

    /// Whether a librarian says that another one may take her place.
    fn retires(librarian: &Librarian) -> bool {
        let said = ask(librarian, Request::Retire { number: 7 });
        said == [Said::Answer(Answer::Replaceable { number: 7 })]
    }

    #[test]
    fn who_has_read_all_of_it_retires() {
        let librarian = librarian();
        assert!(retires(&librarian));
        read(&librarian, &[file("a.jsonl", &[episode("a", "hello")])]);
        read(&librarian, &[large("big.jsonl", &["b", "c"])]);
        assert!(retires(&librarian));
        // What a person looks for in an episode stays at hand.
        let (number, id, words) = (1, "a".into(), "hello".into());
        ask(&librarian, Request::Find { number, id, words });
        assert!(!retires(&librarian));
    }

    #[test]
    fn who_is_at_work_retires_afterwards() {
        let librarian = librarian();
        let said = RefCell::new(Vec::new());
        let say = |words| said.borrow_mut().push(words);
        let going = librarian.expect();
        let mut retiring = Box::pin(librarian.perform(Request::Retire { number: 7 }, &say));
        assert_eq!((&mut retiring).now_or_never(), None);
        drop(going);
        assert_eq!(retiring.now_or_never(), Some(()));
        assert_eq!(
            said.take(),
            [Said::Answer(Answer::Replaceable { number: 7 })]
        );
    }

    #[test]
    fn who_alone_can_read_a_file_stays() {
        let librarian = librarian();
        let window = Rc::new(Window::on(Rc::new(large("big.jsonl", &["b"]))));
        librarian
            .windows
            .borrow_mut()
            .insert("nowhere".into(), window);
        assert!(!retires(&librarian));
    }
}
