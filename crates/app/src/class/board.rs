//! The hand-ins that the board shows: those of a class server, which is followed, and those of files.
//!
//! Invariants: nothing is requested before [`Event::Connect`], and nothing after [`Event::Disconnect`]. Only the last
//! connection is followed: late replies and timers of earlier ones change nothing. A hand-in is requested from the server
//! that listed it, also while another one is being connected. A key is stored only once its server has accepted it.

use std::sync::Arc;

use volary_agent::model::ApiKey;
use volary_classroom::{BoardRow, HandIn, Name, board};
use volary_core::random::stable_hash;

use crate::notice::Notice;

/// Seconds between two looks at the server.
const PERIOD: f64 = 2.0;

/// The maximum number of seconds between two looks at a server that fails.
const LONGEST_PERIOD: f64 = 30.0;

/// The address of a class server, and the teacher's key for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassServer {
    pub url: String,
    pub key: ApiKey,
}

/// Identifies a connection. Numbers count up.
pub type ConnectionNumber = u32;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The teacher connects to a server; the reason if its address cannot be used.
    Connect(Result<ClassServer, String>),
    Disconnect,
    /// The response to [`Effect::Greet`]: the name of the class.
    Greeted {
        connection: ConnectionNumber,
        class: Result<String, Notice>,
        /// Whether the page is visible.
        is_shown: bool,
    },
    /// The response to [`Effect::FetchRows`], and its time in seconds since 1970.
    Fetched {
        connection: ConnectionNumber,
        rows: Result<Vec<BoardRow>, Notice>,
        at: f64,
    },
    /// The time of [`Effect::Wait`] has passed.
    Waited {
        connection: ConnectionNumber,
        /// Whether the page is visible.
        is_shown: bool,
    },
    /// The text of a hand-in's file, or why it could not be read.
    File {
        name: String,
        text: Result<String, String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the server for its class, and report [`Event::Greeted`].
    Greet {
        connection: ConnectionNumber,
        server: ClassServer,
    },
    /// Store the key for the server's origin.
    StoreKey(ClassServer),
    /// Report [`Event::Fetched`].
    FetchRows {
        connection: ConnectionNumber,
        server: ClassServer,
    },
    /// Report [`Event::Waited`] after this time.
    Wait {
        connection: ConnectionNumber,
        seconds: f64,
    },
    /// Show what could not be read.
    Show(Notice),
}

/// The connection to a class server, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassConnection {
    Off,
    Connecting,
    /// The rows are those of this time, in seconds since 1970.
    Live {
        /// The name of the class.
        class: String,
        at: f64,
    },
    /// The last request failed. A connection that worked once is polled again, with growing intervals; one that never
    /// worked is not.
    Failed(Notice),
}

/// Where a hand-in is.
#[derive(Clone, Debug, PartialEq)]
pub enum HandInSource {
    File(Arc<HandIn>),
    Server(ClassServer),
}

/// The hand-ins of a class server and of files, and the connection to the server.
#[derive(Debug, Default)]
pub struct ClassBoard {
    link: ServerLink,
    last_connection: ConnectionNumber,
    /// The rows that a server listed. They stay when it is disconnected.
    served: Option<ServedRows>,
    /// The hand-ins of files, with their rows.
    files: Vec<(BoardRow, Arc<HandIn>)>,
}

#[derive(Debug)]
struct ServedRows {
    server: ClassServer,
    rows: Vec<BoardRow>,
}

#[derive(Debug, Default)]
enum ServerLink {
    #[default]
    Off,
    /// The server has not yet said which class it has.
    Greeting(ClassServer),
    Following {
        server: ClassServer,
        class: String,
        last: LastLook,
    },
    Refused(Notice),
}

#[derive(Debug)]
enum LastLook {
    None,
    Worked { at: f64 },
    Failed { notice: Notice, period: f64 },
}

impl ClassBoard {
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Connect(server) => self.connect(server),
            Event::Disconnect => {
                self.end_connection(ServerLink::Off);
                Vec::new()
            }
            Event::Greeted {
                connection,
                class,
                is_shown,
            } => self.greeted(connection, class, is_shown),
            Event::Fetched {
                connection,
                rows,
                at,
            } => self.fetched(connection, rows, at).into_iter().collect(),
            Event::Waited {
                connection,
                is_shown,
            } => self.look(connection, is_shown).into_iter().collect(),
            Event::File { name, text } => self.take_file(&name, text).into_iter().collect(),
        }
    }

    pub fn connection(&self) -> ClassConnection {
        match &self.link {
            ServerLink::Off => ClassConnection::Off,
            ServerLink::Greeting(_) => ClassConnection::Connecting,
            ServerLink::Refused(notice) => ClassConnection::Failed(notice.clone()),
            ServerLink::Following { class, last, .. } => match last {
                LastLook::None => ClassConnection::Connecting,
                LastLook::Worked { at } => ClassConnection::Live {
                    class: class.clone(),
                    at: *at,
                },
                LastLook::Failed { notice, .. } => ClassConnection::Failed(notice.clone()),
            },
        }
    }

    /// All rows, sorted.
    pub fn rows(&self) -> Vec<BoardRow> {
        let served = self.served.iter().flat_map(|served| &served.rows);
        let of_files = self.files.iter().map(|(row, _)| row);
        let mut rows: Vec<BoardRow> = served.chain(of_files).cloned().collect();
        board::sort(&mut rows);
        rows
    }

    /// Where the hand-in of a row is; `None` if no file has it and no server was ever connected.
    pub fn source(&self, id: &str) -> Option<HandInSource> {
        let mut files = self.files.iter();
        if let Some((_, hand_in)) = files.find(|(row, _)| row.id == id) {
            return Some(HandInSource::File(Arc::clone(hand_in)));
        }
        let served = self.served.as_ref()?;
        Some(HandInSource::Server(served.server.clone()))
    }

    fn connect(&mut self, server: Result<ClassServer, String>) -> Vec<Effect> {
        match server {
            Ok(server) => {
                self.end_connection(ServerLink::Greeting(server.clone()));
                let connection = self.last_connection;
                vec![Effect::Greet { connection, server }]
            }
            Err(why) => {
                let notice = Notice::new("The class could not be read.", why, "Check the address.");
                self.end_connection(ServerLink::Refused(notice));
                Vec::new()
            }
        }
    }

    fn end_connection(&mut self, next: ServerLink) {
        self.last_connection = self.last_connection.wrapping_add(1);
        self.link = next;
    }

    fn greeted(
        &mut self,
        connection: ConnectionNumber,
        class: Result<String, Notice>,
        is_shown: bool,
    ) -> Vec<Effect> {
        if connection != self.last_connection {
            return Vec::new();
        }
        let ServerLink::Greeting(server) = &self.link else {
            return Vec::new();
        };
        match class {
            Ok(class) => {
                let server = server.clone();
                self.link = ServerLink::Following {
                    server: server.clone(),
                    class,
                    last: LastLook::None,
                };
                let look = self.look(connection, is_shown);
                [Effect::StoreKey(server)].into_iter().chain(look).collect()
            }
            Err(notice) => {
                self.link = ServerLink::Refused(notice);
                Vec::new()
            }
        }
    }

    /// Looks at the server, or later if nobody would see it.
    fn look(&self, connection: ConnectionNumber, is_shown: bool) -> Option<Effect> {
        match &self.link {
            ServerLink::Following { server, last, .. } if connection == self.last_connection => {
                Some(if is_shown {
                    Effect::FetchRows {
                        connection,
                        server: server.clone(),
                    }
                } else {
                    Effect::Wait {
                        connection,
                        seconds: last.period(),
                    }
                })
            }
            _ => None,
        }
    }

    fn fetched(
        &mut self,
        connection: ConnectionNumber,
        rows: Result<Vec<BoardRow>, Notice>,
        at: f64,
    ) -> Option<Effect> {
        if connection != self.last_connection {
            return None;
        }
        let ServerLink::Following { server, last, .. } = &mut self.link else {
            return None;
        };
        *last = match rows {
            Ok(rows) => {
                let server = server.clone();
                self.served = Some(ServedRows { server, rows });
                LastLook::Worked { at }
            }
            Err(notice) => LastLook::Failed {
                notice,
                period: (last.period() * 2.0).min(LONGEST_PERIOD),
            },
        };
        Some(Effect::Wait {
            connection,
            seconds: last.period(),
        })
    }

    /// Adds a hand-in. The same file replaces itself.
    fn take_file(&mut self, name: &str, text: Result<String, String>) -> Option<Effect> {
        let read = text.and_then(|text| HandIn::read(&text).map_err(|error| error.to_string()));
        match read {
            Ok(hand_in) => {
                let row = hand_in.row(file_id(&hand_in), hand_in.handed_in, 1);
                self.files.retain(|(known, _)| known.id != row.id);
                self.files.push((row, Arc::new(hand_in)));
                None
            }
            Err(why) => Some(Effect::Show(Notice::new(
                format!("{name} could not be read."),
                why,
                "Choose files that pupils saved to hand in.",
            ))),
        }
    }
}

impl LastLook {
    /// Seconds until the next look.
    fn period(&self) -> f64 {
        match self {
            LastLook::None | LastLook::Worked { .. } => PERIOD,
            LastLook::Failed { period, .. } => *period,
        }
    }
}

/// The id of the row of a file: the same file has the same id.
fn file_id(hand_in: &HandIn) -> String {
    let of = |name: &Name| stable_hash(name.as_str().bytes());
    format!(
        "file-{}-{:x}-{:x}",
        hand_in.assignment,
        of(&hand_in.pupil),
        hand_in.handed_in.to_bits()
    )
}

#[cfg(test)]
mod tests;
