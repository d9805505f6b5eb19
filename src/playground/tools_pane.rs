//! Acting by hand: the tools, the form of the chosen one, the calls gathered so far, Step.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::tool::ToolCallFunction;

use super::controls::{buttons, field, form, help, typed};
use super::intents::Intent;
use super::manual_action::TOOL_FORM;
use super::policy_settings::Run;
use super::state::{Playground, use_playground};
use crate::components::erased::{dynamic, flag, shown, words};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::{Glyph, Icon, SchemaForm};
use volary_app::playground::session::Refusal;

/// The tools and what is done with them.
pub fn tools_pane() -> El {
    let playground = use_playground();
    let hands = playground.hands;
    let add = words(move || {
        let saves = hands.editing.get().is_some();
        if saves { "Save call" } else { "Add call" }.to_owned()
    });
    let may_undo = flag(move || {
        let steps = playground.episode.with(|episode| episode.steps.len());
        steps > 0 && playground.may_go_back()
    });
    let undo = move || {
        let steps = playground
            .episode
            .with_untracked(|episode| episode.steps.len());
        playground.intend(Intent::GoBack(steps.saturating_sub(1)));
    };
    let edit = move || playground.intend(Intent::EditLastAction);
    let can_step = flag(move || may_step(playground));
    let step = move || playground.intend(Intent::Step);
    let actions =
        buttons([where_it_can(can_step, button("primary"), step).child("Step")]).child(shown(
            move || playground.drive.run.get() != Run::Idle,
            // Beside what began it: on a phone all other ways to stop are out of sight.
            move || {
                button("act-stop")
                    .attr("aria-label", "Stop the current step")
                    .on_click(move || playground.intend(Intent::Stop))
                    .child("Stop")
                    .view()
            },
        ));
    let others = [
        button("")
            .flag_property("disabled", no_tool(playground))
            .on_click(move || {
                playground.intend(Intent::AddCall);
            })
            .child(add),
        where_it_can(may_undo, button("quiet"), undo).child("Undo"),
        where_it_can(may_undo, button("quiet"), edit)
            .attr(
                "title",
                "Undoes the last action and puts it back into the form",
            )
            .attr("aria-label", "Edit last action")
            .child("Edit last"),
    ];
    let actions = others.into_iter().fold(actions, El::child);
    el("section")
        .class("act")
        .attr("id", "tools")
        .attr("aria-label", "Act")
        .child(el("h2").child("Tools"))
        .child(tool_list(playground))
        .child(tool_form(playground))
        .child(call_queue(playground))
        .child(
            el("div")
                .class("act-bar")
                .child(actions)
                .child(help(words(move || outlook(playground)))),
        )
        .child(besides(playground))
}

/// A button that at times can't be pressed: it says so and does nothing. One that is really disabled, be it for
/// the time of a step, would lose the focus of whoever goes on by keyboard.
fn where_it_can(can: Signal<bool>, button: El, act: impl Fn() + 'static) -> El {
    button
        .attr("aria-disabled", words(move || (!can.get()).to_string()))
        .on_click(move || {
            if can.get_untracked() {
                act();
            }
        })
}

/// The tools on offer.
fn tool_list(playground: Playground) -> El {
    let tools = Memo::new(move |_| {
        playground.edition.track();
        playground.episode.with(|episode| {
            let tools = episode.tools.iter();
            tools
                .map(|tool| (tool.info.name.clone(), tool.info.description.clone()))
                .collect::<Vec<_>>()
        })
    });
    let rows = dynamic(move || {
        let tools = tools.get();
        if tools.is_empty() {
            return el("li").class("help").child("No tools").view();
        }
        let row = |(name, description)| tool_row(playground, name, description).view();
        all(tools.into_iter().map(row).collect())
    });
    el("ul")
        .class("tools-list")
        .attr("aria-label", "Tools")
        .attr("role", "list")
        .child(rows)
}

fn tool_row(playground: Playground, name: Text, description: Text) -> El {
    let first_line = description.lines().next().unwrap_or_default().to_owned();
    let shown_name = name.to_string();
    let choice = name.clone();
    let pressed = words(move || {
        let chosen = playground.hands.tool.read();
        (chosen.as_deref() == Some(&*name)).to_string()
    });
    el("li")
        .child(
            button("tool-button")
                .attr("aria-pressed", pressed)
                .attr("title", description.to_string())
                .on_click(move || playground.intend(Intent::ChooseTool(choice.clone())))
                .child(shown_name),
        )
        .child(el("span").class("help").child(first_line))
}

/// The form of the chosen tool.
fn tool_form(playground: Playground) -> AnyView {
    let hands = playground.hands;
    let name = Memo::new(move |_| hands.tool.get().map(|name| name.to_string()));
    dynamic(move || {
        let Some(name) = name.get() else {
            return nothing();
        };
        form("tool-form", name, move || {
            playground.intend(Intent::StepByHand)
        })
        .attr("id", TOOL_FORM)
        .child(view! { <SchemaForm form=hands.form id_prefix="tool"/> }.into_any())
        // What Enter in a field presses.
        .child(
            el("button")
                .attr("type", "submit")
                .attr("hidden", "")
                .child("Send"),
        )
        .view()
    })
}

/// The calls that are in the action already.
fn call_queue(playground: Playground) -> AnyView {
    let calls = playground.hands.calls;
    dynamic(move || {
        calls.with(|calls| {
            if calls.is_empty() {
                return nothing();
            }
            let list = el("ol")
                .class("call-queue")
                .attr("aria-label", "Calls in this action");
            let rows = calls.iter().enumerate();
            rows.fold(list, |list, (place, call)| {
                list.child(call_row(playground, place, &call.function))
            })
            .view()
        })
    })
}

fn call_row(playground: Playground, place: usize, call: &ToolCallFunction) -> El {
    let named = |verb: &str| format!("{verb} call {} of {}", place + 1, call.name);
    el("li")
        .child(el("code").child(short(&call.to_string())))
        .child(
            button("quiet small")
                .attr("aria-label", named("Edit"))
                .on_click(move || playground.intend(Intent::EditCall(place)))
                .child("Edit"),
        )
        .child(
            button("icon-button")
                .attr("aria-label", named("Remove"))
                .on_click(move || playground.intend(Intent::RemoveCall(place)))
                .child(view! { <Icon glyph=Glyph::Close/> }.into_any()),
        )
}

/// What else an action can hold, or leave out.
fn besides(playground: Playground) -> El {
    let message = el("textarea")
        .attr("rows", "2")
        .attr("aria-describedby", "words-help");
    el("details")
        .class("besides")
        .child(el("summary").child("More options"))
        .child(
            field("words", "Message", typed(message, playground.hands.words))
                .child(help("Text sent along with the calls.").attr("id", "words-help")),
        )
        .child(buttons([button("small")
            .flag_property("disabled", no_tool(playground))
            .on_click(move || playground.intend(Intent::ChooseNoTool))
            .child("Deselect tool")]))
}

fn no_tool(playground: Playground) -> Signal<bool> {
    flag(move || playground.hands.tool.with(Option::is_none))
}

/// Whether Step does something: a model that is asked already is not asked twice.
fn may_step(playground: Playground) -> bool {
    let asked = playground.drive.run.get() != Run::Idle && playground.is_left_to_model();
    playground.may_step().is_ok() && !asked
}

/// What Step would send, or why it can't.
fn outlook(playground: Playground) -> String {
    let progress = playground.session.with(|session| session.progress());
    if let Some((done, all)) = progress.filter(|(_, all)| *all > 0) {
        return format!("Replaying: {done} of {all} steps.");
    }
    match playground.may_step() {
        Ok(()) | Err(Refusal::Busy) => preview(playground),
        Err(refusal) => format!("{refusal} {}", refusal.advice()),
    }
}

/// What Step would send.
fn preview(playground: Playground) -> String {
    let hands = playground.hands;
    if playground.is_left_to_model() {
        if playground.drive.run.get() != Run::Idle {
            return "Waiting for the model. Press Stop to cancel. To act yourself, fill in a tool \
                 or add a call."
                .to_owned();
        }
        return "Step asks the model for one action. To act yourself, fill in a tool or add a call."
            .to_owned();
    }
    let mut names: Vec<String> = hands.calls.with(|calls| {
        let calls = calls.iter();
        calls.map(|call| call.function.name.to_string()).collect()
    });
    if playground.form_counts() {
        names.extend(
            hands
                .tool
                .with(|tool| tool.as_ref().map(|name| name.to_string())),
        );
    }
    if names.is_empty() {
        "Step sends an action without calls.".to_owned()
    } else {
        format!("Step calls {}.", names.join(", then "))
    }
}

/// A call on one line.
fn short(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
