//! Questions to the policy: a prompt of one's own, and exams.

use leptos::prelude::*;
use volary_app::school::{EXAM_TASKS, Exam, SchoolEvent};
use volary_school::Difficulty;
use volary_view::school::percent;

use super::samples::row;
use super::state::SchoolState;

/// Asks the policies of several updates the same.
#[component]
pub(super) fn Ask(state: SchoolState) -> impl IntoView {
    let given = RwSignal::new(None::<String>);
    let prompt = move || {
        given
            .get()
            .unwrap_or_else(|| state.school.with(|school| school.prompt.clone()))
    };
    let answers = Memo::new(move |_| state.school.with(|school| school.answers.clone()));
    let ask = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        state.send(SchoolEvent::Ask {
            prompt: untrack(prompt),
        });
    };
    let rows = move || {
        let answers = answers.get().into_iter().map(|answer| {
            let when = match answer.update {
                0 => "untrained".to_owned(),
                update => format!("after {update}"),
            };
            view! {
                <dt>{when}</dt>
                <dd>
                    <ul role="list">{row(&answer.sample, false)}</ul>
                </dd>
            }
        });
        answers.collect_view()
    };
    view! {
        <section aria-label="Ask it">
            <h2>{"Ask it"}</h2>
            <p class="help">
                {"The same task to the agent before training, and after 10, 40, 180 and all updates so far."}
            </p>
            <form class="school-ask" on:submit=ask>
                <label for="school-prompt">{"Task"}</label>
                <input
                    id="school-prompt"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=prompt
                    on:input=move |event| given.set(Some(event_target_value(&event)))
                />
                <button type="submit">{"Ask"}</button>
            </form>
            <dl class="school-answers">{rows}</dl>
        </section>
    }
}

/// Tests the policy on new tasks, and on harder ones.
#[component]
pub(super) fn Exams(state: SchoolState) -> impl IntoView {
    let exams = Memo::new(move |_| state.school.with(|school| school.exams.clone()));
    let examine = move |difficulty| move |_| state.send(SchoolEvent::Examine(difficulty));
    let rows = move || exams.get().iter().map(result).collect_view();
    view! {
        <section aria-label="Test it">
            <h2>{"Test it"}</h2>
            <p class="help">
                {"On tasks that it has not seen, and on larger ones than it was ever trained on."}
            </p>
            <div class="button-row">
                <button type="button" on:click=examine(Difficulty::Trained)>
                    {"New tasks"}
                </button>
                <button type="button" on:click=examine(Difficulty::Beyond)>
                    {"Harder tasks"}
                </button>
            </div>
            <ul class="school-exams" role="list">
                {rows}
            </ul>
        </section>
    }
}

fn result(exam: &Exam) -> AnyView {
    let kind = match exam.difficulty {
        Difficulty::Trained => "new tasks",
        Difficulty::Beyond => "tasks beyond its training",
    };
    let fault = exam
        .samples
        .iter()
        .find(|sample| sample.behaviour != volary_school::Behaviour::Right);
    let title = format!(
        "After {} updates: {} of {EXAM_TASKS} {kind}",
        exam.update,
        percent(exam.success)
    );
    view! {
        <li>
            <p>{title}</p>
            <ul role="list">{fault.map(|sample| row(sample, false))}</ul>
        </li>
    }
    .into_any()
}
