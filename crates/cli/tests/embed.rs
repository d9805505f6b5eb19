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

/// Sends bytes and reads until the connection ends.
fn raw(embed: &Embed, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(&embed.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut answer = Vec::new();
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(request);
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// What no answer to a stranger contains.
fn assert_tells_nothing(what: &str, answer: &str) {
    let answer = answer.to_lowercase();
    for secret in [
        "home",
        "app\r\n",
        "secret",
        "access-control-",
        "set-cookie",
        "panicked",
    ] {
        assert!(!answer.contains(secret), "{what}: {answer}");
    }
    assert!(!answer.ends_with("app"), "{what}: {answer}");
}

#[test]
fn wrong_paths_and_ways_out_lead_nowhere() {
    let embed = Embed::start("paths");
    let parent = embed.folder.parent().unwrap();
    let secret = format!("volary-embed-secret-{}", std::process::id());
    fs::write(parent.join(&secret), "SECRET").unwrap();
    fs::write(embed.folder.join(".env"), "SECRET").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(parent.join(&secret), embed.folder.join("link.js")).unwrap();
    let path = &embed.path;
    let token = path.trim_matches('/');
    let (start, end) = token.split_at(63);
    let other_end = if end == "0" { "1" } else { "0" };
    let mut targets = vec![
        // Not quite the token.
        format!("/{start}{other_end}/?embed=1"),
        format!("/{start}/?embed=1"),
        format!("/{token}0/?embed=1"),
        format!("/{token}?embed=1"),
        format!("//{token}/?embed=1"),
        format!("/./{token}/?embed=1"),
        format!("/x/../{token}/?embed=1"),
        format!("/%{:02x}{}/?embed=1", token.as_bytes()[0], &token[1..]),
        format!("/?{token}/&embed=1"),
        "/*/?embed=1".to_owned(),
        "/%2f/?embed=1".to_owned(),
        "*".to_owned(),
        // Not quite the embedded view.
        format!("{path}?embed=1%26"),
        format!("{path}?%65mbed=1"),
        format!("{path}?Embed=1"),
        format!("{path}?x?embed=1"),
        format!("{path}index.html%3fembed=1"),
        // The document under other names, without the embedded view.
        format!("{path}%69ndex.html"),
        format!("{path}/index.html"),
        format!("{path}./index.html"),
        format!("{path}x/../index.html"),
        format!("{path}/"),
        format!("{path}."),
        format!("{path}index.html/?embed=1"),
        format!("{path}.env"),
        format!("{path}%2eenv"),
        format!("{path}link.js"),
    ];
    for up in [
        "..",
        "%2e%2e",
        ".%2e",
        "..%2f..",
        "%2e%2e%2f%2e%2e",
        "..%5c..",
        "%252e%252e",
        "....",
        "..;",
        "%c0%ae%c0%ae",
    ] {
        targets.push(format!("{path}{up}/{secret}"));
        targets.push(format!("{path}{up}%2f{secret}"));
        targets.push(format!("{path}x/{up}/{up}/{secret}"));
    }
    let whole = parent.join(&secret).to_string_lossy().into_owned();
    targets.push(format!("{path}{whole}"));
    targets.push(format!("{path}{}", whole.replace('/', "%2f")));
    targets.push(format!("{path}app.js%00.html"));
    for target in &targets {
        let (status, answer) = embed.get(target, "");
        assert!((300..500).contains(&status), "{target}: {answer}");
        assert_tells_nothing(target, &answer);
    }
    fs::remove_file(parent.join(&secret)).unwrap();
}

#[test]
fn other_methods_ranges_and_upgrades_are_harmless() {
    let embed = Embed::start("methods");
    let path = &embed.path;
    let host = &embed.address;
    let ask = |line: &str, headers: &str| {
        raw(
            &embed,
            format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
                .as_bytes(),
        )
    };
    for method in [
        "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get",
    ] {
        for target in [format!("{path}?embed=1"), format!("{path}app.js")] {
            let answer = ask(&format!("{method} {target}"), "Content-Length: 0\r\n");
            assert!(
                answer.starts_with("HTTP/1.1 4"),
                "{method} {target}: {answer}"
            );
            assert_tells_nothing(method, &answer);
        }
    }
    let answer = ask("CONNECT 127.0.0.1:22", "");
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    // The preflight of another page, also into a private network.
    let preflight = "Origin: https://evil.example\r\nAccess-Control-Request-Method: GET\r\n\
                     Access-Control-Request-Private-Network: true\r\n";
    for target in [
        format!("{path}?embed=1"),
        format!("{path}app.js"),
        "/".to_owned(),
    ] {
        assert_tells_nothing(&target, &ask(&format!("OPTIONS {target}"), preflight));
    }
    let head = ask(&format!("HEAD {path}?embed=1"), FRAME);
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    let script = format!("GET {path}app.js");
    for (range, status) in [
        ("bytes=0-0", 206),
        ("bytes=0-18446744073709551615", 206),
        ("bytes=9-", 416),
        ("bytes=99999999999999999999-", 416),
        ("bytes=-0", 416),
        ("bytes=2-1", 416),
        ("bytes=0-0,1-1,2-2", 416),
        ("lines=0-1", 416),
        ("", 416),
    ] {
        let answer = ask(&script, &format!("Range: {range}\r\n"));
        let found: u16 = answer[9..12].parse().unwrap();
        assert!([200, status].contains(&found), "{range}: {answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(found == 416 || "app".contains(body), "{range}: {answer}");
        assert!(!head.contains("multipart"), "{range}: {answer}");
    }
    let upgrade = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for origin in ["", "Origin: https://evil.example\r\n"] {
        for target in [
            format!("{path}?embed=1"),
            format!("{path}api/events"),
            "/".to_owned(),
        ] {
            let answer = raw(
                &embed,
                format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade, close\r\n{upgrade}{origin}\r\n").as_bytes(),
            );
            assert!(!answer.contains(" 101 "), "{target} {origin}: {answer}");
        }
    }
    let h2 = raw(&embed, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert!(h2.is_empty() || h2.starts_with("HTTP/1.1 4"), "{h2}");
}

#[test]
fn malformed_pipelined_and_huge_requests_are_harmless() {
    let embed = Embed::start("http");
    let (path, host) = (&embed.path, &embed.address);
    let evil = "Origin: https://evil.example\r\n";
    let ours = format!("GET {path}app.js HTTP/1.1\r\nHost: {host}\r\n");
    // Each of several requests on a connection is judged by itself.
    let answers = raw(
        &embed,
        format!("{ours}\r\n{ours}{evil}\r\n{ours}\r\n{ours}{evil}Connection: close\r\n\r\n")
            .as_bytes(),
    );
    let statuses: Vec<&str> = answers
        .split("HTTP/1.1 ")
        .skip(1)
        .map(|answer| &answer[..3])
        .collect();
    assert_eq!(statuses, ["200", "403", "200", "403"], "{answers}");
    // A second request in the body of the first, and lengths that contradict each other.
    let inner = format!("GET {path}app.js HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for headers in [
        format!(
            "Content-Length: {}\r\nTransfer-Encoding: chunked\r\n",
            inner.len()
        ),
        "Content-Length: 5\r\nContent-Length: 6\r\n".to_owned(),
        "Content-Length: -1\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
    ] {
        let request = format!(
            "POST {path}app.js HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n{inner}"
        );
        let answer = raw(&embed, request.as_bytes());
        assert!(!answer.contains(" 200 "), "{headers}: {answer}");
    }
    for request in [
        "\0\0\0".to_owned(),
        format!("GET {path}app.js\r\n\r\n"),
        format!("GET {path}app.js HTTP/9.9\r\n\r\n"),
        format!("GET {path}app.js HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"),
        format!(
            "GET {path}app.js HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        ),
        format!(
            "GET http://evil.example{path}app.js HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ),
        format!(
            "GET {path}app.js HTTP/1.1\r\nHost: {host}\r\n folded: x\r\nConnection: close\r\n\r\n"
        ),
        format!("GET {path}app.js HTTP/1.1\nHost: evil.example\nConnection: close\n\n"),
        format!(
            "GET {path}{}app.js HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
            "a/".repeat(50_000)
        ),
        format!(
            "GET {path}app.js HTTP/1.1\r\nHost: {host}\r\nA: {}\r\nConnection: close\r\n\r\n",
            "a".repeat(2 << 20)
        ),
        format!(
            "GET {path}app.js HTTP/1.1\r\nHost: {host}\r\n{}Connection: close\r\n\r\n",
            "A: b\r\n".repeat(5_000)
        ),
    ] {
        let answer = raw(&embed, request.as_bytes());
        let what = &request[..request.len().min(120)];
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{what}: {answer}"
        );
        assert_tells_nothing(what, &answer);
    }
    // It goes on.
    assert_eq!(embed.get(&format!("{path}app.js"), "").0, 200);
}

#[test]
fn only_frames_get_the_document_and_only_it_gets_the_rest() {
    let embed = Embed::start("fetches");
    let path = &embed.path;
    let sites = ["cross-site", "same-site"];
    let modes = [
        ("navigate", "object"),
        ("navigate", "embed"),
        ("navigate", "frame"),
        ("no-cors", "image"),
        ("no-cors", "script"),
        ("no-cors", "style"),
        ("no-cors", "video"),
        ("no-cors", "empty"),
        ("cors", "empty"),
        ("cors", "font"),
        ("cors", "worker"),
        ("same-origin", "worker"),
        ("websocket", "websocket"),
    ];
    for site in sites {
        for (mode, destination) in modes {
            let headers = format!(
                "Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {destination}\r\n"
            );
            let (status, answer) = embed.get(&format!("{path}?embed=1"), &headers);
            assert_eq!(status, 204, "{headers}");
            assert_tells_nothing(&headers, &answer);
            for target in [
                format!("{path}app.js"),
                path.clone(),
                format!("{path}absent"),
            ] {
                let (status, answer) = embed.get(&target, &headers);
                assert!([403, 404].contains(&status), "{target} {headers}: {answer}");
                assert_tells_nothing(&headers, &answer);
            }
        }
    }
    // A browser that says nothing about a request still keeps the answer from other pages.
    for target in [format!("{path}?embed=1"), format!("{path}app.js")] {
        let (_, answer) = embed.get(&target, "");
        let head = answer.to_lowercase();
        for header in [
            "cross-origin-resource-policy: same-origin\r\n",
            "x-content-type-options: nosniff\r\n",
            // The path must not leave as a `Referer`.
            "referrer-policy: no-referrer\r\n",
        ] {
            assert!(head.contains(header), "{target}: {answer}");
        }
    }
}

#[test]
fn clients_that_stall_keep_nobody_out() {
    let embed = Embed::start("stall");
    fs::write(embed.folder.join("large.js"), vec![b'x'; 16 << 20]).unwrap();
    let path = &embed.path;
    let host = &embed.address;
    let mut stalled = Vec::new();
    for request in [
        "GET /".to_owned(),
        format!("POST {path}app.js HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n"),
        format!("GET {path}large.js HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ] {
        for _ in 0..60 {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stalled.push(stream);
        }
    }
    for _ in 0..20 {
        assert_eq!(embed.get(&format!("{path}app.js"), "").0, 200);
    }
    drop(stalled);
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
