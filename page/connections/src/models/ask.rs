//! Sends one request to a model: retries it if that may help, changes it if the model rejects a parameter, and records
//! it without the key.
//!
//! **Security invariant:** a request only uses the key that was entered for the origin of its address.
//! [`Ask::of`] looks it up, and there is no other way to provide one.
//!
//! Dropping the future of [`ask`] cancels the request.

use std::cell::RefCell;
use std::time::Duration;

use leptos::prelude::untrack;
use volary_agent::model::exchange::{Exchange, Keeping, Timing};
use volary_agent::model::retry::{Attempts, Backoff, Next, seconds_of_header};
use volary_agent::model::{
    Answer, ApiKey, Connection, Delta, ModelError, ModelRequest, ParameterFallback, Reply,
};
use volary_core::json::to_json;

use super::delta_stream::DeltaStream;
use super::known_servers::KnownServers;
use super::unanswered::{Unanswered, model_error};
use super::{Saved, rollout};
use volary_browser::http::{self, HttpError};
use volary_browser::{self as browser, language_model, network, timers};

/// The connection to use, and its timeouts.
#[derive(Clone)]
pub struct Ask<'a> {
    connection: &'a Connection,
    key: ApiKey,
    /// The timeouts for a server that sends nothing.
    pub silence: http::Timeouts,
    /// The maximum number of attempts.
    pub backoff: Backoff,
}

impl<'a> Ask<'a> {
    /// Uses the key that was entered for the connection's address, and default timeouts.
    pub fn of(saved: &'a Saved) -> Self {
        Ask {
            connection: &saved.connection,
            key: untrack(|| saved.key()),
            silence: http::Timeouts::default(),
            backoff: Backoff::default(),
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

thread_local! {
    static KNOWN: RefCell<KnownServers> = RefCell::default();
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
    attempts: Attempts,
    attempt: u32,
    started: f64,
}

impl<'a> Asking<'a> {
    /// Prepares a request without sending it: removes parameters that the model is known to reject.
    pub fn new(ask: Ask<'a>, request: &mut ModelRequest) -> Self {
        let known = KNOWN.with_borrow(|known| known.fallbacks(ask.connection));
        for fallback in known.iter() {
            request.fallbacks = request.fallbacks.with(fallback);
        }
        Asking {
            attempts: Attempts::new(ask.backoff, browser::random_number()),
            ask,
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
        let connection = self.ask.connection;
        if let Err(error) = rollout::render(connection, request).await {
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
            KNOWN.with_borrow_mut(|known| known.answer(connection));
        }
        let mut unanswered = match sent {
            Ok(asked) => return Ok(asked),
            Err(unanswered) => unanswered,
        };
        unanswered.find_out(&connection.base_url).await;
        let has_answered = KNOWN.with_borrow(|known| known.has_answered(connection));
        if unanswered.is_hopeless(&connection.base_url, &network::page(), has_answered) {
            return Err((unanswered, Next::GiveUp));
        }
        let next = self
            .attempts
            .after(connection.kind, request, &unanswered.error);
        let (error, exchange) = (&unanswered.error, &unanswered.exchange);
        match next {
            Next::FallBack(fallback) => {
                KNOWN.with_borrow_mut(|known| known.reject(connection, request.fallbacks));
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
    exchange.attempts = attempt;
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
            return Err(Box::new(Unanswered::of_transport(error, exchange)));
        }
    };
    let status = response.status();
    let content_type = response.header("content-type").unwrap_or_default();
    let wait = response.header("retry-after");
    let wait = wait.and_then(|value| seconds_of_header(&value, timers::wall_clock()));
    let mut reply = Reply::new(provider, key, status, &content_type, wait);
    let mut keeping = Keeping::default();
    let mut deltas = Vec::new();
    let mut stream = DeltaStream::new(key, started);
    let mut emit = |deltas: Vec<Delta>| {
        if !deltas.is_empty() {
            heard(RequestProgress::Deltas(&deltas));
        }
    };
    let broken = loop {
        match response.piece().await {
            Ok(Some(piece)) => {
                keeping.push(&piece);
                let pushed = reply.push(&piece, &mut deltas);
                emit(stream.push(&mut deltas, timers::now()));
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
    emit(stream.finish(&mut deltas, timers::now()));
    exchange.reply = Some(keeping.finish(status, &content_type, key));
    exchange.timing = Timing {
        first_token: stream.first_token(),
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
