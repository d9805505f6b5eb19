//! A connection, from the client's end.
//!
//! Invariants: one request is open at a time, and each ends in exactly one event. A request whose reply did not arrive is
//! never sent again: its step may have been taken.

use volary_core::json::{Object, Text, read};

use crate::client_message::ClientMessage;
use crate::server_message::ServerMessage;

/// What a client learns.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The reply to the open request; may be a refusal of the server.
    Replied(ServerMessage),
    /// The session ended.
    Ended(ClientFault),
}

/// Why a request cannot be sent, or why the session ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientFault {
    #[error("The last request has no reply yet; wait for it.")]
    Busy,
    #[error("The connection has ended; open another one.")]
    Ended,
    /// The connection closed. If a step was sent, nobody knows whether it was taken.
    #[error("The connection closed{}.", if *step_was_sent {
        " after a step was sent, which may have been taken: it is not sent again"
    } else {
        ""
    })]
    Closed { step_was_sent: bool },
    /// The server did not keep to the protocol.
    #[error("The server sent something else than OpenEnv's protocol has here: {reason}")]
    Protocol { reason: Text },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Waiting(Kind),
    Ended,
}

/// What kind of reply a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Reset,
    Step,
    State,
    Mcp,
}

/// What a client may send next, and which reply it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSession {
    phase: Phase,
}

impl Default for ClientSession {
    fn default() -> Self {
        ClientSession { phase: Phase::Idle }
    }
}

impl ClientSession {
    /// The text to send for a reset.
    pub fn reset(&mut self, arguments: Object) -> Result<Text, ClientFault> {
        self.request(Kind::Reset, ClientMessage::Reset(arguments))
    }

    /// The text to send for a step.
    pub fn step(&mut self, action: Object) -> Result<Text, ClientFault> {
        self.request(Kind::Step, ClientMessage::Step(action))
    }

    /// The text to send for the state.
    pub fn state(&mut self) -> Result<Text, ClientFault> {
        self.request(Kind::State, ClientMessage::State)
    }

    /// The text to send for a call of MCP.
    pub fn mcp(&mut self, request: Object) -> Result<Text, ClientFault> {
        self.request(Kind::Mcp, ClientMessage::Mcp(request))
    }

    /// The text to send before the connection is closed; nothing can be sent after it.
    pub fn close(&mut self) -> Option<Text> {
        let was_open = self.phase != Phase::Ended;
        self.phase = Phase::Ended;
        was_open.then(|| text_of(&ClientMessage::Close))
    }

    /// A message of the server.
    pub fn receive(&mut self, text: &str) -> Option<ClientEvent> {
        let kind = match self.phase {
            Phase::Ended => return None,
            Phase::Idle => return Some(self.fail("a message that nobody asked for".into())),
            Phase::Waiting(kind) => kind,
        };
        let message = match read(text) {
            Ok(value) => ServerMessage::read(&value).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let message = match message {
            Ok(message) => message,
            Err(reason) => return Some(self.fail(reason)),
        };
        let fits = match (&message, kind) {
            (ServerMessage::Error(_), _) => true,
            (ServerMessage::Observation(_), kind) => matches!(kind, Kind::Reset | Kind::Step),
            (ServerMessage::State(_), kind) => kind == Kind::State,
            (ServerMessage::Mcp(_), kind) => kind == Kind::Mcp,
        };
        if !fits {
            return Some(self.fail("a reply to another request".into()));
        }
        self.phase = Phase::Idle;
        Some(ClientEvent::Replied(message))
    }

    /// The connection closed.
    pub fn closed(&mut self) -> Option<ClientEvent> {
        let step_was_sent = match self.phase {
            Phase::Ended => return None,
            Phase::Idle => false,
            // A call of MCP may be a step as well.
            Phase::Waiting(kind) => matches!(kind, Kind::Step | Kind::Mcp),
        };
        self.phase = Phase::Ended;
        Some(ClientEvent::Ended(ClientFault::Closed { step_was_sent }))
    }

    fn request(&mut self, kind: Kind, message: ClientMessage) -> Result<Text, ClientFault> {
        match self.phase {
            Phase::Idle => {
                self.phase = Phase::Waiting(kind);
                Ok(text_of(&message))
            }
            Phase::Waiting(_) => Err(ClientFault::Busy),
            Phase::Ended => Err(ClientFault::Ended),
        }
    }

    fn fail(&mut self, reason: String) -> ClientEvent {
        self.phase = Phase::Ended;
        ClientEvent::Ended(ClientFault::Protocol {
            reason: reason.into(),
        })
    }
}

fn text_of(message: &ClientMessage) -> Text {
    message.to_json().to_compact_text().into()
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    const OBSERVATION: &str = r#"{"type": "observation", "data": {"observation": {}}}"#;

    fn stepping() -> ClientSession {
        let mut session = ClientSession::default();
        session.step(object!({"tool_name": "incr"})).unwrap();
        session
    }

    #[test]
    fn one_request_is_open_at_a_time() {
        let mut session = stepping();
        assert_eq!(session.state(), Err(ClientFault::Busy));
        assert!(matches!(
            session.receive(OBSERVATION),
            Some(ClientEvent::Replied(ServerMessage::Observation(_)))
        ));
        assert!(session.state().is_ok());
    }

    #[test]
    fn a_step_without_a_reply_is_not_repeated() {
        let mut session = stepping();
        assert_eq!(
            session.closed(),
            Some(ClientEvent::Ended(ClientFault::Closed {
                step_was_sent: true
            }))
        );
        assert_eq!(session.step(Object::new()), Err(ClientFault::Ended));
        assert_eq!(session.closed(), None);
        let mut idle = ClientSession::default();
        assert_eq!(
            idle.closed(),
            Some(ClientEvent::Ended(ClientFault::Closed {
                step_was_sent: false
            }))
        );
    }

    #[test]
    fn replies_that_do_not_fit_end_the_session() {
        for text in [
            "",
            "[]",
            "{\"type\": \"observation\", \"data\"",
            r#"{"type": "state", "data": {}}"#,
            r#"{"type": "observation", "data": {}}"#,
            r#"{"type": "observation", "data": {"observation": [], "reward": "much"}}"#,
        ] {
            let mut session = stepping();
            let event = session.receive(text);
            assert!(
                matches!(
                    event,
                    Some(ClientEvent::Ended(ClientFault::Protocol { .. }))
                ),
                "{text}: {event:?}"
            );
            assert_eq!(session.receive(OBSERVATION), None);
        }
        let unasked = ClientSession::default().receive(OBSERVATION);
        assert!(matches!(
            unasked,
            Some(ClientEvent::Ended(ClientFault::Protocol { .. }))
        ));
    }

    #[test]
    fn a_refusal_is_a_reply() {
        let mut session = stepping();
        let event =
            session.receive(r#"{"type": "error", "data": {"message": "no", "code": "NEW"}}"#);
        assert!(matches!(
            event,
            Some(ClientEvent::Replied(ServerMessage::Error(_)))
        ));
        assert!(session.close().is_some());
        assert_eq!(session.close(), None);
    }
}
