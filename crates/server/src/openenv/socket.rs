//! `/ws`: one environment for each connection.
//!
//! Invariants: a message takes no more memory than [`message_limit`], and those that wait no more than that together. Who
//! does not answer pings, or sends half a message and then nothing, loses the connection. The environment is closed with
//! the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::time::Instant;
use uuid::Uuid;
use volary_core::json::{Json, Text};
use volary_openenv::{Done, Effect, ErrorCode, HostSession, Refusal, ServerMessage, Work};

use crate::error::ApiError;
use crate::extract::Authorized;
use crate::options::ServerOptions;
use crate::seat::{Seat, first_tools};
use crate::server::Server;

/// The maximum size of a message, where bodies may be larger.
const LARGEST_MESSAGE: usize = 1 << 20;

/// The buffer for what is read. The default is 32 times as large, which thousands of connections would all take.
const READ_BUFFER: usize = 4 << 10;

/// The time for a client to answer when the server closes the connection.
const FAREWELL: Duration = Duration::from_secs(1);

/// The maximum size of a message, in bytes.
fn message_limit(options: &ServerOptions) -> usize {
    options.max_body.min(LARGEST_MESSAGE)
}

/// `GET /ws`
pub async fn open(
    State(server): State<Arc<Server>>,
    _: Authorized,
    RawQuery(query): RawQuery,
    upgrade: WebSocketUpgrade,
) -> Response {
    let limit = message_limit(&server.shared.options);
    let query = query.unwrap_or_default();
    let attaches = query.split('&').any(|pair| pair.starts_with("session_id="));
    let sockets = server.shared.sockets.clone();
    upgrade
        .max_message_size(limit)
        .max_frame_size(limit)
        .read_buffer_size(READ_BUFFER)
        .on_upgrade(move |socket| {
            sockets.track_future(async move {
                let connection = Connection::new(server, socket);
                if attaches {
                    connection.refuse_to_attach().await;
                } else {
                    connection.serve().await;
                }
            })
        })
}

type Performed = (Seat, Result<Done, Refusal>);

/// Work that runs; it holds the seat meanwhile.
type Performing = Pin<Box<dyn Future<Output = Performed> + Send>>;

/// One connection.
struct Connection {
    server: Arc<Server>,
    sender: SplitSink<WebSocket, Message>,
    receiver: SplitStream<WebSocket>,
    session: HostSession,
    /// Absent while work runs.
    seat: Option<Seat>,
    performing: Option<Performing>,
    /// When the client sent anything, also a pong.
    heard: Instant,
    /// When the client last asked for something, or got it.
    used: Instant,
}

/// What happens next.
enum Event {
    Stopping,
    Performed(Performed),
    Received(Option<Result<Message, axum::Error>>),
    Tick,
}

/// Why a connection ends; with the code for the client, if it is still there.
type Ending = Option<u16>;

impl Connection {
    fn new(server: Arc<Server>, socket: WebSocket) -> Connection {
        let (sender, receiver) = socket.split();
        let now = Instant::now();
        Connection {
            seat: Some(Seat::new(Arc::clone(&server))),
            server,
            sender,
            receiver,
            session: HostSession::new(Uuid::new_v4().to_string()),
            performing: None,
            heard: now,
            used: now,
        }
    }

    async fn refuse_to_attach(mut self) {
        let reason = "This server has no sessions to attach to. Connect without session_id.";
        self.refuse(reason).await;
        self.bid_farewell(close_code::POLICY).await;
    }

    async fn serve(mut self) {
        let ending = loop {
            let event = self.event().await;
            if let Err(ending) = self.handle(event).await {
                break ending;
            }
        };
        if let Some(mut seat) = self.seat.take() {
            seat.close().await;
        }
        if let Some(code) = ending {
            self.bid_farewell(code).await;
        }
        // Work that still runs is dropped here, with its seat, which closes the environment after the step.
    }

    /// Whether enough messages wait.
    fn is_full(&self) -> bool {
        let (bytes, messages) = self.session.waiting();
        let options = &self.server.shared.options;
        bytes >= message_limit(options) || messages >= options.queue
    }

    /// The interval of pings, and of looking at the time.
    fn interval(&self) -> Duration {
        let options = &self.server.shared.options;
        options
            .idle_timeout
            .map_or(options.read_timeout, |idle| idle.min(options.read_timeout))
    }

    async fn event(&mut self) -> Event {
        let reads = !self.is_full();
        let tick = Instant::now() + self.interval();
        let stopping = self.server.shared.stopping.clone();
        let performing = async {
            match &mut self.performing {
                Some(work) => work.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stopping.cancelled() => Event::Stopping,
            performed = performing => Event::Performed(performed),
            message = self.receiver.next(), if reads => Event::Received(message),
            () = tokio::time::sleep_until(tick) => Event::Tick,
        }
    }

    async fn handle(&mut self, event: Event) -> Result<(), Ending> {
        match event {
            Event::Stopping => {
                self.refuse("The server stops.").await;
                Err(Some(close_code::AWAY))
            }
            Event::Performed((seat, outcome)) => {
                self.seat = Some(seat);
                self.performing = None;
                self.used = Instant::now();
                let effects = self.session.performed(outcome);
                self.carry_out(effects).await
            }
            Event::Received(Some(Ok(message))) => {
                self.heard = Instant::now();
                self.receive(message).await
            }
            Event::Received(Some(Err(error))) => {
                let limit = message_limit(&self.server.shared.options);
                let reason = format!(
                    "The message cannot be read: {error}. A message has at most {limit} bytes, in whole frames."
                );
                self.refuse(&reason).await;
                Err(Some(close_code::SIZE))
            }
            Event::Received(None) => Err(None),
            Event::Tick => self.look_at_the_time().await,
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), Ending> {
        let effects = match &message {
            Message::Text(text) => self.session.receive(text),
            // Answered as any text that is no JSON, and in the same order.
            Message::Binary(_) => self.session.receive("a message of bytes"),
            // The library answers pings.
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => return Err(None),
        };
        self.used = Instant::now();
        self.carry_out(effects).await
    }

    async fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), Ending> {
        for effect in effects {
            match effect {
                Effect::Send(text) => self.send(text).await?,
                Effect::Perform(work) => {
                    // The session has only one work at a time.
                    let Some(seat) = self.seat.take() else {
                        return Err(Some(close_code::ERROR));
                    };
                    let server = Arc::clone(&self.server);
                    self.performing = Some(Box::pin(perform(server, seat, work)));
                }
                Effect::End => return Err(Some(close_code::NORMAL)),
            }
        }
        Ok(())
    }

    async fn send(&mut self, text: Text) -> Result<(), Ending> {
        let message = Message::Text((&*text).into());
        self.sender.send(message).await.map_err(|_| None)
    }

    async fn look_at_the_time(&mut self) -> Result<(), Ending> {
        let options = &self.server.shared.options;
        if self.performing.is_none()
            && let Some(idle) = options
                .idle_timeout
                .filter(|idle| self.used.elapsed() >= *idle)
        {
            let reason = format!(
                "The session was not used for {} seconds.",
                idle.as_secs_f64()
            );
            self.refuse(&reason).await;
            return Err(Some(close_code::NORMAL));
        }
        // While enough messages wait, pongs are not read either.
        if self.is_full() {
            self.heard = Instant::now();
            return Ok(());
        }
        if self.heard.elapsed() >= options.read_timeout * 2 {
            return Err(Some(close_code::POLICY));
        }
        let ping = Message::Ping(Default::default());
        self.sender.send(ping).await.map_err(|_| None)
    }

    /// Tells the client why the session ends, as OpenEnv does.
    async fn refuse(&mut self, reason: &str) {
        let refusal = Refusal::new(ErrorCode::Session, reason);
        let text = ServerMessage::Error(refusal).to_json().to_compact_text();
        let sending = self.send(text.into());
        // A client that is gone needs no reason.
        let _ = tokio::time::timeout(FAREWELL, sending).await;
    }

    /// Closes the connection and waits a moment for the client, so that it reads the last messages.
    async fn bid_farewell(mut self, code: u16) {
        let close = Message::Close(Some(CloseFrame {
            code,
            reason: Default::default(),
        }));
        let farewell = async {
            if self.sender.send(close).await.is_ok() {
                while let Some(Ok(_)) = self.receiver.next().await {}
            }
        };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }
}

async fn perform(server: Arc<Server>, mut seat: Seat, work: Work) -> Performed {
    let outcome = match work {
        Work::Begin(request) => seat.begin(request).await.map(Done::Begun),
        Work::Tools => first_tools(&server).await.map(Done::Tools),
        Work::Step(action) => seat.step(action).await.map(Done::Stepped),
        Work::Frame => seat.frame().await.map(Done::Frame),
    };
    (seat, outcome.map_err(|error| refusal(&error)))
}

fn refusal(error: &ApiError) -> Refusal {
    let code = match error {
        ApiError::Busy(_) => ErrorCode::CapacityReached,
        ApiError::Unknown(_) | ApiError::NoTask(_) => ErrorCode::Validation,
        ApiError::NoEnvironment(_) => {
            let message =
                "The environment was closed, because it was not used for long. Reset again.";
            return Refusal::new(ErrorCode::Session, message);
        }
        _ => ErrorCode::Execution,
    };
    let body = error.body();
    let message = match body.get("detail") {
        Some(Json::Text(detail)) => detail.clone(),
        _ => body.to_compact_text().into(),
    };
    Refusal::new(code, message)
}
