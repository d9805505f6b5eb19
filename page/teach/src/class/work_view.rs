//! A pupil's page: the tasks of an assignment with their states, each to play, and handing in.

use std::sync::Arc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::class::work_desk::WorkDesk;
use volary_classroom::work::Delivery;
use volary_classroom::{Assignment, Name, Standing, TaskState};
use volary_core::quantity::plural;

use super::board_rows::standing_words;
use super::desk::Desk;
use super::{service, start};
use crate::learn::player::{EpisodePlayer, Workbench};
use crate::learn::player_view::PlayView;
use volary_browser::{element, timers};
use volary_playground::state::use_playground;
use volary_ui::alert_box::AlertWords;
use volary_ui::field::Field;
use volary_ui::text::inert;
use volary_ui::{Glyph, Icon};

/// A pupil's work on an assignment.
#[component]
pub fn WorkView(assignment: Arc<Assignment>) -> impl IntoView {
    let desk = Desk::open(Arc::clone(&assignment));
    let workbench = Workbench::new(use_playground());
    let tasks = assignment.tasks.iter().enumerate();
    let entries = tasks.clone().map(|(place, task)| {
        let title = task.title.to_string();
        view! { <TaskEntry desk place title/> }
    });
    let cards = tasks.map(|(place, _)| {
        let player = EpisodePlayer::new(workbench);
        desk.follow(place, player);
        view! { <TaskCard desk place player/> }
    });
    let deadline = assignment.deadline.to_string();
    let deadline = (!deadline.is_empty()).then(|| {
        view! {
            <p class="class-deadline" dir="auto">
                {"Hand in: "} {inert(&deadline)}
            </p>
        }
    });
    let count = assignment.tasks.len();
    let progress = move || {
        let solved = desk.state.with(|desk| {
            let tasks = 0..count;
            tasks
                .filter(|place| desk.standing(*place).is_solved())
                .count()
        });
        format!("{solved} of {} solved", plural(count, "task"))
    };
    view! {
        <article class="lesson class-work">
            <h1 dir="auto">{inert(assignment.title.as_str())}</h1>
            {deadline}
            <section class="class-overview" aria-label="Tasks">
                <p class="help" role="status">
                    {progress}
                </p>
                <ol role="list" class="class-tasks">
                    {entries.collect_view()}
                </ol>
            </section>
            {cards.collect_view()}
            <HandInPanel desk/>
        </article>
    }
}

/// A task in the overview: a button that leads to it, and its state.
#[component]
fn TaskEntry(desk: Desk, place: usize, title: String) -> impl IntoView {
    view! {
        <li>
            <button
                type="button"
                class="class-task"
                on:click=move |_| element::scroll_to_id(&card_id(place))
            >
                <span class="class-task-title" dir="auto">
                    {format!("{}. ", place + 1)} {inert(&title)}
                </span>
                {move || standing_badge(&desk.state.with(|desk| desk.standing(place)))}
            </button>
        </li>
    }
}

fn standing_badge(standing: &Standing) -> impl IntoView + use<> {
    let is_solved = standing.is_solved();
    let class = match (is_solved, standing.state) {
        (true, _) => "badge good",
        (_, TaskState::Truncated) => "badge notice",
        (_, TaskState::Crashed) => "badge bad",
        _ => "badge",
    };
    let glyph = is_solved.then(|| view! { <Icon glyph=Glyph::Check/> });
    view! { <span class=class>{glyph} {standing_words(standing)}</span> }
}

fn card_id(place: usize) -> String {
    format!("class-task-{}", place + 1)
}

#[component]
fn TaskCard(desk: Desk, place: usize, player: EpisodePlayer) -> impl IntoView {
    let playground = use_playground();
    // The lists of tasks are loaded with the environments.
    let card = move || {
        if !playground.can_play() {
            return view! {
                <p class="coming" role="status">
                    {"Loading…"}
                </p>
            }
            .into_any();
        }
        let play = desk.state.with_untracked(|desk| {
            let task = desk.assignment().tasks.get(place);
            task.map(|task| untrack(|| start::play(playground, place + 1, task)))
        });
        match play {
            Some(Ok(play)) => {
                let resume = desk.state.with_untracked(|desk| desk.actions(place));
                view! { <PlayView play player resume/> }.into_any()
            }
            Some(Err(reason)) => view! { <p role="alert">{inert(&reason)}</p> }.into_any(),
            None => ().into_any(),
        }
    };
    view! { <div id=card_id(place) class="class-card">{card}</div> }
}

/// The name, where the work goes, and the button that hands it in.
#[component]
fn HandInPanel(desk: Desk) -> impl IntoView {
    let class = desk
        .state
        .with_untracked(|desk| desk.assignment().class.clone());
    let has_class = class.is_some();
    let (host, problem) = match class.map(|class| service::address(&class.url)) {
        Some(Ok(url)) => (Some(url), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let can_send = host.is_some();
    let what = match host {
        Some(url) => format!(
            "Hand in sends your name and the steps of your tasks to {url}. Nothing is sent before you press it, and your teacher \
             can read it there."
        ),
        None => "This saves your name and the steps of your tasks as a file. Give the file to your teacher.".to_owned(),
    };
    let problem = problem.map(|why| {
        view! {
            <p class="error">
                {format!("The address of the class cannot be used: {why} Save your work as a file instead.")}
            </p>
        }
    });
    let hand_in = move |event: SubmitEvent| {
        event.prevent_default();
        desk.hand_in();
    };
    let name = Memo::new(move |_| desk.state.with(|desk| desk.pupil().to_string()));
    let take_name = move |event| desk.name(Name::new(&event_target_value(&event)));
    let label = move || {
        desk.state.with(|desk| match desk.delivery() {
            _ if desk.is_sending() => "Handing in…",
            _ if !can_send => "Save the file to hand in",
            Delivery::Never => "Hand in",
            Delivery::Unconfirmed | Delivery::Delivered { .. } => "Hand in again",
        })
    };
    let failed = Memo::new(move |_| desk.state.with(|desk| desk.failure().cloned()));
    let failure = move || {
        failed.get().map(|notice| {
            view! {
                <div class="alert inline" role="alert">
                    <Icon glyph=Glyph::Warning/>
                    <AlertWords what=notice.what why=notice.why advice=notice.advice/>
                </div>
            }
        })
    };
    let is_kept = Memo::new(move |_| desk.state.with(WorkDesk::is_kept));
    let unkept = move || {
        (!is_kept.get()).then(|| {
            view! {
                <p class="error" role="alert">
                    {"This browser does not keep your work: it would be lost when the page is closed. Hand in, or save it as a file, before \
                      you leave."}
                </p>
            }
        })
    };
    let is_unreadable = desk.state.with_untracked(WorkDesk::is_unreadable);
    let unreadable = is_unreadable.then(|| {
        view! {
            <p class="error" role="alert">
                {"Another version of this page stored work on this assignment that this version cannot read. It is left unchanged, so \
                  what you do here would be lost when the page is closed. Reload to get the newer version; or hand in, or save a file, \
                  before you leave."}
            </p>
        }
    });
    let save = has_class.then(|| {
        view! {
            <button type="button" on:click=move |_| desk.save()>
                {"Save as a file"}
            </button>
        }
    });
    view! {
        <section class="class-hand-in" aria-labelledby="class-hand-in-title">
            <h2 id="class-hand-in-title">{"Hand in"}</h2>
            <form novalidate on:submit=hand_in>
                <Field id="class-pupil" label="Your name">
                    <input
                        type="text"
                        id="class-pupil"
                        autocomplete="name"
                        prop:value=move || name.get()
                        on:change=take_name
                    />
                </Field>
                <p class="help">{what}</p>
                {problem}
                {unkept}
                {unreadable}
                {failure}
                <p class="class-delivery" role="status">
                    {move || desk.state.with(|desk| delivery_words(desk, can_send))}
                </p>
                <div class="button-row">
                    <button type="submit" class="primary">
                        {label}
                    </button>
                    {save}
                </div>
            </form>
        </section>
    }
}

/// Whether the class has the work, in words.
fn delivery_words(desk: &WorkDesk, can_send: bool) -> String {
    if desk.is_unconfirmed() {
        return "Your last hand-in was not confirmed. Your work is kept in this browser; hand in again.".to_owned();
    }
    let done = if can_send { "Handed in" } else { "Saved" };
    match desk.delivery() {
        Delivery::Delivered { at, is_changed } => {
            let at = timers::local_time(*at);
            if *is_changed {
                format!("{done} on {at}. You changed it since; hand in again to replace it.")
            } else {
                format!("{done} on {at}. You can continue and hand in again.")
            }
        }
        _ if desk.played() == 0 => "Not handed in yet. Start a task first.".to_owned(),
        _ => format!(
            "Not handed in yet. You started {} of {}.",
            desk.played(),
            plural(desk.assignment().tasks.len(), "task")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(state: TaskState, reward: Option<f64>) -> String {
        standing_words(&Standing {
            state,
            reward,
            steps: 2,
            ..Standing::default()
        })
    }

    #[test]
    fn a_standing_says_how_far_a_pupil_came() {
        assert_eq!(words(TaskState::Done, Some(1.0)), "Solved, reward 1.0");
        assert_eq!(words(TaskState::Done, Some(0.0)), "Done, reward 0.0");
        assert_eq!(words(TaskState::Done, Some(-1.0)), "Done, reward -1.0");
        assert_eq!(words(TaskState::Started, None), "Started");
        assert_eq!(
            words(TaskState::Truncated, Some(0.5)),
            "Truncated, reward 0.5"
        );
        assert_eq!(words(TaskState::Crashed, None), "Crashed");
    }

    #[test]
    fn a_task_that_was_not_started_has_no_reward() {
        assert_eq!(words(TaskState::Untouched, None), "Not started");
        assert_eq!(words(TaskState::Untouched, Some(0.0)), "Not started");
    }
}
