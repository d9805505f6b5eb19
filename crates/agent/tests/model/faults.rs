//! Replies without an answer: error statuses in every format, bodies with the wrong content type, endless bodies.

use volary_agent::model::{Answer, ApiKey, Delta, ModelError, ProviderKind, Reply};

const KEY: &str = "sk-very-secret-key";

fn reply(kind: ProviderKind, status: u16, content_type: &str, retry_after: Option<f64>) -> Reply {
    Reply::new(
        kind.provider(),
        &ApiKey::new(KEY),
        status,
        content_type,
        retry_after,
    )
}

fn read(
    kind: ProviderKind,
    status: u16,
    content_type: &str,
    body: &[u8],
) -> Result<Answer, ModelError> {
    let mut reply = reply(kind, status, content_type, None);
    let mut deltas = Vec::new();
    reply.push(body, &mut deltas)?;
    reply.finish(&mut deltas)
}

#[test]
fn error_statuses_match_their_bodies() {
    for kind in ProviderKind::ALL {
        for (status, body, said) in [
            (
                401,
                format!(r#"{{"error":{{"message":"Incorrect key {KEY}"}}}}"#),
                "Incorrect key YOUR_API_KEY",
            ),
            (
                500,
                "Internal Server Error".to_owned(),
                "Internal Server Error",
            ),
            (
                502,
                "<html><body>Bad gateway</body></html>".to_owned(),
                "web page",
            ),
            (503, String::new(), "no reason given"),
        ] {
            let error = read(kind, status, "text/plain", body.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(error.to_string().contains(&status.to_string()), "{error}");
            assert!(!format!("{error:?}").contains("secret"));
        }
    }
}

#[test]
fn the_time_to_wait_is_the_header_s_or_the_body_s() {
    let body = r#"{"error":{"message":"Please try again in 7s."}}"#.as_bytes();
    for (header, expected) in [(Some(3.0), Some(3.0)), (None, Some(7.0))] {
        let mut reply = reply(ProviderKind::OpenAiChat, 429, "application/json", header);
        reply.push(body, &mut Vec::new()).unwrap();
        match reply.finish(&mut Vec::new()) {
            Err(ModelError::Status { retry_after, .. }) => assert_eq!(retry_after, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_stream_is_recognised_by_its_first_bytes() {
    let whole = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for content_type in [
        "",
        "application/json",
        "text/event-stream",
        "text/plain; charset=utf-8",
    ] {
        for body in [
            whole,
            stream,
            &format!("\n  {whole}"),
            &format!(": hello\n\n{stream}"),
            &format!("\u{feff}{whole}"),
        ] {
            let found = read(ProviderKind::OpenAiChat, 200, content_type, body.as_bytes());
            if body.starts_with('\u{feff}') && content_type == "text/event-stream" {
                continue;
            }
            assert_eq!(
                found.map(|answer| answer.text),
                Ok(Some("hi".into())),
                "{content_type} {body}"
            );
        }
    }
}

#[test]
fn empty_replies_are_none() {
    for kind in ProviderKind::ALL {
        assert_eq!(
            read(kind, 200, "text/event-stream", b""),
            Err(ModelError::Cut)
        );
        let empty = read(kind, 200, "application/json", b" ");
        assert!(empty.is_err_and(|error| error.to_string().contains("it is empty")));
    }
}

#[test]
fn fifty_megabytes_are_no_answer() {
    let piece = vec![b'x'; 1_000_000];
    let begins: [(&str, &str, &[u8]); 4] = [
        ("application/json", "whole", b"{\"choices\": \""),
        ("text/event-stream", "one event", b"data: "),
        ("text/event-stream", "a comment", b": "),
        ("text/html", "a page", b"<html>"),
    ];
    for (content_type, name, begin) in begins {
        let mut reply = reply(ProviderKind::OpenAiChat, 200, content_type, None);
        reply.push(begin, &mut Vec::new()).unwrap();
        let failed = (0..50).find_map(|_| reply.push(&piece, &mut Vec::new()).err());
        assert_eq!(
            failed,
            Some(ModelError::TooLarge {
                limit_megabytes: 16
            }),
            "{name}"
        );
    }
}

#[test]
fn fifty_megabytes_in_pieces_are_rejected_and_the_start_is_kept() {
    let event = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(1_000_000)
    );
    let mut reply = reply(ProviderKind::OpenAiChat, 200, "text/event-stream", None);
    let mut deltas: Vec<Delta> = Vec::new();
    let failed = (0..50).find_map(|_| {
        deltas.clear();
        reply.push(event.as_bytes(), &mut deltas).err()
    });
    assert_eq!(
        failed,
        Some(ModelError::TooLarge {
            limit_megabytes: 16
        })
    );
    let kept = reply.partial().and_then(|answer| answer.text).unwrap();
    assert_eq!(kept.len(), 17_000_000);
}

#[test]
fn fifty_megabytes_of_an_error_are_that_error() {
    let mut reply = reply(ProviderKind::Anthropic, 500, "text/html", None);
    let piece = vec![b'x'; 1_000_000];
    reply.push(b"<html>", &mut Vec::new()).unwrap();
    for _ in 0..50 {
        reply.push(&piece, &mut Vec::new()).unwrap();
    }
    assert!(matches!(
        reply.finish(&mut Vec::new()),
        Err(ModelError::Status { status: 500, .. })
    ));
}

#[test]
fn keys_in_streams_are_taken_out() {
    let body = format!(
        "data: {{\"error\":{{\"message\":\"{}{KEY} is wrong\"}}}}\n\n",
        "x".repeat(590)
    );
    let error = read(
        ProviderKind::OpenAiChat,
        200,
        "text/event-stream",
        body.as_bytes(),
    )
    .unwrap_err();
    assert!(!error.to_string().contains("sk-very"), "{error}");
}
