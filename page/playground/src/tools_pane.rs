//! Manual actions: the tools, the form of the chosen tool, and the calls of the action so far.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::run::Run;
use volary_core::json::Text;
use volary_core::tool::ToolCallFunction;

use super::composer::ActionComposer;
use super::manual_action::{self, TOOL_FORM};
use super::outlook::{StepOutlook, short};
use super::state::{Playground, use_playground};
use volary_app::playground::session::Refusal;
use volary_ui::field::Field;
use volary_ui::term::Terms;
use volary_ui::{Glyph, Icon, SchemaForm};
use volary_view::hidden_answer::has_failed;
use volary_view::plain_words::{plain_fields, plain_tool};

#[component]
pub(super) fn ToolsPane() -> impl IntoView {
    let playground = use_playground();
    view! {
        <section class="act" id="tools" aria-label="Act">
            <div class="heading">
                <h2>{"Tools"}</h2>
                <Terms place="tools" terms=&["environment", "tool", "message"]/>
            </div>
            <ToolList playground/>
            <ToolForm playground/>
            <CallQueue playground/>
            <div class="act-bar">
                <Actions playground/>
                <p class="help">{move || outlook(playground).words()}</p>
            </div>
            <MoreOptions playground/>
        </section>
    }
}

/// The buttons that change the action.
#[component]
fn Actions(playground: Playground) -> impl IntoView {
    let manual = playground.manual();
    let may_undo = Memo::new(move |_| playground.may_take_back());
    let undo = move |_| {
        if may_undo.get_untracked() {
            playground.update(Event::Undo);
        }
    };
    let edit = move |_| {
        if may_undo.get_untracked() {
            playground.update(Event::Attempt(EpisodeAttempt::EditLastAction));
        }
    };
    let add = move || {
        if manual.composer.with(ActionComposer::is_editing) {
            "Save call"
        } else {
            "Add call"
        }
    };
    // A button that cannot be pressed is marked as disabled and does nothing; a disabled button would lose the focus.
    view! {
        <div class="button-row">
            <button
                type="button"
                disabled=move || lacks_tool(playground)
                on:click=move |_| playground.play_with(move |code| (code.add_call)(playground))
            >
                {add}
            </button>
            <button
                type="button"
                class="quiet"
                aria-disabled=move || (!may_undo.get()).to_string()
                on:click=undo
            >
                {"Undo"}
            </button>
            <button
                type="button"
                class="quiet"
                title="Undoes the last action and puts it back into the form"
                aria-label="Edit last action"
                aria-disabled=move || (!may_undo.get()).to_string()
                on:click=edit
            >
                {"Edit last"}
            </button>
        </div>
    }
}

#[component]
fn ToolList(playground: Playground) -> impl IntoView {
    let tools = Memo::new(move |_| {
        playground.edition().track();
        playground.episode().with(|episode| {
            let tools = episode.tools.iter();
            tools
                .map(|tool| (tool.info.name.clone(), tool.info.description.clone()))
                .collect::<Vec<_>>()
        })
    });
    let rows = move || {
        let tools = tools.get();
        if tools.is_empty() {
            return view! { <li class="help">"No tools"</li> }.into_any();
        }
        let tools = tools.into_iter();
        tools
            .map(|(name, description)| view! { <ToolRow playground name description/> })
            .collect_view()
            .into_any()
    };
    view! {
        <ul class="tools-list" aria-label="Tools" role="list">
            {rows}
        </ul>
    }
}

#[component]
fn ToolRow(playground: Playground, name: Text, description: Text) -> impl IntoView {
    let plain = with_environment(playground, |environment| plain_tool(environment, &name));
    let first_line = match plain {
        Some(plain) => plain.to_owned(),
        None => description.lines().next().unwrap_or_default().to_owned(),
    };
    let shown_name = name.to_string();
    let choice = name.clone();
    let is_chosen = move || playground.manual().composer.read().tool() == Some(&name);
    view! {
        <li>
            <button
                type="button"
                class="tool-button"
                aria-pressed=move || is_chosen().to_string()
                title=description.to_string()
                on:click=move |_| {
                    let choice = choice.clone();
                    playground.play_with(move |code| (code.choose_tool)(playground, Some(&choice)));
                }
            >
                {shown_name}
            </button>
            <span class="help">{first_line}</span>
        </li>
    }
}

/// The form of the chosen tool.
#[component]
fn ToolForm(playground: Playground) -> impl IntoView {
    let manual = playground.manual();
    let name = Memo::new(move |_| {
        manual
            .composer
            .with(|composer| composer.tool().map(ToString::to_string))
    });
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        playground.update(Event::Attempt(EpisodeAttempt::StepByHand));
    };
    // Enter in a field presses the hidden button.
    move || {
        let name = name.get()?;
        let plain = with_environment(playground, |environment| plain_fields(environment, &name));
        Some(view! {
            <form class="tool-form" aria-label=name novalidate id=TOOL_FORM on:submit=submitted>
                <SchemaForm form=manual.form id_prefix="tool" plain/>
                <button type="submit" hidden>
                    {"Send"}
                </button>
            </form>
        })
    }
}

/// The calls that were already added to the action.
#[component]
fn CallQueue(playground: Playground) -> impl IntoView {
    let composer = playground.manual().composer;
    let calls = Memo::new(move |_| composer.with(|composer| composer.calls().to_vec()));
    move || {
        let calls = calls.get();
        let rows = calls.iter().enumerate();
        let rows = rows.map(|(place, call)| call_row(playground, place, &call.function));
        (!calls.is_empty()).then(|| {
            view! {
                <ol class="call-queue" aria-label="Calls in this action">
                    {rows.collect_view()}
                </ol>
            }
        })
    }
}

fn call_row(
    playground: Playground,
    place: usize,
    call: &ToolCallFunction,
) -> impl IntoView + use<> {
    let named = |verb: &str| format!("{verb} call {} of {}", place + 1, call.name);
    view! {
        <li>
            <code>{short(&call.to_string())}</code>
            <button
                type="button"
                class="quiet small"
                aria-label=named("Edit")
                on:click=move |_| {
                    playground.play_with(move |code| (code.edit_call)(playground, place));
                }
            >
                {"Edit"}
            </button>
            <button
                type="button"
                class="icon-button"
                aria-label=named("Remove")
                on:click=move |_| {
                    playground.play_with(move |code| (code.remove_call)(playground, place));
                }
            >
                <Icon glyph=Glyph::Close/>
            </button>
        </li>
    }
}

/// A message to send with the calls, and the option to choose no tool.
#[component]
fn MoreOptions(playground: Playground) -> impl IntoView {
    let words = playground.manual().words;
    view! {
        <details class="besides">
            <summary>{"More options"}</summary>
            <Field id="words" label="Message">
                <textarea
                    id="words"
                    rows="2"
                    aria-describedby="words-help"
                    bind:value=words
                ></textarea>
                <p class="help" id="words-help">
                    {"Text sent along with the calls."}
                </p>
            </Field>
            <div class="button-row">
                <button
                    type="button"
                    class="small"
                    disabled=move || lacks_tool(playground)
                    on:click=move |_| {
                        playground.play_with(move |code| (code.choose_tool)(playground, None));
                    }
                >
                    {"Deselect tool"}
                </button>
            </div>
        </details>
    }
}

/// Calls a function with the environment of the shown episode.
fn with_environment<T>(playground: Playground, ask: impl FnOnce(Option<&str>) -> T) -> T {
    playground.episode().with_untracked(|episode| {
        let recipe = episode.recipe.as_ref();
        ask(recipe.map(|recipe| &*recipe.environment))
    })
}

fn lacks_tool(playground: Playground) -> bool {
    playground
        .manual()
        .composer
        .with(|composer| composer.tool().is_none())
}

/// What Step would do.
fn outlook(playground: Playground) -> StepOutlook {
    let progress = playground.with(|machine| machine.session().progress());
    if let Some((done, all)) = progress.filter(|(_, all)| *all > 0) {
        return StepOutlook::Replaying { done, all };
    }
    match playground.may_step() {
        Ok(()) | Err(Refusal::Busy) if manual_action::is_left_to_model(playground) => {
            StepOutlook::Model {
                is_asked: playground.policy().run.get() != Run::Idle,
            }
        }
        Ok(()) | Err(Refusal::Busy) => StepOutlook::Calls(manual_action::names(playground)),
        Err(Refusal::Over) if playground.episode().with(has_failed) => StepOutlook::Failed,
        Err(refusal) => StepOutlook::Refused(refusal),
    }
}
