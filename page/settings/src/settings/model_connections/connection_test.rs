//! **Test connection** as signals: sends the requests of [`volary_app::connection_test`], and shows the result.
//!
//! Invariant: a cancelled test sends nothing more.

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_agent::model::Answer;
use volary_app::connection_test::{
    ConnectionTest, Effect, Event, TestEnd, TestNumber, TestOutcome, report,
};
use volary_episode::Episode;

use super::super::section::Problem as ProblemAlert;
use super::Editor;
use volary_browser as browser;
use volary_browser::http::Timeouts;
use volary_connections::models::{Ask, RequestProgress, Saved, ask, diagnose, prices, rollout};
use volary_ui::icon::{Glyph, Icon};
use volary_ui::text::inert;

/// Timeout without data. It is long enough for a local model that has to be loaded first.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// The test of a connection as signals: carries out the effects of [`volary_app::connection_test`].
#[derive(Clone, Copy)]
pub(super) struct TestRun {
    state: RwSignal<ConnectionTest>,
    /// Cancels the request.
    abort: StoredValue<Option<AbortHandle>>,
}

impl TestRun {
    pub(super) fn new() -> Self {
        TestRun {
            state: RwSignal::default(),
            abort: StoredValue::new(None),
        }
    }

    fn handle(self, editor: Editor, event: Event) {
        // The page may have been left.
        let effects = self.state.try_update(|state| state.update(event));
        for effect in effects.into_iter().flatten() {
            match effect {
                Effect::Ask(test) => self.ask(editor, test),
                Effect::Cancel => self.abort.update_value(|abort| {
                    if let Some(abort) = abort.take() {
                        abort.abort();
                    }
                }),
                Effect::ListModels => editor.names.ask(editor),
            }
        }
    }

    /// Clears the result and cancels the request.
    pub(super) fn forget(self, editor: Editor) {
        self.handle(editor, Event::Forget);
    }

    fn start(self, editor: Editor) {
        let saved = editor.shown_untracked();
        let has_key = untrack(|| saved.has_key());
        let connection = saved.connection;
        self.handle(
            editor,
            Event::Start {
                connection,
                has_key,
            },
        );
    }

    fn ask(self, editor: Editor, test: TestNumber) {
        let saved = editor.shown_untracked();
        let (abort, registration) = AbortHandle::new_pair();
        self.abort.set_value(Some(abort));
        browser::spawn(async move {
            // Aborting drops the future and with it the request.
            if let Ok(ended) = Abortable::new(tested(&saved), registration).await {
                self.handle(editor, Event::Ended { test, ended });
            }
        });
    }
}

#[component]
pub(super) fn TestButton(editor: Editor) -> impl IntoView {
    let test = editor.test;
    let is_running = Memo::new(move |_| test.state.with(ConnectionTest::is_running));
    let press = move |_| {
        if is_running.get_untracked() {
            test.forget(editor)
        } else {
            test.start(editor)
        }
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
    let state = editor.test.state;
    let outcome = Memo::new(move |_| state.with(|state| state.outcome().clone()));
    let result = move || match outcome.get() {
        TestOutcome::NotYet | TestOutcome::Failed(_) => ().into_any(),
        TestOutcome::Running => view! { <p>"Waiting for the model…"</p> }.into_any(),
        TestOutcome::Works(facts) => {
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
        TestOutcome::Failed(notice) => Some(view! { <ProblemAlert notice/> }),
        _ => None,
    };
    view! {
        <div class="connection-test">
            <div role="status" aria-label="Test result">
                {result}
            </div>
            {failure}
        </div>
    }
}

/// Tests whether the model answers, and whether it calls a tool when it must.
async fn tested(saved: &Saved) -> TestEnd {
    let mut asking = Ask::of(saved);
    asking.silence = Timeouts::of(SILENCE);
    // No retries: failures are reported immediately.
    asking.backoff.attempts = 1;
    let connection = &saved.connection;
    let mut fallbacks = Vec::new();
    let mut heard = |progress: RequestProgress<'_>| {
        if let RequestProgress::FellBack { fallback, .. } = progress {
            fallbacks.push(fallback);
        }
    };
    let asked = match ask(&asking, &mut report::greeting(connection), &mut heard).await {
        Ok(asked) => asked,
        Err(unanswered) => {
            let found = diagnose(saved, asking.has_key(), &unanswered).await;
            return TestEnd::Failed(Box::new(found));
        }
    };
    let answer = &asked.answer;
    let cost = answer
        .usage
        .as_ref()
        .and_then(|usage| prices::read(|prices| prices.cost(&connection.model, usage)));
    let timing = &asked.exchange.timing;
    let mut facts = report::facts(connection, answer, timing, cost, &fallbacks);
    let called = called(saved, &asking).await;
    facts.push(report::tool_verdict(called.as_ref().map_err(Clone::clone)));
    TestEnd::Answered(facts)
}

/// The answer of the model to a request that only a call of a tool can answer, or why there is none.
async fn called(saved: &Saved, asking: &Ask<'_>) -> Result<Answer, String> {
    let mut request = report::sum(&saved.connection);
    // A wire format without tools is tested with the first turn of a rollout.
    let episode = Episode {
        start: request.messages.clone(),
        tools: request.tools.clone(),
        ..Episode::default()
    };
    let turn = rollout::RolloutTurn::of(&saved.connection, &episode, None, &request);
    if let Some(turn) = &turn {
        turn.prepare(&mut request)
            .await
            .map_err(|error| error.to_string())?;
    }
    let answer = match ask(asking, &mut request, &mut |_| {}).await {
        Ok(asked) => asked.answer,
        Err(unanswered) => {
            let found = diagnose(saved, asking.has_key(), &unanswered).await;
            return Err(format!("{} {}", found.what, found.why));
        }
    };
    match &turn {
        Some(turn) => turn.read(&answer).await.map_err(|error| error.to_string()),
        None => Ok(answer),
    }
}
