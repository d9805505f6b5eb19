//! Tests of the board: connections, late replies, and files.

use proptest::prelude::*;
use volary_classroom::HandedTask;

use super::*;

fn server(name: &str) -> ClassServer {
    ClassServer {
        url: format!("https://{name}.example"),
        key: ApiKey::new(name),
    }
}

fn notice(why: &str) -> Notice {
    Notice::new("The class could not be read.", why, "")
}

fn row(id: &str) -> BoardRow {
    BoardRow {
        id: id.to_owned(),
        assignment: String::new(),
        title: Name::default(),
        pupil: id.into(),
        received: 1.0,
        times: 1,
        tasks: Vec::new(),
    }
}

fn connect(name: &str) -> Event {
    Event::Connect(Ok(server(name)))
}

fn greeted(connection: ConnectionNumber) -> Event {
    Event::Greeted {
        connection,
        class: Ok("7b".to_owned()),
        is_shown: true,
    }
}

fn fetched(connection: ConnectionNumber, ids: &[&str]) -> Event {
    Event::Fetched {
        connection,
        rows: Ok(ids.iter().map(|id| row(id)).collect()),
        at: 5.0,
    }
}

fn failed(connection: ConnectionNumber) -> Event {
    Event::Fetched {
        connection,
        rows: Err(notice("offline")),
        at: 5.0,
    }
}

fn waited(connection: ConnectionNumber, is_shown: bool) -> Event {
    Event::Waited {
        connection,
        is_shown,
    }
}

fn fetch(connection: ConnectionNumber, name: &str) -> Effect {
    let server = server(name);
    Effect::FetchRows { connection, server }
}

fn wait(connection: ConnectionNumber, seconds: f64) -> Effect {
    Effect::Wait {
        connection,
        seconds,
    }
}

fn ids(board: &ClassBoard) -> Vec<String> {
    board.rows().into_iter().map(|row| row.id).collect()
}

fn live() -> ClassConnection {
    ClassConnection::Live {
        class: "7b".to_owned(),
        at: 5.0,
    }
}

/// A board that shows these rows of a server as its first connection.
fn following(name: &str, ids: &[&str]) -> ClassBoard {
    let mut board = ClassBoard::default();
    board.update(connect(name));
    board.update(greeted(1));
    board.update(fetched(1, ids));
    board
}

#[test]
fn a_connection_is_greeted_and_then_followed() {
    let mut board = ClassBoard::default();
    assert_eq!(board.connection(), ClassConnection::Off);
    let greet = Effect::Greet {
        connection: 1,
        server: server("a"),
    };
    assert_eq!(board.update(connect("a")), [greet]);
    assert_eq!(board.connection(), ClassConnection::Connecting);
    let store = Effect::StoreKey(server("a"));
    assert_eq!(board.update(greeted(1)), [store, fetch(1, "a")]);
    assert_eq!(board.connection(), ClassConnection::Connecting);
    assert_eq!(board.update(fetched(1, &["y", "x"])), [wait(1, 2.0)]);
    assert_eq!(board.connection(), live());
    assert_eq!(ids(&board), ["x", "y"]);
    assert_eq!(board.update(waited(1, true)), [fetch(1, "a")]);
    assert_eq!(board.update(fetched(1, &["z"])), [wait(1, 2.0)]);
    assert_eq!(ids(&board), ["z"]);
}

#[test]
fn a_server_that_refuses_is_not_followed_and_its_key_is_not_stored() {
    let mut board = ClassBoard::default();
    board.update(connect("a"));
    let refused = Event::Greeted {
        connection: 1,
        class: Err(notice("wrong key")),
        is_shown: true,
    };
    assert_eq!(board.update(refused), []);
    let shown = ClassConnection::Failed(notice("wrong key"));
    assert_eq!(board.connection(), shown);
    assert_eq!(board.update(greeted(1)), []);
    assert_eq!(board.update(waited(1, true)), []);
    assert_eq!(board.connection(), shown);
}

#[test]
fn a_server_that_fails_is_asked_less_and_less() {
    let mut board = following("a", &["x"]);
    for seconds in [4.0, 8.0, 16.0, 30.0, 30.0] {
        board.update(waited(1, true));
        assert_eq!(board.update(failed(1)), [wait(1, seconds)]);
        assert_eq!(
            board.connection(),
            ClassConnection::Failed(notice("offline"))
        );
        // The interval also holds while the page is hidden.
        assert_eq!(board.update(waited(1, false)), [wait(1, seconds)]);
    }
    assert_eq!(ids(&board), ["x"]);
    board.update(waited(1, true));
    assert_eq!(board.update(fetched(1, &["x"])), [wait(1, 2.0)]);
    assert_eq!(board.connection(), live());
}

#[test]
fn a_hidden_page_requests_nothing() {
    let mut board = ClassBoard::default();
    board.update(connect("a"));
    let greeted = Event::Greeted {
        connection: 1,
        class: Ok("7b".to_owned()),
        is_shown: false,
    };
    let store = Effect::StoreKey(server("a"));
    assert_eq!(board.update(greeted), [store, wait(1, 2.0)]);
    assert_eq!(board.update(waited(1, false)), [wait(1, 2.0)]);
    assert_eq!(board.update(waited(1, true)), [fetch(1, "a")]);
}

#[test]
fn after_disconnecting_nothing_is_requested_and_the_rows_stay() {
    let late = [
        greeted(1),
        fetched(1, &["late"]),
        failed(1),
        waited(1, true),
    ];
    let mut board = following("a", &["x"]);
    board.update(Event::Disconnect);
    for event in late.clone() {
        assert_eq!(board.update(event), []);
        assert_eq!(board.connection(), ClassConnection::Off);
    }
    assert_eq!(ids(&board), ["x"]);
    let source = Some(HandInSource::Server(server("a")));
    assert_eq!(board.source("x"), source);
    // While it is greeted, too: the reply stores no key and fetches no rows.
    let mut board = ClassBoard::default();
    board.update(connect("a"));
    board.update(Event::Disconnect);
    for event in late {
        assert_eq!(board.update(event), []);
    }
}

#[test]
fn late_replies_of_an_earlier_server_change_nothing() {
    let mut board = following("a", &["x"]);
    board.update(waited(1, true));
    board.update(connect("b"));
    for event in [
        fetched(1, &["late"]),
        failed(1),
        greeted(1),
        waited(1, true),
    ] {
        assert_eq!(board.update(event), []);
        assert_eq!(board.connection(), ClassConnection::Connecting);
        assert_eq!(ids(&board), ["x"]);
    }
    board.update(greeted(2));
    assert_eq!(board.update(fetched(2, &["y"])), [wait(2, 2.0)]);
    assert_eq!(ids(&board), ["y"]);
}

#[test]
fn a_hand_in_is_requested_from_the_server_that_listed_it() {
    let mut board = following("a", &["x"]);
    assert_eq!(
        ClassBoard::default().source("x"),
        None,
        "no server was connected"
    );
    let of = |name| Some(HandInSource::Server(server(name)));
    // The other server must not receive the id, and the key of this one must not be used for it.
    board.update(connect("b"));
    assert_eq!(board.source("x"), of("a"));
    board.update(greeted(2));
    assert_eq!(board.source("x"), of("a"));
    board.update(fetched(2, &["y"]));
    assert_eq!(board.source("y"), of("b"));
}

#[test]
fn an_address_that_cannot_be_used_ends_the_connection_before_it() {
    let mut board = following("a", &["x"]);
    board.update(failed(1));
    assert_eq!(
        board.update(Event::Connect(Err("It is no address.".to_owned()))),
        []
    );
    let shown = ClassConnection::Failed(Notice::new(
        "The class could not be read.",
        "It is no address.",
        "Check the address.",
    ));
    assert_eq!(board.connection(), shown);
    // The former server must not replace the message.
    assert_eq!(board.update(waited(1, true)), []);
    assert_eq!(board.update(fetched(1, &["late"])), []);
    assert_eq!(board.connection(), shown);
    assert_eq!(ids(&board), ["x"]);
}

fn hand_in(pupil: &str, at: f64) -> HandIn {
    HandIn {
        assignment: "sums".to_owned(),
        title: "Sums".into(),
        pupil: pupil.into(),
        handed_in: at,
        tasks: vec![HandedTask {
            title: "One".into(),
            episode: None,
        }],
    }
}

fn file(hand_in: &HandIn) -> Event {
    Event::File {
        name: "ada.json".to_owned(),
        text: Ok(hand_in.to_text()),
    }
}

#[test]
fn hand_ins_of_files_are_among_the_rows_once() {
    let mut board = following("a", &["x"]);
    let ada = hand_in("Ada", 7.0);
    assert_eq!(board.update(file(&ada)), []);
    assert_eq!(board.update(file(&ada)), []);
    let id = file_id(&ada);
    assert_eq!(ids(&board), [id.clone(), "x".to_owned()]);
    let source = board.source(&id);
    assert_eq!(source, Some(HandInSource::File(Arc::new(ada))));
    board.update(file(&hand_in("Ada", 8.0)));
    board.update(file(&hand_in("Bob", 7.0)));
    assert_eq!(board.rows().len(), 4);
    // They need no server.
    board.update(Event::Disconnect);
    assert_eq!(board.source(&id), source);
}

#[test]
fn a_file_that_is_no_hand_in_is_reported() {
    let mut board = ClassBoard::default();
    for text in [Err("It is too large.".to_owned()), Ok("{}".to_owned())] {
        let name = "x.json".to_owned();
        let effects = board.update(Event::File { name, text });
        let what = match effects.as_slice() {
            [Effect::Show(notice)] => notice.what.as_str(),
            other => panic!("not reported: {other:?}"),
        };
        assert_eq!(what, "x.json could not be read.");
    }
    assert_eq!(board.rows(), []);
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(connect("a")),
        Just(Event::Connect(Err("why".to_owned()))),
        Just(Event::Disconnect),
    ]
}

proptest! {
    /// Whatever the teacher does, at most one request or timer of the last connection is open, and carrying out all
    /// of them in any order never leads to two.
    #[test]
    fn one_thing_at_a_time(
        steps in proptest::collection::vec((events(), 0usize..4, 0usize..5), 0..40),
    ) {
        let mut board = ClassBoard::default();
        let mut open = Vec::new();
        for (event, replies, kind) in steps {
            open.extend(board.update(event));
            for _ in 0..replies {
                if open.is_empty() {
                    break;
                }
                let reply = match open.remove(kind % open.len()) {
                    Effect::Greet { connection, .. } => greeted(connection),
                    Effect::FetchRows { connection, .. } if kind == 0 => failed(connection),
                    Effect::FetchRows { connection, .. } => fetched(connection, &["x"]),
                    Effect::Wait { connection, .. } => waited(connection, kind < 3),
                    Effect::StoreKey(_) | Effect::Show(_) => continue,
                };
                open.extend(board.update(reply));
            }
            let of_last = open.iter().filter(|effect| match effect {
                Effect::Greet { connection, .. }
                | Effect::FetchRows { connection, .. }
                | Effect::Wait { connection, .. } => *connection == board.last_connection,
                Effect::StoreKey(_) | Effect::Show(_) => false,
            });
            let most = match board.link {
                ServerLink::Off | ServerLink::Refused(_) => 0,
                ServerLink::Greeting(_) | ServerLink::Following { .. } => 1,
            };
            prop_assert_eq!(of_last.count(), most);
        }
    }
}
