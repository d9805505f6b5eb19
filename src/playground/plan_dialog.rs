//! A planned episode: which server it would run on and what would be sent there, or which Python code; and the user's
//! choice.

use leptos::prelude::*;
use volary_core::Json;
use volary_remote::task::{self, PYTHON_CODE};

use super::controls::buttons;
use super::intents::Intent;
use super::state::{Playground, use_playground};
use crate::components::dialog::dialog;
use crate::components::erased::{dynamic, watch};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::text::{inert, inert_in};
use crate::navigation::{Page, use_pages};
use crate::projection::text::{count_text, plural};
use volary_app::playground::consent::{PlannedEpisode, Resumed, Then, action_lines};

/// So many actions are shown at once; a button shows as many again.
const ACTIONS_AT_ONCE: usize = 200;

/// The dialogs, one of which is open while an episode is planned and the playground is shown.
pub fn plan_dialog() -> AnyView {
    all(vec![
        dialog_for(
            "Run this episode on a server?",
            |plan| !is_python(plan),
            plan_view,
        ),
        dialog_for("Run this Python code?", is_python, python_view),
    ])
}

fn is_python(plan: &PlannedEpisode) -> bool {
    task::python_file(&plan.recipe.environment).is_some()
}

fn dialog_for(
    title: &'static str,
    concerns: fn(&PlannedEpisode) -> bool,
    view: fn(Playground, &PlannedEpisode) -> AnyView,
) -> AnyView {
    let (playground, pages) = (use_playground(), use_pages());
    let planned = playground.planned;
    let open = RwSignal::new(false);
    watch(move || {
        let is_planned = planned.with(|plan| plan.as_ref().is_some_and(concerns));
        let wanted = is_planned && pages.shown.get() == Page::Playground;
        if open.get_untracked() != wanted {
            open.set(wanted);
        }
    });
    watch(move || {
        // Closed by Escape or its button, not because another page is shown.
        let is_planned = planned.with_untracked(|plan| plan.as_ref().is_some_and(concerns));
        let is_closed = !open.get() && is_planned;
        if is_closed && pages.shown.get_untracked() == Page::Playground {
            playground.intend(Intent::DismissPlanned);
        }
    });
    let content = dynamic(move || {
        planned.with(|plan| match plan {
            Some(plan) if concerns(plan) => view(playground, plan),
            _ => nothing(),
        })
    });
    dialog(open, title.to_owned(), content)
}

/// The code, and what it can and cannot do.
fn python_view(playground: Playground, plan: &PlannedEpisode) -> AnyView {
    let code = plan.recipe.configuration.get(PYTHON_CODE);
    let code = code.and_then(Json::as_text).cloned().unwrap_or_default();
    all(vec![
        el("p")
            .child(
                "It came with a link or a file. It runs sandboxed in your browser: it cannot use the network, read your \
                 episodes, keys or cookies, or leave its frame. Its answers are shown here and sent to the model that you \
                 chose. It can keep your processor busy: Stop ends it at once.",
            )
            .view(),
        el("pre")
            .class("plan-code")
            .attr("role", "region")
            .attr("tabindex", "0")
            .attr("aria-label", "Code")
            .child(inert(&code))
            .view(),
        actions(plan),
        buttons([
            button("")
                .on_click(move || playground.intend(Intent::DismissPlanned))
                .child("Don't run"),
            button("primary")
                .on_click(move || playground.intend(Intent::RunPlanned))
                .child("Run this code"),
        ])
        .view(),
    ])
}

fn plan_view(playground: Playground, plan: &PlannedEpisode) -> AnyView {
    let who = match (plan.then, plan.actions.is_empty()) {
        (Then::Open(_), true) => {
            "The address of this page asks for a new environment on a task dataset server."
        }
        (Then::Open(_), false) => {
            "The address of this page asks to run an episode on a task dataset server."
        }
        (Then::Resume(Resumed::Reset), _) => {
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
    let facts = el("dl")
        .class("plan-facts")
        .child(fact(
            "Server",
            el("code").child(inert(&plan.recipe.environment)),
        ))
        .child(fact("Task", el("code").child(inert(&task))))
        .child(fact(
            "Actions",
            el("span").child(count_text(plan.actions.len())),
        ));
    all(vec![
        el("p").child(who).view(),
        facts.view(),
        actions(plan),
        el("p")
            .child(
                "Nothing has been sent to the server yet. If you agree, the server starts an \
                 environment and its tools execute the actions, using your API key for this server \
                 if you entered one. Agree only if you trust the author.",
            )
            .view(),
        buttons([
            button("")
                .on_click(move || playground.intend(Intent::DismissPlanned))
                .child("Don't run"),
            button("primary")
                .on_click(move || playground.intend(Intent::RunPlanned))
                .child("Run on this server"),
        ])
        .view(),
    ])
}

fn fact(name: &'static str, value: El) -> El {
    el("div")
        .child(el("dt").child(name))
        .child(el("dd").child(value))
}

/// The actions as tool calls, in parts if there are many.
fn actions(plan: &PlannedEpisode) -> AnyView {
    if plan.actions.is_empty() {
        return nothing();
    }
    let lines: Vec<Vec<String>> = plan.actions.iter().map(action_lines).collect();
    let total = lines.len();
    let count = RwSignal::new(ACTIONS_AT_ONCE);
    dynamic(move || {
        let shown = count.get().min(total);
        let rows = lines.iter().take(shown).map(|lines| {
            let lines = lines.iter().map(|line| inert_in("code", "", line));
            el("li").child(lines.collect::<Vec<_>>())
        });
        let list = el("ol")
            .class("plan-actions")
            .attr("aria-label", "Actions")
            .attr("tabindex", "0")
            .child(rows.collect::<Vec<_>>());
        let more = (shown < total).then(|| {
            button("small")
                .on_click(move || count.update(|count| *count += ACTIONS_AT_ONCE))
                .child(format!("Show more of {}", plural(total, "action")))
        });
        all(vec![list.view(), el("div").child(more).view()])
    })
}
