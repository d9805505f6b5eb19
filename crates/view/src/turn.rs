//! A streaming model response: a turn whose content is not final.
//!
//! A turn is not part of the episode. It ends with an action or an error; its content stays visible until then.

use volary_agent::model::{Answer, Delta, Exchange, Usage};
use volary_app::notice::Notice;

/// A turn of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamingTurn {
    /// The step that it may become, counted from 1.
    pub step: usize,
    /// The playground's edition counter when the turn began. It changes when another episode is shown or steps
    /// are undone; a turn of an earlier edition is not shown.
    pub edition: u32,
    /// The model that is called.
    pub model: String,
    /// The stage of the request.
    pub stage: Stage,
    /// The attempt, counted from 1. Output of earlier attempts is dropped.
    pub attempts: u32,
    /// Its reasoning so far.
    pub thinking: String,
    /// Its text so far.
    pub text: String,
    /// Its calls so far.
    pub calls: Vec<PartialCall>,
    /// Token usage so far, if reported while streaming.
    pub usage: Option<Usage>,
    /// Notes about how the model was called.
    pub notes: Vec<String>,
    /// The requests and responses in order.
    pub exchanges: Vec<Exchange>,
}

/// The state of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Stage {
    /// The request was sent.
    #[default]
    Asking,
    /// The response is arriving.
    Answering,
    /// The response is complete; its action is being executed.
    Taking,
    /// The request failed and will be retried.
    Waiting {
        /// Why the request failed, as shown to the user.
        why: String,
        /// The time of the retry on the page's clock.
        until: f64,
    },
    /// It failed.
    Failed(Notice),
    /// It was stopped.
    Stopped,
}

/// A call that may still grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialCall {
    /// The tool name, if known.
    pub name: String,
    /// The arguments so far, as incomplete JSON.
    pub arguments: String,
}

impl StreamingTurn {
    /// Starts a turn.
    pub fn new(edition: u32, step: usize, model: impl Into<String>) -> Self {
        StreamingTurn {
            step,
            edition,
            model: model.into(),
            ..StreamingTurn::default()
        }
    }

    /// Whether the turn is shown after the last of `steps` steps: the episode has been neither replaced nor cut
    /// since.
    pub fn is_at(&self, edition: u32, steps: usize) -> bool {
        self.edition == edition && self.step == steps + 1
    }

    /// Starts another attempt and drops the output of the last one.
    pub fn begin_try(&mut self) {
        self.attempts += 1;
        self.stage = Stage::Asking;
        self.thinking.clear();
        self.text.clear();
        self.calls.clear();
        self.usage = None;
    }

    /// Applies a delta of the response.
    pub fn take(&mut self, delta: Delta) {
        self.stage = Stage::Answering;
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Thinking(text) => self.thinking.push_str(&text),
            Delta::CallStarted { call, name } => {
                if let Some(partial) = self.call(call) {
                    partial.name = name;
                }
            }
            Delta::Arguments { call, text } => {
                if let Some(partial) = self.call(call) {
                    partial.arguments.push_str(&text);
                }
            }
            Delta::Usage(usage) => self.usage = Some(usage),
        }
    }

    /// Stores an exchange in place of the request that was sent last.
    pub fn keep(&mut self, exchange: &Exchange) {
        match self.exchanges.last_mut() {
            Some(last) => *last = exchange.clone(),
            None => self.exchanges.push(exchange.clone()),
        }
    }

    /// Applies the complete response, including parts that were not streamed.
    pub fn complete(&mut self, answer: &Answer) {
        let fill = |shown: &mut String, whole: &Option<String>| {
            if shown.is_empty() {
                shown.push_str(whole.as_deref().unwrap_or_default());
            }
        };
        fill(&mut self.thinking, &answer.thinking);
        fill(&mut self.text, &answer.text);
        if self.calls.is_empty() {
            let calls = answer.calls.iter().take(MOST_CALLS);
            self.calls = calls
                .map(|call| PartialCall {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                })
                .collect();
        }
        self.usage = answer.usage.or(self.usage);
        self.stage = Stage::Taking;
    }

    /// Whether there is no output yet.
    pub fn says_nothing(&self) -> bool {
        self.thinking.is_empty() && self.text.is_empty() && self.calls.is_empty()
    }

    /// Whether the turn is in progress.
    pub fn is_going(&self) -> bool {
        !matches!(self.stage, Stage::Failed(_) | Stage::Stopped)
    }

    fn call(&mut self, place: usize) -> Option<&mut PartialCall> {
        if place >= MOST_CALLS {
            return None;
        }
        if self.calls.len() <= place {
            self.calls.resize_with(place + 1, PartialCall::default);
        }
        self.calls.get_mut(place)
    }
}

/// The maximum number of calls shown while streaming. No model makes this many, but a broken one may use any
/// index.
const MOST_CALLS: usize = 200;

/// The state of a turn in words. `now` is the page's clock.
pub fn stage_text(turn: &StreamingTurn, now: f64) -> String {
    match &turn.stage {
        Stage::Asking if turn.attempts > 1 => format!("Retrying (attempt {})…", turn.attempts),
        Stage::Asking => "Waiting for the model…".to_owned(),
        Stage::Answering => {
            let what = if !turn.calls.is_empty() {
                "Calling"
            } else if !turn.text.is_empty() {
                "Answering"
            } else {
                "Thinking"
            };
            format!("{what}…")
        }
        Stage::Taking => "Running the tools…".to_owned(),
        Stage::Waiting { until, .. } => {
            let seconds = (until - now).max(0.0).ceil();
            format!("Retrying in {seconds} s.")
        }
        Stage::Failed(_) => "Failed".to_owned(),
        Stage::Stopped => "Stopped".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_not_shown_after_its_step_was_taken_back() {
        let turn = StreamingTurn::new(1, 2, "m");
        assert!(turn.is_at(1, 1));
        assert!(!turn.is_at(1, 2), "its action was taken");
        assert!(
            !turn.is_at(2, 1),
            "the step was taken back, or another episode is shown"
        );
    }

    #[test]
    fn pieces_add_up_in_whatever_order_calls_come() {
        let mut turn = StreamingTurn::new(0, 3, "m");
        turn.begin_try();
        let arguments = |call, text: &str| Delta::Arguments {
            call,
            text: text.into(),
        };
        let started = |call, name: &str| Delta::CallStarted {
            call,
            name: name.into(),
        };
        for delta in [
            Delta::Thinking("hm".into()),
            Delta::Text("I ".into()),
            Delta::Text("will".into()),
            started(1, "g"),
            arguments(1, "{\"a\""),
            started(0, "f"),
            arguments(0, "{}"),
            arguments(1, ": 1}"),
            arguments(usize::MAX, "x"),
        ] {
            turn.take(delta);
        }
        assert_eq!((&*turn.thinking, &*turn.text), ("hm", "I will"));
        let calls: Vec<_> = turn
            .calls
            .iter()
            .map(|call| (&*call.name, &*call.arguments))
            .collect();
        assert_eq!(calls, [("f", "{}"), ("g", "{\"a\": 1}")]);
        assert_eq!(stage_text(&turn, 0.0), "Calling…");
    }

    #[test]
    fn a_retry_drops_the_last_output_and_keeps_the_requests() {
        let mut turn = StreamingTurn::new(0, 1, "m");
        turn.begin_try();
        turn.take(Delta::Text("half".into()));
        turn.exchanges.push(Exchange::default());
        turn.stage = Stage::Waiting {
            why: "It is busy.".into(),
            until: 12.5,
        };
        assert_eq!(stage_text(&turn, 10.0), "Retrying in 3 s.");
        turn.begin_try();
        assert_eq!(
            (turn.attempts, &*turn.text, turn.exchanges.len()),
            (2, "", 1)
        );
        assert_eq!(stage_text(&turn, 0.0), "Retrying (attempt 2)…");
    }

    #[test]
    fn a_whole_answer_fills_in_what_did_not_come_in_pieces() {
        let mut turn = StreamingTurn::new(0, 1, "m");
        turn.begin_try();
        turn.take(Delta::Text("said".into()));
        turn.complete(&Answer {
            text: Some("said".into()),
            thinking: Some("thought".into()),
            ..Answer::default()
        });
        assert_eq!((&*turn.text, &*turn.thinking), ("said", "thought"));
        assert_eq!(turn.stage, Stage::Taking);
        assert!(turn.is_going());
    }
}
