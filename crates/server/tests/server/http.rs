//! A small HTTP client that can also violate the protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use volary_core::json;
use volary_core::json::{Json, read};

/// A timeout longer than any test takes: a test that hangs fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A persistent connection.
pub struct Connection {
    pub stream: BufReader<TcpStream>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = self.headers.iter().find(|(known, _)| known == name);
        named.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Json {
        read(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The text under `detail`.
    pub fn detail(&self) -> String {
        let detail = self.json().get("detail").cloned();
        detail
            .and_then(|detail| detail.as_text().cloned())
            .unwrap()
            .to_string()
    }

    /// The kinds of the validation errors under `detail`.
    pub fn problems(&self) -> Vec<String> {
        let body = self.json();
        let problems = body.get("detail").and_then(Json::as_list).unwrap();
        problems
            .iter()
            .map(|problem| problem.get("type").unwrap().as_text().unwrap().to_string())
            .collect()
    }
}

impl Connection {
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection {
            stream: BufReader::new(stream),
        }
    }

    pub fn write(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_ref())
    }

    /// Sends a request with these headers in addition to the required ones.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str("Host: localhost\r\n");
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.write([head.as_bytes(), body].concat()).unwrap();
    }

    /// The next reply; `None` if the server closed the connection.
    pub fn receive(&mut self) -> Option<Reply> {
        self.receive_for("GET")
    }

    fn receive_for(&mut self, method: &str) -> Option<Reply> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut reply = Reply {
            status,
            headers,
            body: String::new(),
        };
        let length = reply
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        if method != "HEAD" {
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body).ok()?;
            reply.body = String::from_utf8(body).unwrap();
        }
        Some(reply)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(length) if length > 0 => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    pub fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        self.send(method, path, headers, body);
        self.receive_for(method).expect("the server hung up")
    }

    pub fn get(&mut self, path: &str) -> Reply {
        self.ask("GET", path, &[], b"")
    }

    pub fn post(&mut self, path: &str, body: &Json) -> Reply {
        self.post_text(path, &body.to_python_text())
    }

    pub fn post_text(&mut self, path: &str, body: &str) -> Reply {
        let headers = [("Content-Type", "application/json")];
        self.ask("POST", path, &headers, body.as_bytes())
    }

    /// Starts an environment and returns its id.
    pub fn start(&mut self, body: &Json) -> String {
        let reply = self.post("/start", body);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
            .json()
            .get("env_id")
            .unwrap()
            .as_text()
            .unwrap()
            .to_string()
    }

    pub fn reset(&mut self, id: &str) -> Reply {
        self.post("/reset", &json!({"env_id": id}))
    }

    pub fn close(&mut self, id: &str) -> Reply {
        self.post("/close", &json!({"env_id": id}))
    }

    /// Steps with a plain message, which scripted environments execute as an order.
    pub fn order(&mut self, id: &str, order: &str) -> Reply {
        self.send_order(id, order);
        self.receive().expect("the server disconnected")
    }

    /// Like `order`, without waiting for the reply.
    pub fn send_order(&mut self, id: &str, order: &str) {
        let body = json!({"env_id": id, "action": {"role": "user", "content": order}});
        let headers = [("Content-Type", "application/json")];
        self.send("POST", "/step", &headers, body.to_python_text().as_bytes());
    }

    /// Steps with one tool call.
    pub fn call(&mut self, id: &str, tool: &str, arguments: Json) -> Reply {
        self.post(
            "/step",
            &json!({"env_id": id, "action": (call(tool, arguments))}),
        )
    }

    /// Waits briefly for the server to close the connection; returns whether it did.
    pub fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }
}

/// An action with one call.
pub fn call(tool: &str, arguments: Json) -> Json {
    json!({
        "role": "assistant",
        "tool_calls": [{
            "id": "abcdefghi",
            "type": "function",
            "function": {"name": tool, "arguments": (arguments.to_python_text())}
        }]
    })
}
