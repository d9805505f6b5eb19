//! Names of clusters by a model: what it will send and cost, how far it is, and what went wrong.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::behaviour::cluster_naming::NamingPlan;
use volary_app::behaviour::{BehaviourEvent, FoundClusters};
use volary_connections::models::model_select::ModelSelect;
use volary_connections::models::{connections, prices};
use volary_core::json::Text;
use volary_core::quantity::{large_plural, plural};
use volary_ui::alert_box::AlertWords;
use volary_view::asking::cost_text;

use super::state::BehaviourState;

/// The form that names clusters. It is closed at first: clusters need no model.
#[component]
pub(super) fn NamingView(state: BehaviourState, found: Arc<FoundClusters>) -> impl IntoView {
    let picked = RwSignal::new(None::<Text>);
    let chosen = Signal::derive(move || connections::chosen(picked.get().as_deref()));
    let behaviour = state.state;
    let plan = Memo::new(move |_| {
        behaviour.with(|behaviour| NamingPlan::of(&found.report, &behaviour.naming))
    });
    let is_running = Memo::new(move |_| behaviour.with(|behaviour| behaviour.naming.is_running()));
    let model = move || connections::get(&chosen.get()?).map(|saved| saved.connection.model);
    let about = move || plan.with(|plan| plan_text(plan, model().as_deref()));
    let name = move |_| {
        let model = untrack(model);
        if let Some((connection, model)) = chosen.get_untracked().zip(model) {
            state.update(BehaviourEvent::NameClusters { connection, model });
        }
    };
    let label = move || {
        let count = plan.with(|plan| plan.clusters.len());
        format!("Name {}", plural(count, "cluster"))
    };
    let running = move || {
        let left = behaviour.with(|behaviour| behaviour.naming.left());
        is_running.get().then(|| {
            view! {
                <div class="behaviour-work">
                    <p role="status">{format!("Asking for names: {left} left")}</p>
                    <button
                        type="button"
                        class="small"
                        on:click=move |_| state.update(BehaviourEvent::StopNaming)
                    >
                        {"Stop naming"}
                    </button>
                </div>
            }
        })
    };
    let failed = move || {
        let why = behaviour.with(|behaviour| behaviour.naming.failed.clone())?;
        Some(view! {
            <div class="alert" role="alert">
                <AlertWords
                    what="A cluster has no name."
                    why
                    advice="Names that were given stay. Try the others again, or choose another model."
                />
            </div>
        })
    };
    let spent = move || {
        let (names, cost) =
            behaviour.with(|behaviour| (behaviour.naming.names.len(), behaviour.naming.cost));
        (names > 0 && cost > 0.0).then(|| {
            view! { <p class="faint">{format!("The names have cost {}.", cost_text(cost))}</p> }
        })
    };
    view! {
        <details class="cluster-naming">
            <summary>{"Names by a model"}</summary>
            <p class="help">
                {"Sends the tools, figures and words below, not the trajectories. The names are a model's, \
                  and may be wrong: what they rest on stays next to them."}
            </p>
            <ModelSelect id="cluster-naming-model" chosen pick=move |id| picked.set(Some(id))/>
            <p class="faint">{about}</p>
            <div class="button-row">
                <button
                    type="button"
                    disabled=move || {
                        is_running.get() || chosen.get().is_none()
                            || plan.with(|plan| plan.clusters.is_empty())
                    }
                    on:click=name
                >
                    {label}
                </button>
            </div>
            {running}
            {failed}
            {spent}
        </details>
    }
}

fn plan_text(plan: &NamingPlan, model: Option<&str>) -> String {
    if plan.clusters.is_empty() {
        return "Every cluster of several trajectories has a name.".to_owned();
    }
    let mut text = format!(
        "{}, about {} in all",
        plural(plan.clusters.len(), "request"),
        large_plural(plan.tokens, "token")
    );
    let price = model.and_then(|model| prices::read(|prices| prices.of(model)));
    if let Some(price) = price {
        text.push_str(&format!(", {}", cost_text(plan.cost(&price))));
    }
    match plan.masked {
        0 => text.push_str("; nothing in them looks like a secret."),
        count => text.push_str(&format!("; secrets are masked in {count}.")),
    }
    text
}
