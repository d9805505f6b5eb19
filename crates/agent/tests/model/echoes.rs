//! Echoes are sent back unchanged through an action and a stored episode's JSON, until the action is edited, the
//! model is changed, or the provider rejects them.

use volary_agent::model::selector::ToolSelector;
use volary_agent::model::{
    ApiKey, ModelRequest, ParameterFallback, ParameterFallbacks, ProviderKind, select,
};
use volary_core::json::{Json, Text, read};
use volary_core::message::DumpOptions;
use volary_core::{AnyMessage, Message, ToolRequestMessage, ToolResponseMessage};

use crate::fixtures::{Fixture, all, read_in};

/// The action of a fixture, as restored from a stored episode.
fn action(fixture: &Fixture) -> Option<ToolRequestMessage> {
    let (_, Ok(answer)) = read_in(fixture, [fixture.body.as_slice()]) else {
        return None;
    };
    // SGLang's reply is stored for its tokens; nothing of it is sent back.
    if answer.echo.is_empty() || fixture.kind == ProviderKind::Sglang {
        return None;
    }
    let mut selector = ToolSelector::new("the-model", false, false);
    let name = fixture.kind.provider().name();
    let action = select(&mut selector, &answer, name, |index| {
        format!("made{index}").into()
    })
    .unwrap();
    let stored = Json::Object(action.dump(&DumpOptions::with_info()).unwrap()).to_compact_text();
    let restored = ToolRequestMessage::read(&read(&stored).unwrap()).unwrap();
    assert_eq!(restored.body.info, action.body.info);
    Some(restored)
}

/// The body of the request after that action.
fn body(
    fixture: &Fixture,
    action: &ToolRequestMessage,
    model: &str,
    fallbacks: ParameterFallbacks,
) -> String {
    let answers = action.tool_calls.iter().map(|call| {
        let body = volary_core::message::Body::text("4");
        AnyMessage::from(ToolResponseMessage::from_call(call, body))
    });
    let mut messages: Vec<AnyMessage> = vec![Message::user("2+2?").into(), action.clone().into()];
    messages.extend(answers);
    let request = ModelRequest {
        model: model.into(),
        messages,
        fallbacks,
        ..ModelRequest::default()
    };
    let provider = fixture.kind.provider();
    provider
        .request("https://x.example", &ApiKey::default(), &request)
        .body
}

/// The body of the request after a fixture's action, if it has an echo.
pub fn body_after(fixture: &Fixture) -> Option<String> {
    let action = action(fixture)?;
    Some(body(
        fixture,
        &action,
        "the-model",
        ParameterFallbacks::default(),
    ))
}

/// The echoed parts of an action.
fn parts(action: &ToolRequestMessage) -> Vec<Json> {
    let echo = action.body.info.as_ref().unwrap().get("echo").unwrap();
    echo.get("parts").unwrap().as_list().unwrap().to_vec()
}

/// Whether the body contains each part: verbatim, or (in chat messages) each of its fields.
fn holds(body: &str, parts: &[Json]) -> bool {
    parts.iter().all(|part| {
        body.contains(&part.to_compact_text())
            || part.as_object().unwrap().iter().all(|(key, value)| {
                body.contains(&format!(
                    "{}:{}",
                    Json::from(&**key).to_compact_text(),
                    value.to_compact_text()
                ))
            })
    })
}

#[test]
fn echoes_go_back_whole_and_only_where_they_belong() {
    let mut seen = 0;
    for fixture in all() {
        let Some(action) = action(&fixture) else {
            continue;
        };
        seen += 1;
        let parts = parts(&action);
        let none = ParameterFallbacks::default();
        let sent = body(&fixture, &action, "the-model", none);
        assert!(holds(&sent, &parts), "{}\n{sent}\n{parts:?}", fixture.name);
        // Another model cannot read it, and some models reject it.
        let other = body(&fixture, &action, "another-model", none);
        assert!(!holds(&other, &parts), "{}", fixture.name);
        let refused = none.with(ParameterFallback::NoEcho);
        assert!(
            !holds(&body(&fixture, &action, "the-model", refused), &parts),
            "{}",
            fixture.name
        );
    }
    assert!(seen >= 15, "only {seen} fixtures have an echo");
}

#[test]
fn edited_actions_are_sent_as_they_are_now() {
    for fixture in all() {
        let Some(mut action) = action(&fixture) else {
            continue;
        };
        let edited: Text = "something else".into();
        match action.tool_calls.first_mut() {
            Some(call) => {
                call.function.arguments.insert("expr", edited.clone());
            }
            None => action.body.content = Some(edited.clone()),
        }
        let sent = body(
            &fixture,
            &action,
            "the-model",
            ParameterFallbacks::default(),
        );
        assert!(sent.contains(&*edited), "{}\n{sent}", fixture.name);
        // Nothing of the earlier calls remains.
        assert!(
            !sent.contains("2+2\\\"") && !sent.contains("\"2+2\""),
            "{}\n{sent}",
            fixture.name
        );
    }
}
