//! The panel **Notes**: the notes on an episode, and a form for a new one.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_analysis::annotations::labels::{Labels, labels_on, target_of};
use volary_analysis::annotations::{Annotation, Target, Verdict};
use volary_app::notice::Notice;
use volary_app::review::note_draft::NoteDraft;

use super::notes::Notes;
use super::quote::selected_passage;
use super::viewer::Viewer;
use volary_browser::files;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::text::inert;
use volary_ui::{AlertBox, UnsavedNotice};
use volary_view::review::note_texts::target_text;

#[component]
pub(super) fn NotesPanel(viewer: Viewer, notes: Notes) -> impl IntoView {
    let list = move || {
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        notes.all.with(|all| {
            let of_episode = all.of_episode(&id);
            if of_episode.is_empty() {
                return view! { <p class="help">"No notes on this episode yet."</p> }.into_any();
            }
            let items = of_episode.iter().map(|note| item(viewer, notes, note));
            view! {
                <ul class="notes" aria-label="Notes">
                    {items.collect_view()}
                </ul>
            }
            .into_any()
        })
    };
    let agreement = move || {
        let texts = notes.agreement_texts().into_iter();
        let texts = texts.map(|text| view! { <p class="help" dir="auto">{inert(&text)}</p> });
        texts.collect_view()
    };
    let import = move |_| {
        files::pick(".json,application/json", move |files| {
            files.into_iter().for_each(|file| notes.take_over(file));
        });
    };
    view! {
        <LabelKeys viewer notes/>
        <NewNote viewer notes/>
        {list}
        {agreement}
        <div class="button-row">
            <button type="button" class="small" on:click=move |_| notes.save()>
                {"Save notes to file"}
            </button>
            <button type="button" class="small" on:click=import>
                {"Import notes"}
            </button>
        </div>
        <AlertBox notice=notes.notice/>
    }
}

fn item(viewer: Viewer, notes: Notes, note: &Annotation) -> impl IntoView + use<> {
    let verdict = note.verdict.map(|verdict| {
        let class = match verdict {
            Verdict::Good => "badge good",
            Verdict::Bad => "badge bad",
            Verdict::Unsure => "badge",
        };
        view! { <span class=class>{verdict.as_str()}</span> }
    });
    let label = note.label.as_ref().map(|label| {
        view! {
            <span class="tag" dir="auto">
                {inert(label)}
            </span>
        }
    });
    let text = (!note.text.is_empty()).then(|| {
        view! {
            <p class="note-text" dir="auto">
                {inert(&note.text)}
            </p>
        }
    });
    let target = note.target.clone();
    let go = move |_| viewer.go_to(&target);
    let (changed, deleted) = (note.clone(), note.id.clone());
    view! {
        <li class="note">
            <div class="note-head">
                <button
                    type="button"
                    class="quiet small note-target"
                    disabled=note.target.step().is_none()
                    on:click=go
                >
                    <span dir="auto">{inert(&target_text(&note.target))}</span>
                </button>
                {verdict}
                {label}
            </div>
            {text}
            <div class="note-foot">
                <span class="faint" dir="auto">
                    {inert(&note.author)}
                </span>
                <div class="button-row">
                    <button
                        type="button"
                        class="quiet small icon-button"
                        on:click=move |_| notes.draft.set(NoteDraft::of(&changed))
                    >
                        {"Edit"}
                    </button>
                    <button
                        type="button"
                        class="quiet small icon-button"
                        on:click=move |_| notes.delete(&deleted)
                    >
                        <NamedIcon glyph=Glyph::Close name="Delete note"/>
                    </button>
                </div>
            </div>
        </li>
    }
}

/// The labels on the selected step, as buttons and on the keys 1 to 9.
#[component]
fn LabelKeys(viewer: Viewer, notes: Notes) -> impl IntoView {
    let target = Memo::new(move |_| target_of(viewer.shown.selected.get()));
    let on = Memo::new(move |_| {
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        notes.all.with(|all| {
            target.with(|target| {
                let labels = labels_on(all, &id, target).into_iter();
                labels.cloned().collect::<Vec<_>>()
            })
        })
    });
    let buttons =
        move || {
            let labels = notes.labels.get();
            let buttons = labels.list().iter().enumerate().map(|(place, label)| {
            let key = (place + 1).to_string();
            let pressed = label.clone();
            let pressed = move || on.with(|on| on.iter().any(|one| **one == *pressed)).to_string();
            let toggle = {
                let key = key.clone();
                move |_| {
                    toggle(viewer, notes, &key);
                }
            };
            view! {
                <button type="button" class="small label-key" aria-pressed=pressed on:click=toggle>
                    <kbd>{key}</kbd>
                    <span dir="auto">{inert(label)}</span>
                </button>
            }
        });
            buttons.collect_view()
        };
    let fields = (0..Labels::MOST).map(|place| {
        let number = place + 1;
        let value = move || {
            notes
                .labels
                .with(|labels| labels.list().get(place).cloned().unwrap_or_default())
        };
        let change = move |event| {
            let labels = notes.labels.get_untracked();
            notes.set_labels(labels.with(place, &event_target_value(&event)));
        };
        // Show only the next free key, so that there are no gaps.
        let is_hidden = move || notes.labels.with(|labels| labels.list().len() < place);
        view! {
            <label class="label-field" hidden=is_hidden>
                <kbd>{number.to_string()}</kbd>
                <input
                    type="text"
                    id=format!("label-{number}")
                    aria-label=format!("Label on key {number}")
                    prop:value=value
                    on:change=change
                />
            </label>
        }
    });
    let is_none = move || notes.labels.with(|labels| labels.list().is_empty());
    view! {
        <section class="label-keys" aria-label="Labels">
            <p class="help">
                {move || format!("Labels on {}", target.with(target_text).to_lowercase())}
            </p>
            <div class="button-row">{buttons}</div>
            <details prop:open=is_none>
                <summary>{"Labels on keys 1–9"}</summary>
                <div class="label-fields">{fields.collect_view()}</div>
                <UnsavedNotice what="the labels" unsaved=Notes::unsaved_labels()/>
            </details>
        </section>
    }
}

/// Toggles the label of a key on the selected step. Returns `false` if the key has no label.
pub(super) fn toggle(viewer: Viewer, notes: Notes, key: &str) -> bool {
    let id = viewer
        .shown
        .episode
        .with_untracked(|episode| episode.id.clone());
    let step = viewer.shown.selected.get_untracked();
    let done = notes.toggle_label(&id, step, key);
    let is_done = done.is_some();
    if is_done {
        notes.said.set(done);
    }
    is_done
}

/// The labels of the selected step, and a message about the last label key.
#[component]
pub(super) fn LabelLine(viewer: Viewer, notes: Notes) -> impl IntoView {
    let labels = move || {
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        let target = target_of(viewer.shown.selected.get());
        notes.all.with(|all| {
            let labels = labels_on(all, &id, &target).into_iter();
            let tags = labels.map(|label| {
                view! {
                    <span class="tag" dir="auto">
                        {inert(label)}
                    </span>
                }
            });
            tags.collect_view()
        })
    };
    view! {
        <span class="label-line">{labels}</span>
        <span class="visually-hidden" role="status" aria-label="Label">
            {move || notes.said.get()}
        </span>
    }
}

/// The form of a new or edited note.
#[component]
fn NewNote(viewer: Viewer, notes: Notes) -> impl IntoView {
    let draft = notes.draft;
    let is_change = Memo::new(move |_| draft.with(NoteDraft::is_change));
    let write = move |event: SubmitEvent| {
        event.prevent_default();
        let id = viewer
            .shown
            .episode
            .with_untracked(|episode| episode.id.clone());
        notes.write(&id);
    };
    view! {
        <form class="new-note" aria-label="Note" novalidate on:submit=write>
            <TargetChoice viewer notes/>
            <div class="field">
                <label for="note-text">{"Note"}</label>
                <textarea
                    id="note-text"
                    rows="3"
                    aria-describedby="note-target"
                    prop:value=move || draft.with(|draft| draft.text.clone())
                    on:input=move |event| {
                        draft.update(|draft| draft.text = event_target_value(&event));
                    }
                ></textarea>
            </div>
            <div class="field-row">
                <VerdictChoice draft/>
                <TextField
                    id="note-label"
                    label="Label"
                    text=Signal::derive(move || draft.with(|draft| draft.label.clone()))
                    write=Callback::new(move |label| draft.update(|draft| draft.label = label))
                />
                <TextField
                    id="note-author"
                    label="Your name"
                    text=notes.author
                    write=Callback::new(move |author| notes.author.set(author))
                />
            </div>
            <div class="button-row">
                <button type="submit" class="primary small">
                    {move || if is_change.get() { "Change note" } else { "Add note" }}
                </button>
                <Show when=move || is_change.get()>
                    <button
                        type="button"
                        class="quiet small"
                        on:click=move |_| draft.set(NoteDraft::default())
                    >
                        {"Cancel"}
                    </button>
                </Show>
            </div>
        </form>
    }
}

/// The target of the note, with buttons for other targets.
#[component]
fn TargetChoice(viewer: Viewer, notes: Notes) -> impl IntoView {
    let draft = notes.draft;
    let target = Memo::new(move |_| draft.with(|draft| draft.target().clone()));
    let choose = move |target: Target| draft.update(|draft| draft.aim(target));
    let episode = viewer.shown.episode;
    let this_step = move |_| {
        let step = viewer.shown.selected.get_untracked();
        choose(Target::Step { step });
    };
    let passage = move |_| match episode.with_untracked(|episode| selected_passage(episode)) {
        Some(passage) => {
            notes.notice.set(None);
            choose(passage);
        }
        None => notes.notice.set(Some(Notice::new(
            "No text is selected.",
            "A note on a passage refers to part of one text in the transcript.",
            "Select text in a message, call or thought, then press the button again.",
        ))),
    };
    let is_step = move || target.with(|target| matches!(target, Target::Step { .. }));
    let is_passage = move || target.with(|target| matches!(target, Target::Passage { .. }));
    let is_episode = move || target.with(|target| matches!(target, Target::Episode));
    // The second button must not take the focus, because that would clear the selection.
    view! {
        <div class="note-about">
            <p class="help" id="note-target">
                {"About: "} <strong dir="auto">{move || inert(&target_text(&target.get()))}</strong>
            </p>
            <div class="button-row">
                <button
                    type="button"
                    class="small"
                    aria-pressed=move || is_step().to_string()
                    on:click=this_step
                >
                    {"This step"}
                </button>
                <button
                    type="button"
                    class="small"
                    aria-pressed=move || is_passage().to_string()
                    title="Select text in the transcript first"
                    on:mousedown=|event| event.prevent_default()
                    on:click=passage
                >
                    {"Selected text"}
                </button>
                <button
                    type="button"
                    class="small"
                    aria-pressed=move || is_episode().to_string()
                    on:click=move |_| choose(Target::Episode)
                >
                    {"Whole episode"}
                </button>
            </div>
        </div>
    }
}

#[component]
fn VerdictChoice(draft: RwSignal<NoteDraft>) -> impl IntoView {
    let verdict =
        move || draft.with(|draft| draft.verdict.map(Verdict::as_str).unwrap_or_default());
    let judge = move |event| {
        let value = event_target_value(&event);
        let mut verdicts = Verdict::ALL.into_iter();
        let verdict = verdicts.find(|verdict| verdict.as_str() == value);
        draft.update(|draft| draft.verdict = verdict);
    };
    view! {
        <div class="field">
            <label for="note-verdict">{"Verdict"}</label>
            <select id="note-verdict" prop:value=verdict on:change=judge>
                <option value="">{"none"}</option>
                <option value="good">{"good"}</option>
                <option value="bad">{"bad"}</option>
                <option value="unsure">{"unsure"}</option>
            </select>
        </div>
    }
}

#[component]
fn TextField(
    id: &'static str,
    label: &'static str,
    #[prop(into)] text: Signal<String>,
    /// Called with what the user typed.
    write: Callback<String>,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input
                type="text"
                id=id
                prop:value=move || text.get()
                on:input=move |event| write.run(event_target_value(&event))
            />
        </div>
    }
}
