//! The acts of many episodes as one graph: an act is a node, and what follows it an edge, with the rows and their success.
//!
//! Invariants: every row goes from the start to the end, so the counts at each node add up: what comes in also goes out.

use std::collections::BTreeMap;

use super::signature::{Alphabet, Signature};
use crate::table::narrowing::ActName;

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BehaviourNode {
    Start,
    /// A symbol of the alphabet.
    Act(u32),
    End,
}

/// The counts of a node or an edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// How often it was passed, in all rows.
    pub count: usize,
    /// The rows that passed it, in ascending order.
    pub rows: Vec<u32>,
    /// How many of these rows succeeded, of those of which it is known.
    pub succeeded: usize,
    pub judged: usize,
}

impl Passing {
    fn add(&mut self, row: u32, succeeded: Option<bool>) {
        self.count += 1;
        if self.rows.last() == Some(&row) {
            return;
        }
        self.rows.push(row);
        self.judged += usize::from(succeeded.is_some());
        self.succeeded += usize::from(succeeded == Some(true));
    }

    /// The share of successes; `None` if none is known.
    pub fn success_rate(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.succeeded as f64 / self.judged as f64)
    }
}

/// Which tools and states follow each other, over many trajectories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BehaviourGraph {
    pub nodes: BTreeMap<BehaviourNode, Passing>,
    pub edges: BTreeMap<(BehaviourNode, BehaviourNode), Passing>,
    /// The number of rows.
    pub rows: usize,
}

impl BehaviourGraph {
    /// The graph of rows, each with whether it succeeded, if known.
    pub fn of<'a>(rows: impl IntoIterator<Item = (&'a Signature, Option<bool>)>) -> BehaviourGraph {
        let mut graph = BehaviourGraph::default();
        for (row, (signature, success)) in rows.into_iter().enumerate() {
            graph.rows += 1;
            let row = u32::try_from(row).unwrap_or(u32::MAX);
            let mut before = BehaviourNode::Start;
            graph.nodes.entry(before).or_default().add(row, success);
            let acts = signature
                .symbols
                .iter()
                .map(|symbol| BehaviourNode::Act(*symbol));
            for node in acts.chain([BehaviourNode::End]) {
                graph.nodes.entry(node).or_default().add(row, success);
                graph
                    .edges
                    .entry((before, node))
                    .or_default()
                    .add(row, success);
                before = node;
            }
        }
        graph
    }

    /// The graph with the edges that at least this share of the rows pass, and the nodes at them.
    pub fn simplified(&self, least: f64) -> BehaviourGraph {
        let needed = (least * self.rows as f64).ceil() as usize;
        let edges = self
            .edges
            .iter()
            .filter(|(_, passing)| passing.rows.len() >= needed);
        let edges: BTreeMap<_, _> = edges
            .map(|(edge, passing)| (*edge, passing.clone()))
            .collect();
        let is_used =
            |node: &BehaviourNode| edges.keys().any(|(from, to)| from == node || to == node);
        let nodes = self.nodes.iter().filter(|(node, _)| is_used(node));
        BehaviourGraph {
            nodes: nodes
                .map(|(node, passing)| (*node, passing.clone()))
                .collect(),
            edges,
            rows: self.rows,
        }
    }
}

impl BehaviourNode {
    /// The name for display.
    pub fn name(self, alphabet: &Alphabet) -> &str {
        match self {
            BehaviourNode::Start => "start",
            BehaviourNode::Act(symbol) => alphabet.name(symbol),
            BehaviourNode::End => "end",
        }
    }

    /// The name for an address.
    pub fn act_name(self, alphabet: &Alphabet) -> ActName {
        match self {
            BehaviourNode::Start => ActName::Start,
            BehaviourNode::Act(symbol) => ActName::Act(alphabet.name(symbol).into()),
            BehaviourNode::End => ActName::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(symbols: &[u32]) -> Signature {
        Signature {
            symbols: symbols.to_vec(),
            counts: vec![1; symbols.len()],
            steps: vec![1; symbols.len()],
        }
    }

    #[test]
    fn counts_add_up_at_every_node() {
        let rows = [signature(&[0, 1, 0, 1]), signature(&[0, 2]), signature(&[])];
        let succeeded = [Some(true), Some(false), None];
        let graph = BehaviourGraph::of(rows.iter().zip(succeeded));
        for (node, passing) in &graph.nodes {
            let sum = |is: &dyn Fn(&(BehaviourNode, BehaviourNode)) -> bool| -> usize {
                graph
                    .edges
                    .iter()
                    .filter(|(edge, _)| is(edge))
                    .map(|(_, passing)| passing.count)
                    .sum()
            };
            if *node != BehaviourNode::Start {
                assert_eq!(sum(&|edge| edge.1 == *node), passing.count);
            }
            if *node != BehaviourNode::End {
                assert_eq!(sum(&|edge| edge.0 == *node), passing.count);
            }
        }
        let first = &graph.edges[&(BehaviourNode::Start, BehaviourNode::Act(0))];
        assert_eq!((first.count, first.success_rate()), (2, Some(0.5)));
        let looped = &graph.edges[&(BehaviourNode::Act(0), BehaviourNode::Act(1))];
        assert_eq!((looped.count, looped.rows.as_slice()), (2, &[0][..]));
        assert_eq!(graph.simplified(0.6).edges.len(), 1);
    }
}
