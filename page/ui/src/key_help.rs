//! The help dialog on `?`: keyboard shortcuts, glossary, links to the documentation, and the version.

use leptos::prelude::*;
use volary_view::glossary::TERMS;

use super::dialog::Dialog;
use super::offline_status::OfflineStatus;

/// The bundled documents: file names in `docs/` and descriptions.
const DOCUMENTS: [(&str, &str); 12] = [
    ("review", "Read, search and compare trajectories"),
    ("behaviour", "See what agents do in many trajectories"),
    ("evaluate", "Evaluate policies on many tasks"),
    ("models", "Connect models"),
    ("school", "Watch an agent learn"),
    ("lessons", "Write lessons"),
    ("classroom", "Teach a class"),
    ("python-environments", "Write environments in Python"),
    ("new-environment", "Write environments in Rust"),
    ("server", "Serve environments"),
    ("cli", "The command line"),
    ("offline", "Use it without a connection"),
];

/// What the dialog shows; a context.
#[derive(Clone, Copy)]
pub struct KeyHelpContent {
    /// Whether the dialog is open.
    pub open: RwSignal<bool>,
    /// Each key with a description of its effect. The part of a description after ` in ` or ` on ` says where it works.
    pub keys: Signal<&'static [(&'static str, &'static str)]>,
}

/// Lists shortcuts, terms and documents.
pub fn key_help() -> AnyView {
    let KeyHelpContent { open, keys } = expect_context();
    // Some pages have no shortcuts.
    let shortcuts = move || {
        let keys = keys.get();
        (!keys.is_empty()).then(|| shortcut_list(keys))
    };
    let terms = TERMS.map(|(term, meaning)| {
        view! {
            <div>
                <dt>{term}</dt>
                <dd>{meaning}</dd>
            </div>
        }
    });
    let documents = DOCUMENTS.map(|(file, about)| {
        view! {
            <li>
                <a href=format!("docs/{file}.md") target="_blank" rel="noopener">
                    {about}
                </a>
            </li>
        }
    });
    view! {
        <Dialog open title="Help">
            <div class="help-parts">
                {shortcuts}
                <section aria-label="Glossary">
                    <h3>{"Glossary"}</h3>
                    <dl class="key-list">{terms.into_iter().collect_view()}</dl>
                </section>
                <section aria-label="Documentation">
                    <h3>{"Documentation"}</h3>
                    <ul>{documents.into_iter().collect_view()}</ul>
                </section>
                <section aria-label="About">
                    <h3>{"About"}</h3>
                    <p>{format!("Volary {}", env!("CARGO_PKG_VERSION"))}</p>
                    // Asks the browser each time that the dialog opens.
                    {move || open.get().then(|| view! { <OfflineStatus/> })}
                    <p class="faint">{about_source()}</p>
                </section>
            </div>
        </Dialog>
    }
    .into_any()
}

fn shortcut_list(keys: &'static [(&'static str, &'static str)]) -> impl IntoView {
    let rows = keys.iter().map(|(keys, meaning)| {
        let place = [" in ", " on "].iter().find_map(|word| keys.find(word));
        let (key, place) = keys.split_at(place.unwrap_or(keys.len()));
        view! {
            <div>
                <dt>
                    <kbd>{key}</kbd>
                    {place}
                </dt>
                <dd>{*meaning}</dd>
            </div>
        }
    });
    view! {
        <section aria-label="Keyboard shortcuts">
            <h3>{"Keyboard shortcuts"}</h3>
            <dl class="key-list">{rows.collect_view()}</dl>
        </section>
    }
}

/// Links to the source code and the licence.
fn about_source() -> AnyView {
    let license = format!("Licence: {}. ", env!("CARGO_PKG_LICENSE"));
    let repository = env!("CARGO_PKG_REPOSITORY");
    if repository.is_empty() {
        view! {
            {license}
            "The source is one Cargo workspace; its ARCHITECTURE.md says where to start."
        }
        .into_any()
    } else {
        view! {
            {license}
            <a href=repository target="_blank" rel="noopener">
                "Source"
            </a>
        }
        .into_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_in_the_folder() {
        for (file, _) in DOCUMENTS {
            let path = format!("{}/../../docs/{file}.md", env!("CARGO_MANIFEST_DIR"));
            assert!(std::path::Path::new(&path).exists(), "{path}");
        }
    }
}
