//! A person plays against the policy: the same task, the same moves, the same grader.

use leptos::prelude::*;
use volary_app::school::SchoolEvent;
use volary_school::learnable;
use volary_school::moves::Move;

use super::samples::row;
use super::state::SchoolState;

#[component]
pub(super) fn ContestView(state: SchoolState) -> impl IntoView {
    let contest = Memo::new(move |_| state.school.with(|school| school.contest.clone()));
    let environment =
        Memo::new(move |_| state.school.with(|school| school.knobs.environment.clone()));
    let prompt = move || contest.with(|contest| contest.prompt.clone());
    let is_playing =
        move || contest.with(|contest| !contest.prompt.is_empty() && contest.policy.is_none());
    let moves = move || {
        let moves = learnable(&environment.get()).map_or(&[][..], |learnable| learnable.moves());
        moves.iter().map(|moved| form(state, *moved)).collect_view()
    };
    let person = move || {
        let person = contest.with(|contest| contest.person.clone());
        person.map(|sample| view! { <ul role="list">{row(&sample, false)}</ul> })
    };
    let policy = move || {
        let policy = contest.with(|contest| contest.policy.clone());
        policy.map(|answer| {
            let when = match answer.update {
                0 => "The agent, untrained".to_owned(),
                update => format!("The agent after {update} updates"),
            };
            view! {
                <dt>{when}</dt>
                <dd>
                    <ul role="list">{row(&answer.sample, false)}</ul>
                </dd>
            }
        })
    };
    let score = move || {
        contest.with(|contest| {
            (contest.rounds > 0).then(|| {
                format!(
                    "Solved: you {}, the agent {}, of {}.",
                    contest.person_solved, contest.policy_solved, contest.rounds
                )
            })
        })
    };
    let next = move || {
        if contest.with(|contest| contest.number == 0) {
            "Draw a task"
        } else {
            "Next task"
        }
    };
    view! {
        <section aria-label="Play against it">
            <h2>{"Play against it"}</h2>
            <p class="help">
                {"You and the agent get the same task and the same moves. It answers once you are done; it is the agent of the update that \
                 the slider shows."}
            </p>
            <div class="button-row">
                <button type="button" on:click=move |_| state.send(SchoolEvent::Challenge)>
                    {next}
                </button>
                <p class="school-prompt">{prompt}</p>
            </div>
            <Show when=is_playing>{moves}</Show>
            <p role="status" class="school-refused">
                {move || contest.with(|contest| contest.refused.clone())}
            </p>
            <dl class="school-answers">
                {move || person().map(|person| view! {
                    <dt>{"You"}</dt>
                    <dd>{person}</dd>
                })}
                {policy}
            </dl>
            <p role="status" aria-label="Score">
                {score}
            </p>
        </section>
    }
}

/// The form of a move.
fn form(state: SchoolState, moved: Move) -> AnyView {
    let written = RwSignal::new(String::new());
    let play = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let turn = moved.turn(&written.get_untracked());
        written.set(String::new());
        state.send(SchoolEvent::PlayTurn(turn));
    };
    let id = format!("move-{}", moved.label.to_lowercase());
    view! {
        <form class="school-ask" on:submit=play>
            <label for=id.clone()>{moved.label}</label>
            <input
                id=id
                type="text"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                placeholder=moved.example
                prop:value=move || written.get()
                on:input=move |event| written.set(event_target_value(&event))
            />
            <button type="submit" aria-label=format!("{}: go", moved.label)>
                {"Go"}
            </button>
        </form>
    }
    .into_any()
}
