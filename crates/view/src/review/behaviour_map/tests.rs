//! The layout of maps, and their texts.

use proptest::prelude::*;
use volary_analysis::behaviour::signature::Signature;

use super::*;

fn alphabet() -> Alphabet {
    let names = ["look", "find", "open", "edit ✗ ValueError", "submit"];
    names.map(str::to_owned).to_vec().into()
}

fn signature(symbols: &[u32]) -> Signature {
    Signature {
        symbols: symbols.to_vec(),
        counts: vec![1; symbols.len()],
        steps: (1..).take(symbols.len()).collect(),
    }
}

fn graph(rows: &[&[u32]]) -> BehaviourGraph {
    let rows: Vec<Signature> = rows.iter().map(|row| signature(row)).collect();
    BehaviourGraph::of(rows.iter().map(|row| (row, Some(true))))
}

#[test]
fn acts_are_in_layers_from_the_start_to_the_end() {
    let graph = graph(&[&[0, 1, 2, 3, 2, 4], &[0, 2, 4], &[0]]);
    let map = BehaviourMap::of(&graph, &alphabet(), &MapShape::WIDE);
    let lines: Vec<(&str, usize)> = map
        .nodes
        .iter()
        .map(|node| (&*node.name, node.line))
        .collect();
    assert_eq!(
        lines,
        [
            ("start", 0),
            ("look", 1),
            ("open", 2),
            ("find", 2),
            ("submit", 3),
            ("edit ✗ ValueError", 3),
            ("end", 4)
        ]
    );
    let edit = &map.nodes[5];
    assert_eq!(
        edit.lines,
        ("edit".to_owned(), Some("✗ ValueError".to_owned()))
    );
    // Keys follow the picture.
    assert_eq!(map.next(0, "ArrowDown"), Some(1));
    assert_eq!(map.next(2, "ArrowRight"), Some(3));
    assert_eq!(map.next(6, "ArrowDown"), None);
    assert_eq!(map.next(0, "ArrowUp"), None);
    assert_eq!(map.next(3, "End"), Some(6));
    assert_eq!(map.next(3, "x"), None);
}

#[test]
fn an_empty_graph_has_an_empty_map() {
    let map = BehaviourMap::of(&BehaviourGraph::default(), &alphabet(), &MapShape::NARROW);
    assert!(map.nodes.is_empty() && map.edges.is_empty());
    assert_eq!(map.next(0, "ArrowDown"), None);
}

#[test]
fn texts_name_shares_and_success() {
    let passing = |succeeded, judged| Passing {
        count: 9,
        rows: (0..83).collect(),
        succeeded,
        judged,
    };
    for (succeeded, judged, text, class) in [
        (40, 80, "83 of 100 trajectories, 50 % succeeded", "mixed"),
        (6, 8, "83 of 100 trajectories, 6 of 8 succeeded", "mostly"),
        (0, 0, "83 of 100 trajectories", "unknown"),
        (1, 80, "83 of 100 trajectories, 1 % succeeded", "rarely"),
    ] {
        let passing = passing(succeeded, judged);
        assert_eq!(passing_text(Some(&passing), 100), text);
        assert_eq!(PassingSuccess::of(&passing).class(), class);
    }
    assert_eq!(passing_text(None, 100), "none of 100 trajectories");
    assert_eq!(share_text(1, 500), "<1 %");
    assert_eq!(share_text(0, 0), "0 %");
}

#[test]
fn the_map_shows_as_much_as_is_readable() {
    let rows: Vec<&[u32]> = vec![&[0, 1], &[0, 1], &[0, 1], &[0, 2], &[0, 3]];
    let graph = graph(&rows);
    assert_eq!(readable_share(&graph, 40), 0.0);
    let share = readable_share(&graph, 3);
    assert_eq!(graph.simplified(share).edges.len(), 3);
}

proptest! {
    #[test]
    fn acts_do_not_overlap_and_nothing_is_outside(
        rows in prop::collection::vec(prop::collection::vec(0_u32..5, 0..9), 0..12),
        is_wide: bool,
    ) {
        let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        let shape = if is_wide { MapShape::WIDE } else { MapShape::NARROW };
        let graph = graph(&rows);
        let map = BehaviourMap::of(&graph, &alphabet(), &shape);
        prop_assert_eq!(&map, &BehaviourMap::of(&graph, &alphabet(), &shape));
        prop_assert_eq!(map.nodes.len(), graph.nodes.len());
        prop_assert_eq!(map.edges.len(), graph.edges.len());
        for (place, node) in map.nodes.iter().enumerate() {
            prop_assert!(node.x >= 0.0 && node.x + shape.node_width <= map.width);
            prop_assert!(node.y >= 0.0 && node.y + shape.node_height <= map.height);
            for other in &map.nodes[..place] {
                let is_apart = (node.x - other.x).abs() >= shape.node_width
                    || (node.y - other.y).abs() >= shape.node_height;
                prop_assert!(is_apart);
            }
        }
    }
}
