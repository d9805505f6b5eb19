//! The panel **Notes**: the notes on an episode, and a form for a new one.

use leptos::prelude::*;
use volary_trajectory::annotations::{Annotation, Target, Verdict};

use super::notes::{Notes, target_text};
use super::quote::selected_passage;
use super::viewer::Viewer;
use crate::browser::files;
use crate::components::AlertBox;
use crate::components::erased::{dynamic, label, shown, words};
use crate::components::icon::{Glyph, named_icon};
use crate::components::markup::{El, all, button, el};
use crate::components::text::inert_in;
use crate::playground::controls::{buttons, choice, field, form, help, option, typed};
use crate::projection::notice::Notice;

/// The panel.
pub fn notes_panel(viewer: Viewer, notes: Notes) -> AnyView {
    let list = dynamic(move || {
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        notes.all.with(|all| {
            let of_episode = all.of_episode(&id);
            if of_episode.is_empty() {
                return help("No notes on this episode yet.").view();
            }
            let items = of_episode
                .iter()
                .map(|note| item(viewer, notes, note).view());
            el("ul")
                .class("notes")
                .attr("aria-label", "Notes")
                .child(items.collect::<Vec<_>>())
                .view()
        })
    });
    let agreement = dynamic(move || {
        let texts = notes.agreement_texts().into_iter();
        all(texts
            .map(|text| inert_in("p", "help", &text).view())
            .collect())
    });
    let take_over = move || {
        files::pick(".json,application/json", move |files| {
            files.into_iter().for_each(|file| notes.take_over(file));
        });
    };
    all(vec![
        new_note(viewer, notes).view(),
        list,
        agreement,
        buttons([
            button("small")
                .on_click(move || notes.save())
                .child("Save notes"),
            button("small").on_click(take_over).child("Import notes"),
        ])
        .view(),
        view! { <AlertBox notice=notes.notice/> }.into_any(),
    ])
}

fn item(viewer: Viewer, notes: Notes, note: &Annotation) -> El {
    let verdict = note.verdict.map(|verdict| {
        let class = match verdict {
            Verdict::Good => "badge good",
            Verdict::Bad => "badge bad",
            Verdict::Unsure => "badge",
        };
        el("span").class(class).child(verdict.as_str())
    });
    let target = note.target.clone();
    let go = move || viewer.go_to(&target);
    let (changed, deleted) = (note.clone(), note.id.clone());
    let head = el("div")
        .class("note-head")
        .child(
            button("quiet small note-target")
                .attr("disabled", note.target.step().is_none())
                .on_click(go)
                .child(inert_in("span", "", &target_text(&note.target))),
        )
        .child(verdict)
        .child(
            note.label
                .as_ref()
                .map(|label| inert_in("span", "tag", label)),
        );
    let foot = el("div")
        .class("note-foot")
        .child(inert_in("span", "faint", &note.author))
        .child(buttons([
            button("quiet small icon-button")
                .on_click(move || notes.begin_changing(&changed))
                .child("Edit"),
            button("quiet small icon-button")
                .on_click(move || notes.delete(&deleted))
                .child(named_icon(Glyph::Close, "Delete note")),
        ]));
    el("li")
        .class("note")
        .child(head)
        .child((!note.text.is_empty()).then(|| inert_in("p", "note-text", &note.text)))
        .child(foot)
}

fn new_note(viewer: Viewer, notes: Notes) -> El {
    let draft = notes.draft;
    let about = words(move || target_text(&draft.target.get()));
    let this_step = move || {
        let step = viewer.shown.selected.get_untracked();
        draft.target.set(Target::Step { step });
    };
    let passage = move || match viewer
        .shown
        .episode
        .with_untracked(|episode| selected_passage(episode))
    {
        Some(target) => draft.target.set(target),
        None => notes.notice.set(Some(Notice::new(
            "No text is selected.",
            "A note on a passage refers to part of one text in the transcript.",
            "Select text in a message, call or thought, then press the button again.",
        ))),
    };
    let verdict = words(move || {
        let verdict = draft.verdict.get();
        verdict.map(Verdict::as_str).unwrap_or_default().to_owned()
    });
    let judge = move |value: String| {
        let verdict = Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == value);
        draft.verdict.set(verdict);
    };
    let write = move || {
        let id = viewer
            .shown
            .episode
            .with_untracked(|episode| episode.id.clone());
        notes.write(&id);
    };
    let pressed =
        move |is_it: fn(&Target) -> bool| words(move || draft.target.with(is_it).to_string());
    let action = label(move || match draft.changes.get().is_some() {
        true => "Change note",
        false => "Add note",
    });
    let text = el("textarea").attr("rows", "3");
    form("new-note", "Note", write)
        .child(
            el("div")
                .class("note-about")
                .child(help(about))
                .child(buttons([
                    button("small")
                        .attr(
                            "aria-pressed",
                            pressed(|target| matches!(target, Target::Step { .. })),
                        )
                        .on_click(this_step)
                        .child("This step"),
                    // Before the button takes the focus, which clears the selection.
                    button("small")
                        .on("mousedown", move |event: leptos::ev::MouseEvent| {
                            event.prevent_default();
                        })
                        .attr(
                            "aria-pressed",
                            pressed(|target| matches!(target, Target::Passage { .. })),
                        )
                        .on_click(passage)
                        .attr("title", "Select text in the transcript first")
                        .child("Selected text"),
                    button("small")
                        .attr(
                            "aria-pressed",
                            pressed(|target| matches!(target, Target::Episode)),
                        )
                        .on_click(move || draft.target.set(Target::Episode))
                        .child("Whole episode"),
                ])),
        )
        .child(field("note-text", "Note", typed(text, draft.text)))
        .child(
            el("div")
                .class("field-row")
                .child(field(
                    "note-verdict",
                    "Verdict",
                    choice(verdict, judge)
                        .child(option("", "none"))
                        .child(option("good", "good"))
                        .child(option("bad", "bad"))
                        .child(option("unsure", "unsure")),
                ))
                .child(field(
                    "note-label",
                    "Label",
                    typed(el("input").attr("type", "text"), draft.label),
                ))
                .child(field(
                    "note-author",
                    "Your name",
                    typed(el("input").attr("type", "text"), notes.author),
                )),
        )
        .child(
            el("div")
                .class("button-row")
                .child(
                    el("button")
                        .attr("type", "submit")
                        .class("primary small")
                        .child(words(move || action.get().to_owned())),
                )
                .child(shown(
                    move || draft.changes.get().is_some(),
                    move || {
                        button("quiet small")
                            .on_click(move || notes.begin(Target::Episode))
                            .child("Cancel")
                            .view()
                    },
                )),
        )
}
