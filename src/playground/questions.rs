//! The questions that the shown environment asks the outside world ([`crate::outside`]).
//!
//! They are not among the signals of the playground, so that the first load does not contain the code that answers
//! them.

use std::cell::RefCell;
use std::rc::Rc;

use volary_app::outside::PlayingPage;
use volary_protocol::environments::{Question, QuestionId, Request};

use super::session_driver;
use super::state::Playground;
use crate::outside::Questions;

thread_local! {
    /// The questions of the current worker.
    static QUESTIONS: RefCell<Option<Rc<Questions>>> = const { RefCell::new(None) };
}

/// Answers a question.
pub(super) fn ask(playground: Playground, question: QuestionId, asked: Question) {
    let questions = QUESTIONS.with_borrow_mut(|questions| {
        let questions =
            questions.get_or_insert_with(|| Rc::new(Questions::of(PlayingPage::Playground)));
        Rc::clone(questions)
    });
    questions.ask(asked, move |answer| {
        session_driver::send_request(playground, &Request::Answer { question, answer });
    });
}

/// Drops all questions because their worker is gone. A later worker reuses their ids.
pub(super) fn clear() {
    drop(QUESTIONS.take());
}
