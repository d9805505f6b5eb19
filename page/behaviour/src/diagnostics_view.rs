//! The diagnostics of an episode, each with its step.

use leptos::prelude::*;
use volary_analysis::behaviour::diagnostics::{Diagnostic, DiagnosticKind};
use volary_core::quantity::plural;
use volary_ui::text::inert;

/// The maximum number of diagnostics of a kind that are listed.
const MOST_LISTED: usize = 50;

/// The section with the diagnostics; `None` if there are none. `select` is called with the step of one.
pub fn diagnostics_section(found: &[Diagnostic], select: Callback<usize>) -> Option<AnyView> {
    if found.is_empty() {
        return None;
    }
    let kinds = DiagnosticKind::ALL.into_iter().filter_map(|kind| {
        let of_kind: Vec<&Diagnostic> = found.iter().filter(|one| one.kind == kind).collect();
        if of_kind.is_empty() {
            return None;
        }
        let more = of_kind.len().saturating_sub(MOST_LISTED);
        let more =
            (more > 0).then(|| view! { <li class="faint">{format!("and {more} more")}</li> });
        let items = of_kind.into_iter().take(MOST_LISTED);
        let items = items.map(|one| diagnostic_item(one, select)).collect_view();
        Some(view! {
            <div class="diagnostic-kind">
                <h3>{kind.heading()}</h3>
                <p class="faint">{kind.explanation()}</p>
                <ul>{items} {more}</ul>
            </div>
        })
    });
    Some(
        view! {
            <section class="detail diagnostics" aria-label="Diagnostics">
                <h2>{"Diagnostics"}</h2>
                <p class="help">
                    {format!(
                        "{} by rules, without a model. They are hints: look at the step.",
                        plural(found.len(), "diagnostic")
                    )}
                </p>
                {kinds.collect_view()}
            </section>
        }
        .into_any(),
    )
}

fn diagnostic_item(one: &Diagnostic, select: Callback<usize>) -> impl IntoView + use<> {
    let step = one.step;
    let name = match step {
        0 => "Start".to_owned(),
        step => format!("Step {step}"),
    };
    view! {
        <li>
            <button
                type="button"
                class="quiet small"
                aria-label=format!("Go to step {step}: {}", one.note)
                on:click=move |_| select.run(step)
            >
                {name}
            </button>
            <span dir="auto">{inert(&one.note)}</span>
        </li>
    }
}
