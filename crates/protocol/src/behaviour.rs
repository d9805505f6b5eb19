//! Messages about what agents do in many trajectories: signatures, clusters and rules.

use serde::{Deserialize, Serialize};
use volary_analysis::behaviour::signature::{Alphabet, Signature};
use volary_core::json::Text;

/// An episode, and whether it succeeded, if that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedEpisode {
    pub id: Text,
    pub succeeded: Option<bool>,
}

/// The signatures of episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureSet {
    pub alphabet: Alphabet,
    /// In the order of the request; `None` for an episode that cannot be opened.
    pub signatures: Vec<Option<Signature>>,
}

/// Groups of similar behaviour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterReport {
    /// The largest first. Every episode that can be opened is in one of them.
    pub clusters: Vec<BehaviourCluster>,
    /// The number of episodes that cannot be opened.
    pub unread: u64,
}

/// A group of similar behaviour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BehaviourCluster {
    /// The acts that nearly all have in common: `look → find`. Empty if there are none.
    pub name: Text,
    /// The ids of its episodes.
    pub ids: Vec<Text>,
    /// The id of the episode that is most similar to the others.
    pub typical: Text,
    /// The acts of that episode, shortened.
    pub sequence: Text,
    /// The number of successes, of the episodes of which that is known.
    pub succeeded: u64,
    pub judged: u64,
    /// Words of its last errors or answers that others lack, the most distinctive first.
    pub words: Vec<Text>,
    /// Where it parts from the cluster that begins most alike; `None` for the only cluster.
    pub parting: Option<ClusterParting>,
}

/// Where a cluster parts from another one. Steps count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterParting {
    /// The index of the other cluster.
    pub from: u64,
    /// The acts with which both begin.
    pub common: Vec<Text>,
    /// How this cluster goes on, and the other one; `None` if it ends.
    pub here: Option<(u64, Text)>,
    pub there: Option<(u64, Text)>,
}

/// An episode in which a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleHit {
    /// The index of the episode in the request.
    pub row: u32,
    /// The first step at which it holds, from 1.
    pub step: u32,
}
