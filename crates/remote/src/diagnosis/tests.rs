//! Diagnoses of known failures.

use volary_connectivity::Permission;
use volary_core::json;

use super::*;
use crate::TransportError;
use crate::reply::ReplyError;

const SERVER: &str = "http://127.0.0.1:8041";

fn page(origin: &str) -> RequestingPage {
    RequestingPage::of(origin).unwrap()
}

fn failed(error: ClientError, has_key: bool, paths: Option<&[&'static str]>) -> Diagnosis {
    let description = paths.map(|paths| {
        let paths = paths.iter().map(|path| ((*path).into(), json!({})));
        let body = json!({"paths": (paths.collect::<volary_core::Object>())});
        Description::read(&body).unwrap()
    });
    let observation = Observation::Failed(&error, description);
    diagnose(SERVER, has_key, &page("http://localhost:1"), &observation)
}

fn status(status: u16, detail: &str) -> ClientError {
    ClientError::Status {
        endpoint: "/info",
        status,
        detail: detail.into(),
    }
}

#[test]
fn replies_are_distinguished() {
    let old: &[&'static str] = &["/start", "/reset", "/step", "/close"];
    let shape = |endpoint| {
        ClientError::Reply(ReplyError::Shape {
            endpoint,
            expected: "something else",
        })
    };
    for (error, has_key, paths, problem) in [
        (
            status(403, "Invalid or missing API key"),
            true,
            None,
            ServerProblem::WrongKey,
        ),
        (
            status(403, "Invalid or missing API key"),
            false,
            None,
            ServerProblem::NoKey,
        ),
        (
            status(404, "Not Found"),
            false,
            None,
            ServerProblem::NotAServer,
        ),
        (
            status(404, "Not Found"),
            false,
            Some(&["/pets"][..]),
            ServerProblem::NotAServer,
        ),
        (
            status(404, "Not Found"),
            false,
            Some(old),
            ServerProblem::OtherVersion,
        ),
        (
            status(503, "Too many environments"),
            false,
            None,
            ServerProblem::Busy,
        ),
        (status(500, "Oh"), false, None, ServerProblem::ServerFailure),
        (status(422, "task_idx"), false, None, ServerProblem::Refused),
        (
            ClientError::NotJson { endpoint: "/info" },
            false,
            None,
            ServerProblem::NotAServer,
        ),
        (shape("/info"), false, None, ServerProblem::NotAServer),
        (
            shape("/info"),
            false,
            Some(old),
            ServerProblem::OtherVersion,
        ),
        (shape("/step"), false, None, ServerProblem::OtherVersion),
        (
            ClientError::Transport(TransportError::Unusable {
                reason: "it leads elsewhere.".into(),
            }),
            false,
            None,
            ServerProblem::Refused,
        ),
        (
            ClientError::Transport(TransportError::Timeout),
            false,
            None,
            ServerProblem::Timeout,
        ),
    ] {
        let found = failed(error.clone(), has_key, paths);
        assert_eq!(found.problem, problem, "{error:?}");
        assert!(found.why.contains(&error.to_string()), "{}", found.why);
        assert!(!found.what.is_empty() && !found.remedy.is_empty());
    }
    let found = failed(status(404, "Not Found"), false, Some(old));
    assert!(
        found
            .why
            .ends_with("Not Found. It lacks /close_old_envs, /info."),
        "{}",
        found.why
    );
}

fn silent(origin: &str, server: &str, silence: Silence) -> Diagnosis {
    diagnose(server, false, &page(origin), &Observation::Silent(silence))
}

#[test]
fn causes_of_silence_are_distinguished_as_far_as_a_page_can() {
    let secure = "https://volary.example";
    let near = "http://localhost:8000";
    let quiet = Silence {
        answers_without_cors: Some(false),
        permission: None,
        is_online: true,
    };
    let answers = Silence {
        answers_without_cors: Some(true),
        ..quiet
    };
    let denied = Silence {
        permission: Some(Permission::Denied),
        ..quiet
    };
    let offline = Silence {
        is_online: false,
        ..quiet
    };
    for (origin, server, silence, problem) in [
        (near, SERVER, quiet, ServerProblem::NotReachable),
        (near, SERVER, answers, ServerProblem::Cors),
        (secure, SERVER, denied, ServerProblem::LocalNetwork),
        (secure, SERVER, quiet, ServerProblem::MixedContent),
        (
            secure,
            "http://env.example",
            quiet,
            ServerProblem::MixedContent,
        ),
        (near, "https://env.example", offline, ServerProblem::Offline),
        (near, "soon", quiet, ServerProblem::NotAnAddress),
    ] {
        let found = silent(origin, server, silence);
        assert_eq!(found.problem, problem, "{origin} {server} {silence:?}");
        assert!(!found.remedy.is_empty(), "{found:?}");
    }
}

#[test]
fn the_lines_that_let_a_page_in_name_its_origin() {
    let silence = Silence {
        answers_without_cors: Some(true),
        permission: None,
        is_online: true,
    };
    let found = silent("https://you.github.io", SERVER, silence);
    assert!(
        found
            .lines
            .iter()
            .all(|lines| lines.text.contains("https://you.github.io"))
    );
    assert!(
        found.lines[0]
            .text
            .contains("allow_origins=[\"https://you.github.io\"],\n    allow_methods")
    );
}
