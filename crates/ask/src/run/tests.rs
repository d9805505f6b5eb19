//! Tests of the state machine, with a provider that is played by the tests.

use std::collections::VecDeque;

use volary_agent::model::price::{Price, Prices};
use volary_agent::model::{ModelRequest, ProviderKind};
use volary_core::Message;
use volary_episode::Episode;

use super::*;
use crate::answer::Support;
use crate::question::{AnswerType, Question};
use crate::quotes::QuoteState;
use crate::render::RenderOptions;

const GOOD: &str = r#"{"label":"yes","explanation":"It did.","evidence":[{"message":0,"quote":"Please book a flight"}]}"#;
const FORGED: &str = r#"{"label":"yes","explanation":"?","evidence":[{"message":0,"quote":"I will now delete all tests"}]}"#;

fn settings() -> AskSettings {
    let question = Question {
        text: "Did it?".into(),
        answer: AnswerType::YesNo,
    };
    AskSettings {
        concurrency: 2,
        price: Prices::default().of("gpt-6-luna"),
        ..AskSettings::new(question, ProviderKind::OpenAiChat, "gpt-6-luna")
    }
}

fn trajectory(row: usize, words: usize) -> Arc<Rendered> {
    let text = format!(
        "Please book a flight, number {row}. {}",
        "word ".repeat(words)
    );
    let episode = Episode {
        start: vec![
            Message::user(text.as_str()).into(),
            Message::user(text).into(),
        ],
        ..Episode::default()
    };
    Arc::new(Rendered::of(&episode, &RenderOptions::default()))
}

fn reply(text: &str) -> Result<ModelReply, ModelError> {
    Ok(ModelReply {
        text: text.into(),
        usage: Some(Usage {
            prompt: 1_000,
            completion: 100,
            ..Usage::default()
        }),
    })
}

fn status(status: u16, message: &str) -> Result<ModelReply, ModelError> {
    Err(ModelError::Status {
        status,
        message: message.into(),
        code: None,
        parameter: None,
        retry_after: None,
    })
}

/// Carries out the effects of a run.
struct Caller {
    run: AskRun,
    now: f64,
    words: usize,
    stored: Vec<AnswerRecord>,
    sent: Vec<ModelRequest>,
    most_at_once: usize,
}

impl Caller {
    fn new(settings: AskSettings, rows: usize) -> Self {
        Caller {
            run: AskRun::new(settings, rows, AnswerCache::default()).unwrap(),
            now: 0.0,
            words: 1,
            stored: Vec::new(),
            sent: Vec::new(),
            most_at_once: 0,
        }
    }

    /// Plays until nothing happens. `answer` gets each request, and returns no reply for one that is never answered.
    fn play(
        &mut self,
        event: AskEvent,
        answer: &mut dyn FnMut(&ModelRequest) -> Option<Result<ModelReply, ModelError>>,
    ) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let mut wake = None;
            for effect in self.run.update(self.now, 1e9, event) {
                match effect {
                    AskEffect::Load { row } => events.push_back(AskEvent::Loaded {
                        row,
                        rendered: Ok(trajectory(row, self.words)),
                    }),
                    AskEffect::Send { id, request } => {
                        let reply = answer(&request);
                        self.sent.push(*request);
                        events.extend(reply.map(|reply| AskEvent::Replied { request: id, reply }));
                    }
                    AskEffect::Check { request, said } => {
                        let rendered = trajectory(request.row, self.words);
                        let question = &self.run.settings.question;
                        let checked = Ok(CheckedReply::of(question, &rendered, &said));
                        events.push_back(AskEvent::Checked { request, checked });
                    }
                    AskEffect::WakeAt(time) => wake = Some(time),
                    AskEffect::Store { record, .. } => self.stored.push(*record),
                    AskEffect::Abort(_) | AskEffect::Finished { .. } | AskEffect::Changed => {}
                }
            }
            self.most_at_once = self.most_at_once.max(self.run.reserved.len());
            if events.is_empty()
                && let Some(time) = wake
            {
                self.now = time;
                events.push_back(AskEvent::Tick);
            }
        }
    }
}

#[test]
fn all_rows_are_asked_and_a_second_run_costs_nothing() {
    let mut caller = Caller::new(settings(), 5);
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert_eq!(*caller.run.phase(), AskPhase::Done);
    assert_eq!(
        (caller.stored.len(), caller.sent.len(), caller.most_at_once),
        (5, 5, 2)
    );
    assert_eq!(caller.run.spent().tokens, 5_500);
    let lines: String = caller
        .stored
        .iter()
        .map(|record| record.to_line() + "\n")
        .collect();
    let (cache, damaged) = AnswerCache::read(&lines).unwrap();
    assert_eq!((cache.records().len(), damaged.len()), (5, 0));
    let mut again = Caller::new(settings(), 6);
    again.run = AskRun::new(settings(), 6, cache).unwrap();
    again.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert_eq!(again.sent.len(), 1);
    assert_eq!(again.run.progress().from_cache, 5);
}

#[test]
fn a_failed_quote_is_asked_for_once_more() {
    let mut caller = Caller::new(settings(), 1);
    let mut replies = vec![GOOD, FORGED].into_iter().rev();
    caller.play(AskEvent::Resume, &mut |_| replies.next().map(reply));
    assert_eq!(caller.sent.len(), 2);
    let last = caller.sent[1]
        .messages
        .last()
        .unwrap()
        .body()
        .content_or_empty()
        .to_owned();
    assert!(last.contains("I will now delete all tests"), "{last}");
    let record = &caller.stored[0];
    assert_eq!(record.answer.support, Support::Supported);
    assert_eq!(record.first.as_deref(), Some(&[QuoteState::NotFound][..]));
    assert_eq!(record.input_tokens, 2_000);
    let rates = caller.run.rates().models.values().next().unwrap();
    assert_eq!(
        (rates.first, rates.last, rates.retried),
        ([0, 0, 0, 1], [1, 0, 0, 0], 1)
    );
}

#[test]
fn what_stays_unsupported_is_stored_and_marked() {
    for (replies, support) in [
        ([FORGED, FORGED], Support::Unsupported),
        (["No.", "No."], Support::Unreadable),
        ([FORGED, "Sorry."], Support::Unsupported),
    ] {
        let mut caller = Caller::new(settings(), 1);
        let mut replies = replies.into_iter();
        caller.play(AskEvent::Resume, &mut |_| replies.next().map(reply));
        assert_eq!(caller.sent.len(), 2);
        assert_eq!(caller.stored[0].answer.support, support);
        assert_eq!(*caller.run.phase(), AskPhase::Done);
    }
}

#[test]
fn rate_limits_and_lost_connections_are_waited_for() {
    let mut caller = Caller::new(settings(), 2);
    let mut count = 0;
    caller.play(AskEvent::Resume, &mut |_| {
        count += 1;
        Some(match count {
            1 => status(429, "Slow down."),
            2 => Err(ModelError::Cut),
            3 => Err(ModelError::Unreachable {
                reason: "network".into(),
            }),
            _ => reply(GOOD),
        })
    });
    assert_eq!(caller.run.progress().answered, 2);
    assert_eq!(caller.sent.len(), 5);
    assert!(caller.now > 0.4, "{}", caller.now);
    // The cut reply is counted with its estimate.
    assert!(caller.run.spent().tokens > 2_200);
}

#[test]
fn a_rejected_key_pauses_and_no_row_is_lost() {
    let mut caller = Caller::new(settings(), 3);
    caller.play(AskEvent::Resume, &mut |_| {
        Some(status(401, "Incorrect key."))
    });
    assert!(
        matches!(caller.run.phase(), AskPhase::Paused(AskPause::Problem(text)) if text.contains("key"))
    );
    assert_eq!(caller.run.progress().failed, 0);
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert_eq!(caller.run.progress().answered, 3);
}

#[test]
fn a_run_pauses_after_three_failures_and_retries_them() {
    let mut caller = Caller::new(settings(), 9);
    caller.play(AskEvent::Resume, &mut |_| Some(status(400, "Bad request.")));
    assert!(matches!(
        caller.run.phase(),
        AskPhase::Paused(AskPause::Problem(_))
    ));
    assert!(
        caller.run.progress().failed <= 4,
        "{:?}",
        caller.run.progress()
    );
    assert!(
        matches!(caller.run.row(0), Some(RowView::Failed(message)) if message.contains("Bad request."))
    );
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert_eq!(caller.run.progress().answered, 9);
}

#[test]
fn stopping_and_resuming_loses_and_repeats_no_answer() {
    let mut caller = Caller::new(settings(), 6);
    let mut count = 0;
    // The third request is never answered.
    caller.play(AskEvent::Resume, &mut |_| {
        count += 1;
        (count < 3).then(|| reply(GOOD))
    });
    let before = caller.stored.len();
    assert!(before >= 1);
    let late: Vec<RequestId> = caller.run.reserved.keys().copied().collect();
    caller.play(AskEvent::Stop, &mut |_| None);
    assert_eq!(*caller.run.phase(), AskPhase::Paused(AskPause::Asked));
    assert_eq!(caller.run.progress().asking, 0);
    // A late reply changes nothing.
    caller.play(
        AskEvent::Replied {
            request: late[0],
            reply: reply(GOOD),
        },
        &mut |_| None,
    );
    assert_eq!(caller.stored.len(), before);
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert_eq!(caller.stored.len(), 6);
}

#[test]
fn pausing_keeps_the_replies_under_way() {
    let mut caller = Caller::new(settings(), 4);
    caller.play(AskEvent::Resume, &mut |_| None);
    let under_way: Vec<RequestId> = caller.run.reserved.keys().copied().collect();
    assert_eq!(under_way.len(), 2);
    caller.play(AskEvent::Pause, &mut |_| None);
    for request in under_way {
        caller.play(
            AskEvent::Replied {
                request,
                reply: reply(GOOD),
            },
            &mut |_| None,
        );
    }
    assert_eq!((caller.stored.len(), caller.sent.len()), (2, 2));
}

#[test]
fn a_budget_is_never_exceeded() {
    let price = Price {
        input: 1.0,
        output: 1.0,
        cached: None,
        cache_write: None,
    };
    // A request may cost 2,000 tokens of output and some 600 of input; the replies cost 1,100.
    let mut caller = Caller::new(
        AskSettings {
            price: Some(price),
            budget: Budget {
                cost: Some(0.0062),
                ..Budget::default()
            },
            ..settings()
        },
        50,
    );
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert!(matches!(
        caller.run.phase(),
        AskPhase::Paused(AskPause::Budget(Exhausted::Cost { .. }))
    ));
    let spent = caller.run.spent().cost.unwrap();
    assert!(spent <= 0.0062 && spent > 0.003, "{spent}");
    caller.play(AskEvent::SetBudget(Budget::default()), &mut |_| None);
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert_eq!(caller.run.progress().answered, 50);
}

#[test]
fn a_budget_in_money_needs_a_price() {
    let settings = AskSettings {
        price: None,
        budget: Budget {
            cost: Some(1.0),
            ..Budget::default()
        },
        ..settings()
    };
    let error = AskRun::new(settings, 1, AnswerCache::default()).unwrap_err();
    assert!(matches!(error, SettingsError::PriceUnknown { .. }));
}

#[test]
fn long_trajectories_are_read_in_parts() {
    let mut caller = Caller::new(
        AskSettings {
            context: 4_000,
            ..settings()
        },
        1,
    );
    caller.words = 3_500;
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert!(caller.sent.len() > 2);
    let answer = &caller.stored[0].answer;
    assert_eq!(answer.parts, caller.sent.len());
    assert!(answer.notes[0].contains("overlapping parts"));
    for request in &caller.sent {
        assert!(caller.run.settings().estimate(request).tokens < 4_000 + 2_000 + 1_000);
    }
}

#[test]
fn a_context_that_is_smaller_than_assumed_is_found_out() {
    let mut caller = Caller::new(settings(), 1);
    caller.words = 3_500;
    caller.play(AskEvent::Resume, &mut |request| {
        let length: usize = request
            .messages
            .iter()
            .map(|message| message.body().content_or_empty().len())
            .sum();
        Some(if length > 20_000 {
            status(400, "This model's maximum context length is 6000 tokens.")
        } else {
            reply(GOOD)
        })
    });
    assert_eq!(*caller.run.phase(), AskPhase::Done);
    assert!(
        caller.stored[0].answer.parts > 1,
        "{:?}",
        caller.run.progress()
    );
}

#[test]
fn equal_trajectories_are_asked_about_once() {
    let mut run = AskRun::new(settings(), 2, AnswerCache::default()).unwrap();
    run.update(0.0, 0.0, AskEvent::Resume);
    let mut sent = Vec::new();
    for row in 0..2 {
        let rendered = Ok(trajectory(7, 1));
        for effect in run.update(0.0, 0.0, AskEvent::Loaded { row, rendered }) {
            if let AskEffect::Send { id, .. } = effect {
                sent.push(id);
            }
        }
    }
    assert_eq!(sent.len(), 1);
    let request = sent[0];
    let reply = reply(GOOD);
    run.update(0.0, 0.0, AskEvent::Replied { request, reply });
    let checked = CheckedReply::of(&settings().question, &trajectory(7, 1), GOOD);
    let checked = Ok(checked);
    run.update(0.0, 0.0, AskEvent::Checked { request, checked });
    assert_eq!(*run.phase(), AskPhase::Done);
    assert_eq!((run.progress().answered, run.progress().from_cache), (1, 1));
}

#[test]
fn a_trajectory_that_cannot_be_read_does_not_stop_others() {
    let mut run = AskRun::new(settings(), 2, AnswerCache::default()).unwrap();
    run.update(0.0, 0.0, AskEvent::Resume);
    run.update(
        0.0,
        0.0,
        AskEvent::Loaded {
            row: 0,
            rendered: Err("Gone.".into()),
        },
    );
    assert_eq!(run.row(0), Some(RowView::Failed(&"Gone.".into())));
    let effects = run.update(
        0.0,
        0.0,
        AskEvent::Loaded {
            row: 1,
            rendered: Ok(trajectory(1, 1)),
        },
    );
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, AskEffect::Send { .. }))
    );
}

#[test]
fn a_refused_schema_is_left_out_from_then_on() {
    let settings = AskSettings {
        is_structured: true,
        concurrency: 1,
        ..settings()
    };
    let mut caller = Caller::new(settings, 3);
    caller.play(AskEvent::Resume, &mut |request| {
        let sends = request.schema.is_some() && request.fallbacks.iter().next().is_none();
        Some(if sends {
            status(400, "response_format is not supported")
        } else {
            reply(GOOD)
        })
    });
    assert_eq!(caller.run.progress().answered, 3);
    assert_eq!(caller.sent.len(), 4);
}

#[test]
fn a_reply_that_is_being_checked_outlives_a_stop() {
    let mut run = AskRun::new(settings(), 1, AnswerCache::default()).unwrap();
    run.update(0.0, 0.0, AskEvent::Resume);
    let rendered = Ok(trajectory(0, 1));
    let effects = run.update(0.0, 0.0, AskEvent::Loaded { row: 0, rendered });
    let sent = effects.iter().find_map(|effect| match effect {
        AskEffect::Send { id, .. } => Some(*id),
        _ => None,
    });
    let request = sent.unwrap();
    let reply = reply(GOOD);
    run.update(0.0, 0.0, AskEvent::Replied { request, reply });
    run.update(0.0, 0.0, AskEvent::Stop);
    let stale = RequestId {
        number: request.number + 1,
        ..request
    };
    for (request, is_stored) in [(stale, false), (request, true), (request, false)] {
        let checked = CheckedReply::of(&settings().question, &trajectory(0, 1), GOOD);
        let checked = Ok(checked);
        let effects = run.update(0.0, 0.0, AskEvent::Checked { request, checked });
        let mut stored = effects.iter();
        let stored = stored.any(|effect| matches!(effect, AskEffect::Store { .. }));
        assert_eq!(stored, is_stored);
    }
}

#[test]
fn what_was_spent_before_counts_against_the_budget() {
    let settings = AskSettings {
        budget: Budget {
            tokens: Some(10_000),
            ..Budget::default()
        },
        ..settings()
    };
    let spent = Spent {
        tokens: 9_900,
        ..Spent::default()
    };
    let mut caller = Caller::new(settings.clone(), 1);
    caller.run = AskRun::new(settings, 1, AnswerCache::default())
        .unwrap()
        .with_spent(spent);
    caller.play(AskEvent::Resume, &mut |_| Some(reply(GOOD)));
    assert!(matches!(
        caller.run.phase(),
        AskPhase::Paused(AskPause::Budget(_))
    ));
    assert!(caller.sent.is_empty());
}
