//! The map of behaviour: which acts follow which, over all rows of the table. A click on an act or an arrow narrows the table to
//! the rows that pass it. A slider leads through training steps; acts keep their places meanwhile.

use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use volary_analysis::behaviour::graph::BehaviourNode;
use volary_app::behaviour::mapped_graph::MappedGraph;
use volary_app::behaviour::work::BehaviourWork;
use volary_app::behaviour::{BehaviourEvent, BehaviourJob, RowNarrowing};
use volary_browser::{element, keys};
use volary_core::quantity::plural;
use volary_ui::text::inert;
use volary_view::review::behaviour_map::{
    BehaviourMap, MapEdge, MapNode, MapShape, PassingSuccess, SHARES, passing_text, readable_share,
    share_text, success_text,
};

use super::map_table::edge_table;
use super::state::{BehaviourState, ByAddress};
use super::work_view::work_view;

/// The number of edges up to which a map is readable, on wide and on narrow screens.
const READABLE: (usize, usize) = (32, 18);
/// The widest stroke, in pixels.
const WIDEST: f64 = 9.0;

#[derive(Clone, Copy)]
struct MapState {
    state: BehaviourState,
    /// The share of rows that drawn edges pass at least; `None` for what is readable.
    share: RwSignal<Option<f64>>,
    is_narrow: RwSignal<bool>,
    whole: Memo<Option<ByAddress<MappedGraph>>>,
    /// The graph of the training step.
    now: Memo<Option<ByAddress<MappedGraph>>>,
    drawn: Memo<Option<Arc<BehaviourMap>>>,
    /// The act that the keyboard is at.
    at: RwSignal<usize>,
    /// What is pointed at.
    told: RwSignal<String>,
}

#[component]
pub(super) fn MapView(state: BehaviourState) -> impl IntoView {
    let shown = state.inputs.shown;
    let draw = move || {
        let rows = shown.with_untracked(|rows| rows.to_vec());
        state.update(BehaviourEvent::DrawMap(rows));
    };
    // Opening the tab is the wish for it. Later it is computed on request, because the rows change with each filter.
    let is_missing = state
        .state
        .with_untracked(|state| matches!(state.map, BehaviourWork::Nothing));
    if is_missing && shown.with_untracked(|rows| !rows.is_empty()) {
        draw();
    }
    let frame = NodeRef::<html::Div>::new();
    let is_narrow = follow_width(frame);
    let step = RwSignal::new(0_usize);
    let rows = state.result(|behaviour| &behaviour.map);
    let whole = Memo::new(move |_| {
        let rows = rows.get()?;
        Some(ByAddress(Arc::new(MappedGraph::of(&rows.0, None))))
    });
    let now = Memo::new(move |_| {
        let whole = whole.get()?;
        let wanted = step.get().checked_sub(1);
        let wanted = wanted.and_then(|place| whole.0.rows.steps.get(place).copied());
        Some(match wanted {
            None => whole,
            step => ByAddress(Arc::new(MappedGraph::of(&whole.0.rows, step))),
        })
    });
    let share = RwSignal::new(None);
    let drawn = Memo::new(move |_| {
        let whole = whole.get()?;
        let is_narrow = is_narrow.get();
        let (shape, most) = if is_narrow {
            (MapShape::NARROW, READABLE.1)
        } else {
            (MapShape::WIDE, READABLE.0)
        };
        let graph = &whole.0.graph;
        let share = share.get().unwrap_or_else(|| readable_share(graph, most));
        let simple = graph.simplified(share);
        let alphabet = &whole.0.rows.alphabet;
        Some(Arc::new(BehaviourMap::of(&simple, alphabet, &shape)))
    });
    let map = MapState {
        state,
        share,
        is_narrow,
        whole,
        now,
        drawn,
        at: RwSignal::new(0),
        told: RwSignal::new(String::new()),
    };
    let label = move || {
        let count = shown.with(|rows| rows.len());
        format!("Draw the map of {}", plural(count, "trajectory"))
    };
    let progress = state.progress(|behaviour| &behaviour.map);
    let work = move || {
        let what = "The map could not be drawn.";
        progress.with(|work| work_view(state, BehaviourJob::Map, what, work))
    };
    view! {
        <p class="help">
            {"Acts of all trajectories as one graph: a tool, or a tool with the kind of its error. Thick \
              arrows are frequent. Click an act or an arrow to show only its trajectories."}
        </p>
        <div class="behaviour-controls">
            <button type="button" on:click=move |_| draw()>
                {label}
            </button>
            <ShareChoice map/>
            <StepSlider map step/>
        </div>
        {work}
        <div node_ref=frame class="behaviour-map-frame">
            <Show when=move || whole.with(Option::is_some)>
                <Legend/>
                <Drawing map/>
                <p class="chart-told" dir="auto" role="status">
                    {move || match map.told.get() {
                        text if text.is_empty() => inert("Point at an act or an arrow, or use the arrow keys."),
                        text => inert(&text),
                    }}
                </p>
                {move || now.get().map(|now| edge_table(state, now.0))}
            </Show>
        </div>
    }
}

/// Whether an element is narrow.
fn follow_width(frame: NodeRef<html::Div>) -> RwSignal<bool> {
    /// The width from which the wide picture fits.
    const WIDE: f64 = 700.0;
    let is_narrow = RwSignal::new(false);
    let resized = move || {
        let Some(frame) = frame.try_get_untracked().flatten() else {
            return;
        };
        let width = element::viewport_width(&frame);
        // It has no width while it is hidden.
        if width > 0.0 && is_narrow.get_untracked() != (width < WIDE) {
            is_narrow.set(width < WIDE);
        }
    };
    let sizes = StoredValue::new_local(None);
    Effect::new(move |_| {
        if let Some(frame) = frame.get() {
            sizes.set_value(element::watch_size(&[&frame], resized));
        }
    });
    is_narrow
}

/// The choice of the share that edges have at least.
#[component]
fn ShareChoice(map: MapState) -> impl IntoView {
    let change = move |event| {
        let chosen = event_target_value(&event).parse::<f64>();
        map.share.set(chosen.ok());
    };
    let options = SHARES.into_iter().map(|share| {
        let name = if share == 0.0 {
            "all".to_owned()
        } else {
            format!("of at least {:.0} %", share * 100.0)
        };
        view! {
            <option value=share.to_string() prop:selected=move || map.share.get() == Some(share)>
                {name}
            </option>
        }
    });
    view! {
        <label class="group-choice">
            <span>{"Arrows"}</span>
            <select on:change=change>
                <option value="" prop:selected=move || map.share.with(Option::is_none)>
                    {"what is readable"}
                </option>
                {options.collect_view()}
            </select>
        </label>
    }
}

/// The slider over training steps, if there are several.
#[component]
fn StepSlider(map: MapState, step: RwSignal<usize>) -> impl IntoView {
    let count = Memo::new(move |_| {
        map.whole
            .with(|whole| whole.as_ref().map_or(0, |whole| whole.0.rows.steps.len()))
    });
    let text = move || {
        map.now.with(|now| {
            let now = &now.as_ref()?.0;
            let rows = plural(now.graph.rows, "trajectory");
            Some(match now.step {
                None => format!("all steps, {rows}"),
                Some(step) => format!("step {step}, {rows}"),
            })
        })
    };
    view! {
        <Show when=move || { count.get() > 0 }>
            <label class="behaviour-steps">
                <span>{"Training step"}</span>
                <input
                    type="range"
                    min={"0"}
                    max=move || count.get().to_string()
                    prop:value=move || step.get().to_string()
                    aria-valuetext=text
                    on:input=move |event| {
                        step.set(event_target_value(&event).parse().unwrap_or_default());
                    }
                />
                <output>{text}</output>
            </label>
        </Show>
    }
}

/// What the strokes mean.
#[component]
fn Legend() -> impl IntoView {
    let items = PassingSuccess::ALL.into_iter().map(|success| {
        let class = format!("behaviour-edge {}", success.class());
        view! {
            <li>
                <svg viewBox="0 0 36 8" width={"36"} height={"8"} aria-hidden="true">
                    <path class=class d={"M0 4h36"} stroke-width={"3"}></path>
                </svg>
                {success.text()}
            </li>
        }
    });
    view! {
        <ul class="behaviour-legend" aria-label="Legend">
            {items.collect_view()}
        </ul>
    }
}

#[component]
fn Drawing(map: MapState) -> impl IntoView {
    let pressed = move |event: KeyboardEvent| {
        let Some(key) = keys::plain_key(&event) else {
            return;
        };
        let now = map.at.get_untracked();
        if key == "Enter" || key == " " {
            event.prevent_default();
            map.narrow_to_node(now);
            return;
        }
        let next = map
            .drawn
            .with_untracked(|drawn| drawn.as_ref()?.next(now, &key));
        if let Some(next) = next {
            event.prevent_default();
            map.at.set(next);
            element::focus_id(&node_id(next));
        }
    };
    let content = move || {
        let (drawn, now) = (map.drawn.get()?, map.now.get()?);
        let edges = drawn.edges.iter().map(|edge| edge_view(map, edge, &now.0));
        let edges = edges.collect_view();
        let nodes = drawn.nodes.iter().enumerate();
        let shape = map.shape();
        let nodes = nodes.map(|(place, node)| node_view(map, place, node, &now.0, &shape));
        let nodes = nodes.collect_view();
        let markers = PassingSuccess::ALL.into_iter().map(|success| {
            view! {
                <marker
                    id=format!("behaviour-tip-{}", success.class())
                    viewBox="0 0 8 8"
                    refX={"6"}
                    refY={"4"}
                    markerWidth={"9"}
                    markerHeight={"9"}
                    markerUnits={"userSpaceOnUse"}
                    orient={"auto"}
                >
                    <path class=format!("behaviour-tip {}", success.class()) d={"M0 0 8 4 0 8z"}></path>
                </marker>
            }
        });
        Some(view! {
            <svg
                class="behaviour-map"
                viewBox=format!("0 0 {} {}", drawn.width, drawn.height)
                width=drawn.width.to_string()
                height=drawn.height.to_string()
                role="group"
                aria-label="Map of behaviour: arrow keys lead through the acts, Enter shows only the trajectories of one"
                on:keydown=pressed
            >
                <defs>{markers.collect_view()}</defs>
                {edges}
                {nodes}
            </svg>
        })
    };
    view! { <div class="behaviour-map-scroll">{content}</div> }
}

fn node_id(place: usize) -> String {
    format!("behaviour-act-{place}")
}

impl MapState {
    fn shape(self) -> MapShape {
        if self.is_narrow.get() {
            MapShape::NARROW
        } else {
            MapShape::WIDE
        }
    }

    fn narrow(self, narrowing: RowNarrowing) {
        self.state.inputs.link.narrowed.update(|narrowed| {
            *narrowed = (narrowed.as_ref() != Some(&narrowing)).then_some(narrowing);
        });
    }

    fn narrow_to_node(self, place: usize) {
        let drawn = self.drawn.get_untracked();
        let node = drawn.and_then(|drawn| drawn.nodes.get(place).map(|node| node.node));
        let (Some(node), Some(now)) = (node, self.now.get_untracked()) else {
            return;
        };
        if let Some(narrowing) = now.0.passing_act(node) {
            self.narrow(narrowing);
        }
    }
}

fn edge_view(map: MapState, edge: &MapEdge, now: &Arc<MappedGraph>) -> AnyView {
    let passing = now.graph.edges.get(&edge.nodes);
    let success = passing.map_or(PassingSuccess::Unknown, PassingSuccess::of);
    let share = passing.map_or(0.0, |passing| {
        passing.rows.len() as f64 / now.graph.rows.max(1) as f64
    });
    let class = if passing.is_some() {
        format!("behaviour-edge {}", success.class())
    } else {
        "behaviour-edge absent".to_owned()
    };
    let name = now.edge_name(edge.nodes);
    let told = format!("{name}: {}", passing_text(passing, now.graph.rows));
    let narrow = {
        let (now, nodes) = (Arc::clone(now), edge.nodes);
        move |_| {
            if let Some(narrowing) = now.passing_edge(nodes) {
                map.narrow(narrowing);
            }
        }
    };
    let marker = passing
        .is_some()
        .then(|| format!("url(#behaviour-tip-{})", success.class()));
    // The table below has the same edges for the keyboard and for screen readers.
    view! {
        <g aria-hidden="true" class="behaviour-arrow" on:click=narrow on:mouseenter=move |_| map.told.set(told.clone())>
            <path
                class=class
                d=edge.path.clone()
                stroke-width=format!("{:.1}", 1.0 + (WIDEST - 1.0) * share)
                marker-end=marker
            ></path>
            <path class="behaviour-hit" d=edge.path.clone()></path>
        </g>
    }
    .into_any()
}

fn node_view(
    map: MapState,
    place: usize,
    node: &MapNode,
    now: &Arc<MappedGraph>,
    shape: &MapShape,
) -> AnyView {
    let passing = now.graph.nodes.get(&node.node);
    let success = passing.map_or(PassingSuccess::Unknown, PassingSuccess::of);
    let class = format!(
        "behaviour-node {}{}",
        if passing.is_some() {
            success.class()
        } else {
            "absent"
        },
        if matches!(node.node, BehaviourNode::Act(_)) {
            ""
        } else {
            " end"
        }
    );
    let told = format!("{}: {}", node.name, passing_text(passing, now.graph.rows));
    let count = passing.map_or(0, |passing| passing.rows.len());
    let mut figures = share_text(count, now.graph.rows);
    if let Some(passing) = passing.filter(|passing| passing.judged > 0) {
        let rate = success_text(passing.succeeded, passing.judged);
        figures = format!("{figures} · {}", rate.replace(" succeeded", " ok"));
    }
    let is_selected = {
        let act = now.act(node.node);
        let link = map.state.inputs.link;
        move || {
            link.narrowed.with(|narrowed| {
                let narrowed = narrowed.as_ref();
                narrowed.is_some_and(|one| one.named.as_ref() == Some(&act))
            })
        }
    };
    let focused = told.clone();
    let middle = node.x + shape.node_width / 2.0;
    let lines = [
        Some(node.lines.0.clone()),
        node.lines.1.clone(),
        Some(figures),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    let top = node.y + (shape.node_height - 15.0 * lines.len() as f64) / 2.0 + 11.5;
    let last = lines.len() - 1;
    let texts = lines.into_iter().enumerate().map(|(line, text)| {
        let class = match line {
            0 => "behaviour-name",
            line if line == last => "behaviour-figures",
            _ => "behaviour-error",
        };
        view! {
            <text class=class x=middle.to_string() y=(top + 15.0 * line as f64).to_string()>
                {text}
            </text>
        }
    });
    view! {
        <g
            id=node_id(place)
            class=class
            role="button"
            tabindex=move || if map.at.get() == place { "0" } else { "-1" }
            aria-label=told.clone()
            aria-pressed=move || is_selected().to_string()
            on:click=move |_| {
                map.at.set(place);
                map.narrow_to_node(place);
            }
            on:focus=move |_| map.told.set(focused.clone())
            on:mouseenter=move |_| map.told.set(told.clone())
        >
            <rect
                x=node.x.to_string()
                y=node.y.to_string()
                width=shape.node_width.to_string()
                height=shape.node_height.to_string()
                rx={"6"}
            ></rect>
            {texts.collect_view()}
        </g>
    }
    .into_any()
}
