//! The limits of a running evaluation, and the dialog that changes them.

use std::rc::Rc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_agent::evaluation::EvaluationPhase;
use volary_view::form::Form;

use super::rate_limits;
use super::run::OpenRun;
use super::state::Evaluations;
use volary_browser as browser;
use volary_ui::{Dialog, SchemaForm};

const FORM: &str = "evaluation-limits";

#[component]
pub(super) fn LimitsDialog(
    evaluations: Evaluations,
    run: Rc<OpenRun>,
    /// Whether the dialog is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let limits = RwSignal::new(filled(&run));
    let opened = evaluations.open;
    Effect::new(move |_| {
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
    let paused = move || phase.with(|phase| matches!(phase, EvaluationPhase::Paused(_)));
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        apply(untrack(paused));
    };
    view! {
        <Dialog open title="Limits">
            <form
                aria-label="Limits for models"
                novalidate
                id=FORM
                on:submit=submitted
            >
                <SchemaForm form=limits id_prefix="evaluation-limits"/>
                <div class="button-row">
                    <button type="submit" class="primary">
                        {move || if paused() { "Apply and resume" } else { "Apply" }}
                    </button>
                    <Show when=paused>
                        <button type="button" on:click=move |_| apply(false)>
                            {"Apply"}
                        </button>
                    </Show>
                </div>
            </form>
        </Dialog>
    }
}

/// The form, filled with the current limits of the run.
fn filled(run: &OpenRun) -> Form {
    Form::with_value(rate_limits::schema(), &rate_limits::value(&run.pace()))
}
