//! Extensions that the original lacks.

use volary_core::json;
use volary_core::json::{Json, read};
use volary_server::options::ServerOptions;

use crate::running::Running;

fn order(id: &str, order: &str) -> Json {
    json!({"env_id": id, "action": {"role": "user", "content": order}})
}

#[test]
fn many_steps_in_one_request() {
    let server = Running::scripted(ServerOptions::default());
    let mut connections = [server.connect(), server.connect()];
    let ids: Vec<String> = (0..8)
        .map(|place| connections[place % 2].start(&json!({})))
        .collect();
    let mut steps: Vec<Json> = ids.iter().map(|id| order(id, "hold")).collect();
    steps.extend([
        order(&ids[0], "again"),
        order("nobody", "x"),
        json!({"env_id": 5}),
        Json::Null,
        order(&ids[1], "fail as told"),
    ]);
    let body = json!({"steps": steps}).to_python_text();
    let headers = [("Content-Type", "application/json")];
    connections[0].send("POST", "/steps", &headers, body.as_bytes());
    // Orders to hold run concurrently, and two requests wait for their environments.
    server.wait_for_operations(10);
    server.script.release(8);
    let replies = connections[0].receive().unwrap().json();
    let replies = replies.as_list().unwrap();
    let statuses: Vec<i64> = replies
        .iter()
        .map(|reply| reply.get("status").unwrap().as_i64().unwrap())
        .collect();
    assert_eq!(
        statuses,
        [
            200, 200, 200, 200, 200, 200, 200, 200, 200, 404, 422, 422, 500
        ]
    );
    let again = replies[8].get("body").unwrap().to_compact_text();
    assert!(again.contains("hold, again"), "{again}");
    assert_eq!(
        connections[1].post("/steps", &json!({"steps": []})).json(),
        json!([])
    );
    assert_eq!(
        connections[1].post("/steps", &json!({})).problems(),
        ["missing"]
    );
    assert_eq!(
        connections[1]
            .post("/steps", &json!({"steps": 5}))
            .problems(),
        ["list_type"]
    );
}

#[test]
fn thousands_of_steps_in_one_request_across_workers() {
    let server = Running::scripted(ServerOptions::default());
    let mut connections = [server.connect(), server.connect()];
    let ids: Vec<String> = (0..3000)
        .map(|place| connections[place % 2].start(&json!({})))
        .collect();
    let steps: Vec<Json> = ids.iter().map(|id| order(id, "go")).collect();
    let replies = connections[0]
        .post("/steps", &json!({"steps": steps}))
        .json();
    let fine = |reply: &&Json| reply.get("status").and_then(Json::as_i64) == Some(200);
    assert_eq!(replies.as_list().unwrap().iter().filter(fine).count(), 3000);
}

#[test]
fn a_frame_shows_the_state_and_does_not_count_as_use() {
    let server = Running::serving("counter", ServerOptions::default());
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    connection.reset(&id);
    let frame = connection.post("/frame", &json!({"env_id": (id.as_str())}));
    assert_eq!(frame.status, 200);
    assert!(
        frame.json().get("state").is_some() && frame.json().get("info").is_some(),
        "{frame:?}"
    );
    assert_eq!(
        connection
            .post("/frame", &json!({"env_id": "nobody"}))
            .status,
        404
    );
    assert_eq!(
        connection.post("/frame", &json!({})).problems(),
        ["missing"]
    );
}

#[test]
fn metrics_count_and_replies_have_ids() {
    let server = Running::scripted(ServerOptions::default());
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    let one = connection.order(&id, "panic");
    let other = connection.order("nobody", "x");
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
    let metrics = connection.get("/metrics");
    assert!(
        metrics
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    for line in [
        r#"volary_requests_total{endpoint="/step",status="5xx"} 1"#,
        r#"volary_requests_total{endpoint="/step",status="4xx"} 1"#,
        r#"volary_request_seconds_count{endpoint="/start"} 1"#,
        "volary_environments_running 1",
        "volary_environments_lost_total 1",
        "volary_connections 1",
    ] {
        assert!(
            metrics.body.lines().any(|known| known == line),
            "{line} in {}",
            metrics.body
        );
    }
}

#[test]
fn the_description_names_every_path_and_marks_extensions() {
    let server = Running::serving("dummy", ServerOptions::default());
    let reply = server.connect().get("/openapi.json");
    let document = read(&reply.body).unwrap();
    let paths = document.get("paths").unwrap().as_object().unwrap();
    let protocol = [
        "/start",
        "/reset",
        "/step",
        "/close",
        "/close_old_envs",
        "/info",
    ];
    let extensions = ["/steps", "/frame", "/healthz", "/metrics", "/openapi.json"];
    assert_eq!(paths.len(), protocol.len() + extensions.len());
    for (path, item) in paths.iter() {
        let (_, operation) = item.as_object().unwrap().iter().next().unwrap();
        let marked = operation.get("x-volary-extension").and_then(Json::as_bool) == Some(true);
        assert_eq!(marked, extensions.contains(&&**path), "{path}");
        assert!(marked || protocol.contains(&&**path), "{path}");
    }
}
