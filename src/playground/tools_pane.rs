//! Acting by hand: the tools, the form of the chosen one, the calls gathered so far, Step.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_core::json::Text;

use super::hands::TOOL_FORM;
use super::session::Refusal;
use super::state::{Playground, use_playground};
use crate::components::erased::{changed, dynamic, flag, label, pressed, shown, submitted, words};
use crate::components::{EmptyState, Glyph, Icon, SchemaForm};

/// The tools and what is done with them.
#[component]
pub fn ToolsPane() -> impl IntoView {
    let playground = use_playground();
    let hands = playground.hands;
    let may_step = Memo::new(move |_| playground.may_step());
    let may_go_back = Memo::new(move |_| playground.may_go_back());
    let progress = move || {
        let progress = playground.session.with(|session| session.progress())?;
        (progress.1 > 0).then(|| format!("Running again: {} of {} steps.", progress.0, progress.1))
    };
    let steps = Memo::new(move |_| playground.episode.with(|episode| episode.steps.len()));
    view! {
        <section class="act" aria-label="Act">
            <h2>"Tools"</h2>
            <ToolList/>
            <ToolForm/>
            <CallQueue/>
            <div class="button-row">
                <button
                    type="button"
                    class="primary"
                    prop:disabled=flag(move || may_step.get().is_err())
                    on:click=pressed(move |_| playground.step())
                >
                    "Step"
                </button>
                <button
                    type="button"
                    prop:disabled=flag(move || hands.tool.with(Option::is_none))
                    on:click=pressed(move |_| {
                        playground.add_call();
                    })
                >
                    {label(move || if hands.editing.get().is_some() { "Save call" } else { "Add call" })}
                </button>
                <button
                    type="button"
                    class="quiet"
                    prop:disabled=flag(move || !may_go_back.get() || steps.get() == 0)
                    on:click=pressed(move |_| playground.go_back(steps.get_untracked().saturating_sub(1)))
                >
                    "Undo"
                </button>
            </div>
            <p class="help">
                {words(move || {
                    let refusal = may_step.get().err().filter(|refusal| *refusal != Refusal::Busy);
                    progress()
                        .or_else(|| refusal.map(|refusal| refusal.to_string()))
                        .unwrap_or_else(|| preview(playground))
                })}
            </p>
            <Besides/>
        </section>
    }
}

/// The tools on offer.
#[component]
fn ToolList() -> impl IntoView {
    let playground = use_playground();
    let tools = Memo::new(move |_| {
        playground.edition.track();
        playground.episode.with(|episode| {
            let tools = episode.tools.iter();
            tools
                .map(|tool| (tool.info.name.clone(), tool.info.description.clone()))
                .collect::<Vec<_>>()
        })
    });
    let row = move |(name, description): (Text, Text)| {
        let chosen = {
            let name = name.clone();
            Memo::new(move |_| {
                let chosen = playground.hands.tool.read();
                chosen.as_deref() == Some(&*name)
            })
        };
        let choice = name.clone();
        let first_line = description.lines().next().unwrap_or_default().to_owned();
        view! {
            <li>
                <button
                    type="button"
                    class="tool-button"
                    aria-pressed=label(move || if chosen.get() { "true" } else { "false" })
                    title=description.to_string()
                    on:click=pressed(move |_| playground.choose_tool(&choice))
                >
                    {name.to_string()}
                </button>
                <span class="help">{first_line}</span>
            </li>
        }
    };
    view! {
        <ul class="tools-list" aria-label="Tools" role="list">
            {dynamic(move || tools.get().into_iter().map(row).collect_view().into_any())}
        </ul>
        {shown(
            move || tools.with(Vec::is_empty),
            || {
                view! {
                    <EmptyState title="No tools yet">
                        "They come with the environment's reset."
                    </EmptyState>
                }
                    .into_any()
            },
        )}
    }
}

/// The form of the chosen tool.
#[component]
fn ToolForm() -> impl IntoView {
    let playground = use_playground();
    let hands = playground.hands;
    let name = Memo::new(move |_| hands.tool.get());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        playground.step();
    };
    let form = move || {
        name.get().map(|name| {
            view! {
                <form class="tool-form" id=TOOL_FORM aria-label=name.to_string() novalidate on:submit=submitted(submit)>
                    <SchemaForm form=hands.form id_prefix="tool"/>
                    // What Enter in a field presses.
                    <button type="submit" hidden tabindex="-1">"Send"</button>
                </form>
            }
        })
        .into_any()
    };
    dynamic(form)
}

/// The calls that are in the action already.
#[component]
fn CallQueue() -> impl IntoView {
    let playground = use_playground();
    let hands = playground.hands;
    let rows = move || {
        hands.calls.with(|calls| {
            calls
                .iter()
                .enumerate()
                .map(|(place, call)| {
                    let name = call.function.name.to_string();
                    let text = call.function.to_string();
                    view! {
                        <li>
                            <code>{short(&text)}</code>
                            <button
                                type="button"
                                class="quiet small"
                                aria-label=format!("Edit call {} of {name}", place + 1)
                                on:click=pressed(move |_| playground.edit_call(place))
                            >
                                "Edit"
                            </button>
                            <button
                                type="button"
                                class="icon-button"
                                aria-label=format!("Remove call {} of {name}", place + 1)
                                on:click=pressed(move |_| playground.remove_call(place))
                            >
                                <Icon glyph=Glyph::Close/>
                            </button>
                        </li>
                    }
                })
                .collect_view()
                .into_any()
        })
    };
    shown(
        move || !hands.calls.with(Vec::is_empty),
        move || {
            view! {
                <ol class="call-queue" aria-label="Calls of the action">
                    {dynamic(rows)}
                </ol>
            }
            .into_any()
        },
    )
}

/// What else an action can hold, or leave out.
#[component]
fn Besides() -> impl IntoView {
    let playground = use_playground();
    let hands = playground.hands;
    view! {
        <details class="besides">
            <summary>"More about the action"</summary>
            <div class="field">
                <label for="words">"Message"</label>
                <textarea
                    id="words"
                    rows="2"
                    aria-describedby="words-help"
                    prop:value=words(move || hands.words.get())
                    on:input=changed(move |event| hands.words.set(event_target_value(&event)))
                ></textarea>
                <p class="help" id="words-help">"What is said besides the calls."</p>
            </div>
            <div class="button-row">
                <button
                    type="button"
                    class="small"
                    prop:disabled=flag(move || hands.tool.with(Option::is_none))
                    on:click=pressed(move |_| playground.choose_no_tool())
                >
                    "Choose no tool"
                </button>
            </div>
        </details>
    }
}

/// What Step would send, in words.
fn preview(playground: Playground) -> String {
    let hands = playground.hands;
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
