//! Recorded replies of providers, each with its expected answer.
//!
//! A folder is named like a codec and holds bodies (`.json` and `.html` whole, `.sse` streamed) and
//! `expected.json`: by file name `{"answer": …}` or `{"error": {"kind", "contains"}}`.

use std::path::{Path, PathBuf};

use volary_agent::model::{Answer, ApiKey, Delta, ModelError, ProviderKind, Reply};
use volary_core::Object;
use volary_core::json::{Json, read};

pub struct Fixture {
    pub name: String,
    pub kind: ProviderKind,
    pub body: Vec<u8>,
    pub expected: Json,
}

impl Fixture {
    pub fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "sse")) => "text/event-stream; charset=utf-8",
            Some((_, "html")) => "text/html",
            _ => "application/json",
        }
    }

    pub fn is_stream(&self) -> bool {
        self.name.ends_with(".sse")
    }

    pub fn reply(&self) -> Reply {
        let key = ApiKey::new("sk-fixture-key");
        Reply::new(self.kind.provider(), &key, 200, self.content_type(), None)
    }
}

/// Parses a reply that arrives in these pieces: returns its deltas and its answer or error.
pub fn read_in<'a>(
    fixture: &Fixture,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<Answer, ModelError>) {
    let mut reply = fixture.reply();
    let mut deltas = Vec::new();
    for piece in pieces {
        if let Err(error) = reply.push(piece, &mut deltas) {
            return (deltas, Err(error));
        }
    }
    let answer = reply.finish(&mut deltas);
    (deltas, answer)
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub fn all() -> Vec<Fixture> {
    let mut all = Vec::new();
    for kind in ProviderKind::ALL {
        let folder = folder().join(kind.provider().name());
        let expected = std::fs::read_to_string(folder.join("expected.json")).unwrap();
        let Ok(Json::Object(expected)) = read(&expected) else {
            panic!("no object in {}", folder.display());
        };
        let bodies = std::fs::read_dir(&folder).unwrap().count() - 1;
        assert_eq!(bodies, expected.len(), "bodies in {}", folder.display());
        all.extend(expected.iter().map(|(name, expected)| Fixture {
            body: std::fs::read(folder.join(&**name)).unwrap(),
            name: format!("{}/{name}", kind.provider().name()),
            kind,
            expected: expected.clone(),
        }));
    }
    all
}

/// An answer in the format of `expected.json`: empty members are omitted.
pub fn shown(answer: &Answer) -> Json {
    let mut shown = Object::new();
    let mut add = |key: &'static str, value: Option<Json>| {
        if let Some(value) = value {
            shown.insert(key, value);
        }
    };
    let list = |list: Vec<Json>| (!list.is_empty()).then_some(Json::List(list));
    add("text", answer.text.clone().map(Json::from));
    add("thinking", answer.thinking.clone().map(Json::from));
    let calls = answer.calls.iter().map(|call| {
        Json::from(vec![
            call.id.clone(),
            call.name.clone(),
            call.arguments.clone(),
        ])
    });
    add("calls", list(calls.collect()));
    add("finish", Some(Json::from(answer.finish.as_str())));
    add("refusal", answer.refusal.clone().map(Json::from));
    add("model", answer.model.clone().map(Json::from));
    add("echo", list(answer.echo.clone()));
    add(
        "usage",
        answer.usage.map(|usage| {
            let mut shown = Object::new();
            for (key, count) in [
                ("prompt", usage.prompt),
                ("completion", usage.completion),
                ("cached", usage.cached),
                ("cache_written", usage.cache_written),
                ("reasoning", usage.reasoning),
            ] {
                if count > 0 {
                    shown.insert(key, i64::try_from(count).unwrap());
                }
            }
            if let Some(charged) = usage.charged {
                shown.insert("charged", charged);
            }
            Json::Object(shown)
        }),
    );
    Json::Object(shown)
}

pub fn kind_of(error: &ModelError) -> String {
    let debug = format!("{error:?}");
    let end = debug.find(|character: char| !character.is_alphanumeric());
    debug[..end.unwrap_or(debug.len())].to_owned()
}

#[test]
fn every_reply_is_read_as_expected() {
    for fixture in all() {
        let (_, found) = read_in(&fixture, [fixture.body.as_slice()]);
        match (
            fixture.expected.get("answer"),
            fixture.expected.get("error"),
            found,
        ) {
            (Some(expected), None, Ok(answer)) => assert_eq!(
                shown(&answer),
                *expected,
                "{}:\nfound    {}\nexpected {}",
                fixture.name,
                shown(&answer).to_compact_text(),
                expected.to_compact_text()
            ),
            (None, Some(expected), Err(error)) => {
                let text = |key: &str| expected.get(key).and_then(Json::as_text).unwrap().clone();
                assert_eq!(kind_of(&error), *text("kind"), "{}: {error}", fixture.name);
                let contains = error.to_string().contains(&*text("contains"));
                assert!(contains, "{}: {error}", fixture.name);
            }
            (_, _, found) => panic!("{}: {found:?}", fixture.name),
        }
    }
}

#[test]
fn deltas_add_up_to_the_answer() {
    for fixture in all().into_iter().filter(Fixture::is_stream) {
        let (deltas, Ok(answer)) = read_in(&fixture, [fixture.body.as_slice()]) else {
            continue;
        };
        let (mut text, mut thinking) = (String::new(), String::new());
        let mut calls = vec![(String::new(), String::new()); answer.calls.len()];
        let mut usage = None;
        for delta in deltas {
            match delta {
                Delta::Text(more) => text += &more,
                Delta::Thinking(more) => thinking += &more,
                Delta::CallStarted { call, name } => calls[call].0 += &name,
                Delta::Arguments { call, text } => calls[call].1 += &text,
                Delta::Usage(newer) => usage = Some(newer),
            }
        }
        let name = &fixture.name;
        // The reason of a content filter is not part of the answer's text.
        let refusal = match answer.finish {
            volary_agent::model::Finish::ContentFilter => None,
            _ => answer.refusal.as_deref(),
        };
        let said = answer.text.as_deref().or(refusal);
        assert_eq!(text, said.unwrap_or(""), "{name}");
        assert_eq!(thinking, answer.thinking.as_deref().unwrap_or(""), "{name}");
        for (call, (called, arguments)) in answer.calls.iter().zip(&calls) {
            assert_eq!((&call.name, &call.arguments), (called, arguments), "{name}");
        }
        assert_eq!(usage, answer.usage, "{name}");
    }
}
