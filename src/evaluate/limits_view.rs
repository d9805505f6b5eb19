//! The limits of a running evaluation, and the dialog that changes them.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::Phase;

use super::rate_limits;
use super::run::Run;
use super::state::Evaluations;
use crate::browser;
use crate::components::SchemaForm;
use crate::components::dialog::dialog;
use crate::components::erased::{shown, watch, words};
use crate::components::markup::{button, el};
use crate::playground::controls::form;
use crate::projection::form::Form;

/// The id of the form.
const FORM: &str = "evaluation-limits";

/// The dialog; `open` says whether it is shown.
pub(super) fn limits_dialog(
    evaluations: Evaluations,
    run: &Rc<Run>,
    open: RwSignal<bool>,
) -> AnyView {
    let limits = RwSignal::new(filled(run));
    let opened = evaluations.open;
    watch(move || {
        if open.get()
            && let Some(run) = opened.get_untracked()
        {
            limits.set(filled(&run));
        }
    });
    let apply = move |and_resume: bool| {
        let submitted = limits.try_update(Form::submit).flatten();
        let (Some(value), Some(run)) = (submitted, opened.get_untracked()) else {
            return browser::show_fault(FORM);
        };
        run.set_pace(rate_limits::read(&value), and_resume);
        open.set(false);
    };
    let phase = run.shown.phase;
    let paused = move || phase.with(|phase| matches!(phase, Phase::Paused(_)));
    let submit = words(move || match paused() {
        true => "Apply and resume".to_owned(),
        false => "Apply".to_owned(),
    });
    let only_apply = shown(paused, move || {
        button("")
            .on_click(move || apply(false))
            .child("Apply")
            .view()
    });
    let buttons = el("div")
        .class("button-row")
        .child(
            el("button")
                .attr("type", "submit")
                .class("primary")
                .child(submit),
        )
        .child(only_apply);
    let fields = view! { <SchemaForm form=limits id_prefix="evaluation-limits"/> };
    let content = form("", "Limits for models", move || apply(untrack(paused)))
        .attr("id", FORM)
        .child(fields.into_any())
        .child(buttons);
    dialog(open, "Limits".to_owned(), content.view())
}

/// The form with the current limits of the run.
fn filled(run: &Run) -> Form {
    Form::with_value(rate_limits::schema(), &rate_limits::value(&run.pace()))
}
