//! Questions to models: renders episodes as texts, measures them for a plan, and checks the quotes of replies.
//!
//! A reply is checked against the text that the model saw, which is why the last texts are kept. If one is not there any
//! more, the episode is rendered again, which gives the same text as long as the episode did not change.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use volary_analysis::sensitive;
use volary_ask::parts;
use volary_ask::plan::room;
use volary_ask::run::CheckedReply;
use volary_ask::{RenderOptions, Rendered};
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_protocol::RequestId;
use volary_protocol::asking::{
    AskTerms, CheckedMessage, MeasuredText, MeasuredTexts, SaidReply, UnrenderedText,
};
use volary_protocol::library::Event;

use super::opening;
use super::state::{LibraryService, Output, Send};
use crate::error::LibraryError;

/// The number of texts that are kept: those of the largest number of requests at one time.
const MOST_KEPT: usize = 64;
/// The number of texts between two reports of progress.
const REPORTED: usize = 20;

/// The state of this module.
#[derive(Default)]
pub(super) struct AskingState {
    /// The last request to measure texts.
    last: Cell<RequestId>,
    /// The last texts, the newest first.
    kept: RefCell<VecDeque<KeptRendering>>,
}

/// A text, with what it was rendered from.
struct KeptRendering {
    id: Text,
    options: RenderOptions,
    rendered: Rc<Rendered>,
}

/// Renders episodes and sends what a plan needs of them, unless a newer request supersedes this one.
pub(super) async fn measure(
    library: &LibraryService,
    request: RequestId,
    ids: &[Text],
    terms: &AskTerms,
    send: Send<'_>,
) {
    library.asking.last.set(request);
    let room = room(terms.context, &terms.question);
    let mut measured = MeasuredTexts::default();
    let mut kinds = Vec::new();
    for (index, id) in ids.iter().enumerate() {
        if library.asking.last.get() != request {
            return;
        }
        if index.is_multiple_of(REPORTED) {
            let doing = format!(
                "Reading {} of {}",
                count_text(index),
                plural(ids.len(), "trajectory")
            );
            send(Output::Event(Event::Progress {
                doing: doing.into(),
                done: Some(index as f64 / ids.len() as f64),
            }));
        }
        let episode = match opening::episode(library, id).await {
            Ok(episode) => episode,
            Err(error) => {
                measured.missing.push(UnrenderedText {
                    id: id.clone(),
                    reason: error.to_string().into(),
                });
                continue;
            }
        };
        let rendered = Rendered::of(&episode, &terms.options);
        if rendered.masked > 0 {
            let found = sensitive::check(&episode).into_iter();
            kinds.extend(found.map(|finding| finding.kind));
        }
        measured.texts.push(MeasuredText {
            id: id.clone(),
            tokens: rendered.tokens(),
            key: parts::answer_key_of(
                &rendered,
                room,
                &terms.question,
                &terms.model,
                &terms.sampling,
            ),
            cut: rendered.cut as u64,
        });
    }
    measured.masked = sensitive::summary(kinds).into();
    send(Output::Event(Event::Measured(measured)));
}

/// Renders an episode.
pub(super) async fn rendered(
    library: &LibraryService,
    id: &Text,
    options: &RenderOptions,
) -> Result<Rc<Rendered>, LibraryError> {
    let known = {
        let kept = library.asking.kept.borrow();
        let mut kept = kept.iter();
        kept.find(|one| one.id == *id && one.options == *options)
            .map(|one| Rc::clone(&one.rendered))
    };
    if let Some(known) = known {
        return Ok(known);
    }
    let episode = opening::episode(library, id).await?;
    let rendered = Rc::new(Rendered::of(&episode, options));
    let mut kept = library.asking.kept.borrow_mut();
    kept.push_front(KeptRendering {
        id: id.clone(),
        options: options.clone(),
        rendered: Rc::clone(&rendered),
    });
    kept.truncate(MOST_KEPT);
    Ok(rendered)
}

/// Checks what a model said about an episode.
pub(super) async fn check(
    library: &LibraryService,
    reply: &SaidReply,
) -> Result<CheckedMessage, LibraryError> {
    let rendered = rendered(library, &reply.id, &reply.options).await?;
    Ok(CheckedMessage(CheckedReply::of(
        &reply.question,
        &rendered,
        &reply.said,
    )))
}

#[cfg(test)]
mod tests {
    use volary_ask::cache::Sampling;
    use volary_ask::{AnswerType, Question, QuoteState};
    use volary_protocol::library::Request;

    use super::super::tests::*;
    use super::*;

    fn terms(model: &str) -> Box<AskTerms> {
        Box::new(AskTerms {
            question: question(),
            model: model.into(),
            sampling: Sampling::default(),
            context: 10_000,
            options: RenderOptions::default(),
        })
    }

    fn question() -> Question {
        Question {
            text: "Did it?".into(),
            answer: AnswerType::YesNo,
        }
    }

    fn library() -> LibraryService {
        let service = service();
        let episodes = [
            episode("a", "book a flight"),
            episode(
                "b",
                "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
            ),
        ];
        read(&service, &[file("x.jsonl", &episodes)]);
        service
    }

    fn measured(service: &LibraryService, ids: &[&str], model: &str) -> MeasuredTexts {
        let ids = ids.iter().map(|id| (*id).into()).collect();
        let terms = terms(model);
        let said = ask(service, Request::MeasureTexts { ids, terms });
        match said.last() {
            Some(Output::Event(Event::Measured(measured))) => measured.clone(),
            _ => panic!("{said:?}"),
        }
    }

    #[test]
    fn texts_are_measured_and_what_is_missing_is_named() {
        let service = library();
        let first = measured(&service, &["a", "gone", "b"], "m");
        let ids: Vec<&str> = first.texts.iter().map(|text| &*text.id).collect();
        assert_eq!(ids, ["a", "b"]);
        assert!(first.texts.iter().all(|text| text.tokens > 10));
        assert_eq!(&*first.missing[0].id, "gone");
        assert!(first.masked.contains("key"), "{}", first.masked);
        let other = measured(&service, &["a"], "n");
        assert_ne!(first.texts[0].key, other.texts[0].key);
        assert_eq!(&*other.masked, "");
    }

    #[test]
    fn replies_are_checked_against_the_text_that_was_sent() {
        let service = library();
        let options = RenderOptions::default();
        let said = ask(
            &service,
            Request::RenderText {
                id: "a".into(),
                options: options.clone(),
            },
        );
        let [Output::Event(Event::Rendered(rendered))] = &said[..] else {
            panic!("{said:?}");
        };
        let index = rendered
            .messages
            .iter()
            .position(|message| message.text.contains("book a flight"));
        let said = format!(
            r#"{{"label":"yes","explanation":"x","evidence":[{{"message":{},"quote":"book a flight"}}]}}"#,
            index.unwrap()
        );
        let reply = SaidReply {
            id: "a".into(),
            options,
            question: question(),
            said: said.into(),
        };
        let said = ask(&service, Request::CheckReply(Box::new(reply.clone())));
        let [Output::Event(Event::ReplyChecked(checked))] = &said[..] else {
            panic!("{said:?}");
        };
        let evidence = &checked.0.answer.evidence[0];
        assert_eq!(evidence.state, QuoteState::Exact);
        assert!(evidence.at.is_some());
        let gone = SaidReply {
            id: "gone".into(),
            ..reply
        };
        let said = ask(&service, Request::CheckReply(Box::new(gone)));
        assert!(matches!(said[..], [Output::Event(Event::Refused { .. })]));
    }
}
