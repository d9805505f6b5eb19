//! The map of behaviour: where the acts of many trajectories are drawn, and what each says. Pure.
//!
//! Layers follow from the distance to the start, so the same graph has the same picture. Layers that are wider than the picture
//! continue in the next line. Within a layer, acts are near those that lead to them. Edges that pass a line or lead back run in
//! lanes beside the acts. Counts may be of fewer rows than the
//! layout, such as of one training step: then acts keep their places.

use std::collections::{BTreeMap, VecDeque};

use volary_analysis::behaviour::graph::{BehaviourGraph, BehaviourNode, Passing};
use volary_analysis::behaviour::signature::Alphabet;
use volary_core::quantity::{count_text, plural};

/// The sizes of the picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapShape {
    /// The most acts in a line.
    pub across: usize,
    pub node_width: f64,
    pub node_height: f64,
    /// The distances between acts, across and down.
    pub gap: (f64, f64),
    /// The room at either side, for edges that lead back.
    pub margin: f64,
}

impl MapShape {
    /// For wide windows.
    pub const WIDE: MapShape = MapShape {
        across: 5,
        node_width: 168.0,
        node_height: 52.0,
        gap: (28.0, 52.0),
        margin: 64.0,
    };
    /// For phones.
    pub const NARROW: MapShape = MapShape {
        across: 2,
        node_width: 128.0,
        node_height: 52.0,
        gap: (14.0, 44.0),
        margin: 30.0,
    };

    /// The width of the picture.
    pub fn width(&self) -> f64 {
        let across = self.across as f64;
        across * self.node_width + (across - 1.0) * self.gap.0 + 2.0 * self.margin
    }

    /// The number of letters of a name that fit into an act.
    fn letters(&self) -> usize {
        (self.node_width / 7.0) as usize
    }
}

/// An act of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapNode {
    pub node: BehaviourNode,
    /// Its whole name.
    pub name: String,
    /// The tool and the kind of its error, shortened.
    pub lines: (String, Option<String>),
    /// The left upper corner.
    pub x: f64,
    pub y: f64,
    /// Its line, from 0.
    pub line: usize,
}

/// What follows an act.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEdge {
    /// The indices of the acts.
    pub from: usize,
    pub to: usize,
    pub nodes: (BehaviourNode, BehaviourNode),
    /// The path in SVG.
    pub path: String,
}

/// Where everything is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehaviourMap {
    /// Line by line.
    pub nodes: Vec<MapNode>,
    /// The weakest first, so that strong ones are drawn over them.
    pub edges: Vec<MapEdge>,
    pub width: f64,
    pub height: f64,
}

impl BehaviourMap {
    /// The map of a graph.
    pub fn of(graph: &BehaviourGraph, alphabet: &Alphabet, shape: &MapShape) -> BehaviourMap {
        let lines = lines(graph, alphabet, shape.across);
        let width = shape.width();
        let step = (
            shape.node_width + shape.gap.0,
            shape.node_height + shape.gap.1,
        );
        let mut nodes = Vec::new();
        for (line, members) in lines.iter().enumerate() {
            let count = members.len() as f64;
            let wide = count * shape.node_width + (count - 1.0) * shape.gap.0;
            let left = (width - wide) / 2.0;
            for (place, node) in members.iter().enumerate() {
                let name = node.name(alphabet).to_owned();
                nodes.push(MapNode {
                    node: *node,
                    lines: two_lines(&name, shape.letters()),
                    name,
                    x: left + place as f64 * step.0,
                    y: MapShape::TOP + line as f64 * step.1,
                    line,
                });
            }
        }
        let place: BTreeMap<BehaviourNode, usize> = nodes
            .iter()
            .enumerate()
            .map(|(place, node)| (node.node, place))
            .collect();
        let mut edges: Vec<(usize, MapEdge)> = Vec::new();
        for ((from, to), passing) in &graph.edges {
            if let (Some(start), Some(end)) = (place.get(from), place.get(to)) {
                let edge = MapEdge {
                    from: *start,
                    to: *end,
                    nodes: (*from, *to),
                    path: String::new(),
                };
                edges.push((passing.rows.len(), edge));
            }
        }
        // Short edges get the lanes next to the acts.
        edges.sort_by_key(|(rows, edge)| {
            let (from, to) = (nodes[edge.from].line, nodes[edge.to].line);
            (from.abs_diff(to), std::cmp::Reverse(*rows))
        });
        let mut lanes = Lanes::beside(&nodes, shape);
        for (_, edge) in &mut edges {
            edge.path = lanes.path(&nodes[edge.from], &nodes[edge.to]);
        }
        edges.sort_by_key(|(rows, _)| *rows);
        let height = lines.len() as f64 * step.1 - shape.gap.1 + 2.0 * MapShape::TOP;
        BehaviourMap {
            nodes,
            edges: edges.into_iter().map(|(_, edge)| edge).collect(),
            width,
            height: height.max(0.0),
        }
    }

    /// The act that a key of the keyboard leads to.
    pub fn next(&self, now: usize, key: &str) -> Option<usize> {
        let here = self.nodes.get(now)?;
        let last = self.nodes.len().checked_sub(1)?;
        let nearest_in = |line: usize| {
            let of_line = self.nodes.iter().enumerate();
            let of_line = of_line.filter(|(_, node)| node.line == line);
            let nearest = of_line.min_by(|(_, one), (_, other)| {
                let distance = |node: &MapNode| (node.x - here.x).abs();
                distance(one).total_cmp(&distance(other))
            });
            nearest.map(|(place, _)| place)
        };
        match key {
            "ArrowRight" => Some((now + 1).min(last)),
            "ArrowLeft" => Some(now.saturating_sub(1)),
            "ArrowDown" => nearest_in(here.line + 1),
            "ArrowUp" => nearest_in(here.line.checked_sub(1)?),
            "Home" => Some(0),
            "End" => Some(last),
            _ => None,
        }
    }
}

impl MapShape {
    /// The room above and below.
    const TOP: f64 = 12.0;
}

/// The acts of each line.
fn lines(graph: &BehaviourGraph, alphabet: &Alphabet, across: usize) -> Vec<Vec<BehaviourNode>> {
    // The distance of each act from the start.
    let mut layer: BTreeMap<BehaviourNode, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([(BehaviourNode::Start, 0)]);
    while let Some((node, distance)) = queue.pop_front() {
        if !graph.nodes.contains_key(&node) || layer.contains_key(&node) {
            continue;
        }
        layer.insert(node, distance);
        let following = graph.edges.keys().filter(|(from, _)| *from == node);
        queue.extend(following.map(|(_, to)| (*to, distance + 1)));
    }
    // What the start does not lead to over drawn edges, and the end, come last.
    let last = layer
        .iter()
        .filter(|(node, _)| **node != BehaviourNode::End);
    let last = last.map(|(_, distance)| *distance).max().unwrap_or(0);
    let mut beyond = last;
    for node in graph.nodes.keys() {
        if *node != BehaviourNode::End && !layer.contains_key(node) {
            layer.insert(*node, last + 1);
            beyond = last + 1;
        }
    }
    if graph.nodes.contains_key(&BehaviourNode::End) {
        layer.insert(BehaviourNode::End, beyond + 1);
    }
    let mut layers: Vec<Vec<BehaviourNode>> = vec![Vec::new(); beyond + 2];
    for (node, distance) in layer {
        layers[distance].push(node);
    }
    let mut at: BTreeMap<BehaviourNode, f64> = BTreeMap::new();
    let mut lines = Vec::new();
    for mut members in layers.into_iter().filter(|members| !members.is_empty()) {
        members.sort_by_cached_key(|node| {
            let rows = graph
                .nodes
                .get(node)
                .map_or(0, |passing| passing.rows.len());
            (std::cmp::Reverse(rows), node.name(alphabet).to_owned())
        });
        for members in members.chunks(across.max(1)) {
            let mut members: Vec<(f64, BehaviourNode)> = members
                .iter()
                .map(|node| (centre_of_origins(graph, &at, *node), *node))
                .collect();
            members.sort_by(|(one, _), (other, _)| one.total_cmp(other));
            let count = members.len() as f64;
            for (place, (_, node)) in members.iter().enumerate() {
                at.insert(*node, (place as f64 + 0.5) / count);
            }
            lines.push(members.into_iter().map(|(_, node)| node).collect());
        }
    }
    lines
}

/// The mean of the places of the acts that lead to an act, by their rows, from 0 to 1.
fn centre_of_origins(
    graph: &BehaviourGraph,
    at: &BTreeMap<BehaviourNode, f64>,
    node: BehaviourNode,
) -> f64 {
    let (mut sum, mut weight) = (0.0, 0.0);
    for ((from, to), passing) in &graph.edges {
        if let (true, Some(place)) = (*to == node, at.get(from)) {
            sum += place * passing.rows.len() as f64;
            weight += passing.rows.len() as f64;
        }
    }
    if weight > 0.0 { sum / weight } else { 0.5 }
}

/// The tool, and the kind of the error with which it failed.
fn two_lines(name: &str, letters: usize) -> (String, Option<String>) {
    let shortened = |text: &str| {
        if text.chars().count() <= letters {
            return text.to_owned();
        }
        let start: String = text.chars().take(letters.saturating_sub(1)).collect();
        format!("{start}…")
    };
    match name.split_once(" ✗ ") {
        Some((tool, error)) => (shortened(tool), Some(shortened(&format!("✗ {error}")))),
        None => (shortened(name), None),
    }
}

/// The room beside the acts, in which edges run that pass a line or lead back, so that no act hides them.
struct Lanes<'a> {
    shape: &'a MapShape,
    /// The left and the right end of the acts of each line.
    ends: Vec<(f64, f64)>,
    /// The lines that are taken in each lane, from the acts outward: left and right.
    taken: [Vec<Vec<(usize, usize)>>; 2],
}

impl<'a> Lanes<'a> {
    /// The distance of the first lane from the acts, and between lanes.
    const FIRST: f64 = 12.0;
    const NEXT: f64 = 7.0;
    /// How far curves reach into the gap between two lines.
    const REACH: f64 = 0.65;

    fn beside(nodes: &[MapNode], shape: &'a MapShape) -> Lanes<'a> {
        let count = nodes.last().map_or(0, |node| node.line + 1);
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); count];
        for node in nodes {
            let (left, right) = &mut ends[node.line];
            *left = left.min(node.x);
            *right = right.max(node.x + shape.node_width);
        }
        Lanes {
            shape,
            ends,
            taken: [Vec::new(), Vec::new()],
        }
    }

    /// The curve from one act to another.
    fn path(&mut self, from: &MapNode, to: &MapNode) -> String {
        let (shape, gap) = (self.shape, self.shape.gap.1 * Self::REACH);
        let middle = |node: &MapNode| node.x + shape.node_width / 2.0;
        let (start, end) = (middle(from), middle(to));
        let (bottom, top) = (from.y + shape.node_height, to.y - 4.0);
        if to.line == from.line {
            return format!(
                "M{start:.1} {:.1}C{start:.1} {:.1} {end:.1} {:.1} {end:.1} {top:.1}",
                from.y,
                from.y - gap,
                to.y - gap,
            );
        }
        if to.line == from.line + 1 {
            let down = (top - bottom) / 2.0;
            return format!(
                "M{start:.1} {bottom:.1}C{start:.1} {:.1} {end:.1} {:.1} {end:.1} {top:.1}",
                bottom + down,
                top - down,
            );
        }
        let half = shape.node_height / 2.0;
        let (first, last, enters, leaves) = if to.line > from.line {
            (
                from.line + 1,
                to.line - 1,
                bottom + shape.gap.1,
                to.y - shape.gap.1,
            )
        } else {
            (to.line, from.line, from.y + half, to.y + half)
        };
        let lane = self.take(first, last, start, end);
        format!(
            "M{start:.1} {bottom:.1}C{start:.1} {:.1} {lane:.1} {:.1} {lane:.1} {enters:.1}\
             L{lane:.1} {leaves:.1}C{lane:.1} {:.1} {end:.1} {:.1} {end:.1} {top:.1}",
            bottom + gap,
            if to.line > from.line {
                enters - gap
            } else {
                bottom + gap
            },
            if to.line > from.line {
                leaves + gap
            } else {
                to.y - gap
            },
            to.y - gap,
        )
    }

    /// Takes the nearest lane that is free at these lines. Returns its place across.
    fn take(&mut self, first: usize, last: usize, start: f64, end: f64) -> f64 {
        let passed = self.ends.get(first..=last).unwrap_or_default();
        let left = passed
            .iter()
            .fold(f64::INFINITY, |end, (left, _)| end.min(*left));
        let right = passed
            .iter()
            .fold(f64::NEG_INFINITY, |end, (_, right)| end.max(*right));
        let is_free = |taken: &Vec<(usize, usize)>| {
            taken.iter().all(|(from, to)| *to < first || *from > last)
        };
        let free = [0, 1].map(|side| {
            let lanes: &Vec<Vec<(usize, usize)>> = &self.taken[side];
            lanes.iter().position(is_free).unwrap_or(lanes.len())
        });
        let away = |lane: usize| Self::FIRST + Self::NEXT * lane as f64;
        let places = [
            (left - away(free[0])).max(3.0),
            (right + away(free[1])).min(self.shape.width() - 3.0),
        ];
        let distance = |place: f64| (place - start).abs() + (place - end).abs();
        let side = usize::from(distance(places[1]) <= distance(places[0]));
        let lanes = &mut self.taken[side];
        if free[side] == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[free[side]].push((first, last));
        places[side]
    }
}

/// How well the rows of an act or an edge went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassingSuccess {
    /// At least two of three succeeded.
    Mostly,
    /// At most one of three succeeded.
    Rarely,
    Mixed,
    Unknown,
}

impl PassingSuccess {
    /// All, in the order of the legend.
    pub const ALL: [PassingSuccess; 4] = [
        PassingSuccess::Mostly,
        PassingSuccess::Mixed,
        PassingSuccess::Rarely,
        PassingSuccess::Unknown,
    ];

    /// How well these rows went.
    pub fn of(passing: &Passing) -> PassingSuccess {
        match passing.success_rate() {
            None => PassingSuccess::Unknown,
            Some(rate) if rate >= 2.0 / 3.0 => PassingSuccess::Mostly,
            Some(rate) if rate <= 1.0 / 3.0 => PassingSuccess::Rarely,
            Some(_) => PassingSuccess::Mixed,
        }
    }

    /// The suffix of its CSS classes.
    pub const fn class(self) -> &'static str {
        match self {
            PassingSuccess::Mostly => "mostly",
            PassingSuccess::Rarely => "rarely",
            PassingSuccess::Mixed => "mixed",
            PassingSuccess::Unknown => "unknown",
        }
    }

    /// The text of the legend.
    pub const fn text(self) -> &'static str {
        match self {
            PassingSuccess::Mostly => "two of three or more succeeded",
            PassingSuccess::Mixed => "some succeeded",
            PassingSuccess::Rarely => "one of three or fewer succeeded",
            PassingSuccess::Unknown => "success is unknown",
        }
    }
}

/// A share as text: `7 %`, and `<1 %` for what is less.
pub fn share_text(part: usize, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && percent < 1.0 {
        "<1 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

/// Success as text: `40 % succeeded`; of few rows their number. Empty if it is unknown.
pub fn success_text(succeeded: usize, judged: usize) -> String {
    if judged == 0 {
        String::new()
    } else if judged < 10 {
        format!("{succeeded} of {judged} succeeded")
    } else {
        format!("{} succeeded", share_text(succeeded, judged))
    }
}

/// What an act or an edge says: `83 of 100 trajectories, 40 % succeeded`.
pub fn passing_text(passing: Option<&Passing>, rows: usize) -> String {
    let Some(passing) = passing else {
        return format!("none of {}", plural(rows, "trajectory"));
    };
    let count = format!(
        "{} of {}",
        count_text(passing.rows.len()),
        plural(rows, "trajectory")
    );
    match success_text(passing.succeeded, passing.judged) {
        success if success.is_empty() => count,
        success => format!("{count}, {success}"),
    }
}

/// The smallest share of rows that edges of a readable map pass: so few edges are more that they can be told apart.
pub fn readable_share(graph: &BehaviourGraph, most_edges: usize) -> f64 {
    let is_readable = |share: &f64| graph.simplified(*share).edges.len() <= most_edges;
    SHARES
        .into_iter()
        .find(is_readable)
        .unwrap_or(SHARES[SHARES.len() - 1])
}

/// The shares that can be chosen.
pub const SHARES: [f64; 8] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5];

#[cfg(test)]
mod tests;
