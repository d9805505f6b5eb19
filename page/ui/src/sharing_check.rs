//! A check for sensitive data before something is exported or shared: lists keys, tokens, passwords and e-mail
//! addresses with their places, and masks them on request.
//!
//! The search is `volary_analysis::sensitive`. Invariant: everything that leaves the page as a file or a link passes
//! through this module.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::quantity::count_text;
use volary_view::sharing_texts::OwnedFinding;

use super::dialog::Dialog;
use super::text::inert;

/// The maximum number of findings that are listed.
const MOST: usize = 100;

/// The list of findings and the choice to mask them. Empty if there are none.
#[component]
pub fn SharingCheck(
    /// The findings to list.
    #[prop(into)]
    found: Signal<Vec<OwnedFinding>>,
    /// What contains the findings, as the subject of a sentence: "This episode".
    subject: &'static str,
    /// Whether the findings are masked.
    masks: RwSignal<bool>,
    /// Selects a step, if that is possible on this page.
    #[prop(optional)]
    on_step: Option<Callback<usize>>,
) -> impl IntoView {
    // Mask secrets unless the user decides otherwise; an e-mail address alone is not masked by default.
    Effect::new(move |_| masks.set(found.with(|found| OwnedFinding::any_secret(found))));
    let words = move || found.with(|found| OwnedFinding::summary(subject, found));
    let list = move || {
        found.with(|found| {
            let items = found.iter().take(MOST).map(|one| item(one, on_step));
            items.collect_view()
        })
    };
    let more = move || {
        let more = found.with(|found| found.len().saturating_sub(MOST));
        (more > 0).then(|| view! { <p class="faint">{format!("{} more.", count_text(more))}</p> })
    };
    view! {
        <Show when=move || found.with(|found| !found.is_empty())>
            <section class="sharing-check" aria-label="Check before sharing">
                <h3>{"Check before sharing"}</h3>
                <p role="status">{words}</p>
                <details>
                    <summary>{"Places"}</summary>
                    <ul>{list}</ul>
                    {more}
                </details>
                <label class="column-box">
                    <input
                        type="checkbox"
                        prop:checked=move || masks.get()
                        on:change=move |event| masks.set(event_target_checked(&event))
                    />
                    {"Mask them"}
                </label>
            </section>
        </Show>
    }
}

fn item(found: &OwnedFinding, on_step: Option<Callback<usize>>) -> AnyView {
    let words = found.text();
    let finding = &found.finding;
    let go = finding.step.zip(on_step).map(|(step, on_step)| {
        let name = match step {
            0 => "Start".to_owned(),
            step => format!("Step {step}"),
        };
        view! {
            <button type="button" class="quiet small" on:click=move |_| on_step.run(step)>
                {name}
            </button>
        }
    });
    view! {
        <li>
            <span dir="auto">{inert(&words)}</span>
            {go}
            <code>{inert(&finding.path)}</code>
        </li>
    }
    .into_any()
}

/// A file that waits for the user to review the findings in it.
#[derive(Clone)]
struct Pending {
    subject: &'static str,
    found: Vec<OwnedFinding>,
    /// Saves the file; the argument says whether to mask it.
    save: Callback<bool>,
}

/// Asks the user before a file with findings is saved.
#[derive(Clone, Copy)]
pub struct CheckedExport(RwSignal<Option<Arc<Pending>>>);

impl CheckedExport {
    /// Without a pending file.
    pub fn new() -> CheckedExport {
        CheckedExport(RwSignal::new(None))
    }

    /// Saves a file: at once if nothing was found, otherwise after the user decided whether to mask it.
    pub fn save(
        self,
        subject: &'static str,
        found: Vec<OwnedFinding>,
        save: impl Fn(bool) + Send + Sync + 'static,
    ) {
        let save = Callback::new(save);
        if found.is_empty() {
            save.run(false)
        } else {
            self.0.set(Some(Arc::new(Pending {
                subject,
                found,
                save,
            })))
        }
    }
}

impl Default for CheckedExport {
    fn default() -> Self {
        CheckedExport::new()
    }
}

/// The dialog of [`CheckedExport`].
#[component]
pub fn CheckedExportDialog(
    /// The export whose question is shown.
    export: CheckedExport,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let masks = RwSignal::new(false);
    let pending = export.0;
    Effect::new(move |_| {
        if pending.with(Option::is_some) {
            open.set(true);
        }
    });
    let body = move || {
        let pending = pending.get()?;
        let (found, subject) = (pending.found.clone(), pending.subject);
        let save = move |_| {
            open.set(false);
            pending.save.run(masks.get_untracked());
        };
        Some(view! {
            <SharingCheck found=Signal::stored(found) subject masks/>
            <div class="button-row">
                <button type="button" class="primary" on:click=save>
                    {move || if masks.get() { "Save masked" } else { "Save as it is" }}
                </button>
                <button type="button" on:click=move |_| open.set(false)>
                    {"Cancel"}
                </button>
            </div>
        })
    };
    view! {
        <Dialog open title="Save this file?">
            {body}
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use volary_analysis::sensitive::check_document;

    use super::*;

    /// What was saved: whether it was masked, for each time.
    fn saved(found: Vec<OwnedFinding>, chooses: Option<bool>) -> Vec<bool> {
        let saved = Arc::new(Mutex::new(Vec::new()));
        Owner::new().with(|| {
            let (export, into) = (CheckedExport::new(), Arc::clone(&saved));
            export.save("The file", found, move |is_masked| {
                into.lock().expect("no other thread").push(is_masked);
            });
            let pending = export.0.get_untracked();
            if let (Some(pending), Some(is_masked)) = (pending, chooses) {
                pending.save.run(is_masked);
            }
        });
        let saved = saved.lock().expect("no other thread");
        saved.clone()
    }

    #[test]
    fn a_file_without_findings_is_saved_without_a_question() {
        assert_eq!(saved(Vec::new(), None), [false]);
    }

    #[test]
    fn a_file_with_findings_is_saved_once_the_user_has_chosen() {
        let found = || OwnedFinding::all(check_document("Write to ada@example.org."));
        assert_eq!(found().len(), 1);
        assert_eq!(saved(found(), None), [] as [bool; 0], "it waits");
        assert_eq!(saved(found(), Some(true)), [true]);
        assert_eq!(saved(found(), Some(false)), [false]);
    }
}
