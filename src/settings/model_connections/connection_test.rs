//! **Test connection**: sends a tiny request, then one that must call a tool, as policies do, and describes the
//! results.

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_agent::model::limits::Spent;
use volary_agent::model::{ModelRequest, ParameterFallback, ToolChoice};
use volary_core::json::Object;
use volary_core::tool::{FunctionInfo, Parameters, Tool};
use volary_core::{Message, object};

use super::super::section::Problem as ProblemAlert;
use super::Editor;
use crate::browser;
use crate::browser::http::Timeouts;
use crate::components::icon::{Glyph, Icon};
use crate::components::text::inert;
use crate::models::{Ask, Asked, RequestProgress, Saved, ask, diagnose, prices, rollout};
use crate::projection::notice::Notice;
use volary_agent::model::diagnosis::ModelProblem;
use volary_trajectory::Episode;

/// Timeout without data. It is long enough for a local model that has to be loaded first.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(60);
/// Maximum output tokens. Reasoning models need some tokens before they respond.
const MOST_TOKENS: u32 = 256;

#[derive(Clone, Debug, Default, PartialEq)]
enum TestState {
    /// Not tested since the last change.
    #[default]
    NotYet,
    Running,
    /// The test succeeded. Holds the facts, one sentence each.
    Works(Vec<String>),
    /// The test failed.
    Failed(Notice),
}

#[derive(Clone, Copy)]
pub(super) struct ConnectionTest {
    outcome: RwSignal<TestState>,
    /// Cancels the request.
    abort: StoredValue<Option<AbortHandle>>,
}

impl ConnectionTest {
    pub(super) fn new() -> Self {
        ConnectionTest {
            outcome: RwSignal::default(),
            abort: StoredValue::new(None),
        }
    }

    /// Clears the result and cancels the request.
    pub(super) fn forget(self) {
        self.abort.update_value(|abort| {
            if let Some(abort) = abort.take() {
                abort.abort();
            }
        });
        if self
            .outcome
            .with_untracked(|outcome| *outcome != TestState::NotYet)
        {
            self.outcome.set(TestState::NotYet);
        }
    }

    fn start(self, editor: Editor) {
        self.forget();
        let saved = editor.shown_untracked();
        if let Err(error) = saved.connection.check() {
            self.outcome.set(TestState::Failed(Notice::new(
                "Fill in the marked fields first.",
                "",
                error.to_string(),
            )));
            return;
        }
        if let Some(notice) = missing_key(&saved) {
            self.outcome.set(TestState::Failed(notice));
            return;
        }
        self.outcome.set(TestState::Running);
        let (abort, registration) = AbortHandle::new_pair();
        self.abort.set_value(Some(abort));
        browser::spawn(async move {
            // Aborting drops the future and with it the request.
            let tested = Abortable::new(tested(&saved), registration).await;
            if let Ok((outcome, problem)) = tested {
                self.outcome.try_set(outcome);
                if problem == Some(ModelProblem::WrongModel) {
                    editor.names.ask(editor);
                }
            }
        });
    }
}

#[component]
pub(super) fn TestButton(editor: Editor) -> impl IntoView {
    let test = editor.test;
    let is_running =
        Memo::new(move |_| test.outcome.with(|outcome| *outcome == TestState::Running));
    let press = move |_| match is_running.get_untracked() {
        true => test.forget(),
        false => test.start(editor),
    };
    // Test and Cancel are one button, so that it keeps the focus.
    view! {
        <button type="button" class="primary" on:click=press>
            {move || if is_running.get() { "Cancel test" } else { "Test connection" }}
        </button>
    }
}

#[component]
pub(super) fn TestResult(editor: Editor) -> impl IntoView {
    let outcome = editor.test.outcome;
    let report = move || match outcome.get() {
        TestState::NotYet | TestState::Failed(_) => ().into_any(),
        TestState::Running => view! { <p>"Waiting for the model…"</p> }.into_any(),
        TestState::Works(facts) => {
            let facts = facts.iter();
            let facts = facts.map(|fact| view! { <p dir="auto">{inert(fact)}</p> });
            view! {
                <div class="works">
                    <Icon glyph=Glyph::Check/>
                    <div>{facts.collect_view()}</div>
                </div>
            }
            .into_any()
        }
    };
    let failure = move || match outcome.get() {
        TestState::Failed(notice) => Some(view! { <ProblemAlert notice/> }),
        _ => None,
    };
    view! {
        <div class="connection-test">
            <div role="status" aria-label="Test result">
                {report}
            </div>
            {failure}
        </div>
    }
}

/// Reports a missing key, so that no request is sent to a provider that requires one.
fn missing_key(saved: &Saved) -> Option<Notice> {
    let preset = saved.connection.preset()?;
    let is_missing = preset.key_url.is_some() && !untrack(|| saved.has_key());
    is_missing.then(|| {
        Notice::new(
            "The API key is missing.",
            format!(
                "{} does not respond without one. Nothing was sent.",
                preset.name
            ),
            "Enter a key, then test again.",
        )
    })
}

async fn tested(saved: &Saved) -> (TestState, Option<ModelProblem>) {
    let mut asking = Ask::of(saved);
    asking.silence = Timeouts::of(SILENCE);
    // No retries: failures are reported immediately.
    asking.patience.attempts = 1;
    let mut request = ModelRequest {
        model: saved.connection.model.clone(),
        messages: vec![Message::user("Say OK.").into()],
        max_tokens: Some(MOST_TOKENS),
        stream: true,
        ..ModelRequest::default()
    };
    let mut fallbacks = Vec::new();
    let mut heard = |progress: RequestProgress<'_>| {
        if let RequestProgress::FellBack { fallback, .. } = progress {
            fallbacks.push(fallback);
        }
    };
    match ask(&asking, &mut request, &mut heard).await {
        Ok(asked) => {
            let mut said = report(saved, &asked, &fallbacks);
            said.push(tool_call(saved, &asking).await);
            (TestState::Works(said), None)
        }
        Err(unanswered) => {
            let found = diagnose(saved, asking.has_key(), &unanswered).await;
            let notice = Notice::new(found.what, found.why, found.remedy);
            (TestState::Failed(notice), Some(found.problem))
        }
    }
}

/// Tests whether the model calls a tool when it must, and describes the result. Policies only work if it does.
async fn tool_call(saved: &Saved, asking: &Ask<'_>) -> String {
    let mut request = ModelRequest {
        model: saved.connection.model.clone(),
        messages: vec![Message::user("Call the tool add with x = 2 and y = 3.").into()],
        tools: vec![addition()],
        tool_choice: Some(ToolChoice::Required),
        max_tokens: Some(MOST_TOKENS),
        stream: true,
        ..ModelRequest::default()
    };
    // A wire format without tools is tested with the first turn of a rollout.
    let episode = Episode {
        start: request.messages.clone(),
        tools: request.tools.clone(),
        ..Episode::default()
    };
    let turn = rollout::RolloutTurn::of(&saved.connection, &episode, None, &request);
    if let Some(turn) = &turn
        && let Err(error) = turn.prepare(&mut request).await
    {
        return format!("Tool calls do not work: {error}.");
    }
    let answer = match ask(asking, &mut request, &mut |_| {}).await {
        Ok(asked) => asked.answer,
        Err(unanswered) => {
            let found = diagnose(saved, asking.has_key(), &unanswered).await;
            return format!("Tool calls do not work: {} {}", found.what, found.why);
        }
    };
    let answer = match &turn {
        Some(turn) => turn.read(&answer).await,
        None => Ok(answer),
    };
    match answer {
        Ok(answer) => match answer.calls.first() {
            Some(call) => format!("Tool calls work: it called {}.", call.name),
            None => "Tool calls do not work: it answered without calling the tool, so it cannot \
                     play. Choose a model that supports tools."
                .to_owned(),
        },
        Err(error) => format!("Tool calls do not work: {error}."),
    }
}

/// The tool that the test asks the model to call.
fn addition() -> Tool {
    Tool {
        info: FunctionInfo {
            name: "add".into(),
            description: "Adds two numbers.".into(),
            parameters: Some(Parameters {
                properties: object!({
                    "x": {"type": "integer", "description": "The first number."},
                    "y": {"type": "integer", "description": "The second number."}
                }),
                required: vec!["x".into(), "y".into()],
                extras: Object::new(),
            }),
        },
        concurrency_safe: true,
    }
}

/// Facts about a response, one sentence each.
fn report(saved: &Saved, asked: &Asked, fallbacks: &[ParameterFallback]) -> Vec<String> {
    let answer = &asked.answer;
    let timing = &asked.exchange.timing;
    let connection = &saved.connection;
    let mut said = vec![format!(
        "It works: {} of {} responds.",
        connection.model, connection.name
    )];
    let words = answer.text.as_deref().unwrap_or("").trim();
    if !words.is_empty() {
        let short: String = words.chars().take(80).collect();
        said.push(format!("Response: {short}"));
    }
    let mut time = format!("{:.1} s", timing.latency);
    if let Some(first) = timing.first_token {
        time.push_str(&format!(", first token after {first:.1} s"));
    }
    if let Some(usage) = &answer.usage {
        let cost = prices::read(|prices| prices.cost(&saved.connection.model, usage));
        let mut spent = Spent::default();
        spent.add_answer(Some(usage), cost);
        time.push_str(&format!("; {} tokens", spent.tokens));
        time.push_str(&match cost {
            Some(_) if !saved.connection.kind.has_server() => ", at no cost".to_owned(),
            Some(cost) => format!(", ${cost:.6}"),
            None => ", price unknown".to_owned(),
        });
    }
    said.push(format!("It took {time}."));
    if let Some(model) = answer
        .model
        .as_ref()
        .filter(|model| **model != saved.connection.model)
    {
        said.push(format!("The model identifies itself as {model}."));
    }
    let explained = fallbacks
        .iter()
        .map(|fallback| fallback.explanation().to_owned());
    said.extend(explained);
    said
}
