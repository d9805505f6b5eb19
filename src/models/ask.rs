//! Sends one request to a model: retries it if that may help, changes it if the model rejects a parameter, and records
//! it without the key.
//!
//! **Security invariant:** a request only uses the key that was entered for the origin of its address.
//! [`Ask::of`] looks it up, and there is no other way to provide one.
//!
//! Dropping the future of [`ask`] cancels the request.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use leptos::prelude::untrack;
use volary_agent::model::exchange::{Exchange, Keeping, Timing};
use volary_agent::model::retry::{Next, Patience, Tries, seconds_of_header};
use volary_agent::model::{
    Answer, ApiKey, Connection, Delta, DeltaRedactor, ModelError, ModelRequest, ParameterFallback,
    ParameterFallbacks, Reply,
};
use volary_connectivity::{Cause, Silence};
use volary_core::json::{Text, to_json};

use super::{Saved, rollout};
use crate::browser::http::{self, HttpError};
use crate::browser::{self, language_model, network, timers};

/// The connection to use, and its timeouts.
#[derive(Clone)]
pub struct Ask<'a> {
    connection: &'a Connection,
    key: ApiKey,
    /// The timeouts for a server that sends nothing.
    pub silence: http::Patience,
    /// The maximum number of attempts.
    pub tries: Patience,
}

impl<'a> Ask<'a> {
    /// Uses the key that was entered for the connection's address, and default timeouts.
    pub fn of(saved: &'a Saved) -> Self {
        Ask {
            connection: &saved.connection,
            key: untrack(|| saved.key()),
            silence: http::Patience::default(),
            tries: Patience::default(),
        }
    }

    pub fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Whether the request carries a key.
    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// Removes the key from a text.
    pub fn redact(&self, text: &str) -> String {
        self.key.redact(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestProgress<'a> {
    /// The request is being sent. Output of earlier attempts is void.
    Sending {
        /// The attempt, counted from 1.
        attempt: u32,
        /// The request.
        exchange: &'a Exchange,
    },
    /// Deltas of the response, without the key.
    Deltas(&'a [Delta]),
    /// The model rejected a parameter; the request is repeated without it.
    FellBack {
        /// The note about the change.
        fallback: ParameterFallback,
        /// The rejected request and its response.
        exchange: &'a Exchange,
    },
    /// The request failed and is retried after a delay.
    Waiting {
        /// The delay.
        seconds: f64,
        error: &'a ModelError,
        /// The failed request and its response.
        exchange: &'a Exchange,
    },
}

/// A response with its exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The response, without the key if it was echoed.
    pub answer: Answer,
    /// The request and its response.
    pub exchange: Exchange,
}

/// A failed request, with partial output.
#[derive(Clone, Debug, PartialEq)]
pub struct Unanswered {
    pub error: ModelError,
    /// The HTTP error that caused it, if there was one.
    pub(super) at_the_door: Option<HttpError>,
    /// The diagnosis, if there was no response.
    pub(super) silence: Option<Silence>,
    /// Partial output, without the key.
    pub partial: Option<Answer>,
    /// The last request and its response.
    pub exchange: Exchange,
}

thread_local! {
    /// Parameters that each model rejected, by address and model. Only in memory, because models change.
    static FALLBACKS: RefCell<BTreeMap<(Text, Text), ParameterFallbacks>> = RefCell::default();
    /// Addresses that responded at least once. For others a failure is not transient.
    static ANSWERED: RefCell<BTreeSet<Text>> = RefCell::default();
}

/// Calls a model. Parameters that it rejects are removed; those that it is known to reject are not sent.
pub async fn ask(
    ask: &Ask<'_>,
    request: &mut ModelRequest,
    heard: &mut dyn FnMut(RequestProgress<'_>),
) -> Result<Asked, Box<Unanswered>> {
    let mut asking = Asking::new(ask.clone(), request);
    loop {
        let (unanswered, next) = match asking.send(request, heard).await {
            Ok(asked) => return Ok(asked),
            Err(failed) => failed,
        };
        match next {
            Next::FallBack(_) => {}
            Next::Wait(seconds) => {
                timers::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
            }
            Next::GiveUp => return Err(unanswered),
        }
    }
}

/// A request with its attempts, for callers that schedule the delays themselves.
pub struct Asking<'a> {
    ask: Ask<'a>,
    place: (Text, Text),
    tries: Tries,
    attempt: u32,
    started: f64,
}

impl<'a> Asking<'a> {
    /// Prepares a request without sending it: removes parameters that the model is known to reject.
    pub fn new(ask: Ask<'a>, request: &mut ModelRequest) -> Self {
        let place = (
            ask.connection.base_url.clone(),
            ask.connection.model.clone(),
        );
        let known = FALLBACKS.with_borrow(|fallbacks| fallbacks.get(&place).copied());
        for fallback in known.unwrap_or_default().iter() {
            request.fallbacks = request.fallbacks.with(fallback);
        }
        Asking {
            tries: Tries::new(ask.tries, browser::random_number()),
            ask,
            place,
            attempt: 0,
            started: timers::now(),
        }
    }

    /// Sends the request once. A failure returns the next action: send again, immediately or after a delay, or give
    /// up.
    pub async fn send(
        &mut self,
        request: &mut ModelRequest,
        heard: &mut dyn FnMut(RequestProgress<'_>),
    ) -> Result<Asked, (Box<Unanswered>, Next)> {
        self.attempt += 1;
        if let Err(error) = rollout::render(self.ask.connection, request).await {
            let unanswered = Unanswered::of_reply(error, Exchange::default());
            return Err((Box::new(unanswered), Next::GiveUp));
        }
        let before = timers::now() - self.started;
        let mut sent = exchanged(&self.ask, request, self.attempt, heard).await;
        let exchange = match &mut sent {
            Ok(asked) => &mut asked.exchange,
            Err(unanswered) => &mut unanswered.exchange,
        };
        exchange.timing.before = before;
        if exchange.reply.is_some() {
            ANSWERED.with_borrow_mut(|answered| answered.insert(self.place.0.clone()));
        }
        let mut unanswered = match sent {
            Ok(asked) => return Ok(asked),
            Err(unanswered) => unanswered,
        };
        unanswered.find_out(&self.place.0).await;
        if unanswered.is_hopeless(&self.place.0) {
            return Err((unanswered, Next::GiveUp));
        }
        let kind = self.ask.connection.kind;
        let next = self.tries.after(kind, request, &unanswered.error);
        let (error, exchange) = (&unanswered.error, &unanswered.exchange);
        match next {
            Next::FallBack(fallback) => {
                let fallbacks = request.fallbacks;
                FALLBACKS.with_borrow_mut(|known| known.insert(self.place.clone(), fallbacks));
                heard(RequestProgress::FellBack { fallback, exchange });
            }
            Next::Wait(seconds) => heard(RequestProgress::Waiting {
                seconds,
                error,
                exchange,
            }),
            Next::GiveUp => {}
        }
        Err((unanswered, next))
    }
}

impl Unanswered {
    pub(super) fn of_reply(error: ModelError, exchange: Exchange) -> Self {
        Unanswered {
            error,
            at_the_door: None,
            silence: None,
            partial: None,
            exchange,
        }
    }

    pub(super) fn at_the_door(error: HttpError, exchange: Exchange) -> Self {
        Unanswered {
            at_the_door: Some(error.clone()),
            ..Unanswered::of_reply(model_error(error), exchange)
        }
    }

    /// Diagnoses a missing response, for which the browser gives no reason.
    async fn find_out(&mut self, base_url: &str) {
        if let Some(HttpError::NoReply { .. }) = self.at_the_door {
            let silence = network::probe(base_url).await;
            let page = network::page();
            let why = Cause::of(base_url, &page, &silence).why(base_url, &page);
            self.error = ModelError::Unreachable { reason: why.into() };
            self.silence = Some(silence);
        }
    }

    /// Whether a retry is useless, even if errors of this kind are usually transient.
    fn is_hopeless(&self, base_url: &Text) -> bool {
        match self.at_the_door {
            Some(HttpError::Redirected | HttpError::Unsendable { .. }) => true,
            Some(HttpError::NoReply { .. }) => {
                let cause = self
                    .silence
                    .map(|silence| Cause::of(base_url, &network::page(), &silence));
                cause.is_some_and(|cause| !cause.may_pass())
                    || !ANSWERED.with_borrow(|answered| answered.contains(base_url))
            }
            _ => false,
        }
    }
}

/// Sends the request once.
async fn exchanged(
    ask: &Ask<'_>,
    request: &ModelRequest,
    attempt: u32,
    heard: &mut dyn FnMut(RequestProgress<'_>),
) -> Result<Asked, Box<Unanswered>> {
    let (connection, key) = (ask.connection, &ask.key);
    let provider = connection.provider();
    let http = provider.request(&connection.base_url, key, request);
    let mut exchange = Exchange::of(&http, key);
    exchange.tries = attempt;
    heard(RequestProgress::Sending {
        attempt,
        exchange: &exchange,
    });
    if !connection.kind.has_server() {
        return called(ask, exchange, heard).await;
    }
    let started = timers::now();
    let mut response = match http::send(&outgoing(&http), ask.silence).await {
        Ok(response) => response,
        Err(error) => {
            exchange.timing.latency = timers::now() - started;
            return Err(Box::new(Unanswered::at_the_door(error, exchange)));
        }
    };
    let status = response.status();
    let content_type = response.header("content-type").unwrap_or_default();
    let wait = response.header("retry-after");
    let wait = wait.and_then(|value| seconds_of_header(&value, timers::wall_clock()));
    let mut reply = Reply::new(provider, key, status, &content_type, wait);
    let mut keeping = Keeping::default();
    let mut first_token = None;
    let mut deltas = Vec::new();
    let mut redactor = DeltaRedactor::new(key);
    let mut emit = |deltas: &mut Vec<Delta>, is_over: bool| {
        if first_token.is_none() && deltas.iter().any(Delta::is_content) {
            first_token = Some(timers::now() - started);
        }
        redactor.redact(deltas);
        if is_over {
            redactor.finish(deltas);
        }
        if !deltas.is_empty() {
            heard(RequestProgress::Deltas(deltas));
            deltas.clear();
        }
    };
    let broken = loop {
        match response.piece().await {
            Ok(Some(piece)) => {
                keeping.push(&piece);
                let pushed = reply.push(&piece, &mut deltas);
                emit(&mut deltas, false);
                if let Err(error) = pushed {
                    break Some(error);
                }
            }
            // A broken connection ends the stream like any other end: the reader decides whether the response is
            // complete.
            Ok(None) | Err(HttpError::Broken { .. }) => break None,
            Err(error) => break Some(model_error(error)),
        }
    };
    let partial = reply.partial().map(|partial| partial.redacted(key));
    let answer = match broken {
        Some(error) => Err(error),
        None => reply.finish(&mut deltas),
    };
    emit(&mut deltas, true);
    exchange.reply = Some(keeping.finish(status, &content_type, key));
    exchange.timing = Timing {
        first_token,
        latency: timers::now() - started,
        before: 0.0,
    };
    match answer {
        Ok(answer) => Ok(Asked {
            answer: answer.redacted(key),
            exchange,
        }),
        Err(error) => Err(Box::new(Unanswered {
            partial,
            ..Unanswered::of_reply(error, exchange)
        })),
    }
}

/// Calls the browser's built-in model with the body of the request. The reply is recorded as if it came from a server,
/// with the status 0 if the call failed.
async fn called(
    ask: &Ask<'_>,
    mut exchange: Exchange,
    heard: &mut dyn FnMut(RequestProgress<'_>),
) -> Result<Asked, Box<Unanswered>> {
    let limit = ask.silence.before;
    let started = timers::now();
    let called = language_model::prompt(&exchange.body, limit).await;
    exchange.timing.latency = timers::now() - started;
    let Ok(reply) = called else {
        let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX);
        let error = ModelError::Silent { seconds };
        return Err(Box::new(Unanswered::of_reply(error, exchange)));
    };
    // Texts and numbers always serialize.
    let body = to_json(&reply).unwrap_or_default();
    let mut keeping = Keeping::default();
    keeping.push(body.to_compact_text().as_bytes());
    let status = if reply.error.is_none() { 200 } else { 0 };
    exchange.reply = Some(keeping.finish(status, "application/json", &ask.key));
    match ask.connection.provider().read(&body) {
        Ok(answer) => {
            let text = answer.text.clone().map(Delta::Text);
            let usage = answer.usage.map(Delta::Usage);
            let deltas: Vec<Delta> = text.into_iter().chain(usage).collect();
            heard(RequestProgress::Deltas(&deltas));
            Ok(Asked { answer, exchange })
        }
        Err(error) => Err(Box::new(Unanswered::of_reply(error, exchange))),
    }
}

/// Converts a model request to an HTTP request of the page.
pub(super) fn outgoing(request: &volary_agent::model::HttpRequest) -> http::Request {
    let headers = request.headers.iter();
    http::Request {
        method: request.method(),
        url: request.url.clone(),
        headers: headers
            .map(|(name, value)| (*name, value.expose()))
            .collect(),
        body: (!request.body.is_empty()).then(|| request.body.clone()),
        own_cookies: false,
    }
}

fn model_error(error: HttpError) -> ModelError {
    match error {
        HttpError::Silent { seconds } => ModelError::Silent { seconds },
        HttpError::Broken { .. } => ModelError::Cut,
        HttpError::TooLarge { limit } => ModelError::TooLarge {
            limit_megabytes: limit / 1_000_000,
        },
        other => ModelError::Unreachable {
            reason: other.to_string().into(),
        },
    }
}
