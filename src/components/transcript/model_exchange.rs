//! How a step of a model came about: reasoning, usage, and requests.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_trajectory::StepRecord;
use volary_trajectory::passages::{Part, Place};

use super::message_text::{Manner, message_text};
use super::reader::Reader;
use super::reading::{Kind, Spot};
use crate::components::erased::{flag, shown, words};
use crate::components::icon::{Glyph, icon};
use crate::components::markup::{El, all, button, el};
use crate::components::text::{inert, inert_in};
use crate::projection::asking::{exchanges, facts, notes};
use crate::projection::highlight::holder_id;

/// The part number of reasoning: text is part 0, and no message has this many parts.
pub(super) const THOUGHT: usize = usize::MAX;

/// The model's reasoning, collapsed by default.
pub(super) fn thinking(reader: Reader, step: usize, record: &StepRecord) -> Option<El> {
    let thought = thought(record)?;
    let shut = RwSignal::new(true);
    let reading = reader.reading;
    let own = reading.map(|reading| (reading, reading.own(step, Spot::Thought)));
    let is_open = flag(move || match own {
        Some((reading, own)) => !reading.is_folded(Kind::Reasoning, own.get()),
        None => !shut.get(),
    });
    let change = move || match own {
        Some((_, own)) => {
            let fold = is_open.get_untracked();
            own.update(|own| own.folded = Some(fold));
        }
        None => shut.update(|shut| *shut = !*shut),
    };
    let toggle = button("quiet small thinking-toggle")
        .attr("aria-expanded", words(move || is_open.get().to_string()))
        .on_click(change)
        .child(icon(Glyph::Chevron))
        .child("Thinking");
    let place = (step, 0, THOUGHT);
    let id = reading.and_then(|_| {
        holder_id(Place {
            step,
            message: 0,
            part: Part::Reasoning,
        })
    });
    let text = shown(
        move || is_open.get(),
        move || {
            el("div")
                .class("thinking")
                .attr("id", id.clone())
                .child(message_text(
                    reader,
                    place,
                    thought.clone(),
                    0,
                    Manner::Prose,
                ))
                .view()
        },
    );
    Some(el("div").class("thought").child(toggle).child(text))
}

fn thought(record: &StepRecord) -> Option<Text> {
    let said = record.details.reasoning.clone();
    let thought = said.or_else(|| match &record.action {
        AnyMessage::Request(request) => {
            let info = request.body.info.as_ref()?;
            info.get("reasoning_content")?.as_text().cloned()
        }
        _ => None,
    });
    thought.filter(|thought| !thought.trim().is_empty())
}

/// The usage of the step, with a button that shows its requests.
pub(super) fn model_exchange(reader: Reader, step: usize, record: &StepRecord) -> Option<El> {
    let facts = facts(record);
    let errors = &record.details.errors;
    if facts.is_empty() && errors.is_empty() {
        return None;
    }
    let errors = errors.iter().map(|error| {
        el("p")
            .class("step-error")
            .child(icon(Glyph::Warning))
            .child(inert_in("span", "failure", &error.message))
            .view()
    });
    let errors = errors.collect::<Vec<_>>();
    let said = facts
        .iter()
        .map(|fact| el("span").child(inert(fact)).view());
    let sent = !exchanges(&record.extras).is_empty();
    let inspect = reader.on_inspect.filter(|_| sent).map(|inspect| {
        button("quiet small")
            .attr("aria-haspopup", "dialog")
            .on_click(move || inspect.run(step))
            .child("Request")
    });
    let notes = notes(&record.extras).into_iter();
    let notes = notes.map(|note| inert_in("p", "turn-note", &note).view());
    Some(
        el("div")
            .class("asked")
            .child(
                el("p")
                    .class("asked-facts")
                    .child(all(said.collect()))
                    .child(inspect),
            )
            .child(all(notes.collect()))
            .child(errors),
    )
}
