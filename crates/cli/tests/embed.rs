//! `volary embed`: what is served to frames of other pages, and what is not.

#![cfg(test)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PAGE: &str = "<html><head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"></head><p>home";
const FRAME: &str =
    "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";

struct Embed {
    child: Child,
    folder: PathBuf,
    address: String,
    /// The random path, with slashes at both ends.
    path: String,
}

impl Embed {
    fn start(name: &str) -> Embed {
        let folder =
            std::env::temp_dir().join(format!("volary-embed-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("index.html"), PAGE).unwrap();
        fs::write(folder.join("app.js"), "app").unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_volary"))
            .args(["embed", "--page"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap();
        let (address, path) = url["http://".len()..].split_once('/').unwrap();
        let path = path.strip_suffix("?embed=1").unwrap();
        assert!(
            address.starts_with("127.0.0.1:") && path.len() > 60,
            "{url}"
        );
        assert_eq!(address, format!("127.0.0.1:{}", said["port"]));
        Embed {
            child,
            folder,
            address: address.to_owned(),
            path: format!("/{path}"),
        }
    }

    fn with_host(&self, host: &str, target: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        write!(
            stream,
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            !answer.to_lowercase().contains("access-control-"),
            "{answer}"
        );
        answer
    }

    /// The status, and the whole response.
    fn get(&self, target: &str, headers: &str) -> (u16, String) {
        let answer = self.with_host(&self.address, target, headers);
        (answer[9..12].parse().unwrap(), answer)
    }
}

impl Drop for Embed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn other_pages_can_frame_the_embedded_view_and_nothing_else() {
    let embed = Embed::start("frame");
    let path = &embed.path;
    let (status, frame) = embed.get(&format!("{path}?embed=1"), FRAME);
    assert!(status == 200 && frame.ends_with("<p>home"), "{frame}");
    let head = frame.to_lowercase();
    assert!(!head.contains("frame-ancestors"), "{frame}");
    assert!(head.contains("content-security-policy: default-src 'none'\r\n"));
    // What runs in the frame loads the rest.
    for headers in ["", "Sec-Fetch-Site: same-origin\r\n"] {
        let (status, script) = embed.get(&format!("{path}app.js"), headers);
        assert!(status == 200 && script.ends_with("app"), "{script}");
    }
    let other =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n";
    let read =
        "Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n";
    for (target, headers, expected) in [
        // The page itself, with the browser's stores.
        (path.clone(), "", 404),
        (format!("{path}index.html"), FRAME, 404),
        (format!("{path}?embed=10"), FRAME, 404),
        // Without the random path.
        ("/?embed=1".to_owned(), FRAME, 404),
        ("/app.js".to_owned(), "", 404),
        (format!("{}/?embed=1", &path[..path.len() - 2]), FRAME, 404),
        // As anything but a frame. That it is there may be asked.
        (format!("{path}?embed=1"), read, 204),
        (format!("{path}?embed=1"), other, 204),
        (format!("{path}app.js"), read, 403),
        (format!("{path}app.js"), other, 403),
        (format!("{path}app.js"), FRAME, 403),
        (format!("{path}app.js"), "Origin: null\r\n", 403),
        // Nothing of `view` or `serve` is here.
        (format!("{path}api/files"), "", 404),
        (format!("{path}../../secret"), "", 404),
        (format!("{path}%2e%2e/secret"), "", 404),
    ] {
        let (status, answer) = embed.get(&target, headers);
        assert_eq!(status, expected, "{target} {headers}: {answer}");
        assert!(!answer.ends_with("home") && !answer.ends_with("app"));
    }
    for host in ["evil.example", "0.0.0.0", "127.0.0.1.evil.example"] {
        let answer = embed.with_host(host, &format!("{path}?embed=1"), FRAME);
        assert!(answer.starts_with("HTTP/1.1 421 "), "{host}: {answer}");
    }
}

#[test]
fn it_ends_with_the_program_that_started_it() {
    let mut embed = Embed::start("end");
    assert_eq!(embed.child.try_wait().unwrap(), None);
    drop(embed.child.stdin.take());
    let start = Instant::now();
    while embed.child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(20), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(embed.child.wait().unwrap().success());
}
