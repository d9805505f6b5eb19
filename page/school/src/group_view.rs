//! One group, slowly: what an update does with eight samples, stage by stage.

use leptos::prelude::*;
use volary_app::school::SchoolEvent;
use volary_school::GroupRecord;
use volary_view::school::group_story::{StoryStage, explanation, number};
use volary_view::school::sample_strip::{by_change, by_probability, by_push};

use super::state::SchoolState;
use super::strip::{cell_class, strip};

#[component]
pub(super) fn GroupView(state: SchoolState) -> impl IntoView {
    let stage = RwSignal::new(StoryStage::default());
    let group = Memo::new(move |_| state.school.with(|school| school.group.clone()));
    let knobs = move || state.school.with(|school| school.knobs.clone());
    let is_training = move || state.school.with(|school| school.is_training());
    let slowly = move |_| {
        stage.set(StoryStage::default());
        state.send(SchoolEvent::Slowly);
    };
    let stages = move || {
        let buttons = StoryStage::ALL.map(|this| {
            view! {
                <button
                    type="button"
                    class="quiet small"
                    aria-pressed=move || (stage.get() == this).to_string()
                    on:click=move |_| stage.set(this)
                >
                    {this.title()}
                </button>
            }
        });
        buttons.collect_view()
    };
    let told = move || {
        group.get().map(|(update, group)| {
            let words = move || {
                state.school.with(|school| {
                    school
                        .group
                        .as_ref()
                        .map(|(_, group)| explanation(stage.get(), group, &knobs()))
                })
            };
            view! {
                <p class="help">{format!("A group of update {}.", update + 1)}</p>
                <div class="button-row" role="group" aria-label="Stages">
                    {stages()}
                </div>
                <p role="status" aria-label="Explanation">
                    {words}
                </p>
                <ul class="school-strip school-strip-legend" aria-label="Colours">
                    {move || legend(stage.get())}
                </ul>
                <div class="school-table">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">{"Sample"}</th>
                                <th scope="col">{"Reward"}</th>
                                <th scope="col">{"Advantage"}</th>
                            </tr>
                        </thead>
                        <tbody>{move || rows(&group, stage.get())}</tbody>
                    </table>
                </div>
            }
        })
    };
    view! {
        <section class="school-group" aria-label="One group, slowly">
            <h2>{"One group, slowly"}</h2>
            <p class="help">
                {"Makes one update, and shows what it did with the samples of one task."}
            </p>
            <div class="button-row">
                <button type="button" disabled=is_training on:click=slowly>
                    {"Update slowly"}
                </button>
            </div>
            {told}
        </section>
    }
}

fn legend(stage: StoryStage) -> AnyView {
    let entries = stage.legend().iter().map(|(role, meaning)| {
        view! {
            <li>
                <span class=cell_class(*role)>{*meaning}</span>
            </li>
        }
    });
    entries.collect_view().into_any()
}

fn rows(group: &GroupRecord, stage: StoryStage) -> AnyView {
    let samples = group.samples.iter().enumerate();
    let rows = samples.map(|(index, sample)| {
        let cells = match (stage, group.before.get(index), group.after.get(index)) {
            (StoryStage::Push, ..) => by_push(sample),
            (StoryStage::Change, Some(before), Some(after)) => by_change(sample, before, after),
            _ => by_probability(sample),
        };
        let shown = |from: StoryStage, value: f64| (stage >= from).then(|| number(value));
        view! {
            <tr>
                <td>{strip(cells)}</td>
                <td class="number">{shown(StoryStage::Rewards, sample.reward)}</td>
                <td class="number">{shown(StoryStage::Advantages, sample.advantage)}</td>
            </tr>
        }
    });
    rows.collect_view().into_any()
}
