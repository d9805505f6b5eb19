//! Names of clusters that a model gives, if the person wants them: a plan first, then one request at a time.
//!
//! Invariants: nothing is asked before the person agreed to the plan. At most one request is under way, and none is repeated.
//! Names belong to the clusters for which they were asked; replies about earlier ones change nothing.

use std::collections::BTreeMap;

use volary_agent::model::price::Price;
use volary_agent::model::{ModelRequest, Usage};
use volary_ask::cluster_names::{ClusterSummary, TYPICAL_NAME, messages, parse_name};
use volary_ask::render::estimated_tokens;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_protocol::behaviour::{BehaviourCluster, ClusterReport};

/// The largest number of clusters that are named: those after it are small.
const MOST: usize = 40;

/// What naming clusters will send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamingPlan {
    /// The indices of the clusters, of each of which one request is made.
    pub clusters: Vec<usize>,
    /// The estimated tokens of all requests.
    pub tokens: u64,
    /// The number of requests in which something was masked.
    pub masked: usize,
}

/// A reply of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct NameReply {
    pub text: String,
    /// In US dollars, if known.
    pub cost: Option<f64>,
}

/// A request for the name of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRequest {
    /// Its number, by which its reply is reported.
    pub number: u32,
    /// The id of the connection.
    pub connection: Text,
    pub request: ModelRequest,
}

/// The names of the clusters, and the request under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterNaming {
    /// The names by the index of the cluster.
    pub names: BTreeMap<usize, Text>,
    /// Why the last request failed, for the user.
    pub failed: Option<String>,
    /// What the requests have cost, in US dollars, as far as that is known.
    pub cost: f64,
    /// The number of the current request. It grows for ever, so that no reply is taken for another one.
    number: u32,
    current: Option<Naming>,
}

/// Naming that is under way.
#[derive(Clone, Debug, PartialEq)]
struct Naming {
    connection: Text,
    model: Text,
    /// The clusters that are still to be named, the next one last; it is being asked about.
    waiting: Vec<usize>,
}

impl NamingPlan {
    /// The clusters of several trajectories that have no name yet, the largest first.
    pub fn of(report: &ClusterReport, naming: &ClusterNaming) -> NamingPlan {
        let clusters = report.clusters.iter().enumerate();
        let unnamed = clusters
            .filter(|(index, cluster)| cluster.ids.len() > 1 && !naming.names.contains_key(index));
        let mut plan = NamingPlan::default();
        for (index, cluster) in unnamed.take(MOST) {
            let (messages, is_masked) = request_of(cluster);
            let texts = messages.iter();
            plan.tokens += texts
                .map(|message| estimated_tokens(message.body().content_or_empty()))
                .sum::<u64>();
            plan.masked += usize::from(is_masked);
            plan.clusters.push(index);
        }
        plan
    }

    /// The expected cost at a price, in US dollars.
    pub fn cost(&self, price: &Price) -> f64 {
        price.cost(&Usage {
            prompt: self.tokens,
            completion: TYPICAL_NAME * self.clusters.len() as u64,
            ..Usage::default()
        })
    }
}

impl ClusterNaming {
    /// Whether a request is under way.
    pub fn is_running(&self) -> bool {
        self.current.is_some()
    }

    /// The number of clusters that are still to be named by what is under way.
    pub fn left(&self) -> usize {
        self.current
            .as_ref()
            .map_or(0, |current| current.waiting.len())
    }

    /// Names the clusters of a plan, unless some are being named. Returns the first request.
    pub(super) fn start(
        &mut self,
        report: &ClusterReport,
        connection: Text,
        model: Text,
    ) -> Option<NameRequest> {
        if self.is_running() {
            return None;
        }
        let mut waiting = NamingPlan::of(report, self).clusters;
        waiting.reverse();
        self.failed = None;
        self.current = Some(Naming {
            connection,
            model,
            waiting,
        });
        self.next(report)
    }

    /// A reply to a request arrived. Returns the next request.
    pub(super) fn replied(
        &mut self,
        report: &ClusterReport,
        number: u32,
        reply: Result<NameReply, String>,
    ) -> Option<NameRequest> {
        if number != self.number {
            return None;
        }
        let index = self.current.as_mut()?.waiting.pop()?;
        match reply {
            Ok(reply) => {
                self.cost += reply.cost.unwrap_or_default();
                // A reply without a name leaves the cluster as it is: asked again, it would cost again.
                if let Some(name) = parse_name(&reply.text) {
                    self.names.insert(index, name.into());
                }
                self.next(report)
            }
            Err(reason) => {
                self.failed = Some(reason);
                self.current = None;
                None
            }
        }
    }

    /// Asks about no further cluster. Names that were given stay.
    pub(super) fn stop(&mut self) {
        self.current = None;
        self.number += 1;
    }

    /// Forgets the names, because the clusters are other ones.
    pub(super) fn forget(&mut self) {
        *self = ClusterNaming {
            number: self.number + 1,
            ..ClusterNaming::default()
        };
    }

    fn next(&mut self, report: &ClusterReport) -> Option<NameRequest> {
        let current = self.current.as_ref()?;
        let cluster = current
            .waiting
            .last()
            .and_then(|index| report.clusters.get(*index));
        let Some(cluster) = cluster else {
            self.current = None;
            return None;
        };
        self.number += 1;
        Some(NameRequest {
            number: self.number,
            connection: current.connection.clone(),
            request: ModelRequest {
                model: current.model.clone(),
                messages: request_of(cluster).0,
                ..ModelRequest::default()
            },
        })
    }
}

fn request_of(cluster: &BehaviourCluster) -> (Vec<AnyMessage>, bool) {
    let parting = cluster.parting.as_ref().map(|parting| {
        let act = |act: &Option<(u64, Text)>| match act {
            Some((_, name)) => name.to_string(),
            None => "the end".to_owned(),
        };
        format!(
            "It parts from the group most like it where that goes on with {} and this one with {}.",
            act(&parting.there),
            act(&parting.here)
        )
    });
    messages(&ClusterSummary {
        size: cluster.ids.len(),
        succeeded: cluster.succeeded as usize,
        judged: cluster.judged as usize,
        sequence: &cluster.sequence,
        words: cluster.words.iter().map(|word| &**word).collect(),
        parting: parting.unwrap_or_default(),
    })
}
