//! The requests and responses of a step as sent over the wire, without the key.

use leptos::prelude::*;
use volary_agent::model::Exchange;
use volary_agent::model::exchange::{KeptError, KeptReply};
use volary_core::json::{self, Text};

use super::copy_button::copy_button;
use super::erased::{dynamic, words};
use super::json_text::json_text;
use super::markup::{El, all, button, el, nothing};
use super::text::{folded_text, inert};
use crate::projection::size_text;
use crate::projection::summary::seconds_text;

/// The exchanges of a step, one at a time, starting with the last one.
pub fn inspector(exchanges: Signal<Vec<Result<Exchange, KeptError>>>) -> AnyView {
    let chosen = RwSignal::new(0_usize);
    dynamic(move || {
        let exchanges = exchanges.get();
        let last = exchanges.len().saturating_sub(1);
        chosen.set(last);
        if exchanges.is_empty() {
            return el("p")
                .class("faint")
                .child("No requests recorded for this step.")
                .view();
        }
        let choice = (last > 0).then(|| tries(&exchanges, chosen));
        let shown = dynamic(move || {
            let exchange = exchanges.get(chosen.get());
            match exchange {
                Some(Ok(exchange)) => exchange_view(exchange),
                Some(Err(error)) => unreadable(*error),
                None => nothing(),
            }
        });
        el("div")
            .class("inspector")
            .child(choice)
            .child(shown)
            .view()
    })
}

/// Selects one of several exchanges.
fn tries(exchanges: &[Result<Exchange, KeptError>], chosen: RwSignal<usize>) -> El {
    let buttons = exchanges.iter().enumerate().map(|(place, exchange)| {
        let reply = exchange.as_ref().map(|exchange| &exchange.reply);
        let outcome = match reply {
            Ok(Some(reply)) => reply.status.to_string(),
            Ok(None) => "no response".to_owned(),
            Err(_) => "unreadable".to_owned(),
        };
        button("small")
            .attr(
                "aria-pressed",
                words(move || (chosen.get() == place).to_string()),
            )
            .on_click(move || chosen.set(place))
            .child(format!("Request {} ({outcome})", place + 1))
            .view()
    });
    el("div")
        .class("button-row")
        .attr("role", "group")
        .attr("aria-label", "Requests of this step")
        .child(all(buttons.collect()))
}

/// Why a recorded request cannot be shown.
fn unreadable(error: KeptError) -> AnyView {
    el("p")
        .class("alert")
        .attr("role", "alert")
        .child(error.to_string())
        .view()
}

fn exchange_view(exchange: &Exchange) -> AnyView {
    let curl = exchange.to_curl();
    let body = exchange.body.clone();
    let request = el("section")
        .attr("aria-label", "Request")
        .child(
            el("div")
                .class("inspector-head")
                .child(el("h3").child("Request"))
                .child(copy_button(
                    Callback::new(move |()| curl.clone()),
                    "Copy as curl",
                    false,
                ))
                .child(copy_button(
                    Callback::new(move |()| body.to_string()),
                    "Copy body",
                    false,
                )),
        )
        .child(
            el("p")
                .class("inspector-line")
                .child(el("span").class("badge").child(exchange.method.to_string()))
                .child(el("code").child(inert(&exchange.url))),
        )
        .child(headers(
            exchange
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string())),
        ))
        .child((!exchange.body.is_empty()).then(|| body_view(&exchange.body)));
    let reply = el("section")
        .attr("aria-label", "Response")
        .child(reply_view(exchange));
    all(vec![request.view(), reply.view()])
}

fn reply_view(exchange: &Exchange) -> AnyView {
    let timing = exchange.timing;
    let mut facts = vec![format!("{} in total", seconds_text(timing.latency))];
    if let Some(first) = timing.first_token {
        facts.push(format!("first token after {}", seconds_text(first)));
    }
    let Some(reply) = &exchange.reply else {
        return all(vec![
            el("h3").child("Response").view(),
            el("p")
                .class("faint")
                .child("No response, or the request was stopped before the response ended.")
                .view(),
        ]);
    };
    facts.push(size_text(reply.bytes));
    let body = reply.body.clone();
    let good = (200..300).contains(&reply.status);
    let badge = if good { "badge good" } else { "badge bad" };
    all(vec![
        el("div")
            .class("inspector-head")
            .child(el("h3").child("Response"))
            .child(copy_button(
                Callback::new(move |()| body.to_string()),
                "Copy response",
                false,
            ))
            .view(),
        el("p")
            .class("inspector-line")
            .child(el("span").class(badge).child(reply.status.to_string()))
            .child(el("span").class("faint").child(facts.join(" · ")))
            .view(),
        headers([("content-type".to_owned(), reply.content_type.to_string())].into_iter()).view(),
        cut_note(reply).map_or_else(nothing, El::view),
        body_view(&reply.body).view(),
    ])
}

fn cut_note(reply: &KeptReply) -> Option<El> {
    (reply.bytes > reply.body.len() && reply.body.len() >= 1_000_000).then(|| {
        let kept = size_text(reply.body.len());
        el("p")
            .class("faint")
            .child(format!("Only the first {kept} are stored."))
    })
}

fn headers(headers: impl Iterator<Item = (String, String)>) -> El {
    let rows = headers.filter(|(_, value)| !value.is_empty());
    let rows = rows.map(|(name, value)| {
        el("div")
            .child(el("dt").child(inert(&name)))
            .child(el("dd").child(inert(&value)))
            .view()
    });
    el("dl").class("headers").child(all(rows.collect()))
}

/// JSON is formatted; other bodies, such as streams, are shown as text.
fn body_view(body: &Text) -> El {
    let fold = RwSignal::default();
    let view = match json::read(body) {
        Ok(value) => json_text(&value, fold),
        Err(_) => folded_text(body.clone(), fold),
    };
    el("div").class("inspector-body").child(view)
}
