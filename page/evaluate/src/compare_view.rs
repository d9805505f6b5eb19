//! Compares two policies, of one evaluation or of two, on the tasks that both finished.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::episode_id;
use volary_analysis::statistics::Paired;
use volary_app::evaluation::Kept;
use volary_app::evaluation::comparison::{ComparedMeasure, Comparison, Side, TaskPair};
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_view::route::{ReviewPlace, Route};

use super::chart::{percent, short};
use volary_browser as browser;
use volary_storage::evaluations as kept;
use volary_ui::rows::Rows;
use volary_ui::text::inert;

/// The height of a row in pixels, as in the style sheet.
const ROW: f64 = 40.0;

/// The evaluations to compare, once they are loaded.
#[derive(Clone)]
enum Loaded {
    Loading,
    Both(Rc<Kept>, Rc<Kept>),
    Failed(String),
}

#[component]
pub(super) fn ComparePage(
    /// The id of the baseline.
    first: String,
    /// The id of the other evaluation; it may be the same.
    second: String,
) -> impl IntoView {
    let loaded = RwSignal::new_local(Loaded::Loading);
    browser::spawn(async move {
        let load = async |id: &str| match kept::load(id).await {
            Ok(Some(kept)) => Ok(Rc::new(kept)),
            Ok(None) => Err("An evaluation was deleted or belongs to another browser.".to_owned()),
            Err(error) => Err(format!("{error} {}", error.advice())),
        };
        let now = match (load(&first).await, load(&second).await) {
            (Ok(first), Ok(second)) => Loaded::Both(first, second),
            (Err(why), _) | (_, Err(why)) => Loaded::Failed(why),
        };
        // If the user left meanwhile, the signal is disposed of.
        loaded.try_set(now);
    });
    let content = move || match loaded.get() {
        Loaded::Loading => view! {
            <p class="faint" role="status">
                "Loading…"
            </p>
        }
        .into_any(),
        Loaded::Failed(why) => view! {
            <div class="alert" role="alert">
                <p class="alert-what">{"The evaluations cannot be compared."}</p>
                <p>{why}</p>
            </div>
        }
        .into_any(),
        Loaded::Both(first, second) => view! { <Compared first second/> }.into_any(),
    };
    view! {
        <div class="evaluation comparison">
            <header class="evaluation-head">
                <a class="back-link" href="#/evaluate">
                    {"All evaluations"}
                </a>
                <h1 class="evaluation-title">{"Compare"}</h1>
            </header>
            {content}
        </div>
    }
}

#[component]
fn Compared(first: Rc<Kept>, second: Rc<Kept>) -> impl IntoView {
    let first_policy = RwSignal::new(0);
    let second_policy = RwSignal::new(preselected(&first, &second));
    let measure = RwSignal::new(ComparedMeasure::Reward);
    let names = [Rc::clone(&first), Rc::clone(&second)];
    let policy_name = move |side: usize, policy: usize| {
        let kept = names.get(side);
        let policy = kept.and_then(|kept| kept.plan.policies.get(policy));
        policy
            .map(|policy| policy.name.to_string())
            .unwrap_or_default()
    };
    let (first_options, second_options) = (policy_options(&first), policy_options(&second));
    let ids = (first.head.id.clone(), second.head.id.clone());
    let comparison = RwSignal::new(Comparison::default());
    let edition = RwSignal::new(0_u32);
    Effect::new(move |_| {
        let side = |kept: &Rc<Kept>, policy| (Rc::clone(kept), policy);
        let (first, at) = side(&first, first_policy.get());
        let (second, other) = side(&second, second_policy.get());
        let compared = Comparison::new(
            Side {
                plan: &first.plan,
                results: &first.results,
                policy: at,
            },
            Side {
                plan: &second.plan,
                results: &second.results,
                policy: other,
            },
            measure.get(),
        );
        comparison.set(compared);
        edition.update(|edition| *edition += 1);
    });
    let policy_name = StoredValue::new_local(policy_name);
    let verdict = move || {
        let names = policy_name
            .with_value(|name| (name(0, first_policy.get()), name(1, second_policy.get())));
        comparison.with(|comparison| verdict_words(comparison, measure.get(), &names.0, &names.1))
    };
    let pick = |policy: RwSignal<usize>| {
        move |event| policy.set(event_target_value(&event).parse().unwrap_or_default())
    };
    let body = Rows {
        count: Signal::derive(move || comparison.with(|comparison| comparison.pairs.len())),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(|| None),
        role: "rowgroup",
        class: "task-rows",
        name: None,
    }
    .view(move |row| {
        let pair = comparison.with_untracked(|comparison| comparison.pairs.get(row).cloned());
        pair.map(|pair| pair_row(&ids, &pair)).into_any()
    });
    view! {
        <section class="card" aria-label="Sides">
            <div class="task-controls">
                <label>
                    <span>{"Baseline"}</span>
                    <select
                        prop:value=move || first_policy.get().to_string()
                        on:change=pick(first_policy)
                    >
                        {first_options}
                    </select>
                </label>
                <label>
                    <span>{"Compared with"}</span>
                    <select
                        prop:value=move || second_policy.get().to_string()
                        on:change=pick(second_policy)
                    >
                        {second_options}
                    </select>
                </label>
                <label>
                    <span>{"Measure"}</span>
                    <select on:change=move |event| {
                        measure.set(match event_target_value(&event).as_str() {
                            "success" => ComparedMeasure::Success,
                            _ => ComparedMeasure::Reward,
                        });
                    }>
                        <option value="reward">{"Mean reward"}</option>
                        <option value="success">{"Success rate"}</option>
                    </select>
                </label>
            </div>
        </section>
        <section class="card" aria-label="Paired difference">
            <h2>{"Paired difference"}</h2>
            <div class="comparison-verdict" role="status" aria-label="Comparison">
                {move || {
                    let lines = verdict().into_iter();
                    lines.map(|line| view! { <p dir="auto">{inert(&line)}</p> }).collect_view()
                }}
            </div>
        </section>
        <section class="card tasks" aria-label="By task">
            <h2>{"By task"}</h2>
            <p class="faint">{"The largest differences first. A task opens the episodes of both side by side."}</p>
            <div class="task-table" role="table" aria-label="Tasks of both">
                <div class="task-head" role="rowgroup">
                    <div class="task-row" role="row">
                        <div role="columnheader">{"Task"}</div>
                        <div role="columnheader">{"Baseline"}</div>
                        <div role="columnheader">{"Compared"}</div>
                        <div role="columnheader">{"Difference"}</div>
                    </div>
                </div>
                {body}
            </div>
        </section>
    }
}

/// The policy to compare with the first policy of the baseline: the one of the same name, or another one if both are of
/// one evaluation.
fn preselected(first: &Kept, second: &Kept) -> usize {
    if first.head.id == second.head.id {
        return 1.min(second.plan.policies.len().saturating_sub(1));
    }
    let name = first.plan.policies.first().map(|policy| &policy.name);
    let mut policies = second.plan.policies.iter();
    let like = policies.position(|policy| Some(&policy.name) == name);
    like.unwrap_or(0)
}

fn policy_options(kept: &Kept) -> AnyView {
    let policies = kept.plan.policies.iter().enumerate();
    policies
        .map(|(place, policy)| {
            let words = format!("{} · {}", policy.name, kept.head.name);
            view! { <option value=place.to_string()>{words}</option> }
        })
        .collect_view()
        .into_any()
}

/// The row of a task, with a link that shows the episodes of both side by side.
fn pair_row(ids: &(Text, Text), pair: &TaskPair) -> AnyView {
    let place = ReviewPlace {
        episode: Some(episode_id(&ids.0, pair.cells.0).to_string()),
        beside: vec![episode_id(&ids.1, pair.cells.1).to_string()],
        ..ReviewPlace::default()
    };
    let difference = pair.difference();
    let class = match difference {
        difference if difference > 0.0 => "number win",
        difference if difference < 0.0 => "number loss",
        _ => "number",
    };
    view! {
        <div class="task-row" role="row">
            <div role="rowheader">
                <a class="task-title" href=Route::Review(place).to_hash()>
                    <span dir="auto">{inert(&pair.title)}</span>
                </a>
            </div>
            <div role="cell" class="number">
                {short(pair.first)}
            </div>
            <div role="cell" class="number">
                {short(pair.second)}
            </div>
            <div role="cell" class=class>
                {signed(difference)}
            </div>
        </div>
    }
    .into_any()
}

/// The findings of the comparison, one sentence each.
fn verdict_words(
    comparison: &Comparison,
    measure: ComparedMeasure,
    first: &str,
    second: &str,
) -> Vec<String> {
    let (Some(paired), Some((before, after))) = (comparison.paired, comparison.means()) else {
        return vec![
            "No task was finished by both. Only tasks with the same configuration can be compared: \
             duplicate an evaluation to run the same tasks with another policy."
                .to_owned(),
        ];
    };
    let Paired {
        difference,
        wins,
        ties,
        losses,
        p_value: p,
    } = paired;
    let value = |value: f64| match measure {
        ComparedMeasure::Reward => short(value),
        ComparedMeasure::Success => percent(Some(value)),
    };
    let name = match measure {
        ComparedMeasure::Reward => "Mean reward",
        ComparedMeasure::Success => "Success rate",
    };
    let mut lines = vec![format!(
        "{name} on {}: {first} {}, {second} {}.",
        plural(comparison.pairs.len(), "task"),
        value(before),
        value(after),
    )];
    lines.push(match difference.low.zip(difference.high) {
        Some((low, high)) => format!(
            "Difference {} (95% interval {} to {}).",
            signed(difference.mean),
            signed(low),
            signed(high)
        ),
        None => format!("Difference {}.", signed(difference.mean)),
    });
    lines.push(format!(
        "{second} is better on {}, equal on {}, worse on {}; sign test p = {}.",
        count_text(wins),
        count_text(ties),
        count_text(losses),
        p_words(p)
    ));
    let decided = difference.low.zip(difference.high);
    lines.push(match decided {
        Some((low, _)) if low > 0.0 => format!("{second} is better on these tasks."),
        Some((_, high)) if high < 0.0 => format!("{first} is better on these tasks."),
        _ => "These tasks do not show which one is better.".to_owned(),
    });
    if comparison.unpaired > 0 {
        lines.push(format!(
            "Left out: {} without a result on the other side.",
            plural(comparison.unpaired, "task")
        ));
    }
    lines
}

/// Formats a difference. One that rounds to zero has no sign.
fn signed(value: f64) -> String {
    let text = short(value);
    if value > 0.0 && text != short(0.0) {
        format!("+{text}")
    } else {
        text
    }
}

fn p_words(p: f64) -> String {
    if p < 0.001 {
        "less than 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::plan::Pace;
    use volary_agent::evaluation::{Actor, Plan, PlannedPolicy};
    use volary_app::evaluation::Head;

    use super::*;

    fn compared(pairs: &[(f64, f64)]) -> Comparison {
        Comparison {
            pairs: pairs
                .iter()
                .map(|(first, second)| TaskPair {
                    title: "T".into(),
                    first: *first,
                    second: *second,
                    cells: (0, 0),
                })
                .collect(),
            unpaired: 2,
            paired: Paired::of(
                &pairs
                    .iter()
                    .map(|(first, second)| (*second, *first))
                    .collect::<Vec<_>>(),
                0.95,
            ),
        }
    }

    #[test]
    fn a_verdict_needs_an_interval_that_excludes_0() {
        let words = |pairs: &[(f64, f64)]| {
            verdict_words(&compared(pairs), ComparedMeasure::Reward, "A", "B")
        };
        let better = words(&[(0.0, 1.0), (0.0, 0.9), (0.0, 1.0)]);
        assert_eq!(better[0], "Mean reward on 3 tasks: A 0.0, B 0.967.");
        assert!(
            better[1].starts_with("Difference +0.967 (95% interval +0.8"),
            "{better:?}"
        );
        assert_eq!(
            better[2],
            "B is better on 3, equal on 0, worse on 0; sign test p = 0.250."
        );
        assert_eq!(better[3], "B is better on these tasks.");
        assert_eq!(
            better[4],
            "Left out: 2 tasks without a result on the other side."
        );
        let open = words(&[(0.0, 1.0), (1.0, 0.0)]);
        assert_eq!(open[3], "These tasks do not show which one is better.");
        assert!(words(&[])[0].starts_with("No task was finished by both."));
        assert_eq!(p_words(0.000_5), "less than 0.001");
    }

    #[test]
    fn differences_have_a_sign_unless_they_round_to_zero() {
        for (value, text) in [
            (0.5, "+0.5"),
            (-0.5, "-0.5"),
            (0.0, "0.0"),
            (0.0004, "0.0"),
            (-0.0004, "0.0"),
            (0.0005, "+0.001"),
        ] {
            assert_eq!(signed(value), text, "{value}");
        }
    }

    #[test]
    fn success_is_compared_in_percent() {
        let mut comparison = compared(&[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (1.0, 1.0)]);
        comparison.unpaired = 0;
        let words = verdict_words(&comparison, ComparedMeasure::Success, "A", "B");
        assert_eq!(words[0], "Success rate on 4 tasks: A 25%, B 100%.");
        assert_eq!(words.len(), 4);
    }

    #[test]
    fn the_baseline_can_be_the_better_one() {
        let worse = [(1.0, 0.0), (0.9, 0.0), (1.0, 0.0)];
        let words = verdict_words(&compared(&worse), ComparedMeasure::Reward, "A", "B");
        assert_eq!(words[3], "A is better on these tasks.");
    }

    fn kept(id: &str, policies: &[&str]) -> Kept {
        let policies = policies.iter().map(|name| PlannedPolicy {
            name: (*name).into(),
            actor: Actor::Random,
            max_steps: 5,
        });
        Kept {
            head: Head {
                id: id.into(),
                name: id.into(),
                ..Head::default()
            },
            plan: Plan {
                name: id.into(),
                dataset: None,
                tasks: Vec::new(),
                policies: policies.collect(),
                trials: 1,
                seed: 1,
                success: 1.0,
                pace: Pace::default(),
            },
            results: Vec::new(),
            drafts: Vec::new(),
        }
    }

    #[test]
    fn the_same_policy_of_the_other_evaluation_is_preselected() {
        let first = kept("a", &["random", "large"]);
        for (second, place) in [
            (kept("b", &["small", "random"]), 1),
            (kept("b", &["small", "large"]), 0),
            (kept("b", &[]), 0),
            // Within one evaluation, another policy.
            (kept("a", &["random", "large"]), 1),
            (kept("a", &["random"]), 0),
        ] {
            assert_eq!(preselected(&first, &second), place);
        }
    }
}
