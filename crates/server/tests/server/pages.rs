//! Browsers: preflights, origins, and the page served from the same address.

use std::fs;
use std::path::PathBuf;

use volary_server::host::AllowedHosts;
use volary_server::options::ServerOptions;

use crate::http::Reply;
use crate::running::Running;

const PAGE: &str = "https://you.github.io";

fn preflight(server: &Running, origin: &str, more: &[(&str, &str)]) -> Reply {
    let mut headers = vec![
        ("Origin", origin),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type,x-api-key"),
    ];
    headers.extend(more);
    server.connect().ask("OPTIONS", "/step", &headers, b"")
}

fn with_origins(origins: &[&str]) -> Running {
    let cors_origins = origins.iter().map(|origin| origin.to_string()).collect();
    let api_key = Some("key".to_owned());
    Running::serving(
        "dummy",
        ServerOptions {
            cors_origins,
            api_key,
            ..ServerOptions::default()
        },
    )
}

#[test]
fn preflights_of_pages_that_may_call() {
    for origins in [&[PAGE, "http://localhost:8080"][..], &["*"]] {
        let server = with_origins(origins);
        let reply = preflight(
            &server,
            PAGE,
            &[("Access-Control-Request-Private-Network", "true")],
        );
        assert_eq!(reply.status, 200);
        let allowed = reply.header("access-control-allow-origin").unwrap();
        assert!(allowed == PAGE || allowed == "*");
        let headers = reply
            .header("access-control-allow-headers")
            .unwrap()
            .to_lowercase();
        assert!(headers.contains("content-type") && headers.contains("x-api-key"));
        assert!(
            reply
                .header("access-control-allow-methods")
                .unwrap()
                .contains("POST")
        );
        assert_eq!(
            reply.header("access-control-allow-private-network"),
            Some("true")
        );
        assert!(reply.header("access-control-max-age").is_some());
        // All replies include it, also errors, or the page could not read the reason.
        let headers = [("Origin", PAGE), ("Content-Type", "application/json")];
        let refused = server.connect().ask("POST", "/start", &headers, b"{}");
        assert_eq!(refused.status, 403);
        assert!(refused.header("access-control-allow-origin").is_some());
        let headers = [
            ("Origin", PAGE),
            ("Content-Type", "application/json"),
            ("X-API-Key", "key"),
        ];
        assert_eq!(
            server
                .connect()
                .ask("POST", "/start", &headers, b"{}")
                .status,
            200
        );
    }
}

#[test]
fn pages_that_were_not_named_may_not_call() {
    let evil = "https://evil.example";
    let server = with_origins(&[PAGE]);
    assert_eq!(
        preflight(&server, evil, &[]).header("access-control-allow-origin"),
        None
    );
    let headers = [
        ("Origin", evil),
        ("Content-Type", "application/json"),
        ("X-API-Key", "key"),
    ];
    let reply = server.connect().ask("POST", "/start", &headers, b"{}");
    assert_eq!(reply.status, 403);
    assert!(
        reply
            .detail()
            .contains("--cors-origin https://evil.example")
    );
    assert_eq!(server.places(), 0);
    let none = with_origins(&[]);
    assert_eq!(preflight(&none, PAGE, &[]).status, 405);
}

#[test]
fn dns_rebinding_reads_nothing() {
    let server = Running::serving("dummy", ServerOptions::default());
    let mut connection = server.connect();
    let paths = [
        "/info",
        "/metrics",
        "/healthz",
        "/openapi.json",
        "/",
        "/nothing",
    ];
    for host in [
        "evil.example:8041",
        "evil.example",
        "localhost.evil.example:8041",
        "0.0.0.0:8041",
    ] {
        for path in paths {
            let reply = connection.ask("GET", path, &[("Host", host)], b"");
            assert_eq!(reply.status, 421, "{host} {path}: {reply:?}");
            assert_eq!(reply.header("content-type"), Some("application/json"));
            assert!(
                reply.detail().contains(host) && reply.detail().contains("--allow-host"),
                "{reply:?}"
            );
        }
        // The browser treats the server as part of the site, so the origin is the server's own.
        let origin = format!("http://{host}");
        let headers = [
            ("Host", host),
            ("Origin", &*origin),
            ("Content-Type", "application/json"),
        ];
        assert_eq!(
            connection.ask("POST", "/start", &headers, b"{}").status,
            421
        );
    }
    assert_eq!(server.places(), 0);
    for host in [
        "localhost",
        "localhost:8041",
        "127.0.0.1:1",
        "127.1.2.3",
        "[::1]:8041",
    ] {
        let reply = connection.ask("GET", "/info", &[("Host", host)], b"");
        assert_eq!(reply.status, 200, "{host}: {reply:?}");
        let origin = format!("http://{host}");
        let headers = [
            ("Host", host),
            ("Origin", &*origin),
            ("Content-Type", "application/json"),
        ];
        assert_eq!(
            connection.ask("POST", "/start", &headers, b"{}").status,
            200,
            "{host}"
        );
    }
    // The second of two names, and a name in the request line, are checked too.
    for request in [
        "GET /info HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "GET http://evil.example/info HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ] {
        connection.write(request).unwrap();
        assert_eq!(connection.receive().unwrap().status, 421, "{request}");
    }
    // No browser omits it.
    connection
        .write("GET /info HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        .unwrap();
    assert_eq!(connection.receive().unwrap().status, 200);
}

#[test]
fn hosts_can_be_named_and_a_public_server_answers_for_all() {
    let serving = |hosts| {
        Running::serving(
            "dummy",
            ServerOptions {
                hosts,
                ..ServerOptions::default()
            },
        )
    };
    let info = |server: &Running, host| {
        server
            .connect()
            .ask("GET", "/info", &[("Host", host)], b"")
            .status
    };
    let named = serving(AllowedHosts::LoopbackAnd(vec!["envs.example.org".into()]));
    assert_eq!(info(&named, "Envs.example.org:8041"), 200);
    assert_eq!(info(&named, "localhost"), 200);
    assert_eq!(info(&named, "example.org"), 421);
    assert_eq!(info(&serving(AllowedHosts::Any), "classroom:8041"), 200);
}

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("volary-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, content: &[u8]) {
        let file = self.0.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_page_is_served_next_to_the_protocol() {
    let folder = Folder::new("page");
    folder.write("index.html", b"<!doctype html><title>Volary</title>");
    folder.write("page.wasm", b"\0asm");
    let server = Running::with_page(&folder.0);
    let mut connection = server.connect();
    let page = connection.get("/");
    assert!(page.body.contains("Volary"));
    assert_eq!(page.header("content-type"), Some("text/html"));
    assert_eq!(
        connection.get("/page.wasm").header("content-type"),
        Some("application/wasm")
    );
    for path in ["/nothing.js", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/x"] {
        assert_eq!(connection.get(path).status, 404, "{path}");
    }
    assert_eq!(connection.ask("POST", "/", &[], b"").status, 404);
    assert_eq!(connection.get("/info").status, 200);
    assert_eq!(connection.get("/start").status, 405);
}

#[test]
fn every_file_of_the_page_carries_its_policy() {
    let policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
    let folder = Folder::new("policy");
    let html = format!(
        r#"<!doctype html><meta content="{policy}" http-equiv=Content-Security-Policy><title>Volary</title>"#
    );
    folder.write("index.html", html.as_bytes());
    folder.write("worker.js", b"0");
    folder.write("parts/part.wasm", b"\0asm");
    let server = Running::with_page(&folder.0);
    let mut connection = server.connect();
    for path in [
        "/",
        "/index.html",
        "/worker.js",
        "/parts/part.wasm",
        "/nothing.js",
    ] {
        let reply = connection.get(path);
        let expected = format!("{policy}; frame-ancestors 'self'");
        assert_eq!(
            reply.header("content-security-policy"),
            Some(&*expected),
            "{path}"
        );
        assert_eq!(
            reply.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
        assert_eq!(
            reply.header("referrer-policy"),
            Some("no-referrer"),
            "{path}"
        );
    }
}

#[cfg(unix)]
#[test]
fn hidden_files_and_links_out_of_the_folder_are_not_served() {
    use std::os::unix::fs::symlink;

    let secret = Folder::new("secret");
    secret.write("key.txt", b"s3cret");
    let folder = Folder::new("links");
    folder.write("index.html", b"<title>Volary</title>");
    folder.write("file.js", b"0");
    folder.write(".env", b"s3cret");
    folder.write(".git/config", b"s3cret");
    folder.write("parts/.hidden", b"s3cret");
    symlink(secret.0.join("key.txt"), folder.0.join("key.txt")).unwrap();
    symlink(&secret.0, folder.0.join("folder")).unwrap();
    symlink(".env", folder.0.join("env.txt")).unwrap();
    symlink("file.js", folder.0.join("link.js")).unwrap();
    let server = Running::with_page(&folder.0);
    let mut connection = server.connect();
    for path in [
        "/.env",
        "/%2eenv",
        "/.git",
        "/.git/",
        "/.git/config",
        "/parts/.hidden",
        "/./.env",
        "/key.txt",
        "/folder",
        "/folder/",
        "/folder/key.txt",
        "/env.txt",
    ] {
        let reply = connection.get(path);
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
        assert!(!reply.body.contains("s3cret"), "{path}");
    }
    assert_eq!(connection.get("/link.js").status, 200);
    // The folder itself may be a symbolic link.
    let link = secret.0.join("dist");
    symlink(&folder.0, &link).unwrap();
    let server = Running::with_page(&link);
    assert_eq!(server.connect().get("/file.js").status, 200);
}
