//! A group: its samples with rewards, advantages and lengths, and the first difference between the best and the worst.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::training::advantage::AdvantageRule;
use volary_analysis::training::{Measure, Sample, SampleGroup, StepSummary};
use volary_core::quantity::plural;
use volary_episode::EndingKind;
use volary_view::training::{column_decimals, column_text, sample_figure_text};

use super::timeline::times;
use super::{ShownRun, Training};
use crate::compare_page;
use crate::groups::bar;
use volary_library_client::requests;
use volary_ui::text::inert;
use volary_view::review::training::texts::{advantage_text, group_facts};

pub(super) fn view(
    training: Training,
    shown: &Arc<ShownRun>,
    step: &StepSummary,
    group: &SampleGroup,
) -> AnyView {
    let samples = shown.run.samples_of(&group.samples);
    let columns: Vec<&Measure> = shown.run.measures.iter().skip(1).collect();
    let columns = columns
        .into_iter()
        .filter(|measure| samples.iter().any(|sample| sample.value(measure).is_some()));
    let columns: Vec<(&Measure, usize)> = columns
        .map(|measure| (measure, decimals(samples, measure)))
        .collect();
    let reward_decimals = decimals(samples, &Measure::Reward);
    let heads = columns.iter().map(|(measure, _)| {
        view! {
            <th scope="col" dir="auto" title=measure.about()>
                {inert(&measure.title())}
            </th>
        }
    });
    let order = group.by_reward(&shown.run.samples);
    let is_varied = !group.is_uniform() && group.reward.count > 1;
    let range = shown.run.range(&Measure::Reward).unwrap_or_default();
    let range = (range.0.min(0.0), range.1.max(0.0));
    let rows = order.into_iter().map(|place| {
        let mark = match (Some(place) == group.best, Some(place) == group.worst) {
            (true, _) if is_varied => Some("best"),
            (_, true) if is_varied => Some("worst"),
            _ => None,
        };
        let sample = &shown.run.samples[place];
        row(training, sample, &columns, reward_decimals, mark, range)
    });
    let rows = rows.collect_view();
    let (rule, left_out) = AdvantageRule::of(&shown.run, group);
    let is_said = rule != AdvantageRule::Absent && rule != AdvantageRule::NoSignal;
    let advantages = is_said.then(|| {
        let left_out = (left_out > 0).then(|| {
            let samples = plural(left_out, "sample");
            format!(" Left out: {samples} without a reward or an advantage.")
        });
        view! { <p class="run-facts">{rule.sentence()} {left_out}</p> }
    });
    let uniform = group.is_uniform().then(|| {
        view! {
            <p class="run-notice">
                {match rule {
                    AdvantageRule::NoSignal => rule.sentence(),
                    _ => "All rewards in this group are equal, so a group-relative advantage gives no learning signal.".to_owned(),
                }}
            </p>
        }
    });
    view! {
        <p class="run-facts">{group_facts(step, group)}</p>
        {uniform}
        {advantages}
        <div class="group-table">
            <table aria-label="Samples" class="sample-table">
                <thead>
                    <tr>
                        <th scope="col">{"Sample"}</th>
                        <th scope="col">{"Reward"}</th>
                        <th scope="col">{"Advantage"}</th>
                        <th scope="col" class="text-column">{"Ending"}</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {is_varied.then(|| difference(training, shown, group))}
        {times(training, shown, &group.samples)}
    }
    .into_any()
}

/// The number of decimals of a column.
fn decimals(samples: &[Sample], measure: &Measure) -> usize {
    column_decimals(samples.iter().filter_map(|sample| sample.value(measure)))
}

fn row(
    training: Training,
    sample: &Sample,
    columns: &[(&Measure, usize)],
    reward_decimals: usize,
    mark: Option<&'static str>,
    range: (f64, f64),
) -> AnyView {
    let cells = columns.iter().map(|(measure, decimals)| {
        let text = match sample.value(measure) {
            None => "–".to_owned(),
            Some(value) if measure.is_share() || measure.is_count() => {
                sample_figure_text(value, measure.is_share(), measure.is_count())
            }
            Some(value) => column_text(value, *decimals),
        };
        view! { <td class="column-number">{text}</td> }
    });
    let advantage = advantage_text(sample.advantage());
    let reward = match sample.reward {
        None => "none".to_owned(),
        Some(reward) => column_text(reward, reward_decimals),
    };
    let finite = sample.reward.filter(|reward| reward.is_finite());
    let ending = match (sample.ending(), sample.row.outcome.trim()) {
        (ending @ (EndingKind::Truncated | EndingKind::Crashed), _) => {
            view! { <span class="badge warning">{ending_word(ending)}</span> }.into_any()
        }
        (ending, "") => ending_word(ending).into_any(),
        (_, outcome) => inert(outcome),
    };
    let name = format!("Sample {}", sample.label());
    view! {
        <tr>
            <th scope="row">
                <a href=training.here().episode_hash(&sample.row.id, &[]) dir="auto">
                    {inert(&name)}
                </a>
                {mark.map(|mark| view! { <span class=format!("badge sample-{mark}")>{mark}</span> })}
            </th>
            <td class="column-number">
                {reward}
                {finite.map(|reward| bar(reward, range))}
            </td>
            <td class="column-number">{advantage}</td>
            <td>{ending}</td>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}

fn ending_word(ending: EndingKind) -> &'static str {
    match ending {
        EndingKind::Crashed => "aborted or failed",
        other => other.as_str(),
    }
}

/// The first difference between the best and the worst sample. Both are opened once the group is shown.
fn difference(training: Training, shown: &Arc<ShownRun>, group: &SampleGroup) -> AnyView {
    let (Some(best), Some(worst)) = (group.best, group.worst) else {
        return ().into_any();
    };
    let [best, worst] = [best, worst].map(|place| &shown.run.samples[place]);
    let pair = training.pair;
    let ids = [best, worst].map(|sample| sample.row.id.clone());
    let failed = RwSignal::new(None::<String>);
    let is_known = pair.pair.with_untracked(|known| {
        let known = known.as_ref();
        known.is_some_and(|(left, right)| left.id == ids[0] && right.id == ids[1])
    });
    if !is_known {
        pair.pair.set(None);
        let client = training.look.client;
        let wanted = ids.clone();
        requests::open(client, &ids[0], move |left| match left {
            Err(error) => drop(failed.try_set(Some(error.to_string()))),
            Ok(left) => requests::open(client, &wanted[1], move |right| match right {
                Err(error) => drop(failed.try_set(Some(error.to_string()))),
                // Another group may be shown by now.
                Ok(right) if failed.is_disposed() => drop(right),
                Ok(right) => pair.show(Arc::new(left), Arc::new(right), false),
            }),
        });
    }
    let compare = training.here().episode_hash(&ids[0], &[&ids[1]]);
    let labels = [best, worst].map(Sample::label);
    let keys = [
        format!("Sample {} (best)", labels[0]),
        format!("Sample {} (worst)", labels[1]),
    ];
    let content = move || match (failed.get(), pair.pair.with(Option::is_some)) {
        (Some(reason), _) => view! { <p role="alert" dir="auto">{reason}</p> }.into_any(),
        (None, false) => {
            view! { <p class="faint" role="status">{"Opening both samples…"}</p> }.into_any()
        }
        (None, true) => compare_page::first_difference(pair, ["best", "worst"]),
    };
    view! {
        <div class="run-line-of-facts">
            <h2 class="run-section">{"Best and worst"}</h2>
            <p class="difference-legend">
                <span class="left" dir="auto">
                    {inert(&keys[0])}
                </span>
                <span class="right" dir="auto">
                    {inert(&keys[1])}
                </span>
            </p>
            <a class="button small" href=compare>
                {"Compare all steps"}
            </a>
        </div>
        <section class="run-difference compare-detail" aria-label="First difference">
            {content}
        </section>
    }
    .into_any()
}
