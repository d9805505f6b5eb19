//! What a question will send and cost, and the buttons that ask it.

use leptos::prelude::*;
use volary_app::ask::{AskPlanned, Event, PlanState};
use volary_ask::calibration::sample;
use volary_connections::models::prices;
use volary_core::json::Text;
use volary_core::quantity::plural;
use volary_ui::text::inert;
use volary_view::ask::costs::{cost_details, cost_rows, expected_text, plan_cost, plan_lines};

use super::setup_view::{SetupFields, groups};
use super::state::{AskState, use_ask};

/// The number of trajectories that a person labels first.
pub(super) const LABELLED: usize = 20;
/// The seed of their sample.
const SEED: u64 = 1;
/// The number of trajectories that cannot be read which are listed.
const MOST_MISSING: usize = 5;

#[component]
pub(super) fn PlanView(fields: SetupFields) -> impl IntoView {
    let state = use_ask();
    let plan = move || match state.plan.get() {
        PlanState::None => ().into_any(),
        PlanState::Measuring(text) => view! {
            <p class="faint" role="status">
                {text.to_string()}
            </p>
        }
        .into_any(),
        PlanState::Failed(reason) => view! {
            <div class="alert" role="alert">
                <p class="alert-what" dir="auto">
                    {inert(&reason)}
                </p>
            </div>
        }
        .into_any(),
        PlanState::Planned(planned) => planned_view(state, fields, &planned),
    };
    let refused = move || {
        let reason = state.refused.get()?;
        Some(view! {
            <div class="alert" role="alert">
                <p class="alert-what" dir="auto">
                    {inert(&reason)}
                </p>
            </div>
        })
    };
    view! {
        <div class="ask-plan" aria-live="polite">
            {plan}
        </div>
        {refused}
    }
}

fn planned_view(state: AskState, fields: SetupFields, planned: &AskPlanned) -> AnyView {
    let lines = plan_lines(planned).into_iter();
    let lines = lines.map(|(name, text)| {
        view! {
            <dt>{name}</dt>
            <dd dir="auto">{inert(&text)}</dd>
        }
    });
    let cost = plan_cost(planned);
    let cost_text = cost.as_ref().map_or_else(
        || "unknown: Settings has no price of this model".to_owned(),
        expected_text,
    );
    let details = cost.as_ref().map(cost_details);
    let missing = planned.texts.missing.iter().take(MOST_MISSING).map(|text| {
        view! {
            <li dir="auto">{inert(&format!("{}: {}", text.id, text.reason))}</li>
        }
    });
    let missing = (!planned.texts.missing.is_empty()).then(|| {
        view! { <ul class="help">{missing.collect_view()}</ul> }
    });
    let is_known = planned.plan.requests == 0;
    let ask_name = if is_known {
        "Show the answers".to_owned()
    } else {
        match &cost {
            Some(cost) => format!("Ask · {}", expected_text(cost)),
            None => format!("Ask · {}", plural(planned.plan.requests, "request")),
        }
    };
    let name = move || {
        fields
            .draft
            .with_untracked(|draft| Text::from(&*draft.name))
    };
    let former = move || fields.former.get_untracked();
    let ask = move |_| {
        state.start(Event::Ask {
            name: name(),
            former: former(),
        });
    };
    let has_labels = !planned.setup.question.answer.labels().is_empty();
    let ids: Vec<_> = planned.rows.iter().map(|row| row.id.clone()).collect();
    let label_first = (has_labels && ids.len() > LABELLED).then(|| {
        let calibrate = move |_| {
            let rows = state.host.rows.with_untracked(|rows| {
                let rows = rows.iter().filter(|row| ids.contains(&row.id));
                rows.cloned().collect::<Vec<_>>()
            });
            let chosen = sample(&groups(&rows), LABELLED, SEED).into_iter();
            let chosen = chosen.filter_map(|index| Some(rows.get(index)?.id.clone()));
            state.dispatch(Event::Calibrate {
                name: name(),
                former: former(),
                rows: chosen.collect(),
            });
        };
        view! {
            <button
                type="button"
                title="Label a sample yourself, then see how far the model agrees before all are asked about"
                on:click=calibrate
            >
                {format!("Label {LABELLED} first")}
            </button>
        }
    });
    let rows = prices::read(|prices| cost_rows(&planned.plan, prices));
    let model = planned.setup.model.clone();
    let rows = rows.into_iter().map(|(name, once, second)| {
        let here = (name == model).then_some("true");
        view! {
            <tr aria-current=here>
                <th scope="row" dir="auto">
                    {inert(&name)}
                </th>
                <td class="number">{once}</td>
                <td class="number">{second}</td>
            </tr>
        }
    });
    view! {
        <section class="card" aria-label="Plan">
            <h2>{"Plan"}</h2>
            <dl class="facts">
                {lines.collect_view()} <dt>{"Cost"}</dt>
                <dd>
                    <strong>{cost_text}</strong>
                    {details.map(|details| view! { <span class="help">{details}</span> })}
                </dd>
            </dl>
            {missing}
            <details class="ask-details">
                <summary>{"Cost by model"}</summary>
                <div class="table-scroll" tabindex="0" role="region" aria-label="Cost by model">
                    <table class="ask-table">
                        <thead>
                            <tr>
                                <th scope="col">{"Model"}</th>
                                <th scope="col" class="number">
                                    {"This question"}
                                </th>
                                <th scope="col" class="number">
                                    {"A second one"}
                                </th>
                            </tr>
                        </thead>
                        <tbody>{rows.collect_view()}</tbody>
                    </table>
                </div>
            </details>
            <div class="button-row">
                <button type="button" class="primary" on:click=ask>
                    {ask_name}
                </button>
                {label_first}
            </div>
        </section>
    }
    .into_any()
}
