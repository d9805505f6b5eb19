//! The consent dialogs of a planned episode: which server it would run on and what would be sent there, or which Python
//! code it would run.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::{PlannedEpisode, Then, action_lines};
use volary_browser as browser;
use volary_core::quantity::{count_text, plural};
use volary_remote::task;

use super::code_consent::{self, code_consent};
use super::state::{Playground, use_playground};
use volary_ui::Dialog;
use volary_ui::navigation::{Page, use_pages};
use volary_ui::text::inert;

/// The number of actions shown at first; a button shows the same number more.
const ACTIONS_AT_ONCE: usize = 200;

/// The dialogs. One of them is open while an episode is planned and the playground is shown.
pub fn plan_dialog() -> AnyView {
    view! {
        <PlanDialog
            title="Run this episode on a server?"
            concerns=|plan| !is_python(plan)
            draw=plan_view
        />
        <PlanDialog title=code_consent::TITLE concerns=is_python draw=python_view/>
    }
    .into_any()
}

fn is_python(plan: &PlannedEpisode) -> bool {
    task::python_file(&plan.recipe.environment).is_some()
}

#[component]
fn PlanDialog(
    title: &'static str,
    /// Whether this dialog is for the given plan.
    concerns: fn(&PlannedEpisode) -> bool,
    /// Renders the question.
    draw: fn(Playground, &PlannedEpisode) -> AnyView,
) -> impl IntoView {
    let (playground, pages) = (use_playground(), use_pages());
    let planned = playground.planned();
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        let is_planned = planned.with(|plan| plan.as_ref().is_some_and(concerns));
        let wanted = is_planned && pages.shown.get() == Page::Playground;
        if open.get_untracked() != wanted {
            open.set(wanted);
        }
    });
    Effect::new(move |_| {
        // React only to Escape or the dialog's button, not to closing because another page is shown.
        let is_planned = planned.with_untracked(|plan| plan.as_ref().is_some_and(concerns));
        let is_closed = !open.get() && is_planned;
        if is_closed && pages.shown.get_untracked() == Page::Playground {
            playground.update(Event::Decline);
        }
    });
    let content = move || {
        planned.with(|plan| {
            let plan = plan.as_ref().filter(|plan| concerns(plan))?;
            Some(draw(playground, plan))
        })
    };
    view! { <Dialog open title>{content}</Dialog> }
}

fn python_view(playground: Playground, plan: &PlannedEpisode) -> AnyView {
    view! {
        {code_consent(&plan.recipe)}
        {actions(plan)}
        <Choice playground agree="Run this code"/>
    }
    .into_any()
}

/// The buttons that refuse or run a plan.
#[component]
fn Choice(
    playground: Playground,
    /// Label of the button that runs the plan.
    agree: &'static str,
) -> impl IntoView {
    view! {
        <div class="button-row">
            <button
                type="button"
                on:click=move |_| playground.update(Event::Decline)
            >
                {"Don't run"}
            </button>
            <button
                type="button"
                class="primary"
                on:click=move |_| playground.update(Event::Agree { id: browser::random_id() })
            >
                {agree}
            </button>
        </div>
    }
}

fn plan_view(playground: Playground, plan: &PlannedEpisode) -> AnyView {
    let who = match (plan.then, plan.actions.is_empty()) {
        (Then::Open(_), true) => {
            "The address of this page asks for a new environment on a task dataset server."
        }
        (Then::Open(_), false) => {
            "The address of this page asks to run an episode on a task dataset server."
        }
        (Then::Reset, _) => {
            "This episode was imported. Its task would be requested from a task dataset server."
        }
        (Then::Resume(_), _) => {
            "This episode was imported. To continue it, its actions would be repeated on a task \
             dataset server."
        }
    };
    let task = plan
        .task()
        .unwrap_or_else(|| "The server chooses.".to_owned());
    view! {
        <p>{who}</p>
        <dl class="plan-facts">
            <div>
                <dt>{"Server"}</dt>
                <dd>
                    <code>{inert(&plan.recipe.environment)}</code>
                </dd>
            </div>
            <div>
                <dt>{"Task"}</dt>
                <dd>
                    <code>{inert(&task)}</code>
                </dd>
            </div>
            <div>
                <dt>{"Actions"}</dt>
                <dd>
                    <span>{count_text(plan.actions.len())}</span>
                </dd>
            </div>
        </dl>
        {actions(plan)}
        <p>
            "Nothing has been sent to the server yet. If you agree, the server starts an "
            "environment and its tools execute the actions, using your API key for this server if "
            "you entered one. Agree only if you trust the author."
        </p>
        <Choice playground agree="Run on this server"/>
    }
    .into_any()
}

/// The actions as tool calls, shown in batches if there are many.
fn actions(plan: &PlannedEpisode) -> Option<impl IntoView + use<>> {
    if plan.actions.is_empty() {
        return None;
    }
    let lines: Vec<Vec<String>> = plan.actions.iter().map(action_lines).collect();
    let total = lines.len();
    let count = RwSignal::new(ACTIONS_AT_ONCE);
    Some(move || {
        let shown = count.get().min(total);
        let rows = lines.iter().take(shown).map(|lines| {
            let lines = lines.iter();
            let lines = lines.map(|line| view! { <code dir="auto">{inert(line)}</code> });
            view! { <li>{lines.collect_view()}</li> }
        });
        let more = (shown < total).then(|| {
            view! {
                <button
                    type="button"
                    class="small"
                    on:click=move |_| count.update(|count| *count += ACTIONS_AT_ONCE)
                >
                    {format!("Show more of {}", plural(total, "action"))}
                </button>
            }
        });
        view! {
            <ol class="plan-actions" aria-label="Actions" tabindex="0">
                {rows.collect_view()}
            </ol>
            <div>{more}</div>
        }
    })
}
