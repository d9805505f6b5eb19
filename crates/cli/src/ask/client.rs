//! Sends requests to a model, each on a thread of its own. Retries are the run's.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use ureq::Agent;
use volary_agent::model::retry::seconds_of_header;
use volary_agent::model::{ApiKey, ModelError, ModelRequest, ProviderKind, Reply};
use volary_ask::run::{AskEvent, ModelReply, RequestId};

use super::model::Target;

/// The seconds after which a connection without an answer is given up.
const SILENCE: u32 = 300;
/// The bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// A client of one model. Clones share connections.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    kind: ProviderKind,
    base_url: String,
    key: ApiKey,
}

impl Client {
    pub fn new(target: &Target) -> Result<Client> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the key to another address.
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_recv_response(Some(Duration::from_secs(SILENCE.into())))
            .timeout_recv_body(Some(Duration::from_secs(SILENCE.into())));
        Ok(Client {
            agent: config.build().into(),
            kind: target.connection.kind,
            base_url: target.connection.base_url.to_string(),
            key: target.key.clone(),
        })
    }

    /// Sends a request, and reports the reply as an event.
    pub fn send(&self, id: RequestId, request: ModelRequest, events: Sender<AskEvent>) {
        let client = self.clone();
        thread::spawn(move || {
            let reply = client.reply(&request);
            // Nobody listens after the run has ended.
            let _ = events.send(AskEvent::Replied { request: id, reply });
        });
    }

    /// Sends a request, and waits for the reply.
    pub fn reply(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let provider = self.kind.provider();
        let http = provider.request(&self.base_url, &self.key, request);
        let mut sending = self.agent.post(&http.url);
        for (name, value) in &http.headers {
            sending = sending.header(*name, value.expose());
        }
        let response = sending.send(http.body.as_str());
        let mut response = response.map_err(|error| self.unreachable(&error))?;
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            Some(value.to_str().ok()?.to_owned())
        };
        let retry_after =
            header("retry-after").and_then(|value| seconds_of_header(&value, clock()));
        let content_type = header("content-type").unwrap_or_default();
        let status = response.status().as_u16();
        let mut reply = Reply::new(provider, &self.key, status, &content_type, retry_after);
        let mut body = response.body_mut().as_reader();
        let mut piece = vec![0; PIECE];
        let mut deltas = Vec::new();
        loop {
            match std::io::Read::read(&mut body, &mut piece) {
                Ok(0) => break,
                Ok(count) => {
                    reply.push(piece.get(..count).unwrap_or_default(), &mut deltas)?;
                    deltas.clear();
                }
                Err(error) if is_timeout(&error) => {
                    return Err(ModelError::Silent { seconds: SILENCE });
                }
                Err(_) => return Err(ModelError::Cut),
            }
        }
        let answer = reply.finish(&mut deltas)?.redacted(&self.key);
        if let Some(reason) = answer.refusal.filter(|_| answer.text.is_none()) {
            return Err(ModelError::Refused {
                reason: reason.into(),
            });
        }
        Ok(ModelReply {
            text: answer.text.unwrap_or_default(),
            usage: answer.usage,
        })
    }

    fn unreachable(&self, error: &ureq::Error) -> ModelError {
        match error {
            ureq::Error::Timeout(_) => ModelError::Silent { seconds: SILENCE },
            error => ModelError::Unreachable {
                reason: self.key.redact(&error.to_string()).into(),
            },
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

/// Seconds since 1970.
fn clock() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
