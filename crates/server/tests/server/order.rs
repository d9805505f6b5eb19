//! Requests to one environment are served one after the other, in order of arrival.

use std::thread;
use std::time::{Duration, Instant};

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::running::Running;

const MOMENT: Duration = Duration::from_millis(100);

#[test]
fn two_steps_at_once_are_serialised_in_order() {
    let server = Running::odd(ServerOptions::default());
    let mut connections: Vec<_> = (0..4).map(|_| server.connect()).collect();
    let id = connections[0].start(&json!({}));
    let orders = ["wait 0.4", "second", "wait 0.1", "fourth"];
    let begin = Instant::now();
    for (connection, order) in connections.iter_mut().zip(orders) {
        let body = json!({"env_id": (id.as_str()), "action": {"role": "user", "content": order}});
        let headers = [("Content-Type", "application/json")];
        connection.send("POST", "/step", &headers, body.to_python_text().as_bytes());
        thread::sleep(MOMENT / 2);
    }
    let replies = connections
        .iter_mut()
        .map(|connection| connection.receive().unwrap());
    for (place, reply) in replies.enumerate() {
        assert!(
            reply.body.contains(&orders[..=place].join(", ")),
            "{reply:?}"
        );
        assert_eq!(reply.body.contains("fourth"), place == 3);
    }
    assert!(begin.elapsed() >= Duration::from_millis(500));
}

#[test]
fn environments_do_not_wait_for_each_other() {
    let server = Running::odd(ServerOptions::default());
    let (mut slow, mut quick) = (server.connect(), server.connect());
    let waiting = slow.start(&json!({}));
    let ready: Vec<String> = (0..4).map(|_| quick.start(&json!({}))).collect();
    let order = json!({"env_id": waiting, "action": {"role": "user", "content": "wait 3"}});
    let headers = [("Content-Type", "application/json")];
    slow.send("POST", "/step", &headers, order.to_python_text().as_bytes());
    thread::sleep(MOMENT);
    let begin = Instant::now();
    for id in &ready {
        assert_eq!(quick.order(id, "go").status, 200);
    }
    assert!(begin.elapsed() < Duration::from_secs(2));
}

#[test]
fn too_many_that_wait_are_turned_away_but_closing_is_not() {
    let server = Running::odd(ServerOptions {
        queue: 2,
        ..ServerOptions::default()
    });
    let mut first = server.connect();
    let id = first.start(&json!({}));
    let statuses: Vec<_> = (0..6)
        .map(|place| {
            let (mut connection, id) = (server.connect(), id.clone());
            thread::sleep(MOMENT);
            let wait = if place == 0 { "wait 1.5" } else { "x" };
            thread::spawn(move || connection.order(&id, wait).status)
        })
        .collect();
    thread::sleep(MOMENT);
    assert_eq!(first.close(&id).status, 200);
    let mut statuses: Vec<u16> = statuses
        .into_iter()
        .map(|asked| asked.join().unwrap())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 503, 503, 503]);
    assert_eq!(server.places(), 0);
}

#[test]
fn a_client_that_hangs_up_does_not_stop_its_step() {
    let server = Running::odd(ServerOptions::default());
    let mut leaving = server.connect();
    let id = leaving.start(&json!({}));
    let order = json!({"env_id": (id.as_str()), "action": {"role": "user", "content": "wait 0.3"}});
    let headers = [("Content-Type", "application/json")];
    leaving.send("POST", "/step", &headers, order.to_python_text().as_bytes());
    thread::sleep(MOMENT);
    drop(leaving);
    let step = server.connect().order(&id, "second");
    assert!(step.body.contains("wait 0.3, second"), "{step:?}");
}
