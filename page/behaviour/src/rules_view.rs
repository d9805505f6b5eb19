//! Rules: proposed from a labelled step, checked against all rows and their labels, edited, saved and loaded.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::behaviour::rules::{Rule, RuleFit};
use volary_analysis::table::{Column, Row};
use volary_app::behaviour::labelled::{LabelledStep, is_labelled, labelled_steps};
use volary_app::behaviour::rule_book::RankedRule;
use volary_app::behaviour::{BehaviourEvent, BehaviourJob, RowNarrowing};
use volary_app::notice::Notice;
use volary_browser::{files, spawn};
use volary_core::json::Text;
use volary_core::quantity::plural;
use volary_ui::AlertBox;
use volary_ui::text::inert;
use volary_view::library::cell_text;
use volary_view::review::behaviour_map::share_text;

use super::rule_file;
use super::rule_form::rule_form;
use super::state::BehaviourState;
use super::work_view::work_view;

/// The maximum number of labelled steps that are offered.
const MOST_STEPS: usize = 200;

#[component]
pub(super) fn RulesView(state: BehaviourState) -> impl IntoView {
    let notice = RwSignal::new(None::<Notice>);
    let progress = state.progress(|behaviour| &behaviour.rules.checked);
    let checking = move || {
        let what = "The rules could not be checked.";
        progress.with(|work| work_view(state, BehaviourJob::Check, what, work))
    };
    view! {
        <p class="help">
            {"A rule says what agents must not do. Label a step of an open trajectory with the keys 1 to \
              9; rules that match it are proposed here, and checked against all rows of the table. Save \
              the rules for volary assert, which checks new runs."}
        </p>
        <AlertBox notice/>
        <Proposing state/>
        <Proposals state/>
        {checking}
        <OwnRules state notice/>
    }
}

/// The rows of the table, and whether each is an instance of a label.
fn judged_rows(state: BehaviourState, label: Option<&str>) -> Vec<(Text, Option<bool>)> {
    let is_bad = |row: &Row| match label {
        Some(label) => is_labelled(row, label),
        // Without a label, a rule is compared with failures, as `volary assert` does.
        None => row.succeeded().map(|succeeded| !succeeded),
    };
    state.inputs.shown.with_untracked(|rows| {
        let rows = rows.iter().map(|row| (row.id.clone(), is_bad(row)));
        rows.collect()
    })
}

/// Checks all rules against the rows of the table.
fn check(state: BehaviourState) {
    let label = state.state.with_untracked(|behaviour| {
        let labelled = behaviour.rules.labelled.as_ref();
        labelled.map(|step| step.label.clone())
    });
    let rows = judged_rows(state, label.as_deref());
    state.update(BehaviourEvent::CheckRules(rows));
}

/// The choice of a labelled step.
#[component]
fn Proposing(state: BehaviourState) -> impl IntoView {
    let inputs = state.inputs;
    let steps = Memo::new(move |_| {
        let rows = inputs.shown.get();
        inputs
            .notes
            .with(|notes| labelled_steps(notes, &rows))
            .into_iter()
            .take(MOST_STEPS)
            .collect::<Vec<LabelledStep>>()
    });
    let chosen = RwSignal::new(0_usize);
    let options = move || {
        let rows = inputs.shown.get_untracked();
        let steps = steps.get().into_iter().enumerate();
        let options = steps.map(|(place, step)| {
            let name = rows.iter().find(|row| row.id == step.episode);
            let name = name.map_or_else(
                || step.episode.to_string(),
                |row| cell_text(row, &Column::Name),
            );
            let text = format!("{}: {name}, step {}", step.label, step.step);
            view! {
                <option value=place.to_string() prop:selected=move || chosen.get() == place>
                    {inert(&text)}
                </option>
            }
        });
        options.collect_view()
    };
    let propose = move |_| {
        let step = steps.with_untracked(|steps| steps.get(chosen.get_untracked()).cloned());
        if let Some(step) = step {
            let rows = judged_rows(state, Some(&step.label));
            state.update(BehaviourEvent::Propose(step, rows));
        }
    };
    view! {
        <Show
            when=move || steps.with(|steps| !steps.is_empty())
            fallback=|| {
                view! {
                    <p class="faint">
                        {"No step of these trajectories has a label yet. Open one, select a step and press 1."}
                    </p>
                }
            }
        >
            <div class="behaviour-controls">
                <label class="group-choice">
                    <span>{"Labelled step"}</span>
                    <select on:change=move |event| {
                        chosen.set(event_target_value(&event).parse().unwrap_or_default());
                    }>{options}</select>
                </label>
                <button type="button" on:click=propose>
                    {"Propose rules"}
                </button>
            </div>
        </Show>
    }
}

/// The proposed rules, with what was found for each.
#[component]
fn Proposals(state: BehaviourState) -> impl IntoView {
    let proposed = state.result(|behaviour| &behaviour.rules.proposals);
    let progress = state.progress(|behaviour| &behaviour.rules.proposals);
    let work = move || {
        let what = "No rules could be proposed.";
        progress.with(|work| work_view(state, BehaviourJob::Proposals, what, work))
    };
    let ranked = Memo::new(move |_| state.state.with(|behaviour| behaviour.rules.ranked()));
    let label = Memo::new(move |_| {
        state.state.with(|behaviour| {
            let labelled = behaviour.rules.labelled.as_ref();
            labelled.map(|step| step.label.clone()).unwrap_or_default()
        })
    });
    let about = move || {
        inert(&format!(
            "Precision and recall are against the label “{}”: rows with other notes only count as without \
             it, and rows without notes do not count.",
            label.get()
        ))
    };
    let items = move || {
        let ranked = ranked.get().into_iter();
        ranked.map(|ranked| proposal(state, &ranked)).collect_view()
    };
    view! {
        {work}
        <Show when=move || proposed.with(Option::is_some)>
            <h2>{"Proposed rules"}</h2>
            <p class="help" dir="auto">
                {about}
            </p>
            <ul class="rule-list" aria-label="Proposed rules">
                {items}
            </ul>
        </Show>
    }
}

fn proposal(state: BehaviourState, ranked: &RankedRule) -> AnyView {
    let RankedRule {
        place,
        rule,
        fit,
        is_taken,
    } = ranked;
    let (place, is_taken) = (*place, *is_taken);
    let name = title(rule);
    view! {
        <li class="rule">
            <div class="rule-head">
                <span dir="auto">{inert(&name)}</span>
                <button
                    type="button"
                    class="small"
                    disabled=is_taken
                    aria-label=format!("Add the rule: {name}")
                    on:click=move |_| state.update(BehaviourEvent::TakeRule(place))
                >
                    {if is_taken { "Added" } else { "Add" }}
                </button>
            </div>
            {fit.map(|fit| fit_view(state, rule, fit))}
        </li>
    }
    .into_any()
}

fn title(rule: &Rule) -> String {
    if rule.title.is_empty() {
        rule.id.to_string()
    } else {
        rule.title.to_string()
    }
}

/// How many rows match, and how well that agrees with the labels.
fn fit_view(state: BehaviourState, rule: &Rule, fit: RuleFit) -> AnyView {
    let rate = |name: &str, rate: Option<f64>| {
        let rate = rate.map(|rate| format!("{:.0} %", rate * 100.0));
        format!("{name} {}", rate.unwrap_or_else(|| "unknown".to_owned()))
    };
    let figures = format!(
        "{} of {} ({}), {}, {}",
        fit.matching,
        plural(fit.rows, "trajectory"),
        share_text(fit.matching, fit.rows),
        rate("precision", fit.precision()),
        rate("recall", fit.recall()),
    );
    let name = title(rule);
    let label = format!("Show only the matches of: {name}");
    let rule = rule.clone();
    let narrow = move |_| {
        let ids = state.state.with_untracked(|behaviour| {
            let outcome = behaviour.rules.outcome(&rule)?;
            Some(outcome.hits.iter().map(|(id, _)| id.clone()).collect())
        });
        if let Some(ids) = ids {
            state.inputs.link.narrowed.set(Some(RowNarrowing {
                label: format!("Rule: {name}"),
                ids: Arc::new(ids),
                // Rules are in a file of their own.
                named: None,
            }));
        }
    };
    view! {
        <p class="rule-fit">
            <span>{figures}</span>
            <button
                type="button"
                class="quiet small"
                disabled=fit.matching == 0
                aria-label=label
                on:click=narrow
            >
                {"Show only these"}
            </button>
        </p>
    }
    .into_any()
}

/// The user's rules.
#[component]
fn OwnRules(state: BehaviourState, notice: RwSignal<Option<Notice>>) -> impl IntoView {
    // The forms are drawn again when a rule is added or removed, not while one is typed.
    let ids = Memo::new(move |former: Option<&(usize, usize)>| {
        let count = state.state.with(|behaviour| behaviour.rules.own.len());
        match former {
            Some((known, edition)) if *known == count => (count, *edition),
            Some((_, edition)) => (count, edition + 1),
            None => (count, 0),
        }
    });
    let list = move || {
        let (count, _) = ids.get();
        (0..count)
            .map(|place| own_rule(state, place))
            .collect_view()
    };
    let problem = move || {
        let problem = state.state.with(|behaviour| {
            let rules = &behaviour.rules;
            (!rules.own.is_empty()).then(|| rules.problem()).flatten()
        });
        problem.map(|problem| {
            view! {
                <p class="refused-filter" role="alert">
                    {problem.to_string()}
                </p>
            }
        })
    };
    let can_save = Memo::new(move |_| {
        state
            .state
            .with(|behaviour| behaviour.rules.problem().is_none())
    });
    let save = move |_| {
        let text = state
            .state
            .with_untracked(|behaviour| behaviour.rules.to_toml());
        rule_file::save(&text);
    };
    let load = move |_| {
        files::pick(".toml", move |files| {
            spawn(async move {
                for file in files {
                    match rule_file::read(&file).await {
                        Ok(rules) => state.update(BehaviourEvent::Load(rules)),
                        Err(refused) => notice.set(Some(refused)),
                    }
                }
            });
        });
    };
    let label = move || {
        let count = state.inputs.shown.with(|rows| rows.len());
        format!("Check against {}", plural(count, "trajectory"))
    };
    view! {
        <h2>{"Your rules"}</h2>
        <ul class="rule-list" aria-label="Your rules">
            {list}
        </ul>
        {problem}
        <div class="behaviour-controls">
            <button type="button" on:click=move |_| state.update(BehaviourEvent::AddRule)>
                {"New rule"}
            </button>
            <button type="button" on:click=load>
                {"Load rules"}
            </button>
            <button type="button" disabled=move || !can_save.get() on:click=move |_| check(state)>
                {label}
            </button>
            <button type="button" class="primary" disabled=move || !can_save.get() on:click=save>
                {"Save rules.toml"}
            </button>
        </div>
    }
}

fn own_rule(state: BehaviourState, place: usize) -> AnyView {
    let rule = Memo::new(move |_| {
        state
            .state
            .with(|behaviour| behaviour.rules.own.get(place).cloned())
            .unwrap_or_default()
    });
    let name = move || rule.with(title);
    let fit = Memo::new(move |_| {
        state.state.with(|behaviour| {
            let rule = behaviour.rules.own.get(place)?;
            behaviour.rules.outcome(rule).map(|outcome| outcome.fit)
        })
    });
    let outcome = move || {
        let fit = fit.get()?;
        Some(rule.with(|rule| fit_view(state, rule, fit)))
    };
    let form = rule.with_untracked(|rule| rule_form(state, place, rule));
    let has_no_condition =
        rule.with_untracked(|rule| rule.when.is_none() && rule.changes.is_none());
    view! {
        <li class="rule">
            <details open=has_no_condition>
                <summary dir="auto">{move || inert(&name())}</summary>
                {form}
            </details>
            {outcome}
            <button
                type="button"
                class="quiet small rule-remove"
                aria-label=move || format!("Remove the rule: {}", rule.with(title))
                on:click=move |_| state.update(BehaviourEvent::RemoveRule(place))
            >
                {"Remove"}
            </button>
        </li>
    }
    .into_any()
}
