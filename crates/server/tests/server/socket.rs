//! A small WebSocket client that can also violate the protocol.

use std::io::Read;

use volary_core::json;
use volary_core::json::Json;

use crate::http::{Connection, Reply};

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
/// The first bit of a frame's first byte: the frame is the last one of its message.
const LAST: u8 = 0x80;
/// The first bit of its second byte: clients must mask.
const MASKED: u8 = 0x80;

/// What a server sends.
#[derive(Debug, PartialEq)]
pub enum Received {
    Json(Json),
    Pong,
    /// The code of the close frame.
    Closed(u16),
    /// The connection ended without one.
    Lost,
}

/// A client on a socket.
pub struct Socket(pub Connection);

impl Socket {
    /// Asks for the upgrade with these headers; the reply if there is none.
    pub fn ask(
        mut connection: Connection,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Socket, Reply> {
        let mut all = vec![
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        all.extend(headers);
        let reply = connection.ask("GET", path, &all, b"");
        if reply.status == 101 {
            Ok(Socket(connection))
        } else {
            Err(reply)
        }
    }

    pub fn open(connection: Connection) -> Socket {
        Socket::ask(connection, "/ws", &[]).unwrap()
    }

    /// Sends the head of a frame of this length, without its content.
    pub fn send_head(&mut self, first: u8, length: usize) {
        let mut head = vec![first];
        match length {
            0..126 => head.push(MASKED | u8::try_from(length).unwrap()),
            126..65536 => {
                head.push(MASKED | 126);
                head.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                head.push(MASKED | 127);
                head.extend((length as u64).to_be_bytes());
            }
        }
        // A mask of zeros changes nothing.
        head.extend([0; 4]);
        let _ = self.0.write(head);
    }

    pub fn send_text(&mut self, text: &str) {
        self.send_head(LAST | TEXT, text.len());
        let _ = self.0.write(text);
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.send_head(LAST | 2, bytes.len());
        let _ = self.0.write(bytes);
    }

    /// Sends a message in two frames, with a ping between them.
    pub fn send_in_parts(&mut self, text: &str) {
        let (one, other) = text.split_at(text.len() / 2);
        self.send_head(TEXT, one.len());
        let _ = self.0.write(one);
        self.ping();
        self.send_head(LAST, other.len());
        let _ = self.0.write(other);
    }

    pub fn ping(&mut self) {
        self.send_head(LAST | PING, 0);
    }

    /// The next message; pings of the server are skipped.
    pub fn receive(&mut self) -> Received {
        loop {
            let Some((kind, content)) = self.frame() else {
                return Received::Lost;
            };
            match kind & 0xf {
                TEXT => {
                    let text = String::from_utf8(content).unwrap();
                    return Received::Json(Json::parse(&text).unwrap());
                }
                CLOSE => {
                    let code = content
                        .first_chunk()
                        .map_or(0, |code| u16::from_be_bytes(*code));
                    return Received::Closed(code);
                }
                PONG => return Received::Pong,
                PING => {}
                other => panic!("a frame of kind {other}"),
            }
        }
    }

    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.0.stream.read_exact(&mut head).ok()?;
        assert_eq!(head[1] & MASKED, 0, "servers do not mask");
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.0.stream.read_exact(&mut length).ok()?;
                u64::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.0.stream.read_exact(&mut length).ok()?;
                u64::from_be_bytes(length)
            }
            length => length.into(),
        };
        let mut content = vec![0; usize::try_from(length).unwrap()];
        self.0.stream.read_exact(&mut content).ok()?;
        Some((head[0], content))
    }

    /// Sends a message and returns the data of the reply, which has this type.
    pub fn exchange(&mut self, message: &Json, kind: &str) -> Json {
        self.send_text(&message.to_compact_text());
        self.expect(kind)
    }

    /// The data of the next message, which has this type.
    pub fn expect(&mut self, kind: &str) -> Json {
        match self.receive() {
            Received::Json(reply) => {
                assert_eq!(reply.get("type"), Some(&json!(kind)), "{reply:?}");
                reply.get("data").unwrap().clone()
            }
            other => panic!("no {kind}: {other:?}"),
        }
    }

    pub fn reset(&mut self, data: Json) -> Json {
        self.exchange(&json!({"type": "reset", "data": data}), "observation")
    }

    pub fn call(&mut self, tool: &str, arguments: Json) -> Json {
        let data = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
        self.exchange(&json!({"type": "step", "data": data}), "observation")
    }

    /// Steps with a text, which scripted environments execute as an order, without waiting for the reply.
    pub fn send_order(&mut self, order: &str) {
        let message = json!({"type": "step", "data": {"content": order}});
        self.send_text(&message.to_compact_text());
    }

    /// The code of the error that a text is answered with.
    pub fn error(&mut self, text: &str) -> String {
        self.send_text(text);
        let error = self.expect("error");
        error
            .get("code")
            .and_then(Json::as_text)
            .unwrap()
            .to_string()
    }
}
