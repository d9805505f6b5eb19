//! The state of the task dataset servers that the user knows, and the attempt to connect to one.
//!
//! Invariants: a request to a server ends its state "asked" only if it is the last one to that server, so each state has
//! an end. What is known of a server is that of its latest reply; a failed attempt to connect changes nothing that is known
//! of it, because it may have had another key. A server that was removed is asked nothing more, and replies to earlier
//! requests do not bring it back.

use std::collections::BTreeMap;

use volary_core::json::Text;
use volary_remote::diagnosis::Diagnosis;
use volary_remote::reply::Info;

/// A server's description of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectedServer {
    /// Its tasks and environments.
    pub info: Info,
    /// Whether it sends frames; `None` if unknown.
    pub frames: Option<bool>,
    /// The paths of the protocol that it does not support.
    pub lacks: Vec<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ServerState {
    /// Not checked since the page was loaded.
    #[default]
    NotAsked,
    /// The request is in flight.
    Asked,
    /// The server responded. Holds an additional message, which may be empty.
    Up(ConnectedServer, String),
    /// The server cannot be used.
    Down(Diagnosis),
}

/// The form with which the user connects.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerForm {
    pub name: Text,
    pub url: Text,
    pub key: Option<Text>,
}

/// Identifies a request to a server. Numbers count up.
pub type ServerRequest = u32;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The user connects to a server.
    Connect(ServerForm),
    /// The response to [`Effect::Connect`].
    Connected {
        request: ServerRequest,
        result: Result<ConnectedServer, Diagnosis>,
    },
    /// The user checks a known server.
    Check(Text),
    /// The response to [`Effect::Check`].
    Checked {
        request: ServerRequest,
        url: Text,
        /// An additional message.
        said: String,
        result: Result<ConnectedServer, Diagnosis>,
    },
    /// The user closes environments that were idle for this many seconds.
    CloseIdle { url: Text, seconds: f64 },
    /// The response to [`Effect::CloseIdle`], with the number of closed environments.
    Closed {
        request: ServerRequest,
        url: Text,
        result: Result<usize, Diagnosis>,
    },
    /// The user removes a server from the list.
    Forget(Text),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Request the description of a server with this key, and report [`Event::Connected`].
    Connect {
        request: ServerRequest,
        form: ServerForm,
    },
    /// Request the description of a known server with its stored key, and report [`Event::Checked`].
    Check {
        request: ServerRequest,
        url: Text,
        said: String,
    },
    /// Report [`Event::Closed`].
    CloseIdle {
        request: ServerRequest,
        url: Text,
        seconds: f64,
    },
    /// Add the server to the list, or replace the one with its address, and store its key.
    Add {
        form: ServerForm,
        connected: ConnectedServer,
    },
    /// Store what a server of the list reported.
    Learn {
        url: Text,
        connected: ConnectedServer,
    },
    /// Remove the server from the list, and its key.
    Forget(Text),
    /// Empty the form, unless it names another server by now.
    ClearForm(ServerForm),
}

/// The states of the servers, and of the attempt to connect.
#[derive(Debug, Default)]
pub struct ServerChecks {
    last: ServerRequest,
    servers: BTreeMap<Text, KnownServer>,
    attempt: Attempt,
}

#[derive(Debug, Default)]
struct KnownServer {
    /// The last request, while it is in flight.
    asked: Option<ServerRequest>,
    /// The request whose reply is known.
    replied: ServerRequest,
    /// Never [`ServerState::Asked`].
    known: ServerState,
}

#[derive(Debug, Default)]
enum Attempt {
    #[default]
    None,
    Asked {
        request: ServerRequest,
        form: ServerForm,
    },
    Failed(Diagnosis),
}

impl ServerChecks {
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Connect(form) => {
                // A known server is checked as well, because its state may be outdated.
                let request = self.ask(&form.url);
                self.attempt = Attempt::Asked {
                    request,
                    form: form.clone(),
                };
                vec![Effect::Connect { request, form }]
            }
            Event::Connected { request, result } => self.connected(request, result),
            Event::Check(url) => vec![self.check(url, String::new())],
            Event::Checked {
                request,
                url,
                said,
                result,
            } => {
                let Some(server) = self.servers.get_mut(&url) else {
                    return Vec::new();
                };
                match result {
                    Ok(connected) => {
                        if server.reply(request, ServerState::Up(connected.clone(), said)) {
                            vec![Effect::Learn { url, connected }]
                        } else {
                            Vec::new()
                        }
                    }
                    Err(diagnosis) => {
                        server.reply(request, ServerState::Down(diagnosis));
                        Vec::new()
                    }
                }
            }
            Event::CloseIdle { url, seconds } => {
                let request = self.ask(&url);
                vec![Effect::CloseIdle {
                    request,
                    url,
                    seconds,
                }]
            }
            Event::Closed {
                request,
                url,
                result,
            } => match result {
                Ok(_) if !self.servers.contains_key(&url) => Vec::new(),
                Ok(1) => vec![self.check(url, "Closed 1 environment.".to_owned())],
                Ok(count) => vec![self.check(url, format!("Closed {count} environments."))],
                Err(diagnosis) => {
                    if let Some(server) = self.servers.get_mut(&url) {
                        server.reply(request, ServerState::Down(diagnosis));
                    }
                    Vec::new()
                }
            },
            Event::Forget(url) => {
                self.servers.remove(&url);
                let is_attempted =
                    matches!(&self.attempt, Attempt::Asked { form, .. } if form.url == url);
                if is_attempted {
                    self.attempt = Attempt::None;
                }
                vec![Effect::Forget(url)]
            }
        }
    }

    /// The state of a server.
    pub fn state(&self, url: &str) -> ServerState {
        match self.servers.get(url) {
            None => ServerState::NotAsked,
            Some(server) if server.asked.is_some() => ServerState::Asked,
            Some(server) => server.known.clone(),
        }
    }

    pub fn is_connecting(&self) -> bool {
        matches!(self.attempt, Attempt::Asked { .. })
    }

    /// Why the last attempt to connect failed.
    pub fn failure(&self) -> Option<&Diagnosis> {
        match &self.attempt {
            Attempt::Failed(diagnosis) => Some(diagnosis),
            _ => None,
        }
    }

    fn ask(&mut self, url: &Text) -> ServerRequest {
        self.last = self.last.wrapping_add(1);
        let server = self.servers.entry(url.clone()).or_default();
        server.asked = Some(self.last);
        self.last
    }

    fn check(&mut self, url: Text, said: String) -> Effect {
        let request = self.ask(&url);
        Effect::Check { request, url, said }
    }

    fn connected(
        &mut self,
        request: ServerRequest,
        result: Result<ConnectedServer, Diagnosis>,
    ) -> Vec<Effect> {
        let form = match &self.attempt {
            Attempt::Asked {
                request: asked,
                form,
            } if *asked == request => form.clone(),
            _ => {
                // A later attempt is under way, whose address may be another one, or the server was removed.
                for server in self.servers.values_mut() {
                    server.end(request);
                }
                return Vec::new();
            }
        };
        let server = self.servers.entry(form.url.clone()).or_default();
        match result {
            Err(diagnosis) => {
                // With its stored key its state may be unchanged.
                server.end(request);
                self.attempt = Attempt::Failed(diagnosis);
                Vec::new()
            }
            Ok(connected) => {
                server.reply(request, ServerState::Up(connected.clone(), String::new()));
                self.attempt = Attempt::None;
                vec![
                    Effect::Add {
                        form: form.clone(),
                        connected,
                    },
                    Effect::ClearForm(form),
                ]
            }
        }
    }
}

impl KnownServer {
    fn end(&mut self, request: ServerRequest) {
        self.asked = self.asked.filter(|asked| *asked != request);
    }

    /// Takes a reply, unless a later one is known. Returns whether it was taken.
    fn reply(&mut self, request: ServerRequest, state: ServerState) -> bool {
        self.end(request);
        let is_latest = request >= self.replied;
        if is_latest {
            self.replied = request;
            self.known = state;
        }
        is_latest
    }
}

#[cfg(test)]
mod tests;
