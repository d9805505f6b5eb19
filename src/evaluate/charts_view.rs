//! The results of an evaluation as charts.

use std::rc::Rc;

use leptos::prelude::*;

use super::chart::{self, Axis};
use super::run::Run;
use crate::components::erased::dynamic;
use crate::components::markup::{El, all, el, path, svg};
use crate::components::text::inert_in;

/// The charts.
pub(super) fn charts(run: &Rc<Run>) -> El {
    let table = run.shown.table;
    let names = run.policy_names();
    let of_names = names.clone();
    let rewards = dynamic(move || {
        table.with(|table| {
            let axis = Axis::of_rewards(table);
            let rows = table.policies.iter().zip(&names).enumerate();
            let rows = rows.map(|(place, (row, name))| {
                let drawing = svg()
                    .attr("viewBox", "0 0 100 20")
                    .attr("preserveAspectRatio", "none")
                    .attr("role", "img")
                    .attr(
                        "aria-label",
                        format!("{name}: mean reward {}", chart::reward_words(row)),
                    )
                    .child(path().class("bar-track").attr("d", "M0 10H100"))
                    .child(
                        path()
                            .class(format!("bar series-{}", place % 6))
                            .attr("d", chart::bar(axis, row)),
                    )
                    .child(path().class("whisker").attr("d", chart::whisker(axis, row)));
                el("div")
                    .class("bar-row")
                    .child(inert_in("span", "bar-name", name))
                    .child(drawing)
                    .child(
                        el("span")
                            .class("number")
                            .attr("aria-hidden", "true")
                            .child(chart::reward_words(row)),
                    )
                    .view()
            });
            let ends = el("div")
                .class("bar-row bar-axis")
                .attr("aria-hidden", "true")
                .child(el("span"))
                .child(
                    el("span")
                        .class("axis-ends")
                        .child(el("span").child(chart::short(axis.low)))
                        .child(el("span").child(chart::short(axis.high))),
                )
                .child(el("span"));
            all(rows.chain([ends.view()]).collect())
        })
    });
    let figure = |title: &'static str, help: &'static str, content: AnyView| {
        el("figure")
            .class("card chart")
            .child(
                el("figcaption")
                    .child(el("span").class("figure-title").child(title))
                    .child(el("span").class("faint").child(help)),
            )
            .child(content)
    };
    let mut charts = el("div").class("charts").child(figure(
        "Mean reward",
        "Bars show means, lines their 95% intervals.",
        rewards,
    ));
    if run.plan.repeats > 1 {
        let passes = dynamic(move || {
            table.with(|table| {
                let curves = table.policies.iter().enumerate().flat_map(|(place, row)| {
                    let line = |kind: &str, chances: Vec<Option<f64>>| {
                        path()
                            .class(format!("{kind} series-{}", place % 6))
                            .attr("d", chart::curve(&table.tries, chances.into_iter()))
                            .view()
                    };
                    [
                        line("pass-at", row.passes.iter().map(|(at, _)| *at).collect()),
                        line(
                            "pass-all",
                            row.passes.iter().map(|(_, each)| *each).collect(),
                        ),
                    ]
                });
                let drawing = svg()
                    .class("curves")
                    .attr("viewBox", "0 0 100 100")
                    .attr("preserveAspectRatio", "none")
                    .attr("role", "img")
                    .attr(
                        "aria-label",
                        "pass@k and pass^k by number of tries. The table above lists the values.",
                    )
                    .child(
                        path()
                            .class("grid")
                            .attr("d", "M0 0H100M0 25H100M0 50H100M0 75H100M0 100H100"),
                    )
                    .child(curves.collect::<Vec<_>>());
                let legend = of_names.iter().enumerate().map(|(place, name)| {
                    el("li")
                        .child(el("span").class(format!("swatch series-{}", place % 6)))
                        .child(inert_in("span", "", name))
                        .view()
                });
                let most = table.tries.last().copied().unwrap_or(1);
                all(vec![
                    el("div")
                        .class("curves-box")
                        .child(
                            el("div")
                                .class("curves-y")
                                .attr("aria-hidden", "true")
                                .child(el("span").child("100 %"))
                                .child(el("span").child("50 %"))
                                .child(el("span").child("0 %")),
                        )
                        .child(drawing)
                        .view(),
                    el("div")
                        .class("axis-ends curves-x")
                        .attr("aria-hidden", "true")
                        .child(el("span").child("1 try"))
                        .child(el("span").child(format!("{most} tries")))
                        .view(),
                    el("ul")
                        .class("legend")
                        .child(legend.collect::<Vec<_>>())
                        .view(),
                ])
            })
        });
        charts = charts.child(figure(
            "pass@k and pass^k",
            "Solid: at least one of k tries succeeds. Dashed: all k succeed.",
            passes,
        ));
    }
    charts
}
