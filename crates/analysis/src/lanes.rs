//! Concurrent activity in an episode, parallel calls of a step and subagents, as lanes below the bar of steps.
//!
//! Invariants: no two segments of a lane share a step; there are at most [`MOST_LANES`] lanes.

use volary_core::AnyMessage;
use volary_core::json::{Json, Text};
use volary_episode::episode::{Episode, Relation};

/// The maximum number of lanes. Segments that do not fit are only counted.
pub const MOST_LANES: usize = 6;
/// The key in an episode's raw data for the spans of nested subagents: objects with `name`, and with `from` and `to`,
/// the first and the last step, counted from 1.
pub const SPANS: &str = "subagent_spans";

/// The kind of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// One of several calls in a step.
    Call,
    /// A running subagent.
    Subagent,
}

/// A range of steps in a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub kind: LaneKind,
    /// The first step, from 1.
    pub from: usize,
    pub to: usize,
    /// The name of the tool or the subagent; empty if it is unknown.
    pub name: Text,
    /// The id of the subagent's episode, if it has one.
    pub episode: Option<Text>,
}

/// Lanes of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The segments of each lane, in order.
    pub lanes: Vec<Vec<Segment>>,
    /// The number of segments that do not fit.
    pub left_out: usize,
}

impl Lanes {
    /// Computes the lanes of an episode.
    pub fn of(episode: &Episode) -> Lanes {
        let mut segments = subagents(episode);
        segments.extend(parallel_calls(episode));
        // Subagents come first, so that they stay in the same lane.
        segments.sort_by_key(|segment| {
            let is_call = segment.kind == LaneKind::Call;
            (segment.from, is_call, segment.to)
        });
        let mut lanes = Lanes::default();
        for segment in segments {
            lanes.add(segment);
        }
        lanes
    }

    fn add(&mut self, segment: Segment) {
        let has_room = |lane: &Vec<Segment>| lane.last().is_none_or(|last| last.to < segment.from);
        let is_full = self.lanes.len() == MOST_LANES;
        match self.lanes.iter_mut().find(|lane| has_room(lane)) {
            Some(lane) => lane.push(segment),
            None if is_full => self.left_out += 1,
            None => self.lanes.push(vec![segment]),
        }
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// The number of shown segments of a kind.
    pub fn count(&self, kind: LaneKind) -> usize {
        let segments = self.lanes.iter().flatten();
        segments.filter(|segment| segment.kind == kind).count()
    }
}

fn subagents(episode: &Episode) -> Vec<Segment> {
    let last = episode.steps.len();
    let links = episode.links.iter();
    let links = links.filter(|link| link.relation == Relation::Subagent);
    let mut found: Vec<Segment> = links
        .filter_map(|link| {
            let step = link.step?.checked_add(1).filter(|step| *step <= last)?;
            Some(Segment {
                kind: LaneKind::Subagent,
                from: step,
                to: step,
                name: Text::default(),
                episode: Some(link.episode.clone()),
            })
        })
        .collect();
    let spans = episode.raw.get(SPANS).and_then(Json::as_list);
    found.extend(spans.unwrap_or_default().iter().filter_map(|span| {
        let step = |key: &str| {
            let step = usize::try_from(span.get(key)?.as_i64()?).ok()?;
            (1..=last).contains(&step).then_some(step)
        };
        let (from, to) = (step("from")?, step("to")?);
        Some(Segment {
            kind: LaneKind::Subagent,
            from: from.min(to),
            to: from.max(to),
            name: span.get("name")?.as_text()?.clone(),
            episode: None,
        })
    }));
    found
}

/// A segment for each call of a step with several calls, except for one per subagent that the step started.
fn parallel_calls(episode: &Episode) -> impl Iterator<Item = Segment> {
    let mut started = vec![0_usize; episode.steps.len()];
    for link in &episode.links {
        if let (Relation::Subagent, Some(step)) = (link.relation, link.step)
            && let Some(count) = started.get_mut(step)
        {
            *count += 1;
        }
    }
    let steps = episode.steps.iter().zip(started).enumerate();
    steps.flat_map(|(index, (step, started))| {
        let calls = match &step.action {
            AnyMessage::Request(request) if request.tool_calls.len() > 1 => {
                request.tool_calls.as_slice()
            }
            _ => &[],
        };
        let calls = calls.get(started..).unwrap_or_default();
        calls.iter().map(move |call| Segment {
            kind: LaneKind::Call,
            from: index + 1,
            to: index + 1,
            name: call.function.name.clone(),
            episode: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::ToolCall;
    use volary_core::json::Object;
    use volary_core::message::{Body, ToolRequestMessage};
    use volary_episode::episode::{Link, Outcome, StepRecord};

    use super::*;

    /// An episode whose steps have this many calls, and with links to subagents from these steps.
    fn episode(calls: &[usize], subagents: &[usize]) -> Episode {
        let steps = calls.iter().map(|count| {
            let calls = (0..*count)
                .map(|call| ToolCall::new(format!("{call}"), format!("tool{call}"), Object::new()));
            let request = ToolRequestMessage {
                body: Body::default(),
                tool_calls: calls.collect(),
            };
            let outcome = Outcome::Failed {
                message: "x".into(),
            };
            StepRecord::new(request.into(), outcome)
        });
        let links = subagents.iter().enumerate().map(|(number, step)| Link {
            relation: Relation::Subagent,
            episode: format!("sub{number}").into(),
            step: Some(*step),
        });
        Episode {
            steps: steps.collect(),
            links: links.collect(),
            ..Episode::default()
        }
    }

    #[test]
    fn parallel_calls_and_subagents_have_lanes() {
        assert!(Lanes::of(&episode(&[1, 1, 0], &[])).is_empty());
        let lanes = Lanes::of(&episode(&[1, 3, 2], &[1, 9]));
        let names: Vec<Vec<String>> = lanes
            .lanes
            .iter()
            .map(|lane| {
                let segments = lane.iter();
                let name = |segment: &Segment| {
                    let id = segment.episode.as_ref().unwrap_or(&segment.name);
                    format!("{id}@{}", segment.from)
                };
                segments.map(name).collect()
            })
            .collect();
        assert_eq!(
            names,
            [
                vec!["sub0@2", "tool0@3"],
                vec!["tool1@2", "tool1@3"],
                vec!["tool2@2"],
            ]
        );
        assert_eq!(lanes.count(LaneKind::Subagent), 1);
    }

    #[test]
    fn spans_cover_their_steps() {
        let mut episode = episode(&[1, 2, 1, 1], &[]);
        let span = |name: &str, from: i64, to: i64| {
            let mut span = Object::new();
            span.insert("name", name);
            span.insert("from", from);
            span.insert("to", to);
            Json::from(span)
        };
        let spans = vec![span("search", 2, 3), span("gone", 0, 9)];
        episode.raw.insert(SPANS, spans);
        let lanes = Lanes::of(&episode);
        assert_eq!(lanes.lanes.len(), 3);
        let first = &lanes.lanes[0][0];
        assert_eq!((&*first.name, first.from, first.to), ("search", 2, 3));
    }

    proptest! {
        #[test]
        fn segments_of_a_lane_never_overlap(
            calls in prop::collection::vec(0..9_usize, 1..20),
            subagents in prop::collection::vec(0..20_usize, 0..12),
        ) {
            let lanes = Lanes::of(&episode(&calls, &subagents));
            prop_assert!(lanes.lanes.len() <= MOST_LANES);
            for lane in &lanes.lanes {
                prop_assert!(lane.windows(2).all(|pair| pair[0].to < pair[1].from));
            }
        }
    }
}
