//! Stores samples as trajectories, so that Review shows the run.

use leptos::prelude::*;
use volary_app::school::SchoolEvent;

use super::state::SchoolState;

/// Numbers of groups of each update, with labels.
const CHOICES: [(u32, &str); 4] = [
    (0, "none"),
    (2, "2 tasks of each update"),
    (4, "4 tasks of each update"),
    (16, "16 tasks of each update"),
];

#[component]
pub(super) fn StoringView(state: SchoolState) -> impl IntoView {
    let storing = Memo::new(move |_| state.school.with(|school| school.storing));
    let options = CHOICES.map(|(groups, label)| {
        view! { <option value=groups>{label}</option> }
    });
    let choose = move |event| {
        let groups = event_target_value(&event).parse().unwrap_or(0);
        state.send(SchoolEvent::Store(groups));
    };
    let count = move || {
        let episodes = storing.get().episodes;
        (episodes > 0).then(|| {
            view! {
                <p>
                    {format!("{episodes} trajectories are stored. ")}
                    <a href="#/review">{"Open Review"}</a>
                </p>
            }
        })
    };
    view! {
        <section aria-label="Keep it">
            <h2>{"Read it in Review"}</h2>
            <p class="help">
                {"Stores samples as ordinary trajectories with tokens, loss mask, log probabilities and rewards: Review shows them as a \
                 training run, colours tokens, checks and compares, and exports them."}
            </p>
            <label class="school-storing">
                {"Store "}
                <select prop:value=move || storing.get().groups.to_string() on:change=choose>
                    {options.collect_view()}
                </select>
            </label>
            {count}
        </section>
    }
}
