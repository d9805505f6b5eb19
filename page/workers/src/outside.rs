//! The environments' access to the world outside the worker: questions to the page, and data that the user stored.
//!
//! Invariants: the worker itself sends nothing to a network or a person; the page decides what is fetched and asked,
//! and keys stay there. Data are read from the browser's storage.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use futures_channel::oneshot;
use volary_core::json::Text;
use volary_core::outside::{Answer, Data, ModelRequest, Outside, OutsideError};
use volary_protocol::environments::{ChatLine, Question, QuestionId};

use super::checkout;

/// The questions of the environments in this worker.
#[derive(Clone, Default)]
pub struct PageOutside(Rc<RefCell<Questions>>);

#[derive(Default)]
struct Questions {
    asked: QuestionId,
    /// Questions that were not sent yet.
    unsent: Vec<(QuestionId, Question)>,
    /// The senders of the answers to open questions.
    open: BTreeMap<QuestionId, oneshot::Sender<Result<Text, Text>>>,
}

impl PageOutside {
    /// Runs a future of an environment, and sends the questions that it asks.
    pub async fn asking<F: Future>(
        &self,
        future: F,
        send: &dyn Fn(QuestionId, Question),
    ) -> F::Output {
        let mut future = pin!(future);
        std::future::poll_fn(|context| {
            let polled = future.as_mut().poll(context);
            // Taken out first, because `send` may call anything.
            let unsent = std::mem::take(&mut self.0.borrow_mut().unsent);
            for (id, question) in unsent {
                send(id, question);
            }
            match polled {
                Poll::Ready(output) => Poll::Ready(output),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Passes on an answer. The answer to an unknown question is ignored: its environment was closed.
    pub fn answer(&self, question: QuestionId, answer: Result<Text, Text>) {
        let waiting = self.0.borrow_mut().open.remove(&question);
        if let Some(waiting) = waiting {
            // The environment may have been closed meanwhile.
            let _ = waiting.send(answer);
        }
    }

    fn ask(&self, question: Question) -> Answer {
        let (sender, receiver) = oneshot::channel();
        let mut questions = self.0.borrow_mut();
        questions.asked += 1;
        let id = questions.asked;
        questions.open.insert(id, sender);
        questions.unsent.push((id, question));
        Box::pin(async move {
            let answer = receiver
                .await
                .unwrap_or_else(|_| Err("The page is gone.".into()));
            answer.map_err(|message| OutsideError { message })
        })
    }
}

impl Outside for PageOutside {
    fn fetch(&self, address: &str) -> Answer {
        self.ask(Question::Page {
            url: address.into(),
        })
    }

    fn complete(&self, request: ModelRequest) -> Answer {
        let lines = request.messages.into_iter();
        self.ask(Question::Model {
            purpose: request.purpose.into(),
            messages: lines
                .map(|(role, content)| ChatLine {
                    role: role.as_str().into(),
                    content,
                })
                .collect(),
        })
    }

    fn ask(&self, shown: &str) -> Answer {
        self.ask(Question::Person {
            shown: shown.into(),
        })
    }

    fn data(&self, name: &str) -> Data {
        Box::pin(checkout::data(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_question_is_sent_once_and_its_answer_resumes_the_environment() {
        let outside = PageOutside::default();
        let sent = RefCell::new(Vec::new());
        let send = |id, question| sent.borrow_mut().push((id, question));
        let environment = outside.clone();
        let mut step = Box::pin(outside.asking(
            async move { Outside::fetch(&environment, "https://wiki.example/a").await },
            &send,
        ));
        assert_eq!(step.as_mut().now_or_never(), None);
        assert_eq!(step.as_mut().now_or_never(), None);
        let question = Question::Page {
            url: "https://wiki.example/a".into(),
        };
        assert_eq!(*sent.borrow(), [(1, question)]);
        outside.answer(7, Ok("late".into()));
        outside.answer(1, Ok("a page".into()));
        outside.answer(1, Ok("again".into()));
        assert_eq!(step.as_mut().now_or_never(), Some(Ok("a page".into())));
    }

    #[test]
    fn a_refused_question_is_an_error_of_the_environment() {
        let outside = PageOutside::default();
        let mut asked = Outside::ask(&outside, "Well?");
        outside.answer(1, Err("Nobody is here.".into()));
        let error = asked.as_mut().now_or_never().unwrap().unwrap_err();
        assert_eq!(&*error.message, "Nobody is here.");
    }
}
