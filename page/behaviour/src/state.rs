//! The state of the panel, and the effects of its state machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{AbortHandle, abortable};
use leptos::prelude::*;
use volary_analysis::annotations::Annotations;
use volary_analysis::table::Row;
use volary_app::behaviour::work::BehaviourWork;
use volary_app::behaviour::{Behaviour, BehaviourEffect, BehaviourEvent, BehaviourJob};
use volary_browser::spawn;
use volary_library_client::{LibraryClient, requests};
use volary_protocol::RequestId;

use super::link::BehaviourLink;
use super::naming::name_of;

/// A value that is compared by its address.
#[derive(Debug)]
pub(super) struct ByAddress<T>(pub Arc<T>);

impl<T> Clone for ByAddress<T> {
    fn clone(&self) -> Self {
        ByAddress(Arc::clone(&self.0))
    }
}

impl<T> PartialEq for ByAddress<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What the panel is about, of the page that shows it.
#[derive(Clone, Copy)]
pub struct BehaviourInputs {
    pub client: LibraryClient,
    pub link: BehaviourLink,
    /// The rows that the table shows.
    pub shown: Signal<Arc<Vec<Arc<Row>>>>,
    /// Whether these are all: nothing is being read, searched or sorted.
    pub is_settled: Signal<bool>,
    /// The notes on all rows.
    pub notes: RwSignal<Annotations>,
}

/// The state of the panel.
#[derive(Clone, Copy)]
pub(super) struct BehaviourState {
    pub inputs: BehaviourInputs,
    pub state: RwSignal<Behaviour>,
    requests: StoredValue<BTreeMap<BehaviourJob, RequestId>, LocalStorage>,
    /// The request for the name of a cluster.
    naming: StoredValue<Option<AbortHandle>, LocalStorage>,
}

impl BehaviourState {
    pub fn new(inputs: BehaviourInputs) -> BehaviourState {
        BehaviourState {
            inputs,
            state: RwSignal::default(),
            requests: StoredValue::new_local(BTreeMap::new()),
            naming: StoredValue::new_local(None),
        }
    }

    /// How far some work is.
    pub fn progress<T: 'static>(
        self,
        work: fn(&Behaviour) -> &BehaviourWork<T>,
    ) -> Memo<BehaviourWork<()>> {
        let state = self.state;
        Memo::new(move |_| state.with(|behaviour| work(behaviour).progress_only()))
    }

    /// The result of some work.
    pub fn result<T: Send + Sync + 'static>(
        self,
        work: fn(&Behaviour) -> &BehaviourWork<T>,
    ) -> Memo<Option<ByAddress<T>>> {
        let state = self.state;
        Memo::new(move |_| {
            state.with(|behaviour| {
                let result = work(behaviour).ready()?;
                Some(ByAddress(Arc::clone(result)))
            })
        })
    }

    /// Finds the clusters of the rows of the table, or of the failures among them.
    pub fn find_clusters(self, are_failures: bool) {
        let rows = self.inputs.shown.with_untracked(|rows| {
            let rows = rows.iter().filter(|row| !are_failures || row.failed());
            rows.cloned().collect()
        });
        self.update(BehaviourEvent::FindClusters { rows, are_failures });
    }

    /// Handles an event, and carries out its effects.
    pub fn update(self, event: BehaviourEvent) {
        let effects = self.state.try_update(|state| state.update(event));
        for effect in effects.unwrap_or_default() {
            match effect {
                BehaviourEffect::Send(job, number, request) => {
                    self.cancel(job);
                    let replied = move |reply| {
                        self.update(BehaviourEvent::Replied(job, number, Box::new(reply)));
                    };
                    let id = requests::follow(self.inputs.client, &request, replied);
                    self.requests.update_value(|requests| {
                        requests.extend(id.map(|id| (job, id)));
                    });
                }
                BehaviourEffect::Cancel(job) => self.cancel(job),
                BehaviourEffect::AskName(asked) => {
                    let number = asked.number;
                    let (asking, handle) = abortable(name_of(*asked));
                    self.abort_naming(Some(handle));
                    spawn(async move {
                        if let Ok(reply) = asking.await {
                            self.update(BehaviourEvent::Named(number, reply));
                        }
                    });
                }
                BehaviourEffect::AbortName => self.abort_naming(None),
                BehaviourEffect::ShowClusters(labels) => self.inputs.link.clusters.set(labels),
            }
        }
    }

    /// Aborts the request for a name, and stores the next one.
    fn abort_naming(self, next: Option<AbortHandle>) {
        let former = self
            .naming
            .try_update_value(|handle| std::mem::replace(handle, next));
        if let Some(former) = former.flatten() {
            former.abort();
        }
    }

    fn cancel(self, job: BehaviourJob) {
        let id = self
            .requests
            .try_update_value(|requests| requests.remove(&job));
        if let Some(id) = id.flatten() {
            requests::cancel(self.inputs.client, id);
        }
    }
}
