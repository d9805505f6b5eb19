//! Spans of time within an episode, as its file records them: generation with prefill and decode, tools, the reward.
//!
//! slime writes them as events of a trace; verifiers and prime-rl write the times of model calls and of phases.
//! Invariants: every start and every end is one of the file; an episode whose file has none has no spans; a span
//! without an end stays without one.

use std::collections::HashMap;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::Episode;
use volary_episode::time;

/// The maximum number of spans of an episode that are read.
const MOST_SPANS: usize = 10_000;
/// The maximum nesting depth.
const DEEPEST: usize = 16;
/// The maximum number of bars in a row of a table.
const MOST_BARS: usize = 96;
/// The key in an episode's raw data for spans that readers collect: objects with `name`, `start`, `end`, and any others.
pub const TIME_SPANS: &str = "time_spans";

/// What happens in a span, by its name in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpanKind {
    /// A request to the model.
    Generation,
    /// The part of a request that reads the prompt.
    Prefill,
    /// The part of a request that samples tokens.
    Decode,
    /// A call of a tool.
    Tool,
    /// The reward model or function.
    Reward,
    /// The whole sample or group, around everything else.
    Whole,
    /// Another name.
    Other,
}

impl SpanKind {
    pub const ALL: [SpanKind; 7] = [
        SpanKind::Generation,
        SpanKind::Prefill,
        SpanKind::Decode,
        SpanKind::Tool,
        SpanKind::Reward,
        SpanKind::Whole,
        SpanKind::Other,
    ];

    /// The kind that a name says.
    pub fn of(name: &str) -> SpanKind {
        let name = name.to_ascii_lowercase();
        let has = |part: &str| name.contains(part);
        if name.starts_with("generate_and_rm") || name == "agent" {
            SpanKind::Whole
        } else if has("prefill") {
            SpanKind::Prefill
        } else if has("decode") {
            SpanKind::Decode
        } else if has("reward") || has("scor") || name == "rm" {
            SpanKind::Reward
        } else if name.starts_with("tool") || has("tool_call") {
            SpanKind::Tool
        } else if has("generat") || name == "model" {
            SpanKind::Generation
        } else {
            SpanKind::Other
        }
    }

    /// The name for display.
    pub const fn name(self) -> &'static str {
        match self {
            SpanKind::Generation => "generation",
            SpanKind::Prefill => "prefill",
            SpanKind::Decode => "decode",
            SpanKind::Tool => "tools",
            SpanKind::Reward => "reward",
            SpanKind::Whole => "sample",
            SpanKind::Other => "other",
        }
    }
}

/// A span of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub kind: SpanKind,
    /// The name in the file.
    pub name: Text,
    /// The start, in seconds since 1970.
    pub from: f64,
    /// The end; `None` if the file has none, because the sample was aborted there.
    pub to: Option<f64>,
    /// The number of spans around it.
    pub depth: usize,
    /// Whether a span of the same kind is around it, as the queue and the forward pass of a prefill.
    pub is_part: bool,
    /// Other members: those of the start, then those of the end.
    pub facts: Object,
}

impl Span {
    /// The duration in seconds.
    pub fn seconds(&self) -> Option<f64> {
        self.to.map(|to| to - self.from)
    }

    /// Whether it is of a whole group, whose members all repeat it.
    fn is_of_group(&self) -> bool {
        &*self.name == "generate_and_rm_group"
    }
}

/// The spans of an episode, in the order of their starts; those around others come first.
pub fn spans(episode: &Episode) -> Vec<Span> {
    let mut spans = match episode.raw.get("trace") {
        Some(trace) => of_trace(trace),
        None => Vec::new(),
    };
    if let Some(list) = episode.raw.get(TIME_SPANS).and_then(Json::as_list) {
        spans.extend(list.iter().take(MOST_SPANS).filter_map(listed));
    }
    if let Some(timing) = episode.metadata.get("timing").and_then(Json::as_object) {
        spans.extend(timing.iter().filter_map(|(name, phase)| {
            let start = phase.get("start").and_then(moment)?;
            let end = phase.get("end").and_then(moment)?;
            // A phase that did not take place has zeros.
            (start > 0.0).then(|| span(name.as_ref().into(), start, Some(end), Object::new()))?
        }));
    }
    // The order of the file remains among equals: a parent is written before its children.
    spans.sort_by(|one, other| {
        one.from
            .total_cmp(&other.from)
            .then(one.depth.cmp(&other.depth))
            .then((other.kind == SpanKind::Whole).cmp(&(one.kind == SpanKind::Whole)))
    });
    spans
}

/// The start in seconds since 1970 and the duration of an episode: from its first to its last span. The span of the group
/// says nothing about a sample, and parts of a request may be reckoned past its end, so others count if there are any.
pub fn extent(spans: &[Span]) -> Option<(f64, f64)> {
    let of_sample = |span: &&Span| {
        !span.is_of_group() && !matches!(span.kind, SpanKind::Prefill | SpanKind::Decode)
    };
    let bounds = |spans: &mut dyn Iterator<Item = &Span>| {
        spans.fold(None::<(f64, f64)>, |bounds, span| {
            let end = span.to.unwrap_or(span.from);
            let (from, to) = bounds.unwrap_or((span.from, end));
            Some((from.min(span.from), to.max(end)))
        })
    };
    let own = bounds(&mut spans.iter().filter(of_sample));
    let (from, to) = own.or_else(|| bounds(&mut spans.iter()))?;
    Some((from, to - from))
}

/// The spans of slime's events `{type, name, ts, span_id, parent_span_id, attrs}`.
fn of_trace(trace: &Json) -> Vec<Span> {
    let events = trace.get("events").and_then(Json::as_list);
    let mut spans: Vec<Span> = Vec::new();
    let mut parents: Vec<Option<Text>> = Vec::new();
    let mut known: HashMap<Text, usize> = HashMap::new();
    for event in events.unwrap_or_default().iter().take(2 * MOST_SPANS) {
        let text = |key: &str| event.get(key).and_then(Json::as_text).cloned();
        let time = event.get("ts").and_then(Json::as_f64);
        let (Some(kind), Some(time)) = (text("type"), time.filter(|time| time.is_finite())) else {
            continue;
        };
        let facts = event.get("attrs").and_then(Json::as_object);
        let facts = facts.cloned().unwrap_or_default();
        match (&*kind, text("span_id")) {
            ("span_start", id) => {
                if let Some(id) = id {
                    known.insert(id, spans.len());
                }
                let name = text("name").unwrap_or_default();
                spans.extend(span(name, time, None, facts));
                parents.push(text("parent_span_id"));
            }
            ("span_end", Some(id)) => {
                let started = known.get(&id).and_then(|index| spans.get_mut(*index));
                // An end before the start is none.
                if let Some(span) = started.filter(|span| time >= span.from) {
                    span.to = Some(time);
                    span.facts.extend(facts);
                }
            }
            _ => {}
        }
    }
    for index in 0..spans.len() {
        let mut around = parents[index].as_ref();
        // Ids may form cycles.
        while let Some(parent) = around.and_then(|id| known.get(id)) {
            if spans[index].depth == DEEPEST {
                break;
            }
            spans[index].depth += 1;
            spans[index].is_part |= spans[*parent].kind == spans[index].kind;
            around = parents[*parent].as_ref();
        }
    }
    spans
}

fn listed(value: &Json) -> Option<Span> {
    let mut facts = value.as_object()?.clone();
    let mut time = |key: &str| facts.remove(key).and_then(|time| moment(&time));
    let (start, end) = (time("start")?, time("end"));
    let name = facts.remove("name")?.as_text()?.clone();
    let mut span = span(name, start, end.filter(|end| *end >= start), facts)?;
    // Within the phase of the agent.
    span.depth = 1;
    Some(span)
}

/// A time in seconds since 1970.
fn moment(value: &Json) -> Option<f64> {
    match value {
        Json::Text(text) => time::parse(text),
        value => value.as_f64(),
    }
}

/// A span; `None` if its times are impossible.
fn span(name: Text, from: f64, to: Option<f64>, facts: Object) -> Option<Span> {
    let is_time = from.is_finite() && to.is_none_or(|to| to >= from && to.is_finite());
    is_time.then(|| Span {
        kind: SpanKind::of(&name),
        name,
        from,
        to,
        depth: 0,
        is_part: false,
        facts,
    })
}

/// A span in a row of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub kind: SpanKind,
    /// Seconds since the start of the episode.
    pub from: f64,
    pub to: Option<f64>,
}

/// The spans of an episode for a table: kinds and times. Spans around everything and parts of parts are not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanBars {
    /// By start.
    pub bars: Vec<Bar>,
    /// The number of shorter spans that have no room.
    pub left_out: u64,
}

impl SpanBars {
    /// The bars of an episode that started at a time; `None` if it has no spans.
    pub fn of(spans: &[Span], started: f64) -> Option<SpanBars> {
        let is_shown = |span: &&Span| span.kind != SpanKind::Whole && !span.is_part;
        // A tenth of a millisecond is enough, and keeps stored rows short.
        let within = |time: f64| ((time - started) * 1e4).round() / 1e4;
        let mut bars: Vec<Bar> = spans
            .iter()
            .filter(is_shown)
            .map(|span| Bar {
                kind: span.kind,
                from: within(span.from),
                to: span.to.map(within),
            })
            .collect();
        let left_out = bars.len().saturating_sub(MOST_BARS);
        if left_out > 0 {
            let length = |bar: &Bar| bar.to.map_or(f64::INFINITY, |to| to - bar.from);
            bars.sort_by(|one, other| length(other).total_cmp(&length(one)));
            bars.truncate(MOST_BARS);
            bars.sort_by(|one, other| one.from.total_cmp(&other.from));
        }
        (!bars.is_empty()).then_some(SpanBars {
            bars,
            left_out: left_out as u64,
        })
    }

    /// The seconds in which a span of this kind was open. Spans at the same time count once; those without an end have no
    /// duration.
    pub fn seconds(&self, kind: SpanKind) -> f64 {
        let mut end = f64::NEG_INFINITY;
        let mut sum = 0.0;
        for bar in self.bars.iter().filter(|bar| bar.kind == kind) {
            let Some(to) = bar.to.filter(|to| *to > end) else {
                continue;
            };
            sum += to - bar.from.max(end);
            end = to;
        }
        sum
    }

    /// The end of the last bar.
    pub fn last(&self) -> f64 {
        let ends = self.bars.iter().map(|bar| bar.to.unwrap_or(bar.from));
        ends.fold(0.0, f64::max)
    }

    /// Serializes the bars: `[left_out, kind, from, to, kind, …]`.
    pub fn to_json(&self) -> Json {
        let mut numbers = vec![Json::from(i64::try_from(self.left_out).unwrap_or(i64::MAX))];
        for bar in &self.bars {
            let kind = SpanKind::ALL.iter().position(|kind| *kind == bar.kind);
            numbers.push(i64::try_from(kind.unwrap_or_default()).unwrap_or(0).into());
            numbers.push(bar.from.into());
            numbers.push(bar.to.map_or(Json::Null, Json::from));
        }
        Json::List(numbers)
    }

    /// Deserializes the output of [`SpanBars::to_json`]; `None` for anything else.
    pub fn read(value: &Json) -> Option<SpanBars> {
        let (left_out, bars) = value.as_list()?.split_first()?;
        let (bars, _) = bars.as_chunks::<3>();
        let bars = bars.iter().map(|[kind, from, to]| {
            let kind = usize::try_from(kind.as_i64()?).ok()?;
            Some(Bar {
                kind: *SpanKind::ALL.get(kind)?,
                from: from.as_f64()?,
                to: to.as_f64(),
            })
        });
        Some(SpanBars {
            left_out: u64::try_from(left_out.as_i64()?).ok()?,
            bars: bars.collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    fn event(kind: &str, name: &str, time: f64, id: &str, parent: &str) -> Json {
        let mut event = object!({ "type": kind, "name": name, "ts": time, "span_id": id });
        if !parent.is_empty() {
            event.insert("parent_span_id", parent);
        }
        event.insert(
            "attrs",
            Object::from_pairs(vec![(kind.to_owned().into(), 1.into())]),
        );
        event.into()
    }

    fn episode(events: Vec<Json>) -> Episode {
        let mut episode = Episode::default();
        episode
            .raw
            .insert("trace", object!({ "events": (Json::List(events)) }));
        episode
    }

    /// A request with prefill and decode, which are written after its end, a tool, and a reward without an end.
    fn traced() -> Episode {
        let start =
            |name: &str, time, id: &str, parent: &str| event("span_start", name, time, id, parent);
        let end = |name: &str, time, id: &str| event("span_end", name, time, id, "");
        episode(vec![
            start("generate_and_rm_group", 90.0, "g", ""),
            start("generate_and_rm", 100.0, "a", "g"),
            start("sglang_generate", 100.0, "b", "a"),
            start("sglang_pd_prefill", 100.0, "p", "b"),
            start("sglang_pd_prefill_forward", 100.1, "q", "p"),
            end("sglang_pd_prefill_forward", 100.5, "q"),
            end("sglang_pd_prefill", 100.5, "p"),
            start("sglang_pd_decode", 100.5, "d", "b"),
            // Reckoned past the end of the request.
            end("sglang_pd_decode", 102.5, "d"),
            end("sglang_generate", 102.0, "b"),
            start("tool:find", 102.0, "t", "a"),
            start("tool:list", 102.5, "u", "a"),
            end("tool:find", 103.0, "t"),
            end("tool:list", 103.5, "u"),
            event("event", "scored", 103.5, "", "a"),
            start("reward_model", 104.0, "r", "a"),
            end("generate_and_rm_group", 190.0, "g"),
        ])
    }

    #[test]
    fn events_pair_by_their_ids() {
        let spans = spans(&traced());
        let told: Vec<_> = spans
            .iter()
            .map(|span| (&*span.name, span.kind, span.depth, span.seconds()))
            .collect();
        assert_eq!(
            told,
            [
                ("generate_and_rm_group", SpanKind::Whole, 0, Some(100.0)),
                ("generate_and_rm", SpanKind::Whole, 1, None),
                ("sglang_generate", SpanKind::Generation, 2, Some(2.0)),
                ("sglang_pd_prefill", SpanKind::Prefill, 3, Some(0.5)),
                (
                    "sglang_pd_prefill_forward",
                    SpanKind::Prefill,
                    4,
                    Some(100.5 - 100.1)
                ),
                ("sglang_pd_decode", SpanKind::Decode, 3, Some(2.0)),
                ("tool:find", SpanKind::Tool, 2, Some(1.0)),
                ("tool:list", SpanKind::Tool, 2, Some(1.0)),
                ("reward_model", SpanKind::Reward, 2, None),
            ]
        );
        // Members of the start and of the end.
        assert_eq!(spans[2].facts.len(), 2);
        // The group lasts longer, and the decoding is reckoned.
        assert_eq!(extent(&spans), Some((100.0, 4.0)));
    }

    #[test]
    fn bars_are_those_of_the_sample() {
        let bars = SpanBars::of(&spans(&traced()), 100.0).unwrap();
        let kinds: Vec<SpanKind> = bars.bars.iter().map(|bar| bar.kind).collect();
        assert_eq!(
            kinds,
            [
                SpanKind::Generation,
                SpanKind::Prefill,
                SpanKind::Decode,
                SpanKind::Tool,
                SpanKind::Tool,
                SpanKind::Reward,
            ]
        );
        // Both tools ran for half a second together.
        assert_eq!(bars.seconds(SpanKind::Tool), 1.5);
        assert_eq!(bars.seconds(SpanKind::Reward), 0.0);
        assert_eq!(bars.last(), 4.0);
        let text = bars.to_json().to_python_text();
        assert_eq!(SpanBars::read(&Json::parse(&text).unwrap()), Some(bars));
        for other in ["1", "[]", "[0, 9, 1.0, 2.0]", "[0, 1, \"x\", 2.0]"] {
            assert_eq!(SpanBars::read(&Json::parse(other).unwrap()), None);
        }
    }

    #[test]
    fn without_times_there_are_no_spans() {
        let broken = vec![
            event("span_end", "x", 1.0, "a", ""),
            event("span_start", "x", f64::NAN, "a", ""),
            Json::Null,
            event("event", "scored", 2.0, "", ""),
        ];
        assert!(spans(&episode(broken)).is_empty());
        assert_eq!(extent(&[]), None);
        assert_eq!(SpanBars::of(&[], 0.0), None);
        // Parents that are each other's, and an end before the start.
        let odd = spans(&episode(vec![
            event("span_start", "x", 5.0, "a", "b"),
            event("span_start", "x", 6.0, "b", "a"),
            event("span_end", "x", 4.0, "a", ""),
        ]));
        let told: Vec<_> = odd.iter().map(|span| (span.depth, span.to)).collect();
        assert_eq!(told, [(DEEPEST, None), (DEEPEST, None)]);
    }

    #[test]
    fn phases_and_calls_of_verifiers_are_spans() {
        let mut episode = Episode::default();
        let phase = |start: f64, end: f64| object!({ "start": start, "end": end });
        episode.metadata.insert(
            "timing",
            object!({
                "start": 50.0,
                "boot": (phase(0.0, 0.0)),
                "agent": (phase(50.0, 54.0)),
                "scoring": (phase(54.0, 54.5))
            }),
        );
        let call = object!({ "name": "model", "start": 50.0, "end": 51.5, "node": 2 });
        episode
            .raw
            .insert(TIME_SPANS, Json::List(vec![call.into()]));
        let told: Vec<_> = spans(&episode)
            .iter()
            .map(|span| (span.name.to_string(), span.kind, span.depth))
            .collect();
        assert_eq!(
            told,
            [
                ("agent".to_owned(), SpanKind::Whole, 0),
                ("model".to_owned(), SpanKind::Generation, 1),
                ("scoring".to_owned(), SpanKind::Reward, 0),
            ]
        );
    }

    #[test]
    fn a_row_keeps_the_longest_spans() {
        let one = |index: usize| Span {
            kind: SpanKind::Generation,
            name: "g".into(),
            from: index as f64,
            to: Some(index as f64 + index as f64 / 1e3),
            depth: 0,
            is_part: false,
            facts: Object::new(),
        };
        let spans: Vec<Span> = (0..100).map(one).collect();
        let bars = SpanBars::of(&spans, 0.0).unwrap();
        assert_eq!((bars.bars.len(), bars.left_out), (MOST_BARS, 4));
        assert_eq!(bars.bars[0].from, 4.0);
    }
}
