//! Behaviour over many trajectories: clusters, the map and rules, which a worker computes.
//!
//! - [`work`]: something that is being computed. [`rule_book`]: rules, proposed and the user's. [`rule_edit`]: a change of a
//!   rule. [`cluster_naming`]: names of clusters by a model. [`labelled`]: steps with a label, and what labels say about rows. [`mapped_graph`]: the map of rows.
//!
//! Invariants: of each job, one request is current; replies to earlier ones change nothing. Clusters and the map belong to the
//! rows for which they were computed, whatever the table shows meanwhile.

pub mod cluster_naming;
pub mod labelled;
pub mod mapped_graph;
pub mod rule_book;
pub mod rule_edit;
pub mod work;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use volary_analysis::behaviour::signature::{Alphabet, Signature};
use volary_analysis::table::Row;
use volary_analysis::table::narrowing::Narrowing;
use volary_core::json::{Json, Text};
use volary_protocol::behaviour::{BehaviourCluster, ClusterReport, JudgedEpisode, SignatureSet};
use volary_protocol::library::{Event as LibraryEvent, Request};

use crate::library::replies::{LibraryReply, NoReply};
use cluster_naming::{ClusterNaming, NameReply, NameRequest};
use labelled::LabelledStep;
use rule_book::RuleBook;
use rule_edit::RuleChange;
use work::BehaviourWork;

/// Something that a worker computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BehaviourJob {
    Clusters,
    Map,
    Proposals,
    Check,
}

/// Rows to which the table is narrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowNarrowing {
    /// What they have in common.
    pub label: String,
    /// Their ids.
    pub ids: Arc<HashSet<Text>>,
    /// How an address names it; `None` for what an address cannot name.
    pub named: Option<Narrowing>,
}

/// Clusters, and how many rows they are of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundClusters {
    pub report: ClusterReport,
    pub rows: usize,
    /// Whether these rows are the failures of the table.
    pub are_failures: bool,
}

impl FoundClusters {
    /// The label of a cluster: its number from 1, and what it does.
    pub fn label(&self, place: usize) -> String {
        self.label_with(place, &BTreeMap::new())
    }

    /// The same with the name that a model gave it, if one did.
    fn label_with(&self, place: usize, names: &BTreeMap<usize, Text>) -> String {
        let own = self.report.clusters.get(place).map_or("", |one| &*one.name);
        let name = names.get(&place).map_or(own, |name| &**name);
        if name.is_empty() {
            format!("{}", place + 1)
        } else {
            format!("{} · {name}", place + 1)
        }
    }

    /// The labels of all rows, by id, with the names that a model gave.
    pub fn labels(&self, names: &BTreeMap<usize, Text>) -> HashMap<Text, Text> {
        let clusters = self.report.clusters.iter().enumerate();
        clusters
            .flat_map(|(place, cluster)| {
                let label = Text::from(self.label_with(place, names));
                cluster
                    .ids
                    .iter()
                    .map(move |id| (id.clone(), label.clone()))
            })
            .collect()
    }

    /// The rows of a cluster.
    pub fn narrowing(&self, place: usize) -> Option<RowNarrowing> {
        let cluster = self.report.clusters.get(place)?;
        Some(RowNarrowing {
            label: format!("Cluster {}", self.label(place)),
            ids: Arc::new(cluster.ids.iter().cloned().collect()),
            named: Some(Narrowing::Cluster {
                are_failures: self.are_failures,
                typical: cluster.typical.clone(),
            }),
        })
    }

    /// The rows of the cluster that a trajectory is in.
    pub fn narrowing_with(&self, id: &str) -> Option<RowNarrowing> {
        let mut clusters = self.report.clusters.iter();
        let is_in = |cluster: &BehaviourCluster| cluster.ids.iter().any(|known| **known == *id);
        self.narrowing(clusters.position(is_in)?)
    }
}

/// A row of the map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedRow {
    pub id: Text,
    pub succeeded: Option<bool>,
    /// The training step that it is of.
    pub step: Option<i64>,
    pub signature: Signature,
}

/// The rows of the map. Rows that cannot be opened are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedRows {
    pub alphabet: Alphabet,
    pub rows: Vec<MappedRow>,
    /// The number of rows that were left out.
    pub unread: usize,
    /// The distinct training steps, ascending; empty unless there are several.
    pub steps: Vec<i64>,
}

impl MappedRows {
    /// The rows of a training step, or all of them.
    pub fn of_step(&self, step: Option<i64>) -> impl Iterator<Item = &MappedRow> {
        let rows = self.rows.iter();
        rows.filter(move |row| step.is_none() || row.step == step)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum BehaviourEvent {
    /// The user wants the clusters of rows.
    FindClusters {
        rows: Vec<Arc<Row>>,
        /// Whether they are the failures of the table.
        are_failures: bool,
    },
    /// The user agreed to the plan of names for the clusters: the id of the connection, and its model.
    NameClusters {
        connection: Text,
        model: Text,
    },
    /// The user stops naming.
    StopNaming,
    /// The model replied to the request with this number, or why it did not.
    Named(u32, Result<NameReply, String>),
    /// The user wants the map of rows.
    DrawMap(Vec<Arc<Row>>),
    /// The user wants rules that a labelled step suggests, and to know in which of these rows they hold, as in
    /// [`BehaviourEvent::CheckRules`].
    Propose(LabelledStep, Vec<(Text, Option<bool>)>),
    /// The user wants to know in which rows the rules hold; whether each row is labelled as bad, if it is labelled.
    CheckRules(Vec<(Text, Option<bool>)>),
    /// The user takes a proposed rule over.
    TakeRule(usize),
    /// The user adds an empty rule.
    AddRule,
    ChangeRule(usize, RuleChange),
    RemoveRule(usize),
    /// The rules of a file were read.
    Load(Vec<volary_analysis::behaviour::rules::Rule>),
    /// The user stops a job.
    Stop(BehaviourJob),
    /// The worker replied to the request with this number.
    Replied(BehaviourJob, u32, Box<LibraryReply>),
}

/// What the page must do.
#[derive(Clone, Debug, PartialEq)]
pub enum BehaviourEffect {
    /// Send a request, and report its replies under this number. An earlier one of the same job is cancelled.
    Send(BehaviourJob, u32, Box<Request>),
    /// Cancel the request of a job.
    Cancel(BehaviourJob),
    /// Ask a model for the name of a cluster. An earlier request is aborted.
    AskName(Box<NameRequest>),
    /// Abort the request for a name, if there is one.
    AbortName,
    /// Show the cluster of each row, by id.
    ShowClusters(Arc<HashMap<Text, Text>>),
}

/// What the panel of behaviour shows: clusters, the map, rules, and the work that is under way.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    pub clusters: BehaviourWork<FoundClusters>,
    pub naming: ClusterNaming,
    pub map: BehaviourWork<MappedRows>,
    pub rules: RuleBook,
    /// The rows of the requests for clusters and the map.
    clustered: (usize, bool),
    mapped: Vec<MappedRow>,
    /// The current request of each job.
    numbers: BTreeMap<BehaviourJob, u32>,
    last: u32,
}

impl Behaviour {
    /// Handles an event.
    pub fn update(&mut self, event: BehaviourEvent) -> Vec<BehaviourEffect> {
        match event {
            BehaviourEvent::FindClusters { rows, are_failures } => {
                let was_naming = self.naming.is_running();
                self.naming.forget();
                self.clusters = BehaviourWork::begin(rows.len());
                self.clustered = (rows.len(), are_failures);
                let episodes = rows.iter().map(|row| JudgedEpisode {
                    id: row.id.clone(),
                    succeeded: row.succeeded(),
                });
                let episodes = episodes.collect();
                let mut effects = self.send(BehaviourJob::Clusters, Request::Clusters { episodes });
                effects.extend(was_naming.then_some(BehaviourEffect::AbortName));
                effects
            }
            BehaviourEvent::NameClusters { connection, model } => {
                self.name(|naming, report| naming.start(report, connection, model))
            }
            BehaviourEvent::Named(number, reply) => {
                self.name(|naming, report| naming.replied(report, number, reply))
            }
            BehaviourEvent::StopNaming => {
                self.naming.stop();
                vec![BehaviourEffect::AbortName]
            }
            BehaviourEvent::DrawMap(rows) => {
                self.map = BehaviourWork::begin(rows.len());
                self.mapped = rows.iter().map(|row| mapped(row)).collect();
                let ids = rows.iter().map(|row| row.id.clone()).collect();
                self.send(BehaviourJob::Map, Request::Signatures { ids })
            }
            BehaviourEvent::Propose(step, rows) => {
                let request = Request::ProposeRules {
                    id: step.episode.clone(),
                    step: step.step as u64,
                };
                self.rules.propose(step, rows);
                self.send(BehaviourJob::Proposals, request)
            }
            BehaviourEvent::CheckRules(rows) => self.check(rows),
            BehaviourEvent::TakeRule(place) => self.changed(|rules| rules.take(place)),
            BehaviourEvent::AddRule => self.changed(RuleBook::add_empty),
            BehaviourEvent::ChangeRule(place, change) => {
                self.changed(|rules| rules.change(place, change))
            }
            BehaviourEvent::RemoveRule(place) => self.changed(|rules| rules.remove(place)),
            BehaviourEvent::Load(rules) => self.changed(|own| own.load(rules)),
            BehaviourEvent::Stop(job) => {
                self.numbers.remove(&job);
                match job {
                    BehaviourJob::Clusters => self.clusters = BehaviourWork::Nothing,
                    BehaviourJob::Map => self.map = BehaviourWork::Nothing,
                    BehaviourJob::Proposals => self.rules.proposals = BehaviourWork::Nothing,
                    BehaviourJob::Check => self.rules.checked = BehaviourWork::Nothing,
                }
                vec![BehaviourEffect::Cancel(job)]
            }
            BehaviourEvent::Replied(job, number, reply) => {
                if self.numbers.get(&job) == Some(&number) {
                    self.reply(job, *reply)
                } else {
                    Vec::new()
                }
            }
        }
    }

    /// Goes on with names of the clusters, and shows those that are new.
    fn name(
        &mut self,
        act: impl FnOnce(&mut ClusterNaming, &ClusterReport) -> Option<NameRequest>,
    ) -> Vec<BehaviourEffect> {
        let Some(found) = self.clusters.ready() else {
            return Vec::new();
        };
        let known = self.naming.names.len();
        let request = act(&mut self.naming, &found.report);
        let mut effects = Vec::new();
        if self.naming.names.len() > known {
            let labels = found.labels(&self.naming.names);
            effects.push(BehaviourEffect::ShowClusters(Arc::new(labels)));
        }
        effects.extend(request.map(|request| BehaviourEffect::AskName(Box::new(request))));
        effects
    }

    fn changed(&mut self, change: impl FnOnce(&mut RuleBook)) -> Vec<BehaviourEffect> {
        change(&mut self.rules);
        Vec::new()
    }

    fn check(&mut self, rows: Vec<(Text, Option<bool>)>) -> Vec<BehaviourEffect> {
        match self.rules.check(rows) {
            Some(request) => self.send(BehaviourJob::Check, request),
            None => Vec::new(),
        }
    }

    fn send(&mut self, job: BehaviourJob, request: Request) -> Vec<BehaviourEffect> {
        self.last += 1;
        self.numbers.insert(job, self.last);
        vec![BehaviourEffect::Send(job, self.last, Box::new(request))]
    }

    fn reply(&mut self, job: BehaviourJob, reply: LibraryReply) -> Vec<BehaviourEffect> {
        let is_running = match job {
            BehaviourJob::Clusters => self.clusters.is_running(),
            BehaviourJob::Map => self.map.is_running(),
            BehaviourJob::Proposals => self.rules.proposals.is_running(),
            BehaviourJob::Check => self.rules.checked.is_running(),
        };
        if !is_running {
            // The end of the replies, after the answer.
            return Vec::new();
        }
        let event = match reply {
            None => return self.fail(job, NoReply::Ended.to_string()),
            Some(Err(loss)) => return self.fail(job, loss.to_string()),
            Some(Ok(event)) => event,
        };
        match (job, event) {
            (_, LibraryEvent::Progress { doing, done }) => {
                self.progress(job, &doing, done);
                Vec::new()
            }
            (_, LibraryEvent::Refused { reason }) => self.fail(job, reason.to_string()),
            (BehaviourJob::Clusters, LibraryEvent::Clusters(report)) => {
                let found = FoundClusters {
                    report,
                    rows: self.clustered.0,
                    are_failures: self.clustered.1,
                };
                let labels = Arc::new(found.labels(&self.naming.names));
                self.clusters = BehaviourWork::Ready(Arc::new(found));
                vec![BehaviourEffect::ShowClusters(labels)]
            }
            (BehaviourJob::Map, LibraryEvent::Signatures(set)) => {
                let rows = std::mem::take(&mut self.mapped);
                self.map = BehaviourWork::Ready(Arc::new(with_signatures(rows, set)));
                Vec::new()
            }
            (BehaviourJob::Proposals, LibraryEvent::ProposedRules { rules }) => {
                let rows = self.rules.proposed(rules);
                self.check(rows)
            }
            (BehaviourJob::Check, LibraryEvent::RuleMatches { matches }) => {
                self.rules.matched(matches);
                Vec::new()
            }
            (job, _) => self.fail(job, NoReply::Unexpected.to_string()),
        }
    }

    fn progress(&mut self, job: BehaviourJob, doing: &str, done: Option<f64>) {
        match job {
            BehaviourJob::Clusters => self.clusters.progress(doing, done),
            BehaviourJob::Map => self.map.progress(doing, done),
            BehaviourJob::Proposals => self.rules.proposals.progress(doing, done),
            BehaviourJob::Check => self.rules.checked.progress(doing, done),
        }
    }

    fn fail(&mut self, job: BehaviourJob, why: String) -> Vec<BehaviourEffect> {
        match job {
            BehaviourJob::Clusters => self.clusters = BehaviourWork::Failed(why),
            BehaviourJob::Map => self.map = BehaviourWork::Failed(why),
            BehaviourJob::Proposals => self.rules.proposals = BehaviourWork::Failed(why),
            BehaviourJob::Check => self.rules.checked = BehaviourWork::Failed(why),
        }
        Vec::new()
    }
}

fn mapped(row: &Row) -> MappedRow {
    MappedRow {
        id: row.id.clone(),
        succeeded: row.succeeded(),
        step: row.metadata.get("step").and_then(Json::as_i64),
        signature: Signature::default(),
    }
}

fn with_signatures(rows: Vec<MappedRow>, set: SignatureSet) -> MappedRows {
    let all = rows.len();
    let rows = rows.into_iter().zip(set.signatures);
    let rows: Vec<MappedRow> = rows
        .filter_map(|(row, signature)| {
            Some(MappedRow {
                signature: signature?,
                ..row
            })
        })
        .collect();
    let mut steps: Vec<i64> = rows.iter().filter_map(|row| row.step).collect();
    steps.sort_unstable();
    steps.dedup();
    if steps.len() < 2 {
        steps.clear();
    }
    MappedRows {
        alphabet: set.alphabet,
        unread: all - rows.len(),
        rows,
        steps,
    }
}

#[cfg(test)]
mod tests;
