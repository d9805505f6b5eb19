//! Answers the questions of an environment. The driver keeps this trait, so that the first load does not contain the code
//! that answers them.

use volary_core::json::Text;
use volary_protocol::environments::Question;

/// Answers the questions of a worker. Dropping it drops the questions.
pub trait AnswerQuestions {
    fn ask(&self, question: Question, reply: Box<dyn FnOnce(Result<Text, Text>)>);
}
