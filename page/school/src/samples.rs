//! Samples of the update that is looked at.

use leptos::prelude::*;
use volary_school::record::SampleRecord;
use volary_view::school::group_story::number;
use volary_view::school::sample_strip::by_probability;

use super::curves::behaviour_class;
use super::state::SchoolState;
use super::strip::strip;

/// The number of samples that are shown.
const SHOWN: usize = 8;

#[component]
pub(super) fn Samples(state: SchoolState) -> impl IntoView {
    let samples = Memo::new(move |_| {
        state.school.with(|school| {
            let update = school.shown()?;
            let samples = school.samples.get(update as usize)?;
            Some(samples.iter().take(SHOWN).cloned().collect::<Vec<_>>())
        })
    });
    let rows = move || {
        let samples = samples.get().unwrap_or_default();
        let rows = samples.iter().map(|sample| row(sample, true));
        rows.collect_view()
    };
    let is_empty = move || samples.with(|samples| samples.is_none());
    view! {
        <section class="school-samples" aria-label="Samples">
            <h2>{"What it writes"}</h2>
            <p class="help">
                {"The task, then what the agent writes: the stronger the colour, the surer it was. Framed characters are the environment's reply."}
            </p>
            <p hidden=move || !is_empty()>{"Samples appear with the first update."}</p>
            <ul class="school-rows" role="list">
                {rows}
            </ul>
        </section>
    }
}

/// A sample, what it did, and its reward if it was given one.
pub(super) fn row(sample: &SampleRecord, is_graded: bool) -> AnyView {
    let reward = is_graded.then(|| {
        view! { <span class="faint">{format!("reward {}", number(sample.reward))}</span> }
    });
    view! {
        <li>
            {strip(by_probability(sample))}
            <span class=format!("behaviour {}", behaviour_class(sample.behaviour))>
                {sample.behaviour.label()}
            </span>
            {reward}
        </li>
    }
    .into_any()
}
