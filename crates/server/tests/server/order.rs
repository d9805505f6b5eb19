//! Requests to one environment run one after the other, in order of arrival.

use std::thread;

use volary_core::json;
use volary_server::options::ServerOptions;

use crate::running::Running;

#[test]
fn operations_run_one_after_the_other_in_order_of_arrival() {
    let server = Running::scripted(ServerOptions::default());
    let mut connections: Vec<_> = (0..4).map(|_| server.connect()).collect();
    let id = connections[0].start(&json!({}));
    let orders = ["hold 1", "second", "hold 3", "fourth"];
    for ((connection, order), count) in connections.iter_mut().zip(orders).zip(1..) {
        connection.send_order(&id, order);
        server.wait_for_operations(count);
    }
    server.script.release(2);
    for (index, connection) in connections.iter_mut().enumerate() {
        let reply = connection.receive().unwrap();
        let expected = format!("\"{}\"", orders[..=index].join(", "));
        assert!(reply.body.contains(&expected), "{reply:?}");
    }
}

#[test]
fn environments_do_not_wait_for_each_other() {
    let server = Running::scripted(ServerOptions::default());
    let (mut slow, mut quick) = (server.connect(), server.connect());
    let holding = slow.start(&json!({}));
    let ready: Vec<String> = (0..4).map(|_| quick.start(&json!({}))).collect();
    slow.send_order(&holding, "hold");
    server.wait_for_operations(1);
    for id in &ready {
        assert_eq!(quick.order(id, "go").status, 200);
    }
    server.script.release(1);
    assert_eq!(slow.receive().unwrap().status, 200);
}

#[test]
fn a_full_queue_refuses_everything_but_close() {
    let server = Running::scripted(ServerOptions {
        queue: 2,
        ..ServerOptions::default()
    });
    let mut first = server.connect();
    let id = first.start(&json!({}));
    let mut accepted: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for (connection, count) in accepted.iter_mut().zip(1..) {
        connection.send_order(&id, if count == 1 { "hold" } else { "go" });
        server.wait_for_operations(count);
    }
    for _ in 0..3 {
        let refused = server.connect().order(&id, "go");
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    let closing = thread::spawn(move || first.close(&id).status);
    server.wait_for_operations(4);
    server.script.release(1);
    for mut connection in accepted {
        assert_eq!(connection.receive().unwrap().status, 200);
    }
    assert_eq!(closing.join().unwrap(), 200);
    assert_eq!(server.places(), 0);
}

#[test]
fn a_client_that_disconnects_does_not_stop_its_step() {
    let server = Running::scripted(ServerOptions::default());
    let mut leaving = server.connect();
    let mut staying = server.connect();
    let id = leaving.start(&json!({}));
    leaving.send_order(&id, "hold");
    server.wait_for_operations(1);
    drop(leaving);
    server.wait_for_connections(1);
    staying.send_order(&id, "second");
    server.wait_for_operations(2);
    server.script.release(1);
    let step = staying.receive().unwrap();
    assert!(step.body.contains("hold, second"), "{step:?}");
}
