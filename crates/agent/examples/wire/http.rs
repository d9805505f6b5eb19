//! A minimal HTTP/1.1 client for a server on this machine: one request per connection; bodies have a length, are
//! chunked, or end with the connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use volary_agent::model::HttpRequest;

use crate::Failure;

/// The head of a reply; its body is read in pieces.
pub struct Response {
    pub status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<TcpStream>,
    left: Left,
}

enum Left {
    Length(usize),
    Chunks,
    UntilEnd,
    Nothing,
}

/// Sends a request to an address of the form `http://host:port/path`.
pub fn send(request: &HttpRequest) -> Result<Response, Failure> {
    let rest = request
        .url
        .strip_prefix("http://")
        .ok_or("only http here")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut head = format!(
        "{} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n",
        request.method()
    );
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {}\r\n", value.expose()));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", request.body.len()));
    stream.write_all(head.as_bytes())?;
    stream.write_all(request.body.as_bytes())?;
    let mut body = BufReader::new(stream);
    let status = line(&mut body)?;
    let status = status.split(' ').nth(1).ok_or("no status")?.parse()?;
    let mut headers = Vec::new();
    loop {
        let line = line(&mut body)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut response = Response {
        status,
        headers,
        body,
        left: Left::UntilEnd,
    };
    response.left = if response.header("transfer-encoding").contains("chunked") {
        Left::Chunks
    } else {
        let length = response.header("content-length").parse();
        length.map_or(Left::UntilEnd, Left::Length)
    };
    Ok(response)
}

impl Response {
    /// The value of a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }

    /// The next piece of the body; `None` at its end.
    pub fn piece(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let length = match self.left {
            Left::Nothing => return Ok(None),
            Left::Chunks => usize::from_str_radix(line(&mut self.body)?.trim(), 16)?,
            Left::Length(length) => length,
            Left::UntilEnd => 0,
        };
        let mut piece = vec![0; length];
        match self.left {
            Left::UntilEnd => {
                self.body.read_to_end(&mut piece)?;
                self.left = Left::Nothing;
            }
            Left::Length(_) => {
                self.body.read_exact(&mut piece)?;
                self.left = Left::Nothing;
            }
            _ => {
                self.body.read_exact(&mut piece)?;
                line(&mut self.body)?;
                if length == 0 {
                    self.left = Left::Nothing;
                    return Ok(None);
                }
            }
        }
        Ok(Some(piece))
    }
}

fn line(from: &mut BufReader<TcpStream>) -> Result<String, Failure> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
