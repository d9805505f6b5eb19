//! Tests of the states of servers: late replies, failures, and requests at the same time.

use proptest::prelude::*;
use volary_remote::diagnosis::ServerProblem;

use super::*;

const URL: &str = "http://one.example";

fn form(url: &str) -> ServerForm {
    ServerForm {
        name: "One".into(),
        url: url.into(),
        key: Some("key".into()),
    }
}

fn server(size: u64) -> ConnectedServer {
    ConnectedServer {
        info: Info {
            dataset_size: Some(size),
            running_env_ids: Vec::new(),
        },
        frames: None,
        lacks: Vec::new(),
    }
}

fn diagnosis(what: &str) -> Diagnosis {
    Diagnosis {
        problem: ServerProblem::Refused,
        what: what.to_owned(),
        why: String::new(),
        remedy: String::new(),
        lines: Vec::new(),
    }
}

fn connected(request: ServerRequest, size: u64) -> Event {
    let result = Ok(server(size));
    Event::Connected { request, result }
}

fn refused(request: ServerRequest) -> Event {
    let result = Err(diagnosis("refused"));
    Event::Connected { request, result }
}

fn checked(request: ServerRequest, result: Result<ConnectedServer, Diagnosis>) -> Event {
    Event::Checked {
        request,
        url: URL.into(),
        said: String::new(),
        result,
    }
}

fn up(size: u64) -> ServerState {
    ServerState::Up(server(size), String::new())
}

fn check() -> Event {
    Event::Check(URL.into())
}

#[test]
fn a_server_that_responds_is_added() {
    let mut checks = ServerChecks::default();
    let effects = checks.update(Event::Connect(form(URL)));
    let request = 1;
    let form = form(URL);
    assert_eq!(
        effects,
        [Effect::Connect {
            request,
            form: form.clone()
        }]
    );
    assert!(checks.is_connecting());
    assert_eq!(checks.state(URL), ServerState::Asked);
    let effects = checks.update(connected(1, 5));
    let add = Effect::Add {
        form: form.clone(),
        connected: server(5),
    };
    assert_eq!(effects, [add, Effect::ClearForm(form)]);
    assert!(!checks.is_connecting());
    assert_eq!(checks.state(URL), up(5));
    assert_eq!(checks.state("http://other.example"), ServerState::NotAsked);
    // The same answer again.
    assert_eq!(checks.update(refused(1)), []);
    assert_eq!(checks.failure(), None);
}

#[test]
fn a_failed_attempt_changes_nothing_that_is_known() {
    let mut checks = ServerChecks::default();
    checks.update(Event::Connect(form(URL)));
    assert_eq!(checks.update(refused(1)), []);
    assert_eq!(checks.failure(), Some(&diagnosis("refused")));
    assert_eq!(checks.state(URL), ServerState::NotAsked);
    checks.update(check());
    checks.update(checked(2, Ok(server(5))));
    checks.update(Event::Connect(form(URL)));
    assert_eq!(checks.failure(), None);
    checks.update(refused(3));
    assert_eq!(checks.state(URL), up(5));
}

#[test]
fn a_check_that_ends_during_a_failed_attempt_does_not_leave_the_server_asked() {
    let mut checks = ServerChecks::default();
    checks.update(check());
    checks.update(Event::Connect(form(URL)));
    assert_eq!(
        checks.update(checked(1, Ok(server(5)))),
        [Effect::Learn {
            url: URL.into(),
            connected: server(5)
        }]
    );
    assert_eq!(checks.state(URL), ServerState::Asked);
    checks.update(refused(2));
    assert_eq!(checks.state(URL), up(5));
    // The other way round.
    checks.update(check());
    checks.update(Event::Connect(form(URL)));
    checks.update(refused(4));
    checks.update(checked(3, Err(diagnosis("gone"))));
    assert_eq!(checks.state(URL), ServerState::Down(diagnosis("gone")));
}

#[test]
fn a_late_reply_does_not_replace_a_newer_one() {
    let mut checks = ServerChecks::default();
    checks.update(check());
    checks.update(Event::Connect(form(URL)));
    checks.update(connected(2, 5));
    checks.update(checked(1, Err(diagnosis("late"))));
    assert_eq!(checks.state(URL), up(5));
    checks.update(check());
    checks.update(check());
    checks.update(checked(3, Ok(server(6))));
    assert_eq!(checks.state(URL), ServerState::Asked);
    checks.update(checked(4, Ok(server(7))));
    assert_eq!(checks.state(URL), up(7));
}

#[test]
fn a_server_is_checked_after_environments_were_closed() {
    let mut checks = ServerChecks::default();
    for (round, (count, said)) in [
        (1, "Closed 1 environment."),
        (0, "Closed 0 environments."),
        (3, "Closed 3 environments."),
    ]
    .into_iter()
    .enumerate()
    {
        let request = u32::try_from(round).unwrap_or_default() * 2 + 1;
        let url = Text::from(URL);
        let close = Event::CloseIdle {
            url: url.clone(),
            seconds: 60.0,
        };
        let effect = Effect::CloseIdle {
            request,
            url: url.clone(),
            seconds: 60.0,
        };
        assert_eq!(checks.update(close), [effect]);
        let result = Ok(count);
        let closed = Event::Closed {
            request,
            url: url.clone(),
            result,
        };
        let (request, said) = (request + 1, said.to_owned());
        let check = Effect::Check {
            request,
            url: url.clone(),
            said: said.clone(),
        };
        assert_eq!(checks.update(closed), [check]);
        assert_eq!(checks.state(URL), ServerState::Asked);
        let result = Ok(server(5));
        checks.update(Event::Checked {
            request,
            url,
            said: said.clone(),
            result,
        });
        assert_eq!(checks.state(URL), ServerState::Up(server(5), said));
    }
}

#[test]
fn environments_that_cannot_be_closed_are_reported() {
    let mut checks = ServerChecks::default();
    let url = Text::from(URL);
    checks.update(Event::CloseIdle {
        url: url.clone(),
        seconds: 60.0,
    });
    let result = Err(diagnosis("gone"));
    let closed = Event::Closed {
        request: 1,
        url,
        result,
    };
    assert_eq!(checks.update(closed), []);
    assert_eq!(checks.state(URL), ServerState::Down(diagnosis("gone")));
}

#[test]
fn an_attempt_ends_although_another_address_was_entered_since() {
    let mut servers = ServerChecks::default();
    servers.update(Event::Connect(form(URL)));
    servers.update(Event::Connect(form("http://two.example")));
    servers.update(refused(1));
    assert_eq!(servers.state(URL), ServerState::NotAsked);
    assert!(servers.is_connecting());
}

#[test]
fn a_late_reply_is_not_stored_over_a_newer_one() {
    let mut checks = ServerChecks::default();
    checks.update(check());
    checks.update(check());
    let learn = Effect::Learn {
        url: URL.into(),
        connected: server(7),
    };
    assert_eq!(checks.update(checked(2, Ok(server(7)))), [learn]);
    assert_eq!(checks.update(checked(1, Ok(server(6)))), []);
    assert_eq!(checks.state(URL), up(7));
}

#[test]
fn a_removed_server_stays_removed() {
    let url = Text::from(URL);
    let forget = || Event::Forget(url.clone());
    let mut checks = ServerChecks::default();
    checks.update(check());
    assert_eq!(checks.update(forget()), [Effect::Forget(url.clone())]);
    assert_eq!(checks.update(checked(1, Ok(server(6)))), []);
    assert_eq!(checks.state(URL), ServerState::NotAsked);

    // Environments that were closed lead to no further request.
    let close = Event::CloseIdle {
        url: url.clone(),
        seconds: 60.0,
    };
    checks.update(close);
    checks.update(forget());
    let closed = Event::Closed {
        request: 2,
        url: url.clone(),
        result: Ok(1),
    };
    assert_eq!(checks.update(closed), []);

    // An attempt to connect to it ends with it.
    checks.update(Event::Connect(form(URL)));
    checks.update(forget());
    assert!(!checks.is_connecting());
    assert_eq!(checks.update(connected(3, 5)), []);
    assert_eq!(checks.state(URL), ServerState::NotAsked);

    // It can be added again.
    checks.update(Event::Connect(form(URL)));
    assert_eq!(checks.update(connected(4, 5)).len(), 2);
    assert_eq!(checks.state(URL), up(5));
}

#[test]
fn an_attempt_survives_the_removal_of_another_server() {
    let mut checks = ServerChecks::default();
    checks.update(Event::Connect(form(URL)));
    checks.update(Event::Forget("http://two.example".into()));
    assert!(checks.is_connecting());
    assert_eq!(checks.update(connected(1, 5)).len(), 2);
}

#[test]
fn a_new_attempt_removes_the_failure_of_the_last_one() {
    let mut checks = ServerChecks::default();
    checks.update(Event::Connect(form(URL)));
    checks.update(refused(1));
    assert_eq!(checks.failure(), Some(&diagnosis("refused")));
    checks.update(Event::Connect(form(URL)));
    assert_eq!(checks.failure(), None);
}

/// A request that the page sends, with the event that answers it.
fn answer(effect: &Effect, is_up: bool) -> Option<Event> {
    let result = |request: &ServerRequest| {
        if is_up {
            Ok(server(u64::from(*request)))
        } else {
            Err(diagnosis("down"))
        }
    };
    match effect.clone() {
        Effect::Connect { request, .. } => Some(Event::Connected {
            request,
            result: result(&request),
        }),
        Effect::Check { request, url, said } => Some(Event::Checked {
            request,
            url,
            said,
            result: result(&request),
        }),
        Effect::CloseIdle { request, url, .. } => Some(Event::Closed {
            request,
            url,
            result: result(&request).map(|_| 1),
        }),
        _ => None,
    }
}

proptest! {
    /// Whatever the order of answers: every wait ends, what is stored is never older than what was stored before, and a
    /// removed server comes back only if the user connects again.
    #[test]
    fn answers_in_any_order(steps in prop::collection::vec((0..5_u8, 0..4_usize, any::<bool>()), 1..40)) {
        let urls = [URL, "http://two.example"];
        let mut checks = ServerChecks::default();
        let mut flying: Vec<Effect> = Vec::new();
        let mut stored = std::collections::BTreeMap::<Text, u64>::new();
        let mut listed = std::collections::BTreeSet::<Text>::from_iter(urls.map(Text::from));
        let mut attempted = std::collections::BTreeSet::<Text>::new();
        let mut events: Vec<(u8, usize, bool)> = steps;
        loop {
            let (kind, place, is_up) = match events.pop() {
                Some(step) => step,
                None if flying.is_empty() => break,
                None => (4, 0, true),
            };
            let url = Text::from(urls[place % 2]);
            let event = match kind {
                0 => {
                    attempted.insert(url.clone());
                    Event::Connect(form(&url))
                }
                1 if listed.contains(&url) => Event::Check(url),
                2 if listed.contains(&url) => Event::CloseIdle { url, seconds: 1.0 },
                3 => {
                    attempted.remove(&url);
                    Event::Forget(url)
                }
                _ if flying.is_empty() => continue,
                _ => {
                    let effect = flying.remove(place % flying.len());
                    answer(&effect, is_up).unwrap()
                }
            };
            for effect in checks.update(event) {
                match effect {
                    Effect::Add { form, connected } => {
                        prop_assert!(attempted.contains(&form.url));
                        listed.insert(form.url.clone());
                        stored.insert(form.url, connected.info.dataset_size.unwrap_or_default());
                    }
                    Effect::Learn { url, connected } => {
                        let size = connected.info.dataset_size.unwrap_or_default();
                        let known = stored.insert(url, size).unwrap_or_default();
                        prop_assert!(known <= size, "{known} was stored before {size}");
                    }
                    Effect::Forget(url) => {
                        listed.remove(&url);
                        stored.remove(&url);
                    }
                    Effect::ClearForm(_) => {}
                    request => flying.push(request),
                }
            }
        }
        prop_assert!(!checks.is_connecting());
        for url in urls {
            prop_assert_ne!(checks.state(url), ServerState::Asked);
        }
    }
}
