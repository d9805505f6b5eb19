//! The questions that the shown environment asks the outside world ([`volary_connections::outside`]).
//!
//! The driver keeps them behind a trait, so that the first load does not contain the code that answers them.

use std::rc::Rc;

use leptos::prelude::*;
use volary_app::outside::PlayingPage;
use volary_core::json::Text;
use volary_protocol::environments::{Question, QuestionId, Request};

use super::answer_questions::AnswerQuestions;
use super::state::Playground;
use super::worker;
use volary_connections::outside::Questions;

impl AnswerQuestions for Questions {
    fn ask(&self, question: Question, reply: Box<dyn FnOnce(Result<Text, Text>)>) {
        Questions::ask(self, question, reply);
    }
}

/// Answers a question.
pub(super) fn ask(playground: Playground, question: QuestionId, asked: Question) {
    let questions = playground.driver().try_update_value(|driver| {
        let questions = driver
            .questions
            .get_or_insert_with(|| Rc::new(Questions::of(PlayingPage::Playground)));
        Rc::clone(questions)
    });
    let Some(questions) = questions else { return };
    let reply = move |answer| {
        worker::send_request(playground, &Request::Answer { question, answer });
    };
    questions.ask(asked, Box::new(reply));
}
