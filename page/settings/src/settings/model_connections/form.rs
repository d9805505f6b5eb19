//! The form of a model connection.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_agent::model::{ApiKey, Connection};

use super::super::section::{ApiKeyHelp, InsecurePage, LinkAway, stays_with};
use super::built_in::BuiltInFields;
use super::connection_test::{TestButton, TestResult};
use super::generate::GenerateFields;
use super::names::ModelField;
use super::{Actions, Editor};
use volary_browser::{element, network};
use volary_connections::models::connections::Saved;
use volary_connections::models::provider_choice::{ProviderChoice, ProviderGroups, advice};
use volary_secrets::{self as secrets, Keeping};
use volary_ui::field::Field;

/// The **Model connection** group.
#[component]
pub(super) fn ConnectionForm(editor: Editor) -> impl IntoView {
    let has_server = Memo::new(move |_| editor.shown().connection.kind.has_server());
    view! {
        <fieldset class="connection-form">
            <legend>{"Model connection"}</legend>
            <NameField editor/>
            <ProviderField editor/>
            <Show
                when=move || has_server.get()
                fallback=move || view! { <BuiltInFields editor/> }
            >
                <BaseUrlField editor/>
                <ModelField editor/>
                <GenerateFields editor/>
                <KeyField editor/>
            </Show>
            <div class="button-row">
                <TestButton editor/>
                <span class={"stretch"}></span>
                <Actions editor/>
            </div>
            <TestResult editor/>
        </fieldset>
    }
}

/// A text input whose value is applied on blur, possibly normalized.
#[component]
pub(super) fn TextInput(
    editor: Editor,
    id: &'static str,
    /// Reads the value from the connection.
    value: fn(&Saved) -> String,
    /// Applies the typed text.
    #[prop(into)]
    take: Callback<String>,
) -> impl IntoView {
    let changed = move |event: Event| {
        take.run(event_target_value(&event));
        element::set_value(&event, &value(&editor.shown_untracked()));
    };
    view! {
        <input
            id=id
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            prop:value=move || value(&editor.shown())
            on:change=changed
        />
    }
}

#[component]
fn NameField(editor: Editor) -> impl IntoView {
    let take = move |name: String| {
        // A connection without a name would be indistinguishable from others.
        if !name.trim().is_empty() {
            editor.edit(|saved| saved.connection.name = name.trim().into());
        }
    };
    view! {
        <Field id="connection-name" label="Name">
            <TextInput
                editor
                id="connection-name"
                value=|saved| saved.connection.name.to_string()
                take
            />
        </Field>
    }
}

#[component]
fn ProviderField(editor: Editor) -> impl IntoView {
    let options = |choices: Vec<ProviderChoice>| {
        let options = choices.into_iter();
        options
            .map(|choice| view! { <option value=choice.value()>{choice.text()}</option> })
            .collect_view()
    };
    let groups = ProviderGroups::all();
    let choose = move |event: Event| {
        if let Some(choice) = ProviderChoice::from_value(&event_target_value(&event)) {
            editor.edit(|saved| choice.apply(saved));
        }
    };
    view! {
        <Field id="connection-provider" label="Provider">
            <select
                id="connection-provider"
                aria-describedby="connection-provider-help"
                prop:value=move || ProviderChoice::of(&editor.shown()).value()
                on:change=choose
            >
                <optgroup label="Providers">{options(groups.far)}</optgroup>
                <optgroup label="In this browser">{options(groups.built_in)}</optgroup>
                <optgroup label="On your computer or network">{options(groups.near)}</optgroup>
                <optgroup label="Other server">{options(groups.other)}</optgroup>
            </select>
            <div class="hints" id="connection-provider-help">
                {move || hints(&editor.shown())}
            </div>
        </Field>
    }
}

/// Hints about the provider: its note, and how to allow requests from this page.
fn hints(saved: &Saved) -> Option<impl IntoView + use<>> {
    let preset = saved.preset?;
    let hints = advice(preset, &network::page().origin).into_iter();
    let hints = hints.map(|hint| view! { <p class="help">{hint}</p> });
    Some(hints.collect_view())
}

#[component]
fn BaseUrlField(editor: Editor) -> impl IntoView {
    let take = move |typed: String| {
        let before = editor.shown_untracked();
        editor.edit(|saved| {
            saved.connection.base_url = typed.as_str().into();
            saved.connection.base_url = saved.connection.tidied().base_url;
        });
        // A key that was entered before the address belongs to the first address. Any other key stays with its origin.
        let key = untrack(|| before.key());
        if !before.origin().is_address() && !key.is_empty() {
            let after = editor.shown_untracked();
            // The help below the key says where it is stored.
            let _ = secrets::put(&after.owner(), &before.origin(), &ApiKey::default());
            let _ = secrets::put(&after.owner(), &after.origin(), &key);
        }
    };
    let error = move || {
        let error = wrong_address(&editor.shown());
        error.map(|error| view! { <p class="error">{error}</p> })
    };
    view! {
        <Field id="connection-base-url" label="Base URL">
            <TextInput
                editor
                id="connection-base-url"
                value=|saved| saved.connection.base_url.to_string()
                take
                attr:r#type="url"
                attr:inputmode="url"
                attr:placeholder="https://example.org/v1"
                attr:aria-invalid=move || wrong_address(&editor.shown()).is_some().to_string()
                attr:aria-describedby="connection-base-url-error"
            />
            <div id="connection-base-url-error">{error}</div>
        </Field>
    }
}

/// The validation error of the address, if one was entered.
fn wrong_address(saved: &Saved) -> Option<String> {
    let connection = Connection {
        model: "any".into(),
        ..saved.connection.clone()
    };
    if connection.base_url.is_empty() {
        return None;
    }
    connection.check().err().map(|error| error.to_string())
}

#[component]
fn KeyField(editor: Editor) -> impl IntoView {
    let take = move |typed: String| {
        // Turn a draft into a connection, because only a connection can own a key.
        editor.edit(|_| {});
        let saved = editor.shown_untracked();
        let key = ApiKey::new(&typed);
        // The help below the field says where it is stored.
        let _ = secrets::put(&saved.owner(), &saved.origin(), &key);
        editor.test.forget(editor);
    };
    let where_kept = || {
        let kept = match secrets::keeping() {
            Keeping::Page => "Stored in memory until the page is closed or reloaded",
            Keeping::Tab => "Stored in this tab",
            Keeping::Device => "Stored on this device",
        };
        format!("{kept}; see API keys below.")
    };
    let creation = move || {
        let preset = editor.shown().preset?;
        Some(match preset.key_url {
            Some(address) => {
                let words = format!("Create a key at {}", preset.name);
                view! { <LinkAway address words/> }.into_any()
            }
            None => "Only needed if the server was started with one.".into_any(),
        })
    };
    view! {
        <Field id="connection-key" label="API key">
            <TextInput
                editor
                id="connection-key"
                value=|saved| saved.key().expose().to_owned()
                take
                attr:r#type="password"
                attr:aria-describedby="connection-key-elsewhere connection-key-help"
            />
            <ApiKeyHelp
                elsewhere_id="connection-key-elsewhere"
                elsewhere=Signal::derive(move || key_elsewhere(&editor.shown()))
                help_id="connection-key-help"
            >
                <span>{where_kept}</span>
                <span>{" "}</span>
                {creation}
            </ApiKeyHelp>
            <InsecurePage/>
        </Field>
    }
}

/// The origins for which this connection has a key; empty if there are none, or if the current address has a key as
/// well.
fn key_elsewhere(saved: &Saved) -> String {
    let origins = secrets::origins(&saved.owner());
    if origins.is_empty() || saved.has_key() {
        return String::new();
    }
    stays_with(&origins)
}
