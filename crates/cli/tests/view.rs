//! `volary view`: who may read, what can be read, and what happens to files that change meanwhile.

#![cfg(test)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PAGE: &str = "<html><head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"></head><p>home";

/// A folder for a test, with a page, and a secret that no address leads to.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("volary-view-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let folder = Folder(path);
        folder.write("dist/index.html", PAGE);
        folder.write("dist/app.js", "app");
        folder.write("secret.json", "SECRET");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_volary"));
        command
            .arg("view")
            .args(arguments)
            .arg("--page")
            .arg(self.path("dist"));
        command
            .current_dir(&self.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in [
            "VOLARY_API_KEY",
            "SSH_CONNECTION",
            "DISPLAY",
            "WAYLAND_DISPLAY",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Starts a view of `runs/` and lets this test in.
    fn view(&self, arguments: &[&str]) -> View {
        let mut command = self.command(&["runs", "--json"]);
        command.args(arguments);
        self.started(command)
    }

    /// Starts a command that is a view, and lets this test in.
    fn started(&self, mut command: Command) -> View {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        let port = started["port"].as_u64().unwrap();
        let url = started["url"].as_str().unwrap().to_owned();
        let token = url
            .rsplit_once("#token=")
            .map_or("", |(_, token)| token)
            .to_owned();
        let mut view = View {
            child,
            address: format!("127.0.0.1:{port}"),
            token,
            cookie: String::new(),
        };
        if !view.token.is_empty() {
            view.cookie = view.enter(&view.token.clone()).unwrap();
        }
        view
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let Output { status, stderr, .. } = self.command(arguments).output().unwrap();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
        String::from_utf8(stderr).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct View {
    child: Child,
    address: String,
    token: String,
    cookie: String,
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl View {
    /// Sends bytes and reads until the connection ends.
    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A connection that breaks leaves what came before.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes
            .windows(4)
            .position(|part| part == b"\r\n\r\n")
            .map_or(bytes.len(), |end| end + 4);
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head
            .get(9..12)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        assert!(!head.contains("access-control-"), "{head}");
        Answer {
            status,
            head,
            body: bytes.split_off(end),
        }
    }

    fn with(&self, request_line: &str, headers: &str) -> Answer {
        let host = &self.address;
        self.raw(&format!(
            "{request_line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }

    /// A request of who was let in.
    fn get(&self, target: &str) -> Answer {
        self.with(
            &format!("GET {target}"),
            &format!("Cookie: {}\r\n", self.cookie),
        )
    }

    fn part(&self, target: &str, range: &str) -> Answer {
        let headers = format!("Cookie: {}\r\nRange: {range}\r\n", self.cookie);
        self.with(&format!("GET {target}"), &headers)
    }

    fn post(&self, target: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let headers = format!(
            "Cookie: {}\r\nContent-Length: {}\r\n",
            self.cookie,
            body.len()
        );
        let host = &self.address;
        self.raw(&format!(
            "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n{body}"
        ))
    }

    /// The beginnings of files: the lines, with the bytes that follow each.
    fn heads(&self, paths: &[&str], bytes: u64) -> Vec<(Value, Vec<u8>)> {
        let answer = self.post("/api/heads", &json!({ "paths": paths, "bytes": bytes }));
        assert_eq!(answer.status, 200, "{}", answer.head);
        let mut rest = &unchunked(&answer)[..];
        let mut heads = Vec::new();
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
            let line: Value = serde_json::from_slice(&rest[..end]).unwrap();
            let length = line["length"].as_u64().unwrap_or_default() as usize;
            let (head, others) = rest[end + 1..].split_at(length);
            heads.push((line, head.to_vec()));
            rest = others;
        }
        assert_eq!(heads.len(), paths.len());
        heads
    }

    /// The cookie for a token.
    fn enter(&self, token: &str) -> Option<String> {
        let body = serde_json::json!({ "token": token }).to_string();
        let host = &self.address;
        let answer = self.raw(&format!(
            "POST /api/session HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let line = answer
            .head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))?;
        assert!(line.contains("; httponly; samesite=strict"), "{line}");
        line.split(';').next().map(str::to_owned)
    }

    fn list(&self) -> Vec<Value> {
        let answer = self.get("/api/files");
        assert_eq!(answer.status, 200, "{}", answer.head);
        let text = answer.text();
        let lines = text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn names(&self) -> Vec<String> {
        let lines = self.list();
        lines
            .iter()
            .filter_map(|line| Some(line["name"].as_str()?.to_owned()))
            .collect()
    }
}

#[test]
fn without_a_token_nothing_is_served() {
    let folder = Folder::new("token");
    folder.write("runs/a.json", "SECRET");
    let view = folder.view(&[]);
    let host = &view.address;
    // The document asks for the token.
    let outside = view.with("GET /", "");
    assert_eq!(outside.status, 200);
    assert!(outside.text().contains("/view/enter.js"));
    assert!(!outside.text().contains("/view/open.js"));
    for policy in ["default-src 'none'", "frame-ancestors 'self'"] {
        assert!(outside.head.contains(policy), "{}", outside.head);
    }
    assert_eq!(view.with("GET /view/enter.js", "").status, 200);
    let wrong_cookies = [
        String::new(),
        format!("Cookie: {}0\r\n", view.cookie),
        format!(
            "Cookie: {}={}\r\n",
            view.cookie.split('=').next().unwrap(),
            view.token
        ),
        format!(
            "Cookie: volary-view-1={}\r\n",
            view.cookie.split('=').nth(1).unwrap()
        ),
        format!("Authorization: Bearer {}\r\n", view.token),
    ];
    for headers in &wrong_cookies {
        for target in [
            "/api/library.json",
            "/api/files",
            "/api/file/0/a.json",
            "/api/file/0/absent",
        ] {
            let answer = view.with(&format!("GET {target}"), headers);
            assert_eq!(answer.status, 401, "{target} {headers}");
            assert!(!answer.text().contains("SECRET"));
        }
        let body = json!({ "paths": ["file/0/a.json"], "bytes": 9 }).to_string();
        let headers = format!("{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        let answer = view.with("POST /api/heads", &headers);
        assert_eq!(answer.status, 401, "{headers}");
        assert!(!answer.text().contains("SECRET"));
    }
    assert_eq!(view.enter("wrong"), None);
    assert_eq!(view.enter(""), None);
    // The document, once let in.
    let inside = view.get("/");
    assert!(inside.text().contains(
        "rel=\"volary-library preload\" as=\"fetch\" crossorigin href=\"./api/library.json\""
    ));
    assert!(inside.text().ends_with("<p>home"));
    assert!(
        inside
            .head
            .contains("content-security-policy: default-src 'none'; frame-ancestors 'self'")
    );
    assert_eq!(view.get("/app.js").text(), "app");
    let library: Value = serde_json::from_slice(&view.get("/api/library.json").body).unwrap();
    assert_eq!(library["title"], "runs");
    assert_eq!(view.get("/api/file/0/a.json").text(), "SECRET");
    // Nothing that another page sends is answered, though browsers may add the cookie.
    let cookie = format!("Cookie: {}\r\n", view.cookie);
    for headers in [
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n",
    ] {
        for target in ["/api/files", "/api/file/0/a.json", "/"] {
            let answer = view.with(&format!("GET {target}"), &format!("{cookie}{headers}"));
            assert_eq!(answer.status, 403, "{target} {headers}");
        }
        let preflight = view.with(
            "OPTIONS /api/files",
            &format!("{headers}Access-Control-Request-Method: GET\r\n"),
        );
        assert!(preflight.status >= 400, "{}", preflight.head);
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "0.0.0.0"] {
        let answer = view.raw(&format!(
            "GET /api/files HTTP/1.1\r\nHost: {host}\r\n{cookie}Connection: close\r\n\r\n"
        ));
        assert_eq!(answer.status, 421, "{host}");
    }
    let rebound = view.raw(&format!(
        "GET http://evil.example/api/files HTTP/1.1\r\nHost: {host}\r\n{cookie}Connection: close\r\n\r\n"
    ));
    assert_eq!(rebound.status, 421);
    for method in ["POST", "PUT", "DELETE"] {
        let answer = view.with(
            &format!("{method} /api/file/0/a.json"),
            &format!("{cookie}Content-Length: 0\r\n"),
        );
        assert_eq!(answer.status, 405, "{method}");
    }
}

#[test]
fn no_log_has_the_token() {
    let folder = Folder::new("log");
    folder.write("runs/a.json", "{}");
    let mut view = folder.view(&[]);
    view.enter("wrong");
    view.get("/api/file/0/../../secret.json");
    view.child.kill().unwrap();
    let mut log = String::new();
    view.child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut log)
        .unwrap();
    let cookie = view.cookie.split('=').nth(1).unwrap();
    assert!(!log.contains(&view.token) && !log.contains(cookie), "{log}");
}

#[test]
fn a_key_takes_the_place_of_the_token() {
    let folder = Folder::new("key");
    folder.write("runs/a.json", "{}");
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        assert!(
            folder
                .refused(&["runs", "--host", host])
                .contains("--api-key")
        );
        assert!(
            folder
                .refused(&["runs", "--host", host, "--api-key", ""])
                .contains("--api-key")
        );
    }
    let view = folder.view(&["--host", "0.0.0.0", "--api-key", "open sesame"]);
    assert_eq!(view.token, "", "the key is not printed");
    assert_eq!(view.get("/api/files").status, 401);
    assert_eq!(view.enter("open"), None);
    assert!(view.enter("open sesame").is_some());
}

#[test]
fn clear_errors_for_what_cannot_be_shown() {
    let folder = Folder::new("errors");
    folder.write("runs/a.json", "{}");
    assert!(folder.refused(&["absent"]).contains("cannot read absent"));
    assert!(
        folder
            .refused(&["/dev/null"])
            .contains("neither a file nor a folder")
    );
    fs::rename(folder.path("dist"), folder.path("elsewhere")).unwrap();
    assert!(folder.refused(&["runs"]).contains("there is no page in "));
    assert!(folder.refused(&[]).contains("required"));
}

#[test]
fn over_ssh_the_line_to_use_is_printed() {
    let folder = Folder::new("ssh");
    folder.write("runs/a.json", "{}");
    let mut command = folder.command(&["runs"]);
    command
        .env("SSH_CONNECTION", "192.0.2.7 50000 198.51.100.3 22")
        .env("USER", "me");
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        said.starts_with("Showing runs on http://127.0.0.1:") && said.contains("/#token="),
        "{said}"
    );
    assert!(
        line.contains("ssh -N -L ") && line.ends_with(" me@198.51.100.3"),
        "{line}"
    );
}

#[test]
fn two_hundred_ways_out_lead_nowhere() {
    let folder = Folder::new("escape");
    folder.write("runs/deep/a.json", "{}");
    folder.write("runs/.env", "SECRET");
    folder.write("runs/.git/config", "SECRET");
    folder.write("runs-2/b.json", "SECRET");
    folder.write("dist/.env", "SECRET");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.path("secret.json"), folder.path("runs/link.json")).unwrap();
        symlink(&folder.0, folder.path("runs/up")).unwrap();
        symlink("../..", folder.path("runs/deep/up")).unwrap();
        symlink("/", folder.path("runs/root")).unwrap();
        symlink("/etc/passwd", folder.path("runs/passwd.json")).unwrap();
    }
    let view = folder.view(&[]);
    let ups = [
        "..",
        "%2e%2e",
        "%2E.",
        ".%2e",
        "%252e%252e",
        "..%00",
        "..%5c",
        "%c0%ae%c0%ae",
        "%uff0e%uff0e",
        "....",
        "..;",
        "%2e%2e%2f",
        "..%2f",
        "..%252f",
        "up",
        "deep/up",
        "deep/../..",
        "%20..",
        "..%20",
        "~",
    ];
    let ends = ["secret.json", "runs-2/b.json", "dist/.env", "runs/.env"];
    let mut targets: Vec<String> = Vec::new();
    for up in ups {
        for end in ends {
            targets.push(format!("/api/file/0/{up}/{end}"));
            targets.push(format!("/api/file/0/deep/{up}/{up}/{end}"));
        }
    }
    let whole = folder.path("secret.json").to_string_lossy().into_owned();
    let escaped = whole.replace('/', "%2f");
    for start in [
        "/api/file/0/",
        "/api/file/0//",
        "/api/file/",
        "/api/file//",
        "/api/file/1/",
        "/api/file/-1/",
        "/api/file/00/",
        "/",
        "//",
    ] {
        targets.extend([
            format!("{start}{whole}"),
            format!("{start}{escaped}"),
            format!("{start}file://{whole}"),
        ]);
    }
    for other in [
        "/api/file/0/.env",
        "/api/file/0/%2eenv",
        "/api/file/0/.git/config",
        "/api/file/0/deep/../.env",
        "/api/file/0/deep%2f..%2f.env",
        "/api/file/0/link.json",
        "/api/file/0/root/etc/passwd",
        "/api/file/0/passwd.json",
        "/api/file/0",
        "/api/file/0/",
        "/api/file/0/deep",
        "/api/file/0/deep/",
        "/api/file/0/deep/a.json/",
        "/api/file/0/deep/a.json%00",
        "/api/file/0/deep/a.json%00.json",
        "/api/file/0/%00",
        "/api/file/0/%ff%fe",
        "/api/file/0/deep//a.json",
        "/api/file/0/./deep/a.json",
        "/api/file/0/C:%5cwindows%5cwin.ini",
        "/api/file/0/%5c%5chost%5cshare",
        "/api/file/0/CON",
        "/api/file/0/deep/a.json::$DATA",
        "/../secret.json",
        "/%2e%2e/secret.json",
        "/..%2fsecret.json",
        "/.env",
        "/%2eenv",
        "/api/../../secret.json",
        "/view/../../secret.json",
    ] {
        targets.push(other.to_owned());
    }
    assert!(targets.len() >= 200, "{}", targets.len());
    for target in &targets {
        let answer = view.get(target);
        assert!(
            (400..500).contains(&answer.status),
            "{target}: {}",
            answer.head
        );
        assert!(
            !answer.text().contains("SECRET") && !answer.text().contains("root:"),
            "{target}"
        );
    }
    // The same addresses in requests for the beginnings of files.
    let paths: Vec<&str> = targets
        .iter()
        .map(|target| target.strip_prefix("/api/").unwrap_or(target))
        .collect();
    for (path, (line, bytes)) in paths.iter().zip(view.heads(&paths, 100)) {
        assert_eq!((line, bytes.len()), (json!({ "status": 404 }), 0), "{path}");
    }
    assert_eq!(view.get("/api/file/0/deep/a.json").text(), "{}");
    assert_eq!(view.names(), ["deep/a.json"]);
}

#[test]
fn the_beginnings_of_many_files_are_in_one_response() {
    let folder = Folder::new("heads");
    folder.write("runs/.env", "SECRET");
    folder.write("secret.json", "SECRET");
    folder.write("runs/deep/a ü%20.json", "{\"a\": 1}\n");
    folder.write("runs/empty.jsonl", "");
    folder.write("runs/large.jsonl", "0123456789".repeat(100_000));
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("secret.json"), folder.path("runs/link.json")).unwrap();
    let view = folder.view(&[]);
    let paths = [
        "file/0/large.jsonl",
        "file/0/deep/a ü%20.json",
        "file/0/missing.json",
        "file/0/empty.jsonl",
        "file/0/large.jsonl",
    ];
    let heads = view.heads(&paths, 1_000_000);
    let lengths = heads.iter().map(|(_, bytes)| bytes.len());
    let most = 256 << 10;
    assert_eq!(lengths.collect::<Vec<_>>(), [most, 9, 0, 0, most]);
    let sizes = heads.iter().map(|(line, _)| line["size"].as_u64());
    let sizes: Vec<_> = sizes.collect();
    assert_eq!(
        sizes,
        [Some(1_000_000), Some(9), None, Some(0), Some(1_000_000)]
    );
    assert_eq!(heads[2].0, json!({ "status": 404 }));
    assert_eq!(heads[1].1, b"{\"a\": 1}\n");
    assert!(heads[0].1.starts_with(b"0123456789"));
    // The version is that of the file itself.
    let whole = view.get("/api/file/0/large.jsonl").head;
    let tag = heads[0].0["etag"].as_str().unwrap();
    assert!(whole.contains(&format!("etag: {tag}\r\n")), "{whole}");
    assert_eq!(view.heads(&paths[..2], 3)[1].1, b"{\"a");
    assert!(view.heads(&[], 3).is_empty());

    let many: Vec<String> = (0..1_000).map(|_| paths[1].to_owned()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(
        view.heads(&many, 100)
            .iter()
            .all(|(_, bytes)| bytes.len() == 9)
    );
    for wrong in [
        json!({ "paths": vec![paths[1]; 1_025], "bytes": 1 }),
        json!({ "paths": paths }),
        json!({ "paths": paths, "bytes": -1 }),
        json!({ "paths": "file/0/empty.jsonl", "bytes": 1 }),
        json!([]),
    ] {
        assert_eq!(view.post("/api/heads", &wrong).status, 400, "{wrong}");
    }
    let hidden = [
        "file/0/.env",
        "file/0/../secret.json",
        "file/0/link.json",
        "file/0/deep/../../secret.json",
        "file//etc/passwd",
        "file/0//etc/passwd",
        "file/1/a.json",
        "file/0/deep",
        "file/0/",
        "0/empty.jsonl",
        "/etc/passwd",
        "",
        "file/0/empty.jsonl\0",
    ];
    for (path, (line, bytes)) in hidden.iter().zip(view.heads(&hidden, 100)) {
        assert_eq!(
            (line, bytes.len()),
            (json!({ "status": 404 }), 0),
            "{path:?}"
        );
    }
}

/// The body of a response, whose chunks are joined.
fn unchunked(answer: &Answer) -> Vec<u8> {
    if !answer.head.contains("transfer-encoding: chunked") {
        return answer.body.clone();
    }
    let mut whole = Vec::new();
    let mut rest = &answer.body[..];
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return whole;
        }
        let chunk = &rest[end + 2..];
        whole.extend_from_slice(&chunk[..size]);
        rest = &chunk[size + 2..];
    }
}

#[test]
fn hostile_names_are_names() {
    let folder = Folder::new("names");
    let names = [
        "a b.json",
        "<img src=x>.json",
        "%2e%2e.json",
        "q?x=1#y.json",
        "\u{202e}nosj.json",
        "new\nline.json",
        "\"quoted\".json",
        "-rf.json",
    ];
    for name in names {
        folder.write(&format!("runs/{name}"), name);
    }
    let view = folder.view(&[]);
    let mut lines = view.list();
    assert_eq!(lines.len(), names.len());
    for line in &mut lines {
        let path = line["path"].as_str().unwrap();
        let escaped: String = path
            .bytes()
            .map(|byte| match byte {
                b'/' | b'a'..=b'z' | b'0'..=b'9' => (byte as char).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect();
        let answer = view.get(&format!("/api/{escaped}"));
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, line["name"].as_str().unwrap()),
            "{path}"
        );
    }
}

#[test]
fn files_are_sent_in_ranges() {
    let folder = Folder::new("ranges");
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|place| (place / 7) as u8).collect();
    folder.write("runs/a.json", &bytes);
    folder.write("runs/empty.json", "");
    let view = folder.view(&[]);
    let whole = view.get("/api/file/0/a.json");
    assert!(whole.status == 200 && whole.body == bytes);
    for header in [
        "accept-ranges: bytes\r\n",
        "content-length: 1000000\r\n",
        "content-type: application/octet-stream\r\n",
        "cross-origin-resource-policy: same-origin\r\n",
        "cache-control: no-store\r\n",
    ] {
        assert!(whole.head.contains(header), "{}", whole.head);
    }
    let part = view.part("/api/file/0/a.json", "bytes=300000-899999");
    assert!(part.status == 206 && part.body == bytes[300_000..900_000]);
    assert!(
        part.head
            .contains("content-range: bytes 300000-899999/1000000\r\n"),
        "{}",
        part.head
    );
    assert_eq!(
        view.part("/api/file/0/a.json", "bytes=-5").body,
        bytes[999_995..]
    );
    assert_eq!(
        view.part("/api/file/0/a.json", "bytes=1000000-").status,
        416
    );
    let empty = view.part("/api/file/0/empty.json", "bytes=0-9");
    assert!(
        empty.status == 416 && empty.head.contains("content-range: bytes */0\r\n"),
        "{}",
        empty.head
    );
    let head = view.with(
        "HEAD /api/file/0/a.json",
        &format!("Cookie: {}\r\n", view.cookie),
    );
    assert!(
        head.status == 200
            && head.body.is_empty()
            && head.head.contains("content-length: 1000000\r\n")
    );
}

/// Reads the beginning of a large response, has the file changed, and reads the rest.
fn read_while(view: &View, target: &str, change: impl FnOnce()) -> (usize, usize) {
    let mut stream = TcpStream::connect(&view.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    write!(
        stream,
        "GET {target} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nConnection: close\r\n\r\n",
        view.address, view.cookie
    )
    .unwrap();
    let mut head = vec![0; 4096];
    stream.read_exact(&mut head).unwrap();
    let text = String::from_utf8_lossy(&head).to_lowercase();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap()
        .parse()
        .unwrap();
    let start = text.find("\r\n\r\n").unwrap() + 4;
    change();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    (length, head.len() - start + rest.len())
}

#[test]
fn files_that_change_while_they_are_read_do_no_harm() {
    let folder = Folder::new("changes");
    let large = vec![b'x'; 64 << 20];
    let view = {
        folder.write("runs/a.json", &large);
        folder.view(&[])
    };
    let file = folder.path("runs/a.json");
    // Cut off, and overwritten: the response ends early, which a browser reports.
    let (length, got) = read_while(&view, "/api/file/0/a.json", || {
        fs::write(&file, "short").unwrap()
    });
    assert!(got < length, "{got} of {length}");
    folder.write("runs/a.json", &large);
    let (length, got) = read_while(&view, "/api/file/0/a.json", || {
        std::thread::sleep(Duration::from_millis(20));
        let mut file = fs::OpenOptions::new().write(true).open(&file).unwrap();
        file.write_all(b"other").unwrap();
    });
    assert!(got < length, "{got} of {length}");
    // Appended to, deleted, or replaced by another file: what was opened is sent.
    folder.write("runs/a.json", &large);
    for change in [
        &(|| {
            fs::OpenOptions::new()
                .append(true)
                .open(&file)
                .unwrap()
                .write_all(b"more")
                .unwrap()
        }) as &dyn Fn(),
        &|| {
            fs::write(folder.path("runs/next"), "{}").unwrap();
            fs::rename(folder.path("runs/next"), &file).unwrap();
        },
    ] {
        let (length, got) = read_while(&view, "/api/file/0/a.json", change);
        assert_eq!(got, length);
    }
    assert_eq!(view.get("/api/file/0/a.json").text(), "{}");
    fs::remove_file(&file).unwrap();
    assert_eq!(view.get("/api/file/0/a.json").status, 404);
    fs::remove_dir_all(folder.path("runs")).unwrap();
    let problem = view.list();
    assert!(
        problem[0]["problem"]
            .as_str()
            .unwrap()
            .contains("cannot be read"),
        "{problem:?}"
    );
    folder.write("runs/b.json", "{}");
    assert_eq!(view.names(), ["b.json"]);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_never_opened() {
    let folder = Folder::new("pipes");
    folder.write("runs/a.json", "{}");
    let made = Command::new("mkfifo")
        .arg(folder.path("runs/pipe.json"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("runs/socket.json")).unwrap();
    // A writer waits until somebody opens the pipe.
    let mut writer = Command::new("sh")
        .args(["-c", "echo x > runs/pipe.json"])
        .current_dir(&folder.0)
        .spawn()
        .unwrap();
    let view = folder.view(&[]);
    let start = Instant::now();
    assert_eq!(view.names(), ["a.json"]);
    for name in ["pipe.json", "socket.json"] {
        assert_eq!(
            view.get(&format!("/api/file/0/{name}")).status,
            404,
            "{name}"
        );
    }
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(writer.try_wait().unwrap(), None, "nobody opened the pipe");
    writer.kill().unwrap();
    writer.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn unreadable_paths_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("permissions");
    folder.write("runs/a.json", "{}");
    folder.write("runs/closed/b.json", "{}");
    let modes = |mode| {
        for name in ["runs/a.json", "runs/closed"] {
            fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    modes(0o000);
    let is_root = fs::File::open(folder.path("runs/a.json")).is_ok();
    let view = folder.view(&[]);
    if !is_root {
        assert_eq!(view.get("/api/file/0/a.json").status, 403);
        let lines = view.list();
        let problem = lines
            .iter()
            .find_map(|line| line["problem"].as_str())
            .unwrap();
        assert!(problem.starts_with("closed/ cannot be read: "), "{problem}");
    }
    modes(0o755);
}

#[test]
fn a_list_that_is_not_read_to_its_end_stops() {
    let folder = Folder::new("many");
    fs::create_dir_all(folder.path("runs")).unwrap();
    for number in 0..3000 {
        fs::write(folder.path(&format!("runs/{number:05}.json")), "{}").unwrap();
    }
    let view = folder.view(&[]);
    for _ in 0..60 {
        let mut stream = TcpStream::connect(&view.address).unwrap();
        write!(
            stream,
            "GET /api/files HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
            view.address, view.cookie
        )
        .unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
    }
    let names = view.names();
    assert!(names.len() == 3000 && names.is_sorted());
}

#[cfg(unix)]
const MANY: usize = 500;

/// Files whose list is larger than the buffers of a connection: in JSON each letter of these names has six.
#[cfg(unix)]
fn many(folder: &Folder) {
    for number in 0..MANY {
        folder.write(&format!("runs/{number}-{}.jsonl", "\u{1}".repeat(230)), "");
    }
}

/// Many clients that ask for what is large, read a little, and read no more.
#[cfg(unix)]
fn stalled(view: &View, request: &str, count: usize) -> Vec<TcpStream> {
    let clients = (0..count).map(|_| {
        let mut stream = TcpStream::connect(&view.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 200]).unwrap();
        stream
    });
    clients.collect()
}

#[cfg(unix)]
#[test]
fn readers_that_stall_keep_nobody_out() {
    let folder = Folder::new("stall");
    folder.write("runs/large.json", vec![b'x'; 16 << 20]);
    folder.write("runs/small.json", "{}");
    many(&folder);
    let view = folder.view(&[]);
    let (host, cookie) = (&view.address, &view.cookie);
    let head = |line: &str, more: &str| {
        format!("{line} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{more}\r\n")
    };
    let paths = vec!["file/0/large.json"; 64];
    let heads = json!({ "paths": paths, "bytes": 262_144 }).to_string();
    let length = format!("Content-Length: {}\r\n", heads.len());
    // Some 64 of each: more than there are threads.
    let mut clients = stalled(&view, &head("GET /api/file/0/large.json", ""), 60);
    clients.extend(stalled(&view, &head("GET /api/files", ""), 60));
    clients.extend(stalled(
        &view,
        &(head("POST /api/heads", &length) + &heads),
        60,
    ));
    let start = Instant::now();
    for _ in 0..10 {
        assert_eq!(view.get("/api/file/0/small.json").text(), "{}");
        assert_eq!(view.heads(&["file/0/small.json"], 9)[0].1, b"{}");
    }
    assert_eq!(view.names().len(), MANY + 2);
    // Without waiting until the others are given up.
    assert!(start.elapsed() < Duration::from_secs(20));
    // Requests that are sent in half do not either.
    for half in ["GET /api/fi".to_owned(), head("POST /api/heads", &length)] {
        for _ in 0..20 {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.write_all(half.as_bytes()).unwrap();
            clients.push(stream);
        }
    }
    assert_eq!(view.get("/api/file/0/small.json").text(), "{}");
    // What was begun goes on for a reader that continues.
    let mut rest = Vec::new();
    let first = &mut clients[0];
    while rest.len() < 16 << 20 {
        let mut buffer = [0; 65_536];
        let read = first.read(&mut buffer).unwrap();
        assert!(read > 0, "{} bytes came", rest.len());
        rest.extend_from_slice(&buffer[..read]);
    }
}

#[cfg(unix)]
#[test]
fn a_root_that_becomes_a_link_is_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("root-link");
    folder.write("home/runs/a.json", "{}");
    folder.write("home/one.json", "{}");
    folder.write("secrets/runs/a.json", "SECRET");
    folder.write("secrets/one.json", "SECRET");
    folder.write("secrets/b.json", "SECRET");
    let command = folder.command(&["home/runs", "home/one.json", "--json", "--notes"]);
    let view = folder.started(command);
    let reads = || {
        let mut all = String::new();
        for target in [
            "/api/file/0/a.json",
            "/api/file/0/b.json",
            "/api/file/1/one.json",
            "/api/files",
            "/api/notes",
            "/api/search?q=SECRET",
        ] {
            all += &view.get(target).text();
        }
        for (line, bytes) in view.heads(&["file/0/a.json", "file/1/one.json"], 99) {
            all += &format!("{line} {}", String::from_utf8_lossy(&bytes));
        }
        all
    };
    assert_eq!(view.get("/api/file/0/a.json").text(), "{}");
    // The folder, the file, and then the folder above both.
    fs::rename(folder.path("home/runs"), folder.path("home/away")).unwrap();
    symlink(folder.path("secrets"), folder.path("home/runs")).unwrap();
    fs::remove_file(folder.path("home/one.json")).unwrap();
    symlink(
        folder.path("secrets/one.json"),
        folder.path("home/one.json"),
    )
    .unwrap();
    let read = reads();
    assert!(
        !read.contains("SECRET") && !read.contains("file/0/b.json"),
        "{read}"
    );
    assert!(read.contains("cannot be read"), "{read}");
    fs::rename(folder.path("home"), folder.path("elsewhere")).unwrap();
    symlink(folder.path("secrets"), folder.path("home")).unwrap();
    assert!(!reads().contains("SECRET"));
    let note = json!({ "format": "volary-annotations", "version": 1, "annotations": [
        { "id": "1", "episode": "e", "text": "x", "revision": 1 },
    ] });
    assert!(view.post("/api/notes", &note).status >= 400);
    assert!(
        !folder.path("secrets/.volary").exists() && !folder.path("secrets/runs/.volary").exists()
    );
    // The folder is made again, where it was.
    fs::remove_file(folder.path("elsewhere/runs")).unwrap();
    folder.write("elsewhere/runs/a.json", "[]");
    assert_eq!(view.get("/api/file/0/a.json").text(), "[]");
}

/// The version of a file, as the page compares it.
fn version(view: &View) -> String {
    let head = view.get("/api/file/0/a.json").head;
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: "));
    tag.unwrap().to_owned()
}

#[test]
fn versions_differ_whatever_the_clock_says() {
    use std::time::SystemTime;
    let folder = Folder::new("clock");
    folder.write("runs/a.json", "{\"a\": 1}");
    let view = folder.view(&[]);
    let file = folder.path("runs/a.json");
    let set_time = |time| {
        let file = fs::File::options().write(true).open(&file).unwrap();
        file.set_modified(time).unwrap();
    };
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    let mut seen = vec![version(&view)];
    // Ahead, back, before 1970, and far ahead.
    for time in [
        now + 24 * hour,
        now,
        SystemTime::UNIX_EPOCH - hour,
        now + 200 * 365 * 24 * hour,
    ] {
        set_time(time);
        let lines = view.list();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0]["modified"].is_i64(), "{lines:?}");
        assert_eq!(view.heads(&["file/0/a.json"], 99)[0].1, b"{\"a\": 1}");
        seen.push(version(&view));
    }
    // Other bytes of the same number at the same time, as `cp -p` leaves them.
    #[cfg(unix)]
    {
        fs::write(&file, "{\"a\": 2}").unwrap();
        set_time(now);
        seen.push(version(&view));
        fs::write(folder.path("next"), "{\"a\": 3}").unwrap();
        fs::rename(folder.path("next"), &file).unwrap();
        set_time(now);
        seen.push(version(&view));
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "{seen:?}");
    // What the browser knows is compared with all of it.
    let known = format!(
        "Cookie: {}\r\nIf-None-Match: {}\r\n",
        view.cookie,
        version(&view)
    );
    assert_eq!(view.with("GET /api/file/0/a.json", &known).status, 304);
}

#[test]
fn changes_are_reported_whatever_the_clock_says() {
    use std::time::SystemTime;
    let folder = Folder::new("clock-events");
    folder.write("runs/a.json", "{}");
    let view = folder.view(&[]);
    let mut stream = TcpStream::connect(&view.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
        view.address, view.cookie
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "event: ready"));
    let mut hear = |bytes: usize| {
        let wanted = format!("\"bytes\":{bytes},");
        assert!(lines.any(|line| line.contains(&wanted)), "{bytes}");
    };
    // The folder may not be watched yet.
    for _ in 0..20 {
        folder.write("runs/a.json", "[ ]");
        std::thread::sleep(Duration::from_millis(100));
    }
    hear(3);
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    for (bytes, time) in [
        (10, now + 24 * hour),
        (20, now - 24 * hour),
        (30, now - 24 * hour),
    ] {
        folder.write("runs/a.json", " ".repeat(bytes));
        let file = fs::File::options()
            .write(true)
            .open(folder.path("runs/a.json"));
        file.unwrap().set_modified(time).unwrap();
        hear(bytes);
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_is_killed_leaves_no_response_that_looks_whole() {
    let folder = Folder::new("killed");
    folder.write("runs/large.json", vec![b'x'; 16 << 20]);
    many(&folder);
    let mut view = folder.view(&[]);
    let (host, cookie) = (view.address.clone(), view.cookie.clone());
    let head = |line: &str, more: &str| {
        format!("{line} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{more}\r\n")
    };
    let paths = vec!["file/0/large.json"; 64];
    let heads = json!({ "paths": paths, "bytes": 262_144 }).to_string();
    let length = format!("Content-Length: {}\r\n", heads.len());
    let requests = [
        head("GET /api/file/0/large.json", ""),
        head("GET /api/files", ""),
        head("POST /api/heads", &length) + &heads,
    ];
    let clients: Vec<TcpStream> = requests
        .iter()
        .flat_map(|request| stalled(&view, request, 1))
        .collect();
    view.child.kill().unwrap();
    view.child.wait().unwrap();
    for (mut client, request) in clients.into_iter().zip(&requests) {
        let mut rest = Vec::new();
        let ended = client.read_to_end(&mut rest);
        let is_whole = rest.len() >= 16 << 20 || rest.ends_with(b"\r\n0\r\n\r\n");
        assert!(ended.is_err() || !is_whole, "{request}");
    }
}

#[test]
fn no_output_has_a_key() {
    const KEY: &str = "k3y-of-the-library";
    let folder = Folder::new("keys");
    folder.write("runs/a.json", "{}");
    // In the environment, in an argument, and in the address of a file.
    let url = "https://user:k3y-of-the-library@example.org/logs/b.eval?sig=k3y-of-the-library#k3y-of-the-library";
    for (arguments, in_environment) in [
        (vec!["runs"], true),
        (vec!["runs", "--api-key", KEY], false),
        (vec![url], true),
        (vec!["runs", url], true),
    ] {
        for json in [true, false] {
            let mut command = folder.command(&arguments);
            command.arg(if json { "--json" } else { "--no-open" });
            if in_environment {
                command.env("VOLARY_API_KEY", KEY);
            }
            command
                .env("RUST_BACKTRACE", "full")
                .env("RUST_LOG", "trace");
            let mut child = command.spawn().unwrap();
            let mut said = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            said.read_line(&mut line).unwrap();
            let port = line.rsplit_once("127.0.0.1:").unwrap().1;
            let port: String = port.chars().take_while(char::is_ascii_digit).collect();
            let address = format!("127.0.0.1:{port}");
            // Requests with the key where it belongs and where it does not.
            let body = format!("{{\"token\": \"{KEY}x\"}}");
            for request in [
                format!(
                    "POST /api/session HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                ),
                format!(
                    "GET /?token={KEY} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
                ),
                format!(
                    "GET /api/file/0/{KEY} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n\r\n"
                ),
                format!("GET /{KEY} HTTP/1.1\r\nHost: {KEY}\r\nConnection: close\r\n\r\n"),
                format!("{KEY}\r\n\r\n"),
            ] {
                let mut stream = TcpStream::connect(&address).unwrap();
                let _ = stream.write_all(request.as_bytes());
                let mut answer = Vec::new();
                let _ = stream.read_to_end(&mut answer);
                let answer = String::from_utf8_lossy(&answer);
                assert!(!answer.contains(KEY), "{answer}");
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let mut all = line;
            said.read_to_string(&mut all).unwrap();
            let mut errors = child.stderr.take().unwrap();
            errors.read_to_string(&mut all).unwrap();
            assert!(!all.contains(KEY), "{arguments:?}: {all}");
        }
    }
    // What does not start.
    for arguments in [
        vec!["absent", "--api-key", KEY],
        vec!["runs", "--api-key", KEY, "--port", "x"],
        vec!["runs", "--api-key", KEY, "--no-such-option"],
        vec!["runs", "--api-key", KEY, "--api-key", KEY],
        vec!["runs", "--api-key", KEY, "--host", "192.0.2.1"],
    ] {
        let error = folder.refused(&arguments);
        assert!(!error.contains(KEY), "{arguments:?}: {error}");
    }
    let help = folder
        .command(&["--help"])
        .env("VOLARY_API_KEY", KEY)
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains(KEY));
}

#[test]
fn addresses_are_part_of_the_library() {
    let folder = Folder::new("urls");
    folder.write("runs/a.json", "{}");
    let view = folder.view(&["https://example.org/logs/b.eval?x=1", "--title", "Ours"]);
    let library: Value = serde_json::from_slice(&view.get("/api/library.json").body).unwrap();
    assert_eq!(library["title"], "Ours");
    assert_eq!(
        library["files"][0]["url"],
        "https://example.org/logs/b.eval?x=1"
    );
    assert_eq!(library["files"][0]["name"], "b.eval");
}

#[test]
fn the_description_names_every_route() {
    let folder = Folder::new("openapi");
    folder.write("runs/a.json", "{}");
    let view = folder.view(&["--notes"]);
    let openapi: Value =
        serde_json::from_slice(&view.with("GET /api/openapi.json", "").body).unwrap();
    let described = openapi["paths"].as_object().unwrap();
    // The routes, as the program writes them.
    let source = include_str!("../src/view/app.rs");
    let routes = source.split(".route(").skip(1);
    let mut routes: Vec<String> = routes
        .filter_map(|rest| rest.trim_start().strip_prefix("\"/")?.split_once('"'))
        .map(|(path, _)| format!("/api/{}", path.replace("{*address}", "{path}")))
        .filter(|path| !path.ends_with(".js"))
        .collect();
    routes.sort();
    assert_eq!(described.keys().cloned().collect::<Vec<_>>(), routes);
    for (path, methods) in described {
        let target = path.replace("{path}", "0/a.json");
        let target = if path == "/api/search" {
            format!("{target}?q=x")
        } else {
            target
        };
        for method in ["get", "post", "put", "delete", "patch"] {
            if path == "/api/events" && method == "get" {
                // It never ends.
                continue;
            }
            let request = format!("{} {target}", method.to_uppercase());
            let headers = format!("Cookie: {}\r\nContent-Length: 0\r\n", view.cookie);
            let status = view.with(&request, &headers).status;
            let is_described = methods[method].is_object();
            assert_eq!(status != 405, is_described, "{request}: {status}");
            let declared = &methods[method]["responses"][status.to_string()];
            assert!(!is_described || declared.is_object(), "{request}: {status}");
        }
    }
}

#[test]
fn a_search_streams_hits_and_ends_with_what_it_searched() {
    let folder = Folder::new("search");
    let chat = |word: &str| {
        serde_json::json!({ "messages": [
            { "role": "user", "content": format!("Say {word}.") },
            { "role": "assistant", "content": format!("The {word} is red.") },
        ] })
        .to_string()
    };
    folder.write("runs/a.json", chat("marble"));
    folder.write("runs/deep/b c.json", chat("stone"));
    folder.write("runs/deep/d.json", "{ damaged");
    folder.write("runs/.hidden/e.json", chat("marble"));
    let view = folder.view(&[]);
    assert_eq!(view.with("GET /api/search?q=marble", "").status, 401);
    for wrong in ["/api/search", "/api/search?q=%20", "/api/search?q=a&most=0"] {
        assert_eq!(view.get(wrong).status, 400, "{wrong}");
    }
    let search = |query: &str| -> Vec<Value> {
        let answer = view.get(&format!("/api/search?{query}"));
        assert_eq!(answer.status, 200);
        let text = answer.text();
        let lines = text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let lines = search("q=%22stone+is%22");
    assert_eq!(lines[0]["path"], "file/0/deep/b c.json");
    assert_eq!(lines[0]["hit"], "stone is");
    assert_eq!(lines.last().unwrap()["episodes"], 2);
    let lines = search("q=Marble&most=1");
    let hits: Vec<&Value> = lines
        .iter()
        .filter(|line| line["hit"].is_string())
        .collect();
    assert_eq!(hits.len(), 1, "{lines:?}");
    assert_eq!(hits[0]["file"], "a.json");
    assert_eq!(search("q=absent").last().unwrap()["files"], 3);
}

#[test]
fn a_search_ends_with_its_client() {
    let folder = Folder::new("search-leave");
    let line = serde_json::json!({ "messages": [
        { "role": "user", "content": "marble ".repeat(500) },
        { "role": "assistant", "content": "marble" },
    ] });
    for number in 0..40 {
        folder.write(
            &format!("runs/{number}.jsonl"),
            format!("{line}\n").repeat(50),
        );
    }
    let view = folder.view(&[]);
    // More than may run at once; each reads one line and leaves.
    for _ in 0..12 {
        let start = Instant::now();
        loop {
            let mut stream = TcpStream::connect(&view.address).unwrap();
            write!(
                stream,
                "GET /api/search?q=marble&most=100 HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
                view.address, view.cookie
            )
            .unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).unwrap();
            if head.ends_with(b"200") {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "searches go on");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn notes_are_kept_next_to_the_files_if_chosen() {
    let folder = Folder::new("notes");
    folder.write("runs/a.json", "{}");
    let note = |id: &str, text: &str| {
        let note = serde_json::json!({ "id": id, "episode": "e", "text": text, "revision": 1 });
        serde_json::json!({ "format": "volary-annotations", "version": 1, "annotations": [note] })
            .to_string()
    };
    let post = |view: &View, body: &str| {
        let host = &view.address;
        let cookie = &view.cookie;
        view.raw(&format!(
            "POST /api/notes HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .status
    };
    let without = folder.view(&[]);
    assert_eq!(post(&without, &note("1", "x")), 404);
    assert_eq!(without.get("/api/notes").status, 404);
    assert!(!without.get("/api/library.json").text().contains("notes"));
    assert!(!folder.path("runs/.volary").exists());

    let (one, two) = (folder.view(&["--notes"]), folder.view(&["--notes"]));
    let library: Value = serde_json::from_slice(&one.get("/api/library.json").body).unwrap();
    assert_eq!(library["notes"], "notes");
    for wrong in [
        "",
        "{}",
        "[",
        "{\"format\": \"volary-annotations\", \"version\": 1, \"annotations\": [{}]}",
    ] {
        assert_eq!(post(&one, wrong), 400, "{wrong}");
    }
    assert_eq!(post(&one, &note("1", "from the first")), 204);
    assert_eq!(post(&two, &note("2", "from the second")), 204);
    for view in [&one, &two] {
        let text = view.get("/api/notes").text();
        assert!(text.contains("from the first") && text.contains("from the second"));
        // The file is hidden from the library.
        assert_eq!(view.names(), ["a.json"]);
        assert_eq!(view.get("/api/file/0/.volary/notes.jsonl").status, 404);
    }
    let host = &one.address;
    let foreign = one.raw(&format!(
        "POST /api/notes HTTP/1.1\r\nHost: {host}\r\nOrigin: https://evil.example\r\nCookie: {}\r\n\
         Connection: close\r\nContent-Length: 0\r\n\r\n",
        one.cookie
    ));
    assert_eq!(foreign.status, 403);
    let lines = fs::read_to_string(folder.path("runs/.volary/notes.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(
        folder
            .refused(&["https://example.org/a.eval", "--notes"])
            .contains("next to files")
    );
}

/// A limit on the size of files takes the place of a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_the_file_had() {
    let folder = Folder::new("full");
    folder.write("runs/a.json", "{}");
    let view = folder.command(&["runs", "--json", "--notes"]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(view.get_program())
        .args(view.get_args())
        .current_dir(&folder.0)
        .env_remove("VOLARY_API_KEY")
        .stdout(Stdio::piped());
    let view = folder.started(shell);
    let post = |text: &str| {
        let note = serde_json::json!({ "id": text.get(..1), "episode": "e", "text": text });
        let body = serde_json::json!({ "format": "volary-annotations", "version": 1, "annotations": [note] });
        let (body, host) = (body.to_string(), &view.address);
        view.raw(&format!(
            "POST /api/notes HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            view.cookie,
            body.len()
        ))
    };
    assert_eq!(post("small").status, 204);
    let file = folder.path("runs/.volary/notes.jsonl");
    let before = fs::read_to_string(&file).unwrap();
    let full = post(&"x".repeat(100_000));
    assert_eq!(full.status, 507, "{}", full.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(post("again").status, 204);
    assert!(view.get("/api/notes").text().contains("again"));
}

#[test]
fn whatever_a_client_asks_events_begin_and_end_with_it() {
    let folder = Folder::new("events-end");
    folder.write("runs/a.json", "{}");
    let view = folder.view(&["--notes"]);
    let open = |headers: &str, query: &str| {
        let mut stream = TcpStream::connect(&view.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        write!(
            stream,
            "GET /api/events{query} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{headers}\r\n",
            view.address, view.cookie
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let status = lines.next().unwrap();
        assert!(status.starts_with("HTTP/1.1 200 "), "{headers}: {status}");
        assert!(lines.any(|line| line == "event: ready"), "{headers}");
        lines
    };
    for last in [
        "",
        "x",
        "-1",
        "0",
        "1e9",
        "18446744073709551615",
        "184467440737095516160",
        "\u{e4}",
        "1, 2",
    ] {
        let twice = format!("Last-Event-ID: {last}\r\nLast-Event-ID: 7\r\n");
        drop(open(&format!("Last-Event-ID: {last}\r\n"), ""));
        drop(open(&twice, "?x=%ff&y"));
    }
    // Another program writes notes, and the first line that names them is found among other events.
    let mut heard = open("", "");
    for _ in 0..20 {
        folder.write("runs/.volary/notes.jsonl", "{}\n");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(heard.any(|line| line.contains("\"notes\":true")));
    drop(heard);
    // Hundreds of clients leave without a word; their connections are closed.
    for _ in 0..300 {
        drop(open("", ""));
    }
    #[cfg(target_os = "linux")]
    {
        let files = format!("/proc/{}/fd", view.child.id());
        let start = Instant::now();
        while fs::read_dir(&files).unwrap().count() > 60 {
            assert!(start.elapsed() < Duration::from_secs(20), "streams go on");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(view.get("/api/notes").status, 200);
}

#[test]
fn changes_are_reported_within_a_moment() {
    let folder = Folder::new("events");
    folder.write("runs/a.json", "{}");
    let view = folder.view(&[]);
    assert_eq!(view.with("GET /api/events", "").status, 401);
    let mut stream = TcpStream::connect(&view.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
        view.address, view.cookie
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "event: ready"));
    // The next event that names a file.
    let mut told = |kind: &str, path: &str| {
        let named = lines.find(|line| line.starts_with("data: {") && line.contains(path));
        let event: Value = serde_json::from_str(&named.unwrap()["data: ".len()..]).unwrap();
        let event = event[kind].to_string();
        assert!(event.contains(path), "{kind} {path}: {event}");
    };
    // The folder may not be watched yet.
    for _ in 0..20 {
        folder.write("runs/deep/b.json", "{}");
        std::thread::sleep(Duration::from_millis(100));
    }
    told("changed", "file/0/deep/b.json");
    let start = Instant::now();
    folder.write("runs/c.json", "{}");
    told("changed", "file/0/c.json");
    fs::remove_file(folder.path("runs/c.json")).unwrap();
    told("gone", "file/0/c.json");
    fs::remove_dir_all(folder.path("runs/deep")).unwrap();
    told("gone", "file/0/deep");
    assert!(start.elapsed() < Duration::from_secs(15));
}
