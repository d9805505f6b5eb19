//! Browsers: preflights, origins, and the page served from the same address.

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
        // Answers carry it too, refusals among them, or the page could not read why.
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
fn a_foreign_name_for_this_machine_does_not_help() {
    let server = Running::serving("dummy", ServerOptions::default());
    let json = ("Content-Type", "application/json");
    let own = [
        ("Host", "localhost:8041"),
        ("Origin", "http://localhost:8041"),
        json,
    ];
    assert_eq!(
        server.connect().ask("POST", "/start", &own, b"{}").status,
        200
    );
    let foreign = [
        ("Host", "evil.example:8041"),
        ("Origin", "http://evil.example:8041"),
        json,
    ];
    assert_eq!(
        server
            .connect()
            .ask("POST", "/start", &foreign, b"{}")
            .status,
        403
    );
}

#[test]
fn the_page_is_served_beside_the_protocol() {
    let folder = std::env::temp_dir().join(format!("volary-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("index.html"),
        "<!doctype html><title>Volary</title>",
    )
    .unwrap();
    std::fs::write(folder.join("page.wasm"), b"\0asm").unwrap();
    let server = Running::with_page(&folder);
    let mut connection = server.connect();
    let page = connection.get("/");
    assert!(page.body.contains("Volary"));
    assert_eq!(page.header("content-type"), Some("text/html"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
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
    std::fs::remove_dir_all(&folder).unwrap();
}
