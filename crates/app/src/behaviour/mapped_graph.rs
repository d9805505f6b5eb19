//! The map of rows: their graph, and the rows that pass its acts and arrows.

use std::collections::HashSet;
use std::sync::Arc;

use volary_analysis::behaviour::graph::{BehaviourGraph, BehaviourNode, Passing};
use volary_analysis::table::narrowing::{ActName, Narrowing};

use super::{MappedRows, RowNarrowing};

/// Rows, and their graph.
#[derive(Debug)]
pub struct MappedGraph {
    pub rows: Arc<MappedRows>,
    /// The training step; `None` for all.
    pub step: Option<i64>,
    pub graph: BehaviourGraph,
}

impl MappedGraph {
    pub fn of(rows: &Arc<MappedRows>, step: Option<i64>) -> MappedGraph {
        let graph = BehaviourGraph::of(
            rows.of_step(step)
                .map(|row| (&row.signature, row.succeeded)),
        );
        MappedGraph {
            rows: Arc::clone(rows),
            step,
            graph,
        }
    }

    /// The rows that an address names; `None` if there are none.
    pub fn named(rows: &Arc<MappedRows>, narrowing: &Narrowing) -> Option<RowNarrowing> {
        let step = match narrowing {
            Narrowing::Cluster { .. } => return None,
            Narrowing::Act { step, .. } | Narrowing::Edge { step, .. } => *step,
        };
        let graph = MappedGraph::of(rows, step);
        match narrowing {
            Narrowing::Cluster { .. } => None,
            Narrowing::Act { act, .. } => graph.passing_act(graph.node(act)?),
            Narrowing::Edge { from, to, .. } => {
                graph.passing_edge((graph.node(from)?, graph.node(to)?))
            }
        }
    }

    /// How an address names the rows that pass an act.
    pub fn act(&self, node: BehaviourNode) -> Narrowing {
        Narrowing::Act {
            act: node.act_name(&self.rows.alphabet),
            step: self.step,
        }
    }

    /// The rows that pass an act.
    pub fn passing_act(&self, node: BehaviourNode) -> Option<RowNarrowing> {
        let passing = self.graph.nodes.get(&node)?;
        Some(self.narrowing(&self.name(node), passing, self.act(node)))
    }

    /// The rows that pass an arrow.
    pub fn passing_edge(&self, edge: (BehaviourNode, BehaviourNode)) -> Option<RowNarrowing> {
        let alphabet = &self.rows.alphabet;
        let (from, to) = (edge.0.act_name(alphabet), edge.1.act_name(alphabet));
        let step = self.step;
        let passing = self.graph.edges.get(&edge)?;
        let named = Narrowing::Edge { from, to, step };
        Some(self.narrowing(&self.edge_name(edge), passing, named))
    }

    pub fn name(&self, node: BehaviourNode) -> String {
        node.name(&self.rows.alphabet).to_owned()
    }

    pub fn edge_name(&self, (from, to): (BehaviourNode, BehaviourNode)) -> String {
        format!("{} → {}", self.name(from), self.name(to))
    }

    fn node(&self, name: &ActName) -> Option<BehaviourNode> {
        let mut nodes = self.graph.nodes.keys().copied();
        nodes.find(|node| node.act_name(&self.rows.alphabet) == *name)
    }

    fn narrowing(&self, name: &str, passing: &Passing, named: Narrowing) -> RowNarrowing {
        let rows: Vec<_> = self.rows.of_step(self.step).collect();
        let ids = passing
            .rows
            .iter()
            .filter_map(|row| rows.get(*row as usize));
        let ids: HashSet<_> = ids.map(|row| row.id.clone()).collect();
        let step = self.step.map(|step| format!(", training step {step}"));
        RowNarrowing {
            label: format!("{name}{}", step.unwrap_or_default()),
            ids: Arc::new(ids),
            named: Some(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_analysis::behaviour::signature::Signature;

    use super::*;
    use crate::behaviour::MappedRow;

    fn row(id: &str, step: i64, symbols: &[u32]) -> MappedRow {
        MappedRow {
            id: id.into(),
            step: Some(step),
            signature: Signature {
                symbols: symbols.to_vec(),
                counts: vec![1; symbols.len()],
                steps: vec![1; symbols.len()],
            },
            ..MappedRow::default()
        }
    }

    /// The map after a reload, whose acts may have other numbers.
    fn rows(names: [&str; 2], symbols: [u32; 2]) -> Arc<MappedRows> {
        let [look, find] = symbols;
        Arc::new(MappedRows {
            alphabet: names.map(str::to_owned).to_vec().into(),
            rows: vec![row("a", 1, &[look, find]), row("b", 2, &[look])],
            unread: 0,
            steps: vec![1, 2],
        })
    }

    fn ids(narrowing: &RowNarrowing) -> Vec<&str> {
        let mut ids: Vec<&str> = narrowing.ids.iter().map(|id| &**id).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn acts_and_arrows_are_found_again_by_their_names() {
        let before = rows(["start", "find"], [0, 1]);
        let after = rows(["find", "start"], [1, 0]);
        let graph = MappedGraph::of(&before, None);
        // A tool may be called as the start is.
        let (look, find) = (BehaviourNode::Act(0), BehaviourNode::Act(1));
        for (narrowing, expected) in [
            (graph.passing_act(look), vec!["a", "b"]),
            (graph.passing_act(find), vec!["a"]),
            (graph.passing_edge((look, BehaviourNode::End)), vec!["b"]),
            (
                graph.passing_edge((BehaviourNode::Start, look)),
                vec!["a", "b"],
            ),
        ] {
            let narrowing = narrowing.unwrap();
            assert_eq!(ids(&narrowing), expected);
            let named = narrowing.named.clone().unwrap();
            assert_eq!(MappedGraph::named(&after, &named), Some(narrowing));
        }
        assert_eq!(graph.passing_edge((find, look)), None);
    }

    #[test]
    fn a_training_step_is_part_of_the_name_and_what_is_unknown_is_none() {
        let rows = rows(["look", "find"], [0, 1]);
        let graph = MappedGraph::of(&rows, Some(2));
        let narrowing = graph.passing_act(BehaviourNode::Act(0)).unwrap();
        assert_eq!(narrowing.label, "look, training step 2");
        assert_eq!(ids(&narrowing), ["b"]);
        let named = narrowing.named.clone().unwrap();
        assert_eq!(MappedGraph::named(&rows, &named), Some(narrowing));
        let unknown = |act: &str, step| {
            let act = ActName::Act(act.into());
            MappedGraph::named(&rows, &Narrowing::Act { act, step })
        };
        assert_eq!(unknown("cancel", None), None);
        assert_eq!(unknown("find", Some(2)), None);
        assert_eq!(unknown("look", Some(9)), None);
    }
}
