//! Lanes below the step bar: subagents, and calls that a step makes in parallel. Related trajectories are listed below
//! as links.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_analysis::lanes::{LaneKind, Lanes, Segment};
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_core::quantity::plural;
use volary_episode::{Episode, Relation};
use volary_view::route::{ReviewPlace, Route};
use volary_view::step_bar::{WIDTH, place_of, step_at, step_bar};

use super::viewer::Viewer;
use volary_browser::{element, location};
use volary_library_client::LibraryClient;
use volary_ui::text::inert;

/// The height of a lane in units of the view box.
const LANE: f64 = 10.0;
/// The maximum number of related trajectories that are listed at once.
const MOST_RELATED: usize = 12;

#[component]
pub(super) fn StepLanes(viewer: Viewer) -> impl IntoView {
    let episode = viewer.shown.episode;
    let lanes = Memo::new(move |_| episode.with(|episode| Arc::new(Lanes::of(episode))));
    move || {
        let lanes = lanes.get();
        (!lanes.is_empty()).then(|| view! { <Drawing viewer lanes/> })
    }
}

#[component]
fn Drawing(viewer: Viewer, lanes: Arc<Lanes>) -> impl IntoView {
    let bar = Arc::new(viewer.shown.episode.with(|episode| step_bar(episode)));
    let path = |kind: LaneKind| {
        let rows = lanes.lanes.iter().enumerate();
        let rects = rows.flat_map(|(row, lane)| {
            let of_kind = lane.iter().filter(move |segment| segment.kind == kind);
            of_kind.map(move |segment| (row, segment))
        });
        let rects = rects.map(|(row, segment)| {
            let from = place_of(&bar, segment.from).0 * WIDTH;
            let width = (place_of(&bar, segment.to).1 * WIDTH - from - 1.5).max(0.6);
            let top = row as f64 * LANE + 2.0;
            format!("M{from:.2} {top}h{width:.2}v7h-{width:.2}z")
        });
        rects.collect::<String>()
    };
    let (calls, subagents) = (path(LaneKind::Call), path(LaneKind::Subagent));
    let height = lanes.lanes.len() as f64 * LANE;
    let words = in_words(&lanes);
    let title = words.clone();
    let choose = move |click: MouseEvent| {
        let (Some(across), Some(down)) =
            (element::click_place(&click), element::click_height(&click))
        else {
            return;
        };
        let step = step_at(&bar, across);
        let row = (down * lanes.lanes.len() as f64) as usize;
        match lanes.lanes.get(row).and_then(|lane| at(lane, step)) {
            Some(Segment {
                episode: Some(id), ..
            }) => location::go(&address(id)),
            _ => viewer.select(step),
        }
    };
    view! {
        <div class="step-lanes">
            <svg
                role="img"
                aria-label=words
                viewBox=format!("0 0 {WIDTH} {height}")
                preserveAspectRatio="none"
                height=format!("{}", height * 0.7)
                on:click=choose
            >
                <title>{title}</title>
                <path class="lane-calls" d=calls></path>
                <path class="lane-subagents" d=subagents></path>
            </svg>
        </div>
    }
}

/// The segment of a lane that contains a step.
fn at(lane: &[Segment], step: usize) -> Option<&Segment> {
    lane.iter()
        .find(|segment| (segment.from..=segment.to).contains(&step))
}

fn in_words(lanes: &Lanes) -> String {
    let counts = [
        (lanes.count(LaneKind::Subagent), "subagent"),
        (lanes.count(LaneKind::Call), "parallel call"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, noun)| plural(*count, noun)).collect();
    let more = match lanes.left_out {
        0 => String::new(),
        count => format!("; {count} more not shown"),
    };
    format!(
        "{} in {}{more}",
        counts.join(" and "),
        plural(lanes.lanes.len(), "lane")
    )
}

fn address(id: &Text) -> String {
    Route::Review(ReviewPlace {
        episode: Some(id.to_string()),
        ..ReviewPlace::default()
    })
    .to_hash()
}

/// A related trajectory.
#[derive(Clone, Debug, PartialEq)]
struct Relative {
    id: Text,
    /// The relation to the open trajectory.
    relation: &'static str,
    /// The name of the related trajectory, if it is in the library.
    name: Option<String>,
    /// The step of the open trajectory at which the relation starts, counted from 1.
    step: Option<usize>,
}

/// The related trajectories: the one that started this one, those that it started, and the one that it continues.
#[component]
pub(super) fn Related(client: LibraryClient, viewer: Viewer) -> impl IntoView {
    let relatives = Memo::new(move |_| {
        let episode = viewer.shown.episode.get();
        if episode.links.is_empty() {
            Vec::new()
        } else {
            client.rows.with(|rows| relatives(&episode, rows))
        }
    });
    let list = move || {
        let relatives = relatives.get();
        let more = relatives.len().saturating_sub(MOST_RELATED);
        let items = relatives.into_iter().take(MOST_RELATED).map(item);
        let more =
            (more > 0).then(|| view! { <li class="faint">{format!("and {more} more")}</li> });
        let go = |step: usize| move |_| viewer.select(step);
        let items = items.map(|(link, step)| {
            let step = step.map(|step| {
                view! {
                    <button type="button" class="quiet small" on:click=go(step)>
                        {format!("step {step}")}
                    </button>
                }
            });
            view! { <li>{link} {step}</li> }
        });
        view! {
            {items.collect_view()}
            {more}
        }
    };
    view! {
        <Show when=move || relatives.with(|relatives| !relatives.is_empty())>
            <nav class="related" aria-label="Related trajectories">
                <ul>{list}</ul>
            </nav>
        </Show>
    }
}

fn item(relative: Relative) -> (AnyView, Option<usize>) {
    let Relative {
        id,
        relation,
        name,
        step,
    } = relative;
    let link = match name {
        Some(name) => view! {
            <span class="faint">{relation}</span>
            <a href=address(&id) dir="auto">
                {inert(&name)}
            </a>
        }
        .into_any(),
        None => view! {
            <span class="faint">{relation}</span>
            <span dir="auto" title="It is not in the library">
                {inert(&format!("{id} (not imported)"))}
            </span>
        }
        .into_any(),
    };
    (link, step)
}

fn relatives(episode: &Episode, rows: &[Arc<Row>]) -> Vec<Relative> {
    let wanted: HashSet<&Text> = episode.links.iter().map(|link| &link.episode).collect();
    let known = rows.iter().filter(|row| wanted.contains(&row.id));
    let known: HashMap<&Text, &Arc<Row>> = known.map(|row| (&row.id, row)).collect();
    let mut found: Vec<(u8, Relative)> = episode
        .links
        .iter()
        .map(|link| {
            let (rank, relation) = match link.relation {
                Relation::Parent => (0, "Subagent of"),
                Relation::Predecessor => (1, "Continues"),
                Relation::Continuation => (2, "Continued in"),
                Relation::Branch => (3, "Branch"),
                Relation::Subagent => (4, "Subagent"),
            };
            let name = known.get(&link.episode).map(|row| match row.name.trim() {
                "" => row.id.to_string(),
                name => name.to_owned(),
            });
            let relative = Relative {
                id: link.episode.clone(),
                relation,
                name,
                step: link.step.map(|step| step + 1),
            };
            (rank, relative)
        })
        .collect();
    found.sort_by_key(|(rank, relative)| (*rank, relative.name.is_none(), relative.step));
    // One that is linked several times is listed once, at its first step.
    let mut listed = HashSet::new();
    found.retain(|(rank, relative)| listed.insert((*rank, relative.id.clone())));
    found.into_iter().map(|(_, relative)| relative).collect()
}

#[cfg(test)]
mod tests {
    use volary_episode::Link;

    use super::*;

    #[test]
    fn parents_come_first_and_what_is_missing_last() {
        let link = |relation, id: &str, step| Link {
            relation,
            episode: id.into(),
            step,
        };
        let episode = Episode {
            links: vec![
                link(Relation::Subagent, "gone", Some(1)),
                link(Relation::Subagent, "s", Some(4)),
                link(Relation::Parent, "p", None),
                link(Relation::Parent, "p", None),
            ],
            ..Episode::default()
        };
        let row = |id: &str, name: &str| {
            Arc::new(Row {
                id: id.into(),
                name: name.into(),
                ..Row::default()
            })
        };
        let found = relatives(&episode, &[row("p", "main"), row("s", "")]);
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.relation, one.name.as_deref(), one.step))
            .collect();
        assert_eq!(
            told,
            [
                ("Subagent of", Some("main"), None),
                ("Subagent", Some("s"), Some(5)),
                ("Subagent", None, Some(2)),
            ]
        );
    }

    #[test]
    fn a_relative_is_listed_once_at_its_first_step() {
        let link = |id: &str, step| Link {
            relation: Relation::Subagent,
            episode: id.into(),
            step: Some(step),
        };
        let episode = Episode {
            links: vec![link("a", 0), link("b", 1), link("a", 2), link("b", 9)],
            ..Episode::default()
        };
        let rows = ["a", "b"].map(|id| {
            Arc::new(Row {
                id: id.into(),
                ..Row::default()
            })
        });
        let found = relatives(&episode, &rows);
        let told: Vec<_> = found.iter().map(|one| (&*one.id, one.step)).collect();
        assert_eq!(told, [("a", Some(1)), ("b", Some(2))]);
    }

    fn segment(kind: LaneKind, from: usize, to: usize) -> Segment {
        Segment {
            kind,
            from,
            to,
            name: "".into(),
            episode: None,
        }
    }

    #[test]
    fn lanes_are_counted_by_kind() {
        let (call, subagent) = (LaneKind::Call, LaneKind::Subagent);
        let mut lanes = Lanes {
            lanes: vec![
                vec![segment(subagent, 1, 4), segment(call, 5, 5)],
                vec![segment(call, 5, 5)],
            ],
            left_out: 0,
        };
        assert_eq!(
            in_words(&lanes),
            "1 subagent and 2 parallel calls in 2 lanes"
        );
        lanes.left_out = 3;
        lanes.lanes.truncate(1);
        lanes.lanes[0].truncate(1);
        assert_eq!(in_words(&lanes), "1 subagent in 1 lane; 3 more not shown");
    }

    #[test]
    fn a_click_finds_the_segment_at_its_step() {
        let lane = [
            segment(LaneKind::Subagent, 2, 4),
            segment(LaneKind::Call, 7, 7),
        ];
        let found = |step| at(&lane, step).map(|segment| segment.from);
        let all: Vec<_> = (1..9).map(found).collect();
        let (first, second) = (Some(2), Some(7));
        assert_eq!(all, [None, first, first, first, None, None, second, None]);
    }
}
