//! The state of Ask: its machine, the effects, and the signals that the views read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{AbortHandle, abortable};
use leptos::prelude::*;
use volary_agent::model::ModelRequest;
use volary_app::ask::asked::ModelFacts;
use volary_app::ask::findings::{AskFindings, FindingsRequest};
use volary_app::ask::history::AskHistory;
use volary_app::ask::{self, AskRow, AskScope, AskSession, Event, PlanState, RunShown};
use volary_app::notice::Notice;
use volary_ask::cache::AnswerLines;
use volary_ask::run::{ModelReply, RequestId};
use volary_browser::database::DatabaseError;
use volary_browser::web_lock::{WebLock, acquire};
use volary_browser::{location, spawn, timers};
use volary_connections::models::{connections, prices};
use volary_core::json::Text;
use volary_library_client::texts;
use volary_storage::answers as stored;
use volary_view::ask::AskPlace;

use super::host::AskHost;
use super::sending::send;

/// The time between two updates of the table while answers arrive.
const REST: Duration = Duration::from_millis(400);
/// The lock that one tab holds while it asks, so that nothing is paid for twice.
const LOCK: &str = "ask";

/// The signals of Ask, and its machine.
#[derive(Clone, Copy)]
pub(super) struct AskState {
    pub(super) host: AskHost,
    pub(super) plan: RwSignal<PlanState>,
    pub(super) shown: RwSignal<Option<RunShown>>,
    pub(super) history: RwSignal<Arc<AskHistory>>,
    /// Whether the history was read from storage.
    pub(super) is_read: RwSignal<bool>,
    /// Why the last question could not be asked.
    pub(super) refused: RwSignal<Option<Text>>,
    /// The id of the question whose findings are being written.
    pub(super) writing: RwSignal<Option<Text>>,
    pub(super) notice: RwSignal<Option<Notice>>,
    inner: StoredValue<Inner, LocalStorage>,
}

#[derive(Default)]
struct Inner {
    ask: AskSession,
    /// The requests under way.
    requests: BTreeMap<RequestId, AbortHandle>,
    /// Held while a question is asked, and until the last reply has arrived.
    lock: Option<WebLock>,
    /// Whether the signal of the history will be set soon.
    is_resting: bool,
}

impl AskState {
    pub(super) fn new(host: AskHost) -> AskState {
        let state = AskState {
            host,
            plan: RwSignal::default(),
            shown: RwSignal::default(),
            history: RwSignal::default(),
            is_read: RwSignal::new(false),
            refused: RwSignal::default(),
            writing: RwSignal::default(),
            notice: RwSignal::default(),
            inner: StoredValue::new_local(Inner::default()),
        };
        spawn(async move {
            state.read().await;
            let _ = state.is_read.try_set(true);
        });
        // What is stored comes first, because the answers of files are added to it.
        Effect::new(move |_| {
            if state.is_read.get() && host.client.given_answers.with(|given| !given.is_empty()) {
                untrack(|| state.take_given());
            }
        });
        state
    }

    /// Takes the answers of files.
    fn take_given(self) {
        let given = self.host.client.given_answers;
        let given = given.try_update(std::mem::take).unwrap_or_default();
        for (lines, is_kept) in given {
            // The worker has checked each line.
            let Ok(AnswerLines { records, .. }) = AnswerLines::read(&lines) else {
                continue;
            };
            self.dispatch(Event::Given { records, is_kept });
        }
        self.publish_history();
    }

    /// Handles an event and carries out the effects.
    pub(super) fn dispatch(self, event: Event) {
        let (now, clock) = (timers::now(), timers::wall_clock());
        let effects = self
            .inner
            .try_update_value(|inner| inner.ask.update(now, clock, event));
        for effect in effects.unwrap_or_default() {
            self.carry_out(effect);
        }
    }

    /// Asks or goes on, unless another tab is asking.
    pub(super) fn start(self, event: Event) {
        spawn(async move {
            let is_held = self
                .inner
                .try_with_value(|inner| inner.lock.is_some())
                .unwrap_or_default();
            if !is_held {
                let Some(lock) = acquire(LOCK).await else {
                    self.notice.set(Some(Notice::new(
                        "Another tab is asking a question.",
                        "Only one tab asks at a time, so that nothing is paid for twice.",
                        "Stop it there or close that tab, then try again.",
                    )));
                    return;
                };
                // What another tab has paid for meanwhile.
                self.read().await;
                self.inner.update_value(|inner| inner.lock = Some(lock));
            }
            self.dispatch(event);
        });
    }

    /// Plans a question with what is stored now, also by other tabs.
    pub(super) fn plan(self, event: Event) {
        spawn(async move {
            let is_running = self
                .inner
                .try_with_value(|inner| inner.ask.is_running())
                .unwrap_or_default();
            if !is_running {
                self.read().await;
            }
            self.dispatch(event);
        });
    }

    async fn read(self) {
        match stored::history().await {
            Ok(history) => {
                self.dispatch(Event::Read(Box::new(history)));
                self.publish_history();
            }
            Err(error) => self.report("Earlier answers cannot be read.", &error),
        }
    }

    /// What is known about the model of a connection; `None` if the connection was deleted.
    pub(super) fn facts(self, connection: &str, model: &str) -> Option<ModelFacts> {
        let kind = connections::get(connection)?.connection.kind;
        let price = prices::read(|prices| prices.of(model));
        Some(ModelFacts { kind, price })
    }

    /// The rows of the table as the machine names them.
    pub(super) fn names(self) -> Vec<AskRow> {
        self.host.rows.with_untracked(|rows| {
            let rows = rows.iter().map(|row| AskRow {
                id: row.id.clone(),
                name: row.name.clone(),
            });
            rows.collect()
        })
    }

    /// Goes on with a question that was asked before.
    pub(super) fn resume(self, id: &Text, scope: AskScope) {
        let setup = self
            .history
            .with_untracked(|history| Some(history.question(id)?.setup.clone()));
        let Some(setup) = setup else {
            return;
        };
        let facts = untrack(|| self.facts(&setup.connection, &setup.model));
        let Some(facts) = facts else {
            return self.notice.set(Some(Notice::new(
                "The question cannot be asked.",
                "Its connection was deleted in Settings, or it was asked elsewhere.",
                "Choose Change the question, and another model.",
            )));
        };
        self.start(Event::Resume {
            id: id.clone(),
            facts,
            scope,
            names: self.names(),
        });
    }

    /// Lets the model of a question write findings over its answers.
    pub(super) fn write_findings(self, id: Text, request: FindingsRequest) {
        let setup = self
            .history
            .with_untracked(|history| Some(history.question(&id)?.setup.clone()));
        let Some(setup) = setup else {
            return;
        };
        self.writing.set(Some(id.clone()));
        spawn(async move {
            let asked = ModelRequest {
                model: setup.model.clone(),
                messages: request.messages,
                temperature: setup.sampling.temperature,
                max_tokens: setup.sampling.max_tokens,
                ..ModelRequest::default()
            };
            let reply = send(&setup.connection, asked).await;
            let _ = self.writing.try_set(None);
            match reply {
                Ok(ModelReply { text, usage }) => {
                    let facts = untrack(|| self.facts(&setup.connection, &setup.model));
                    let price = facts.and_then(|facts| facts.price);
                    let cost =
                        usage.and_then(|usage| usage.charged.or_else(|| Some(price?.cost(&usage))));
                    let findings = AskFindings {
                        text: text.into(),
                        model: setup.model,
                        time: timers::wall_clock(),
                        episodes: request.episodes,
                        left_out: request.left_out,
                        cost,
                    };
                    self.dispatch(Event::Found { id, findings });
                }
                Err(error) => self.notice.set(Some(Notice::new(
                    "The findings were not written.",
                    error.to_string(),
                    "Try again.",
                ))),
            }
        });
    }

    fn carry_out(self, effect: ask::Effect) {
        let client = self.host.client;
        match effect {
            ask::Effect::Measure { ids, terms } => spawn(async move {
                let heard = move |text| self.dispatch(Event::Measuring(text));
                if let Some(texts) = texts::measured(client, ids, terms, heard).await {
                    self.dispatch(Event::Measured(texts));
                }
            }),
            ask::Effect::Render { row, id, options } => spawn(async move {
                let rendered = texts::rendered(client, id, options).await.map(Arc::new);
                self.dispatch(Event::Rendered { row, rendered });
            }),
            ask::Effect::Send {
                id,
                connection,
                request,
            } => {
                let (sending, handle) = abortable(async move { send(&connection, *request).await });
                self.inner.update_value(|inner| {
                    inner.requests.insert(id, handle);
                });
                spawn(async move {
                    if let Ok(reply) = sending.await {
                        self.inner.update_value(|inner| {
                            inner.requests.remove(&id);
                        });
                        self.dispatch(Event::Replied { request: id, reply });
                    }
                });
            }
            ask::Effect::Check { request, reply } => spawn(async move {
                let checked = texts::checked(client, reply).await;
                self.dispatch(Event::Checked { request, checked });
            }),
            ask::Effect::Abort(requests) => self.inner.update_value(|inner| {
                for request in requests {
                    if let Some(handle) = inner.requests.remove(&request) {
                        handle.abort();
                    }
                }
            }),
            ask::Effect::WakeAt(time) => spawn(async move {
                let wait = (time - timers::now()).max(0.0);
                timers::sleep(Duration::try_from_secs_f64(wait).unwrap_or_default()).await;
                self.dispatch(Event::Tick);
            }),
            ask::Effect::StoreQuestion(question) => {
                self.publish_history();
                spawn(async move {
                    self.stored(stored::keep_question(&question).await);
                });
            }
            ask::Effect::StoreAnswer { id, record } => {
                self.publish_history_soon();
                spawn(async move {
                    self.stored(stored::keep_answer(&id, &record).await);
                });
            }
            ask::Effect::StoreGiven(given) => spawn(async move {
                self.stored(stored::keep_given(&given).await);
            }),
            ask::Effect::StoreLabels { labels, all } => {
                self.publish_history();
                spawn(async move {
                    self.stored(stored::keep_labels(&labels, &all).await);
                });
            }
            ask::Effect::StoreFindings { id, findings } => {
                self.publish_history();
                spawn(async move {
                    self.stored(stored::keep_findings(&id, &findings).await);
                });
            }
            ask::Effect::Forget { id, labels } => {
                self.publish_history();
                spawn(async move {
                    self.stored(stored::forget(&id, labels.as_ref()).await);
                });
            }
            ask::Effect::Show { id, scope } => {
                let place = match scope {
                    AskScope::All => AskPlace::Answers(id),
                    AskScope::Calibration => AskPlace::Calibration(id),
                };
                let view = self.host.place.with_untracked(|place| place.view.clone());
                location::go(&place.to_hash(&view));
            }
            ask::Effect::Changed => self.publish(),
        }
    }

    fn stored(self, kept: Result<(), DatabaseError>) {
        if let Err(error) = kept {
            self.report(
                "Answers cannot be stored, and are lost when this tab is closed.",
                &error,
            );
        }
    }

    fn report(self, what: &str, error: &DatabaseError) {
        let notice = Notice::new(what, error.to_string(), error.advice());
        let _ = self.notice.try_set(Some(notice));
    }

    /// Sets the signals of the plan and the run.
    fn publish(self) {
        let state = self.inner.try_update_value(|inner| {
            if !inner.ask.is_running() && inner.requests.is_empty() {
                inner.lock = None;
            }
            let plan = inner.ask.plan();
            let plan = self
                .plan
                .with_untracked(|known| known != plan)
                .then(|| plan.clone());
            (plan, inner.ask.shown(), inner.ask.refused().cloned())
        });
        let Some((plan, shown, refused)) = state else {
            return;
        };
        if let Some(plan) = plan {
            self.plan.set(plan);
        }
        if self.shown.with_untracked(|known| *known != shown) {
            self.shown.set(shown);
        }
        if self.refused.with_untracked(|known| *known != refused) {
            self.refused.set(refused);
        }
    }

    /// Sets the signal of the history, and the answers in the table.
    fn publish_history(self) {
        let history = self
            .inner
            .try_with_value(|inner| inner.ask.history().clone());
        if let Some(history) = history {
            self.host.answers.set(Arc::new(history.cells()));
            self.history.set(Arc::new(history));
        }
    }

    /// Does so once for all answers that arrive within a short time.
    fn publish_history_soon(self) {
        let was_resting = self
            .inner
            .try_update_value(|inner| std::mem::replace(&mut inner.is_resting, true));
        if was_resting != Some(false) {
            return;
        }
        spawn(async move {
            timers::sleep(REST).await;
            self.inner.update_value(|inner| inner.is_resting = false);
            self.publish_history();
        });
    }
}

/// The state of the page that a view is part of.
pub(super) fn use_ask() -> AskState {
    expect_context()
}
