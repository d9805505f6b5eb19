//! Whole episodes, and requests in the wrong order.

use volary_core::json;
use volary_core::json::Json;
use volary_server::options::ServerOptions;

use crate::http::{Connection, Reply};
use crate::running::Running;

fn serving(name: &str) -> (Running, Connection) {
    let server = Running::serving(name, ServerOptions::default());
    let connection = server.connect();
    (server, connection)
}

/// The reward of a step, and whether the episode is over.
fn result(reply: &Reply) -> (f64, bool) {
    assert_eq!(reply.status, 200, "{reply:?}");
    match reply.json().as_list().unwrap() {
        [messages, reward, Json::Bool(done), Json::Bool(false)] => {
            assert!(!messages.as_list().unwrap().is_empty());
            (reward.as_f64().unwrap(), *done)
        }
        other => panic!("no step: {other:?}"),
    }
}

fn tools(reset: &Reply) -> Vec<String> {
    let reset = reset.json();
    let [_, tools] = reset.as_list().unwrap() else {
        panic!("no reset: {reset:?}");
    };
    let name = |tool: &Json| tool.get("function")?.get("name")?.as_text().cloned();
    tools
        .as_list()
        .unwrap()
        .iter()
        .map(|tool| name(tool).unwrap().to_string())
        .collect()
}

#[test]
fn an_episode_of_a_dummy() {
    let (_server, mut connection) = serving("dummy");
    let id = connection.start(&json!({"task_idx": null}));
    let reset = connection.reset(&id);
    assert!(tools(&reset).contains(&"print_story".to_owned()));
    let step = connection.call(
        &id,
        "print_story",
        json!({"story": "One two three four five"}),
    );
    assert_eq!(result(&step), (1.0, true));
    // Steps after the end work as before it.
    let step = connection.call(&id, "print_story", json!({"story": "Again"}));
    assert_eq!(step.status, 200);
    assert_eq!(
        connection.close(&id).json(),
        json!({"env_id": (id.as_str())})
    );
}

#[test]
fn an_episode_of_a_calculator() {
    let (_server, mut connection) = serving("calculator");
    let id = connection.start(&json!({"task_kwargs": {"problem": "What is 6 * 7?", "answer": 42}}));
    assert_eq!(tools(&connection.reset(&id)).len(), 2);
    let step = connection.call(&id, "calculator", json!({"expr": "6 * 7"}));
    assert!(!result(&step).1);
    let step = connection.call(&id, "submit_answer", json!({"answer": "42"}));
    assert_eq!(result(&step), (1.0, true));
}

#[test]
fn tasks_by_place_are_the_same_on_every_worker() {
    let (server, mut connection) = serving("word_problems");
    let info = connection.get("/info").json();
    let size = info.get("dataset_size").and_then(Json::as_i64).unwrap();
    let openings: Vec<String> = [size - 1, -1, size - 1, -1]
        .map(|index| {
            let mut connection = server.connect();
            let id = connection.start(&json!({"task_idx": index}));
            connection.reset(&id).body
        })
        .into();
    assert!(openings.iter().all(|opening| *opening == openings[0]));
    for index in [size, -size - 1] {
        let reply = connection.post("/start", &json!({"task_idx": index}));
        assert_eq!(reply.status, 500);
        assert!(reply.detail().contains(&index.to_string()), "{reply:?}");
    }
}

#[test]
fn every_environment_of_the_registry_can_be_served() {
    for entry in volary_envs::registry().environments {
        let (_server, mut connection) = serving(entry.name);
        // Some datasets have only tasks by index.
        let id = match connection.post("/start", &json!({})).status {
            200 => connection.start(&json!({})),
            _ => connection.start(&json!({"task_idx": 0})),
        };
        let reset = connection.reset(&id);
        assert_eq!(reset.status, 200, "{}: {reset:?}", entry.name);
        let step = connection.post(
            "/step",
            &json!({"env_id": (id.as_str()), "action": {"role": "user", "content": "hello"}}),
        );
        assert_eq!(step.status, 200, "{}: {step:?}", entry.name);
        assert_eq!(connection.close(&id).status, 200);
    }
}

#[test]
fn a_step_before_the_reset_fails_and_harms_nothing() {
    let (_server, mut connection) = serving("counter");
    let id = connection.start(&json!({}));
    let step = connection.call(&id, "increment", json!({}));
    assert_eq!(step.status, 500);
    assert!(step.detail().contains("reset"), "{step:?}");
    assert_eq!(connection.reset(&id).status, 200);
    result(&connection.call(&id, "incr", json!({})));
}

#[test]
fn unknown_and_closed_environments() {
    let (_server, mut connection) = serving("dummy");
    let id = connection.start(&json!({}));
    assert_eq!(connection.close(&id).status, 200);
    let upper = id.to_uppercase();
    let of_no_worker = format!("{}ff", &id[..34]);
    for id in [&id, "nobody", "", &upper, &of_no_worker, "\u{e9}\"\\"] {
        for reply in [
            connection.close(id),
            connection.reset(id),
            connection.order(id, "x"),
        ] {
            assert_eq!(reply.status, 404);
            assert_eq!(reply.detail(), format!("Environment {id} not found"));
        }
    }
}

#[test]
fn a_failing_step_is_a_500_without_insides() {
    let (_server, mut connection) = serving("faults");
    let id = connection.start(&json!({}));
    connection.reset(&id);
    let step = connection.call(&id, "fail", json!({"text": "as ordered"}));
    assert_eq!(step.status, 500);
    assert!(step.detail().contains("as ordered"));
    assert!(!step.body.contains(".rs"), "{step:?}");
    result(&connection.call(&id, "markup", json!({})));
}

#[test]
fn rewards_and_contents_that_are_no_numbers() {
    let server = Running::scripted(ServerOptions::default());
    let mut connection = server.connect();
    let id = connection.start(&json!({}));
    for (reward, expected) in [("NaN", "null"), ("inf", "null"), ("0.5", "0.5")] {
        let step = connection.order(&id, &format!("reward {reward}"));
        assert_eq!(
            step.json().as_list().unwrap()[1].to_compact_text(),
            expected
        );
    }
    let (_server, mut connection) = serving("faults");
    let id = connection.start(&json!({}));
    connection.reset(&id);
    result(&connection.call(&id, "bad_numbers", json!({})));
    result(&connection.call(&id, "nest", json!({"depth": 900})));
    let flood = connection.call(&id, "flood", json!({"megabytes": 8}));
    assert!(flood.body.len() > 8 << 20);
    assert_eq!(
        connection.post("/frame", &json!({"env_id": id})).status,
        200
    );
}
