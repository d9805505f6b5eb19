//! The recorded requests and responses of a step, without the API key.

use leptos::prelude::*;
use volary_agent::model::Exchange;
use volary_agent::model::exchange::KeptError;
use volary_core::json::{self, Text};
use volary_view::exchange_texts::{cut_text, is_success, reply_facts, request_text, status_text};

use super::copy_button::CopyButton;
use super::json_text::json_text;
use super::text::{folded_text, inert};

/// The exchanges of a step, one at a time, starting with the last one.
#[component]
pub fn Inspector(
    #[prop(into)] exchanges: Signal<Vec<Result<Exchange, KeptError>>>,
) -> impl IntoView {
    let chosen = RwSignal::new(0_usize);
    move || {
        let exchanges = exchanges.get();
        let last = exchanges.len().saturating_sub(1);
        chosen.set(last);
        if exchanges.is_empty() {
            return view! { <p class="faint">"No requests recorded for this step."</p> }.into_any();
        }
        let choice = (last > 0).then(|| attempts(&exchanges, chosen));
        let shown = move || match exchanges.get(chosen.get())? {
            Ok(exchange) => Some(exchange_view(exchange)),
            Err(error) => Some(unreadable(*error)),
        };
        view! { <div class="inspector">{choice} {shown}</div> }.into_any()
    }
}

/// Tabs that select one of several exchanges.
fn attempts(
    exchanges: &[Result<Exchange, KeptError>],
    chosen: RwSignal<usize>,
) -> impl IntoView + use<> {
    let buttons = exchanges.iter().enumerate().map(|(place, exchange)| {
        let name = request_text(place + 1, exchange);
        view! {
            <button
                type="button"
                class="small"
                aria-pressed=move || (chosen.get() == place).to_string()
                on:click=move |_| chosen.set(place)
            >
                {name}
            </button>
        }
    });
    view! {
        <div class="button-row" role="group" aria-label="Requests of this step">
            {buttons.collect_view()}
        </div>
    }
}

/// An alert that a recorded request cannot be shown.
fn unreadable(error: KeptError) -> AnyView {
    view! {
        <p class="alert" role="alert">
            {error.to_string()}
        </p>
    }
    .into_any()
}

fn exchange_view(exchange: &Exchange) -> AnyView {
    // A call of the browser's own model has no address.
    let curl = exchange.url.starts_with("http").then(|| {
        let curl = exchange.to_curl();
        view! { <CopyButton text=move || curl.clone() label="Copy as curl"/> }
    });
    let body = exchange.body.clone();
    let sent = exchange.headers.iter();
    let sent = sent.map(|(name, value)| (name.to_string(), value.to_string()));
    view! {
        <section aria-label="Request">
            <div class="inspector-head">
                <h3>{"Request"}</h3>
                {curl}
                <CopyButton text=move || body.to_string() label="Copy body"/>
            </div>
            <p class="inspector-line">
                <span class="badge">{exchange.method.to_string()}</span>
                <code>{inert(&exchange.url)}</code>
            </p>
            {headers(sent)}
            {(!exchange.body.is_empty()).then(|| body_view(&exchange.body))}
        </section>
        <section aria-label="Response">{reply_view(exchange)}</section>
    }
    .into_any()
}

fn reply_view(exchange: &Exchange) -> AnyView {
    let Some(reply) = &exchange.reply else {
        return view! {
            <h3>"Response"</h3>
            <p class="faint">
                "No response, or the request was stopped before the response ended."
            </p>
        }
        .into_any();
    };
    let body = reply.body.clone();
    let badge = if is_success(reply.status) {
        "badge good"
    } else {
        "badge bad"
    };
    let cut = cut_text(reply).map(|text| view! { <p class="faint">{text}</p> });
    let received = [("content-type".to_owned(), reply.content_type.to_string())];
    view! {
        <div class="inspector-head">
            <h3>{"Response"}</h3>
            <CopyButton text=move || body.to_string() label="Copy response"/>
        </div>
        <p class="inspector-line">
            <span class=badge>{status_text(reply.status)}</span>
            <span class="faint">{reply_facts(exchange.timing, reply)}</span>
        </p>
        {headers(received.into_iter())}
        {cut}
        {body_view(&reply.body)}
    }
    .into_any()
}

fn headers(headers: impl Iterator<Item = (String, String)>) -> AnyView {
    let rows = headers.filter(|(_, value)| !value.is_empty());
    let rows = rows.map(|(name, value)| {
        view! {
            <div>
                <dt>{inert(&name)}</dt>
                <dd>{inert(&value)}</dd>
            </div>
        }
    });
    view! { <dl class="headers">{rows.collect_view()}</dl> }.into_any()
}

/// Renders a body. JSON is formatted; other bodies, such as streams, are shown as text.
fn body_view(body: &Text) -> AnyView {
    let fold = RwSignal::default();
    let body = match json::read(body) {
        Ok(value) => json_text(&value, fold),
        Err(_) => folded_text(body.clone(), fold),
    };
    view! { <div class="inspector-body">{body}</div> }.into_any()
}
