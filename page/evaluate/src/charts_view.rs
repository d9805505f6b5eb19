//! The results of an evaluation as charts.

use std::rc::Rc;

use leptos::prelude::*;

use super::chart::{self, Axis};
use super::run::OpenRun;
use volary_ui::text::inert;

#[component]
pub(super) fn Charts(run: Rc<OpenRun>) -> impl IntoView {
    let passes = (run.plan.trials > 1).then(|| {
        view! {
            <Figure
                title="pass@k and pass^k"
                help="Solid: at least one of k trials succeeds. Dashed: all k succeed."
                chart=view! { <Passes run=Rc::clone(&run)/> }.into_any()
            />
        }
    });
    view! {
        <div class="charts">
            <Figure
                title="Mean reward"
                help="Bars show means, lines their 95% intervals."
                chart=view! { <Rewards run=Rc::clone(&run)/> }.into_any()
            />
            {passes}
        </div>
    }
}

#[component]
fn Rewards(run: Rc<OpenRun>) -> impl IntoView {
    let table = run.shown.table;
    let names = run.policy_names();
    move || {
        table.with(|table| {
            let axis = Axis::of_rewards(table);
            let rows = table.policies.iter().zip(&names).enumerate();
            let rows = rows.map(|(place, (row, name))| {
                let reward = chart::reward_words(row);
                view! {
                    <div class="bar-row">
                        <span class="bar-name" dir="auto">
                            {inert(name)}
                        </span>
                        <svg
                            viewBox="0 0 100 20"
                            preserveAspectRatio="none"
                            role="img"
                            aria-label=format!("{name}: mean reward {reward}")
                        >
                            <path class="bar-track" d={"M0 10H100"}></path>
                            <path
                                class=format!("bar series-{}", place % 6)
                                d=chart::bar(axis, row)
                            ></path>
                            <path class="whisker" d=chart::whisker(axis, row)></path>
                        </svg>
                        <span class="number" aria-hidden="true">
                            {reward}
                        </span>
                    </div>
                }
            });
            view! {
                {rows.collect_view()}
                <div class="bar-row bar-axis" aria-hidden="true">
                    <span></span>
                    <span class="axis-ends">
                        <span>{chart::short(axis.low)}</span>
                        <span>{chart::short(axis.high)}</span>
                    </span>
                    <span></span>
                </div>
            }
        })
    }
}

#[component]
fn Passes(run: Rc<OpenRun>) -> impl IntoView {
    let table = run.shown.table;
    let names = run.policy_names();
    let legend = names.iter().enumerate().map(|(place, name)| {
        view! {
            <li>
                <span class=format!("swatch series-{}", place % 6)></span>
                <span dir="auto">{inert(name)}</span>
            </li>
        }
    });
    let curves = move || {
        table.with(|table| {
            let curves = table.policies.iter().enumerate().map(|(place, row)| {
                let line = |kind: &str, chances: Vec<Option<f64>>| {
                    let class = format!("{kind} series-{}", place % 6);
                    let curve = chart::curve(&table.ks, chances.into_iter());
                    view! { <path class=class d=curve></path> }
                };
                let at = row.passes.iter().map(|(at, _)| *at).collect();
                let each = row.passes.iter().map(|(_, each)| *each).collect();
                view! {
                    {line("pass-at", at)}
                    {line("pass-all", each)}
                }
            });
            curves.collect_view()
        })
    };
    let most = move || {
        let most = table.with(|table| table.ks.last().copied().unwrap_or(1));
        format!("{most} trials")
    };
    view! {
        <div class="curves-box">
            <div class="curves-y" aria-hidden="true">
                <span>{"100%"}</span>
                <span>{"50%"}</span>
                <span>{"0%"}</span>
            </div>
            <svg
                class="curves"
                viewBox="0 0 100 100"
                preserveAspectRatio="none"
                role="img"
                aria-label="pass@k and pass^k by number of trials. The table below lists the values."
            >
                <path class="grid" d={"M0 0H100M0 25H100M0 50H100M0 75H100M0 100H100"}></path>
                {curves}
            </svg>
        </div>
        <div class="axis-ends curves-x" aria-hidden="true">
            <span>{"1 trial"}</span>
            <span>{most}</span>
        </div>
        <ul class="legend">{legend.collect_view()}</ul>
        <PassTable run/>
    }
}

/// The values of the curves as a table.
#[component]
fn PassTable(run: Rc<OpenRun>) -> impl IntoView {
    let table = run.shown.table;
    let names = run.policy_names();
    let ks = table.with_untracked(|table| table.ks.clone());
    let heads = ks.iter().flat_map(|k| {
        let all = (*k > 1).then(|| format!("pass^{k}"));
        std::iter::once(format!("pass@{k}")).chain(all)
    });
    let heads = heads.map(|head| view! { <th scope="col">{head}</th> });
    let heads = heads.collect_view();
    let rows = move || {
        table.with(|table| {
            let rows = table.policies.iter().zip(&names).map(|(row, name)| {
                let values = table
                    .ks
                    .iter()
                    .zip(&row.passes)
                    .flat_map(|(k, (at, each))| {
                        let all = (*k > 1).then(|| chart::percent(*each));
                        std::iter::once(chart::percent(*at)).chain(all)
                    });
                let values = values.map(|value| view! { <td class="number">{value}</td> });
                view! {
                    <tr>
                        <th scope="row">
                            <span dir="auto">{inert(name)}</span>
                        </th>
                        {values.collect_view()}
                    </tr>
                }
            });
            rows.collect_view()
        })
    };
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label="Table of pass@k">
            <table class="results-table">
                <caption class="visually-hidden">{"Chances of success by number of trials"}</caption>
                <thead>
                    <tr>
                        <th scope="col">{"Policy"}</th>
                        {heads}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Figure(title: &'static str, help: &'static str, chart: AnyView) -> impl IntoView {
    view! {
        <figure class="card chart">
            <figcaption>
                <span class="figure-title">{title}</span>
                <span class="faint">{help}</span>
            </figcaption>
            {chart}
        </figure>
    }
}
