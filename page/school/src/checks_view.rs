//! What looks wrong in the run, with repairs; and failures to plant.

use leptos::prelude::*;
use volary_app::school::SchoolEvent;
use volary_school::findings::IN_A_ROW;
use volary_school::{Finding, Preset};

use super::state::SchoolState;

/// What the latest updates show.
#[component]
pub(super) fn Checks(state: SchoolState) -> impl IntoView {
    let found = Memo::new(move |_| state.school.with(|school| school.findings()));
    let is_early = Memo::new(move |_| state.school.with(|school| school.history.len() < IN_A_ROW));
    let rows = move || {
        let rows = found.get().into_iter().map(|finding| one(state, finding));
        rows.collect_view()
    };
    let none = move || {
        if is_early.get() {
            format!("They need {IN_A_ROW} updates.")
        } else {
            "Nothing looks wrong.".to_owned()
        }
    };
    view! {
        <section class="school-checks" aria-label="Checks">
            <h2>{"Checks"}</h2>
            <p class="help" hidden=move || !found.with(Vec::is_empty)>
                {none}
            </p>
            <ul role="list">{rows}</ul>
        </section>
    }
}

fn one(state: SchoolState, finding: Finding) -> AnyView {
    let may_repair = Memo::new(move |_| {
        state.school.with(|school| {
            let mut repaired = school.knobs.clone();
            finding.repair(&mut repaired);
            repaired != school.knobs
        })
    });
    let act = move || {
        if may_repair.get() {
            view! {
                <button type="button" on:click=move |_| state.send(SchoolEvent::Repair(finding))>
                    {format!("Repair: {}", repair(finding))}
                </button>
            }
            .into_any()
        } else {
            view! {
                <p class="help">
                    {"The knobs are right now. Train on; if it stays, the policy is stuck: begin again."}
                </p>
            }
            .into_any()
        }
    };
    view! {
        <li class="school-finding">
            <h3>{finding.label()}</h3>
            <p>{finding.explanation()}</p>
            {act}
        </li>
    }
    .into_any()
}

fn repair(finding: Finding) -> &'static str {
    match finding {
        Finding::RewardWithoutSuccess => "an honest grader",
        Finding::TrainedOnReplies => "loss mask on",
        Finding::DeadGroups => "larger groups, warmer sampling",
        Finding::NothingDiscouraged => "a baseline",
        Finding::SureAndWrong => "warmer sampling",
    }
}

/// One button for each failure.
#[component]
pub(super) fn BreakIt(state: SchoolState) -> impl IntoView {
    let buttons = Preset::ALL.map(|preset| {
        view! {
            <button type="button" on:click=move |_| state.send(SchoolEvent::Plant(preset))>
                {label(preset)}
            </button>
        }
    });
    view! {
        <section aria-label="Break it">
            <h2>{"Break it"}</h2>
            <p class="help">
                {"Each begins again with a mistake that people make. Train, watch what it does to the curve, and see whether the checks find \
                 it."}
            </p>
            <div class="button-row">{buttons.collect_view()}</div>
        </section>
    }
}

fn label(preset: Preset) -> &'static str {
    match preset {
        Preset::LeakyGrader => "Leaky grader",
        Preset::MaskOff => "Loss mask off",
        Preset::GroupsOfTwo => "Groups of 2",
        Preset::NoBaseline => "No baseline",
        Preset::ColdSampling => "Cold sampling",
    }
}
