//! What should perhaps not be shared: keys, tokens, passwords and e-mail addresses in an episode, each with its place,
//! shown before it is exported or copied.

use leptos::prelude::*;
use volary_trajectory::sensitive::{Finding, Kind, check, find, masked_text};

use super::viewer::Viewer;
use crate::components::CopyButton;
use crate::components::icon::{Glyph, NamedIcon};
use crate::components::text::inert;
use crate::projection::text::{count_text, plural};

/// The most findings that are listed.
const MOST: usize = 100;

/// The findings in the open episode, computed when the dialog opens, and whether they are masked.
#[component]
pub(super) fn Check(viewer: Viewer, open: RwSignal<bool>, masks: RwSignal<bool>) -> impl IntoView {
    let findings = Memo::new(move |_| match open.get() {
        true => viewer.shown.episode.with(|episode| check(episode)),
        false => Vec::new(),
    });
    // Secrets are masked unless the user decides otherwise; an address alone is not.
    Effect::new(move |_| {
        if open.get() {
            masks.set(findings.with(|found| found.iter().any(|one| one.kind.is_secret())));
        }
    });
    let list = move || {
        findings.with(|found| {
            let items = found.iter().take(MOST);
            let items = items.map(|finding| item(viewer, open, finding));
            items.collect_view()
        })
    };
    let more = move || {
        let more = findings.with(|found| found.len().saturating_sub(MOST));
        (more > 0).then(|| view! { <p class="faint">{format!("{} more.", count_text(more))}</p> })
    };
    view! {
        <Show when=move || findings.with(|found| !found.is_empty())>
            <section class="sharing-check" aria-label="Check before sharing">
                <h3>{"Check before sharing"}</h3>
                <p role="status">{move || findings.with(|found| inert(&summary(found)))}</p>
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
                    {"Mask them in the file"}
                </label>
            </section>
        </Show>
    }
}

fn item(viewer: Viewer, open: RwSignal<bool>, finding: &Finding) -> impl IntoView + use<> {
    let times = match finding.places {
        1 => String::new(),
        places => format!(", at {} places", count_text(places)),
    };
    let words = format!("{} {}{times}: ", finding.kind.name(), finding.preview);
    let place = finding.place.clone();
    let go = finding.step.map(|step| {
        let show = move |_| {
            open.set(false);
            viewer.select(step);
        };
        let name = match step {
            0 => "Start".to_owned(),
            step => format!("Step {step}"),
        };
        view! {
            <button type="button" class="quiet small" on:click=show>
                {name}
            </button>
        }
    });
    view! {
        <li>
            <span dir="auto">{inert(&words)}</span>
            {go}
            <code>{inert(&place)}</code>
        </li>
    }
}

/// A dismissible note that a copied text has something that should perhaps not be shared, and a masked copy.
#[component]
pub(super) fn CopyNote(viewer: Viewer) -> impl IntoView {
    let words = move || {
        let text = viewer.copied.get().unwrap_or_default();
        let kinds: Vec<Kind> = find(&text).into_iter().map(|one| one.kind).collect();
        format!("The copied text has {}.", counted(&kinds))
    };
    let masked = move || masked_text(&viewer.copied.get_untracked().unwrap_or_default());
    view! {
        <Show when=move || viewer.copied.with(Option::is_some)>
            <div class="link-note" role="status" aria-label="Copied text">
                <p>{move || inert(&words())}</p>
                <CopyButton text=masked label="Copy masked"/>
                <button
                    type="button"
                    class="quiet small icon-button"
                    on:click=move |_| viewer.copied.set(None)
                >
                    <NamedIcon glyph=Glyph::Close name="Dismiss"/>
                </button>
            </div>
        </Show>
    }
}

/// The findings in numbers.
fn summary(found: &[Finding]) -> String {
    let kinds: Vec<Kind> = found.iter().map(|one| one.kind).collect();
    format!("This episode has {}.", counted(&kinds))
}

fn counted(found: &[Kind]) -> String {
    let kinds = Kind::ALL.iter().filter_map(|kind| {
        let count = found.iter().filter(|one| *one == kind).count();
        match (count, kind) {
            (0, _) => None,
            (1, _) => Some(format!("1 {}", kind.name())),
            (count, Kind::Email) => Some(format!("{} e-mail addresses", count_text(count))),
            (count, Kind::Password) => Some(format!("{} passwords or secrets", count_text(count))),
            (count, kind) => Some(plural(count, kind.name())),
        }
    });
    let kinds: Vec<String> = kinds.collect();
    kinds.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_by_kind() {
        let finding = |kind| Finding {
            kind,
            preview: String::new(),
            step: None,
            place: String::new(),
            places: 1,
        };
        let found = [Kind::Email, Kind::ApiKey, Kind::Email].map(finding);
        assert_eq!(
            summary(&found),
            "This episode has 1 API key, 2 e-mail addresses."
        );
    }
}
