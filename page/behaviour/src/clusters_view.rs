//! Clusters of similar behaviour: how large each is, how it went, where it parts from the one most like it, and the words that
//! others lack.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::Column;
use volary_app::behaviour::work::BehaviourWork;
use volary_app::behaviour::{BehaviourJob, FoundClusters};
use volary_core::quantity::{count_text, plural};
use volary_protocol::behaviour::{BehaviourCluster, ClusterParting};
use volary_ui::text::inert;
use volary_view::library::cell_text;
use volary_view::review::behaviour_map::{share_text, success_text};
use volary_view::route::{ReviewPlace, Route};

use super::naming_view::NamingView;
use super::state::BehaviourState;
use super::work_view::work_view;

/// The number of clusters that are shown at first.
const FIRST_SHOWN: usize = 12;
/// The number of acts before a parting that are named.
const COMMON: usize = 3;

#[component]
pub(super) fn ClustersView(state: BehaviourState) -> impl IntoView {
    let only_failed = RwSignal::new(true);
    let shown = state.inputs.shown;
    let failed =
        Memo::new(move |_| shown.with(|rows| rows.iter().filter(|row| row.failed()).count()));
    let find = move || {
        let are_failures = only_failed.get_untracked() && failed.get_untracked() > 0;
        state.find_clusters(are_failures);
    };
    // Opening the tab is the wish for it. Later it is computed on request, because the rows change with each filter.
    let is_missing = state
        .state
        .with_untracked(|state| matches!(state.clusters, BehaviourWork::Nothing));
    if is_missing && shown.with_untracked(|rows| !rows.is_empty()) {
        find();
    }
    let label = move || {
        let count = if only_failed.get() && failed.get() > 0 {
            plural(failed.get(), "failure")
        } else {
            plural(shown.with(|rows| rows.len()), "trajectory")
        };
        format!("Find clusters of {count}")
    };
    let is_all = RwSignal::new(false);
    let progress = state.progress(|behaviour| &behaviour.clusters);
    let found = state.result(|behaviour| &behaviour.clusters);
    let work = move || {
        let what = "The clusters could not be found.";
        progress.with(|work| work_view(state, BehaviourJob::Clusters, what, work))
    };
    let content = move || found.get().map(|found| clusters(state, found.0, is_all));
    view! {
        <p class="help">
            {"Trajectories with similar sequences of tools and errors, without a model. Each is in one \
              cluster; a cluster is named by what nearly all of its trajectories do."}
        </p>
        <div class="behaviour-controls">
            <label class="group-choice">
                <span>{"Rows"}</span>
                <select on:change=move |event| {
                    only_failed.set(event_target_value(&event) == "failed");
                }>
                    <option value="failed" prop:selected=move || only_failed.get()>
                        {"failures of the table"}
                    </option>
                    <option value="all" prop:selected=move || !only_failed.get()>
                        {"all rows of the table"}
                    </option>
                </select>
            </label>
            <button type="button" on:click=move |_| find()>
                {label}
            </button>
        </div>
        {work}
        {content}
    }
}

fn clusters(state: BehaviourState, found: Arc<FoundClusters>, is_all: RwSignal<bool>) -> AnyView {
    let report = &found.report;
    let all = report.clusters.len();
    let alone = report
        .clusters
        .iter()
        .filter(|one| one.ids.len() == 1)
        .count();
    let unread = match report.unread {
        0 => String::new(),
        count => format!(
            " {} could not be opened.",
            plural(count as usize, "trajectory")
        ),
    };
    let about = format!(
        "{} in {}; {} {} like no other.{unread}",
        plural(found.rows, "trajectory"),
        plural(all, "cluster"),
        count_text(alone),
        if alone == 1 { "is" } else { "are" },
    );
    let list = {
        let found = Arc::clone(&found);
        move || {
            let count = if is_all.get() {
                all
            } else {
                FIRST_SHOWN.min(all)
            };
            let cards = (0..count).filter_map(|place| card(state, &found, place));
            cards.collect_view()
        }
    };
    let more = move || {
        (all > FIRST_SHOWN && !is_all.get()).then(|| {
            view! {
                <button type="button" class="small" on:click=move |_| is_all.set(true)>
                    {format!("Show all {}", plural(all, "cluster"))}
                </button>
            }
        })
    };
    view! {
        <p class="faint" role="status">
            {about}
        </p>
        <NamingView state found/>
        <ul class="cluster-list" aria-label="Clusters">
            {list}
        </ul>
        {more}
    }
    .into_any()
}

fn card(state: BehaviourState, found: &Arc<FoundClusters>, place: usize) -> Option<AnyView> {
    let cluster = found.report.clusters.get(place)?;
    let link = state.inputs.link;
    let own = if cluster.name.is_empty() {
        cluster.sequence.clone()
    } else {
        cluster.name.clone()
    };
    let behaviour = state.state;
    let given =
        Memo::new(move |_| behaviour.with(|behaviour| behaviour.naming.names.get(&place).cloned()));
    // Its acts stay in sight next to a name that a model gave.
    let shared = {
        let own = own.clone();
        move || {
            given.with(Option::is_some).then(|| {
                view! {
                    <p class="cluster-sequence" dir="auto">
                        <span class="faint">{"In common: "}</span>
                        {inert(&own)}
                    </p>
                }
            })
        }
    };
    let title = move || match given.get() {
        Some(name) => view! {
            {inert(&name)}
            " "
            <span class="chip">{"named by a model"}</span>
        }
        .into_any(),
        None => inert(&own),
    };
    let size = format!(
        "{}, {}",
        plural(cluster.ids.len(), "trajectory"),
        share_text(cluster.ids.len(), found.rows)
    );
    let success = success_text(cluster.succeeded as usize, cluster.judged as usize);
    let is_chosen = {
        let named = found.narrowing(place).and_then(|narrowing| narrowing.named);
        Memo::new(move |_| {
            link.narrowed.with(|narrowed| {
                narrowed.as_ref().and_then(|one| one.named.as_ref()) == named.as_ref()
            })
        })
    };
    let narrow = {
        let found = Arc::clone(found);
        move |_| {
            let narrowing = found.narrowing(place);
            link.narrowed.update(|narrowed| {
                *narrowed = if is_chosen.get_untracked() {
                    None
                } else {
                    narrowing
                };
            });
        }
    };
    let parting = cluster.parting.as_ref().map(parting_text);
    let parting = parting.map(|text| view! { <p dir="auto">{inert(&text)}</p> });
    let words = cluster.words.iter().map(|word| {
        view! {
            <li class="chip" dir="auto">
                {inert(word)}
            </li>
        }
    });
    let words = (!cluster.words.is_empty()).then(|| {
        view! {
            <ul class="chips" aria-label="Words of its last errors and answers">
                {words.collect_view()}
            </ul>
        }
    });
    Some(
        view! {
            <li class="cluster" data-success=success_class(cluster)>
                <h2 dir="auto">
                    {format!("Cluster {} ", place + 1)} <span class="cluster-name">{title}</span>
                </h2>
                <p class="cluster-facts">
                    <strong>{size}</strong>
                    <span>{success}</span>
                </p>
                {shared}
                <p class="cluster-sequence" dir="auto">
                    <span class="faint">{"Typical: "}</span>
                    {inert(&cluster.sequence)}
                </p>
                {parting}
                {words}
                <div class="button-row">
                    <button
                        type="button"
                        class="small"
                        aria-pressed=move || is_chosen.get().to_string()
                        on:click=narrow
                    >
                        {format!("Show only cluster {}", place + 1)}
                    </button>
                    <a class="button small quiet" href=address(&cluster.typical)>
                        {format!("Open {}", typical_name(state, cluster))}
                    </a>
                </div>
            </li>
        }
        .into_any(),
    )
}

fn success_class(cluster: &BehaviourCluster) -> &'static str {
    match (cluster.succeeded, cluster.judged) {
        (_, 0) => "unknown",
        (0, _) => "rarely",
        (some, all) if some * 3 >= all * 2 => "mostly",
        _ => "mixed",
    }
}

/// The name of its typical trajectory.
fn typical_name(state: BehaviourState, cluster: &BehaviourCluster) -> String {
    let rows = state.inputs.client.rows;
    rows.with_untracked(|rows| {
        let row = rows.iter().find(|row| row.id == cluster.typical);
        row.map_or_else(
            || cluster.typical.to_string(),
            |row| cell_text(row, &Column::Name),
        )
    })
}

fn parting_text(parting: &ClusterParting) -> String {
    let goes_on = |act: &Option<(u64, volary_core::json::Text)>| match act {
        Some((step, name)) => format!("{name} (step {step})"),
        None => "the end".to_owned(),
    };
    let from = parting.from + 1;
    let (here, there) = (goes_on(&parting.here), goes_on(&parting.there));
    match parting.common.len() {
        0 => format!("Differs from cluster {from} from the start: here {here}, there {there}."),
        count => {
            let last = parting.common.iter().skip(count.saturating_sub(COMMON));
            let last: Vec<&str> = last.map(|name| &**name).collect();
            format!(
                "Parts from cluster {from} after {}: here {here}, there {there}.",
                last.join(" → ")
            )
        }
    }
}

fn address(id: &str) -> String {
    Route::Review(ReviewPlace {
        episode: Some(id.to_owned()),
        ..ReviewPlace::default()
    })
    .to_hash()
}
