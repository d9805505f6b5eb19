//! When the samples of a step or a group ran: a lane for each on one time axis, with the spans that its file records. A part of
//! the time can be shown, which the address names, and the cursor says what runs at a time.

use std::ops::Range;
use std::sync::Arc;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use volary_analysis::spans::SpanKind;
use volary_analysis::training::times::{LaneOrder, SampleTime, StepTimes};
use volary_app::review::time_axis::{TimeAxis, TimeEvent};
use volary_core::quantity::count_text;
use volary_episode::EndingKind;
use volary_view::route::TrainingPlace;
use volary_view::summary::seconds_text;
use volary_view::time_lanes::{
    LANE, class_of, clock, ending_name, lane_words, running_words, shapes, times_words,
};
use volary_view::training::{SIDE, place_in};

use super::{ShownRun, Training};
use volary_browser::{element, keys};
use volary_ui::rows::Rows;
use volary_ui::text::inert;
use volary_ui::transient_memo::transient_memo;

/// The height of a lane in pixels, as in the style sheet.
const ROW: f64 = 28.0;

/// The section about time; empty if no sample has times.
pub(super) fn times(
    training: Training,
    shown: &Arc<ShownRun>,
    samples: &Range<usize>,
) -> Option<AnyView> {
    let times = Arc::new(StepTimes::of(&shown.run, samples)?);
    let words = times_words(&times);
    let untimed =
        (times.untimed > 0).then(|| format!(" {} without times.", count_text(times.untimed)));
    let look = LanesLook::new(training, &times);
    Some(
        view! {
            <div class="run-line-of-facts time-head">
                <h2 class="run-section">{"Time"}</h2>
                {legend(&times, look.only)}
                {look.kinds(&times)}
                {order_choice(look)}
                {look.endings(&times)}
                {look.zoom()}
            </div>
            <p class="run-facts">{words} {untimed}</p>
            {lanes(training, Arc::clone(shown), times, look)}
        }
        .into_any(),
    )
}

/// How the lanes are looked at.
#[derive(Clone, Copy)]
struct LanesLook {
    training: Training,
    order: Memo<LaneOrder>,
    /// The kind of spans that are drawn; all of them without one.
    only: Memo<Option<SpanKind>>,
    /// The ending of the samples that have lanes; all of them without one.
    ending: Memo<Option<EndingKind>>,
    axis: RwSignal<TimeAxis>,
}

impl LanesLook {
    /// At the part of the time that the address names. A choice that these times do not have is none.
    fn new(training: Training, times: &Arc<StepTimes>) -> LanesLook {
        let place = training.place.get_untracked();
        let shown = place.and_then(|place| place.time);
        let (kept, seconds) = (training.kept, times.seconds);
        let (of_kinds, of_endings) = (Arc::clone(times), Arc::clone(times));
        LanesLook {
            training,
            order: Memo::new(move |_| {
                kept.with(|kept| LaneOrder::of_key(kept.lanes.as_deref().unwrap_or_default()))
            }),
            only: Memo::new(move |_| {
                kept.with(|kept| {
                    let name = kept.spans.as_deref()?;
                    let mut kinds = of_kinds.kinds.iter().map(|(kind, _)| *kind);
                    kinds.find(|kind| kind.name() == name)
                })
            }),
            ending: Memo::new(move |_| {
                kept.with(|kept| {
                    let word = kept.ending.as_deref()?;
                    let endings = of_endings.endings().into_iter();
                    let mut endings = endings.map(|(ending, _)| ending);
                    endings.find(|ending| ending.as_str() == word)
                })
            }),
            axis: RwSignal::new(TimeAxis::new(seconds, shown.as_deref())),
        }
    }

    fn apply(self, event: TimeEvent) {
        let mut axis = self.axis.get_untracked();
        let is_other = axis.apply(event);
        if axis != self.axis.get_untracked() {
            self.axis.set(axis);
        }
        if is_other {
            self.training.time.set(axis.to_text());
        }
    }

    /// Applies an event of the pointer over an element as wide as the axis.
    fn point(self, event: &MouseEvent, of: fn(f64) -> TimeEvent) {
        if let Some(place) = element::click_place(event) {
            self.apply(of(place));
        }
    }

    fn press(self, event: &KeyboardEvent) {
        let key = keys::plain_key(event);
        let Some(event_of) = key.and_then(|key| TimeEvent::of_key(&key)) else {
            return;
        };
        event.prevent_default();
        event.stop_propagation();
        self.apply(event_of);
    }

    /// The choice of the spans that are drawn, if there are several kinds.
    fn kinds(self, times: &StepTimes) -> Option<AnyView> {
        let kinds: Vec<SpanKind> = times.kinds.iter().map(|(kind, _)| *kind).collect();
        let options = kinds.iter();
        let options = options.map(|kind| (kind.name(), kind.name().to_owned()));
        let now = move || self.only.get().map(SpanKind::name);
        narrowing("Spans", "all kinds", options.collect(), now, move |name| {
            self.training.kept.update(|kept| kept.spans = name);
        })
    }

    /// The choice of the samples that have lanes, if they ended in several ways.
    fn endings(self, times: &StepTimes) -> Option<AnyView> {
        let options = times.endings().into_iter().map(|(ending, samples)| {
            let name = format!("{} ({})", ending_name(ending), count_text(samples));
            (ending.as_str(), name)
        });
        let now = move || self.ending.get().map(EndingKind::as_str);
        narrowing("Ending", "any", options.collect(), now, move |word| {
            self.training.kept.update(|kept| kept.ending = word);
        })
    }

    fn zoom(self) -> AnyView {
        let is_whole = Memo::new(move |_| self.axis.with(TimeAxis::is_whole));
        let button = move |name: &'static str, event: TimeEvent| {
            let is_of_no_use = move || event != TimeEvent::ZoomIn && is_whole.get();
            view! {
                <button
                    type="button"
                    class="quiet small"
                    disabled=is_of_no_use
                    on:click=move |_| self.apply(event)
                >
                    {name}
                </button>
            }
        };
        view! {
            <div class="lane-zoom" role="group" aria-label="Part of the time">
                {button("Zoom in", TimeEvent::ZoomIn)} {button("Zoom out", TimeEvent::ZoomOut)}
                {button("Whole time", TimeEvent::Whole)}
            </div>
        }
        .into_any()
    }

    /// The axis below the lanes: its labels, and the cursor for the keyboard.
    fn scale(self, shown: Arc<ShownRun>, times: Arc<StepTimes>) -> AnyView {
        let range = Memo::new(move |_| self.axis.with(TimeAxis::range));
        let labels = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
            let words = move || {
                let (from, to) = range.get();
                clock(from + share * (to - from))
            };
            view! { <span>{words}</span> }
        });
        let seconds = times.seconds;
        let cursor = Memo::new(move |_| self.axis.with(TimeAxis::cursor));
        let words = Memo::new(move |_| {
            let at = cursor.get()?;
            let running = times.running(&shown.run, at);
            Some(running_words(at, &running, times.lanes.len()))
        });
        let hint = "Point at a time to see what runs then. Drag to show a part of the time, or use +, − and 0.";
        view! {
            <div class="time-axis-room">
                <div
                    class="time-axis"
                    role="slider"
                    tabindex="0"
                    aria-label="Time"
                    aria-valuemin="0"
                    aria-valuemax=format!("{seconds:.3}")
                    aria-valuenow=move || format!("{:.3}", cursor.get().unwrap_or_default())
                    aria-valuetext=move || words.get().unwrap_or_else(|| "No time is selected".to_owned())
                    on:keydown=move |event| self.press(&event)
                    on:mousemove=move |event| self.point(&event, TimeEvent::Pointed)
                    on:mousedown=move |event| self.point(&event, TimeEvent::Pressed)
                    on:mouseup=move |event| self.point(&event, TimeEvent::Released)
                >
                    {labels.into_iter().collect_view()}
                </div>
            </div>
            <p class="time-words" aria-hidden="true">
                {move || words.get().unwrap_or_else(|| hint.to_owned())}
            </p>
        }
        .into_any()
    }
}

fn legend(times: &StepTimes, only: Memo<Option<SpanKind>>) -> AnyView {
    let is_plain = times.kinds.is_empty();
    let kinds = times.kinds.iter().map(|(kind, _)| *kind);
    let kinds = kinds.chain(std::iter::once(SpanKind::Whole)).map(|kind| {
        let name = move || match (kind, only.get()) {
            (SpanKind::Whole, _) if is_plain => "a sample",
            (SpanKind::Whole, None) => "no span",
            // Spans of the kinds that are not drawn look like none.
            (SpanKind::Whole, Some(_)) => "other time",
            (kind, _) => kind.name(),
        };
        view! {
            <span class=format!("lane-key {}", class_of(kind))>{name}</span>
        }
    });
    view! {
        <p class="lane-legend">
            {kinds.collect_view()} <span class="lane-key lane-tail">{"slowest tenth"}</span>
        </p>
    }
    .into_any()
}

/// A select that narrows what is drawn to one of several options, each with its value and name, or to none.
fn narrowing(
    label: &'static str,
    all: &'static str,
    options: Vec<(&'static str, String)>,
    now: impl Fn() -> Option<&'static str> + Copy + Send + 'static,
    change: impl Fn(Option<String>) + 'static,
) -> Option<AnyView> {
    let is_needed = options.len() > 1;
    let options = options.into_iter();
    let options = options.map(|(value, name)| {
        view! {
            <option value=value prop:selected=move || now() == Some(value)>
                {name}
            </option>
        }
    });
    let changed = move |event| {
        let value = event_target_value(&event);
        change(Some(value).filter(|value| !value.is_empty()));
    };
    is_needed.then(|| {
        view! {
            <label class="group-choice">
                <span>{label}</span>
                <select on:change=changed>
                    <option value="">{all}</option>
                    {options.collect_view()}
                </select>
            </label>
        }
        .into_any()
    })
}

fn order_choice(look: LanesLook) -> AnyView {
    let options = LaneOrder::ALL.map(|order| {
        view! {
            <option value=order.key() prop:selected=move || look.order.get() == order>
                {order.name()}
            </option>
        }
    });
    let change = move |event| {
        let order = LaneOrder::of_key(&event_target_value(&event));
        let lanes = (order != LaneOrder::default()).then(|| order.key().to_owned());
        look.training.kept.update(|kept| kept.lanes = lanes);
    };
    view! {
        <label class="group-choice">
            <span>{"Order of samples"}</span>
            <select on:change=change>{options.into_iter().collect_view()}</select>
        </label>
    }
    .into_any()
}

fn lanes(
    training: Training,
    shown: Arc<ShownRun>,
    times: Arc<StepTimes>,
    look: LanesLook,
) -> AnyView {
    let ordered = {
        let times = Arc::clone(&times);
        Memo::new(move |_| Arc::new(times.ordered(look.order.get(), look.ending.get())))
    };
    let count = Memo::new(move |_| ordered.with(|lanes| lanes.len()));
    let range = Memo::new(move |_| look.axis.with(TimeAxis::range));
    let rows = Rows {
        count: count.into(),
        edition: Memo::new(move |edition: Option<&u32>| {
            ordered.track();
            // Tracking alone does not compute a memo.
            range.with(|_| ());
            look.only.track();
            edition.map_or(0, |edition| edition.wrapping_add(1))
        })
        .into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "list",
        class: "time-lanes",
        name: Some("Samples by time"),
    };
    let scale = look.scale(Arc::clone(&shown), Arc::clone(&times));
    let draw = move |place: usize| {
        let lane = ordered.with_untracked(|lanes| lanes.get(place).copied());
        lane.map(|lane| row(training, &shown, &times, &lane, look))
            .into_any()
    };
    // Few lanes need no scrolling.
    let class = move || {
        if count.get() <= 12 {
            "time-lanes-frame few"
        } else {
            "time-lanes-frame"
        }
    };
    view! {
        <div
            class=class
            on:mouseleave=move |_| look.apply(TimeEvent::Left)
        >
            {rows.view(draw)}
            {scale}
        </div>
    }
    .into_any()
}

fn row(
    training: Training,
    shown: &ShownRun,
    times: &StepTimes,
    lane: &SampleTime,
    look: LanesLook,
) -> AnyView {
    let sample = &shown.run.samples[lane.sample];
    let spans = sample.row.spans.as_deref();
    let place = TrainingPlace {
        step: Some(sample.step),
        group: Some(sample.group.as_deref().unwrap_or_default().to_owned()),
        ..training.here()
    };
    let words = lane_words(lane, spans);
    let ending = unintended(lane.ending);
    let remark = ending.map_or(String::new(), |ending| format!(", {ending}"));
    // In a group, its name would be the same in every lane.
    let is_in_group = training.here().group.is_some();
    let name = sample.name(!is_in_group);
    let label = format!("{name}, {words}{remark}");
    let axis = look.axis.get_untracked();
    let tail = {
        let left = place_in(axis.range(), times.tail_from);
        format!("M{left:.1} 0h{:.1}v{LANE}H{left:.1}z", SIDE - left)
    };
    // The line goes on in the gaps between the lanes.
    let cursor = transient_memo(move |_| {
        let axis = look.axis.get();
        let left = axis.place(axis.cursor()?) * SIDE;
        Some(format!("M{left:.1} -4V{}", LANE + 4.0))
    });
    let selected = transient_memo(move |_| {
        let axis = look.axis.get();
        let (from, to) = axis.selecting()?;
        let (from, to) = (axis.place(from) * SIDE, axis.place(to) * SIDE);
        Some(format!("M{from:.1} 0H{to:.1}v{LANE}H{from:.1}z"))
    });
    let only = look.only.get_untracked();
    let shapes = shapes(lane, spans, axis.range(), only).into_iter();
    let shapes = shapes.map(|(class, path)| view! { <path class=class d=path></path> });
    let mark = ending.map(|ending| {
        view! { <abbr class="lane-ending" title=ending>{"!"}</abbr> }
    });
    view! {
        <div class="time-lane" role="listitem">
            <a href=place.episode_hash(&sample.row.id, &[]) aria-label=label.clone() title=label dir="auto">
                {inert(&name)}
            </a>
            <span class="lane-seconds" aria-hidden="true">
                {mark}
                {seconds_text(lane.seconds())}
            </span>
            <svg
                viewBox=format!("0 0 {SIDE} {LANE}")
                preserveAspectRatio="none"
                aria-hidden="true"
                on:mousemove=move |event| look.point(&event, TimeEvent::Pointed)
                on:mousedown=move |event| {
                    // It selects a part of the time, no text.
                    event.prevent_default();
                    look.point(&event, TimeEvent::Pressed);
                }
                on:mouseup=move |event| look.point(&event, TimeEvent::Released)
            >
                <path class="lane-tail" d=tail></path>
                <path class="lane-selected" d=move || selected.get()></path>
                {shapes.collect_view()}
                <path class="lane-cursor" d=move || cursor.get()></path>
            </svg>
        </div>
    }
    .into_any()
}

/// How a sample ended, if not as intended.
fn unintended(ending: EndingKind) -> Option<&'static str> {
    match ending {
        EndingKind::Open | EndingKind::Done => None,
        EndingKind::Truncated | EndingKind::Crashed => Some(ending_name(ending)),
    }
}
