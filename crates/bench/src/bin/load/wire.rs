//! A minimal HTTP client for a load generator: one request at a time on a persistent connection.

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A serialized request with a JSON body.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A persistent connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("nobody listens on {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream,
            buffer: Vec::with_capacity(16 << 10),
        })
    }

    /// Sends a request and waits for the body of its reply, which must be a success.
    pub async fn ask(&mut self, request: &[u8]) -> anyhow::Result<&str> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (head, length) = loop {
            self.more().await?;
            if let Some(head) = self
                .buffer
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
            {
                let length = content_length(&self.buffer[..head])?;
                break (head + 4, length);
            }
        };
        while self.buffer.len() < head + length {
            self.more().await?;
        }
        let body = std::str::from_utf8(&self.buffer[head..])?;
        if !self.buffer.starts_with(b"HTTP/1.1 200") {
            bail!("the server refused: {body}");
        }
        Ok(body)
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server hung up");
        }
        Ok(())
    }
}

fn content_length(head: &[u8]) -> anyhow::Result<usize> {
    let head = std::str::from_utf8(head)?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then_some(value.trim())
    });
    Ok(length.context("a reply without a length")?.parse()?)
}
