//! The figures of all updates: success and reward as lines, what the samples did as areas; and the slider over updates.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_app::school::SchoolEvent;
use volary_school::Behaviour;
use volary_view::school::plot::{HEIGHT, WIDTH, areas, line, smoothed, span, update_at, x_of};
use volary_view::school::{percent, update_sentence};

use super::state::SchoolState;
use volary_browser::element;

/// The class of a behaviour's colour.
pub(super) fn behaviour_class(behaviour: Behaviour) -> &'static str {
    match behaviour {
        Behaviour::Unfinished => "behaviour-unfinished",
        Behaviour::NoTool => "behaviour-no-tool",
        Behaviour::WrongArguments => "behaviour-wrong-arguments",
        Behaviour::IgnoredResult => "behaviour-ignored-result",
        Behaviour::Right => "behaviour-right",
    }
}

#[component]
pub(super) fn Curves(state: SchoolState) -> impl IntoView {
    let school = state.school;
    let count = Memo::new(move |_| school.with(|school| school.history.len()));
    let shown = Memo::new(move |_| school.with(|school| school.shown()));
    let select = move |update: Option<u32>| state.send(SchoolEvent::Select(update));
    let choose = move |click: MouseEvent| {
        if let Some(share) = element::click_place(&click) {
            let updates = count.get_untracked();
            select(update_at(share, span(updates), updates));
        }
    };
    let here = move || {
        shown.get().map(|update| {
            let x = x_of(update as usize, span(count.get()));
            format!("M{x:.1} 0V{HEIGHT}")
        })
    };
    let changes = move || {
        school.with(|school| {
            let span = span(school.history.len());
            let marks = school.changes.iter();
            let marks =
                marks.map(|update| format!("M{:.1} 0V{HEIGHT}", x_of(*update as usize, span)));
            marks.collect::<String>()
        })
    };
    let of_history = move |draw: fn(&[volary_school::UpdateMetrics]) -> String| {
        move || school.with(|school| draw(&school.history))
    };
    let summary = move || {
        school.with(|school| match school.history.last() {
            None => "Success over updates: no updates yet".to_owned(),
            Some(latest) => format!(
                "Success over {} updates: from {} to {}",
                school.history.len(),
                percent(school.history[0].success),
                percent(latest.success)
            ),
        })
    };
    let stacked = move || {
        let areas = school.with(|school| areas(&school.history));
        let paths = areas.into_iter().map(|(behaviour, area)| {
            view! { <path class=behaviour_class(behaviour) d=area></path> }
        });
        paths.collect_view()
    };
    let legend = move || {
        let behaviours = school.with(|school| {
            let update = school
                .shown()
                .and_then(|update| school.history.get(update as usize));
            Behaviour::ALL.map(|behaviour| {
                let share = update.map(|update| {
                    let count = update.behaviours.get(&behaviour).copied().unwrap_or(0);
                    count as f64 / update.samples.max(1) as f64
                });
                (behaviour, share)
            })
        });
        let entries = behaviours.into_iter().rev().map(|(behaviour, share)| {
            view! {
                <li title=behaviour.explanation()>
                    <span class=format!("swatch {}", behaviour_class(behaviour)) aria-hidden="true"></span>
                    {behaviour.label()}
                    <span class="faint">{share.map(|share| format!(" {}", percent(share)))}</span>
                </li>
            }
        });
        entries.collect_view()
    };
    let at = move || {
        school.with(|school| {
            let update = school.shown()?;
            let number = update + 1;
            // The line above the curves says how the latest went.
            if number == school.done() {
                return Some(format!("Update {number}, the latest"));
            }
            let metrics = school.history.get(update as usize)?;
            Some(format!("Update {number}: {}", update_sentence(metrics)))
        })
    };
    let figures = move || {
        school.with(|school| {
            let update = school.shown()?;
            let metrics = school.history.get(update as usize)?;
            Some(format!(
                "reward {:.2} · entropy {:.2} · {:.1} characters · equal rewards in {} of {} groups · weights {}",
                metrics.reward,
                metrics.entropy,
                metrics.length,
                metrics.dead_groups,
                metrics.groups,
                metrics.weights
            ))
        })
    };
    view! {
        <section class="school-curves" aria-label="Curves">
            <figure>
                <figcaption>
                    <span class="figure-title">{"Success"}</span>
                    <span class="legend-line success">{"solved, mean of five updates"}</span>
                    <span class="legend-line of-single">{"of each update"}</span>
                    <span class="legend-line of-reward">{"reward"}</span>
                </figcaption>
                <div class="school-plot">
                    <svg
                        role="img"
                        aria-label=summary
                        viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                        preserveAspectRatio="none"
                        on:click=choose
                    >
                        <path class="grid" d=format!("M0 {}H{WIDTH}", HEIGHT * 0.5)></path>
                        <path class="change" d=changes></path>
                        <path class="single" d=of_history(|history| line(history, |update| update.success))></path>
                        <path class="of-reward" d=of_history(|history| smoothed(history, |update| update.reward))></path>
                        <path class="success" d=of_history(|history| smoothed(history, |update| update.success))></path>
                        <path class="here" d=move || here().unwrap_or_default()></path>
                    </svg>
                    <span class="plot-high">{"100 %"}</span>
                    <span class="plot-middle">{"50 %"}</span>
                    <span class="plot-low">{"0"}</span>
                    <span class="plot-end">{move || format!("update {}", span(count.get()))}</span>
                </div>
            </figure>
            <figure>
                <figcaption>
                    <span class="figure-title">{"What the samples do"}</span>
                </figcaption>
                <div class="school-plot">
                    <svg
                        class="areas"
                        aria-hidden="true"
                        viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                        preserveAspectRatio="none"
                        on:click=choose
                    >
                        {stacked}
                        <path class="here" d=move || here().unwrap_or_default()></path>
                    </svg>
                </div>
                <ul class="school-legend" aria-label="What the samples do">
                    {legend}
                </ul>
            </figure>
            <div class="school-slider">
                <label for="school-update">{"Update"}</label>
                <input
                    id="school-update"
                    type="range"
                    min="1"
                    max=move || count.get().max(1)
                    disabled=move || count.get() == 0
                    prop:value=move || shown.get().map_or(1, |update| update + 1).to_string()
                    on:input=move |event| {
                        let update = event_target_value(&event).parse::<u32>().ok();
                        select(update.and_then(|update| update.checked_sub(1)));
                    }
                />
                <output for="school-update">{at}</output>
                <button
                    type="button"
                    class="quiet small"
                    hidden=move || school.with(|school| school.selected.is_none())
                    on:click=move |_| select(None)
                >
                    {"Follow the latest"}
                </button>
            </div>
            <p class="faint school-figures">{figures}</p>
        </section>
    }
}
