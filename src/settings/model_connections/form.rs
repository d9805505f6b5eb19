//! The form of a connection.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_agent::model::connection::{Address, PRESETS, Preset, Space};
use volary_agent::model::{ApiKey, Connection, ProviderKind};

use super::super::section::{insecure_page, key_help, link_away, stays_with};
use super::{Editor, actions};
use crate::browser::{element, network};
use crate::components::erased::{dynamic, words};
use crate::components::markup::{El, all, el, nothing};
use crate::models::connections::{Saved, preset_of};
use crate::playground::controls::{choice, field, help, option};
use crate::secrets::{self, Keeping};

/// The group **Model connection**.
pub(super) fn form(editor: Editor) -> El {
    el("fieldset")
        .class("connection-form")
        .child(el("legend").child("Model connection"))
        .child(name_field(editor))
        .child(provider_field(editor))
        .child(base_url_field(editor))
        .child(editor.names.field(editor))
        .child(key_field(editor))
        .child(
            el("div")
                .class("button-row")
                .child(editor.trial.button(editor))
                .child(el("span").class("stretch"))
                .child(actions(editor)),
        )
        .child(editor.trial.result())
}

/// A text field that is applied on blur, possibly normalized.
pub(super) fn text_input(
    editor: Editor,
    value: fn(&Saved) -> String,
    take: impl Fn(String) + 'static,
) -> El {
    el("input")
        .attr("autocomplete", "off")
        .attr("autocapitalize", "off")
        .attr("spellcheck", "false")
        .text_property("value", words(move || value(&editor.shown())))
        .on("change", move |event: Event| {
            take(event_target_value(&event));
            element::set_value(&event, &value(&editor.shown_untracked()));
        })
}

fn name_field(editor: Editor) -> El {
    let input = text_input(
        editor,
        |saved| saved.connection.name.to_string(),
        move |name| {
            // A connection without a name would be indistinguishable.
            if !name.trim().is_empty() {
                editor.edit(|saved| saved.connection.name = name.trim().into());
            }
        },
    );
    field("connection-name", "Name", input)
}

fn provider_field(editor: Editor) -> El {
    let (near, far): (Vec<_>, Vec<_>) = PRESETS.iter().partition(|preset| is_near(preset));
    let group = |label: &'static str, presets: Vec<&Preset>| {
        let options = presets
            .into_iter()
            .map(|preset| option(preset.name, preset.name).view());
        el("optgroup")
            .attr("label", label)
            .child(options.collect::<Vec<_>>())
            .view()
    };
    let formats = ProviderKind::ALL.into_iter().map(|kind| {
        let name = format!("{OTHER}{}", kind.provider().name());
        option(name, format!("Other, speaks {}", kind.title())).view()
    });
    let formats = el("optgroup")
        .attr("label", "Other server")
        .child(formats.collect::<Vec<_>>());
    let value = words(move || provider_of(&editor.shown()));
    let control = choice(value, move |value| choose_provider(editor, &value))
        .attr("aria-describedby", "connection-provider-help")
        .child(all(vec![
            group("Providers", far),
            group("On your computer or network", near),
            formats.view(),
        ]));
    let hints = dynamic(move || hints(&editor.shown()));
    field("connection-provider", "Provider", control).child(
        el("div")
            .class("hints")
            .attr("id", "connection-provider-help")
            .child(hints),
    )
}

/// The prefix of formats that are not presets.
const OTHER: &str = "other:";

fn is_near(preset: &Preset) -> bool {
    Address::of(preset.base_url).is_some_and(|address| address.space() != Space::Public)
}

fn provider_of(saved: &Saved) -> String {
    match saved.preset {
        Some(preset) => preset.name.to_owned(),
        None => format!("{OTHER}{}", saved.connection.kind.provider().name()),
    }
}

/// Another provider resets address and model, and the name unless the user chose it.
fn choose_provider(editor: Editor, value: &str) {
    let other = value.strip_prefix(OTHER).and_then(ProviderKind::from_name);
    let preset = preset_of(value);
    editor.edit(|saved| {
        let former = saved.preset.map_or("", |preset| preset.name);
        let has_own_name = !saved.connection.name.starts_with(former) || former.is_empty();
        match (preset, other) {
            (Some(preset), _) => {
                let name = saved.connection.name.clone();
                saved.connection = Connection::of(preset);
                if has_own_name {
                    saved.connection.name = name;
                }
            }
            (None, Some(kind)) => {
                saved.connection.kind = kind;
                if !has_own_name {
                    saved.connection.name = kind.title().into();
                }
            }
            (None, None) => return,
        }
        saved.preset = preset;
    });
}

/// Hints about the provider: its note, how to allow this page, where to create keys.
fn hints(saved: &Saved) -> AnyView {
    let Some(preset) = saved.preset else {
        return nothing();
    };
    let hint = |words: String| help(words).view();
    let mut hints = Vec::new();
    if !preset.note.is_empty() {
        hints.push(hint(preset.note.to_owned()));
    }
    if !preset.allow.is_empty() {
        let origin = network::page().origin;
        hints.push(hint(preset.allow.replace("https://example.org", &origin)));
    }
    all(hints)
}

fn base_url_field(editor: Editor) -> El {
    let take = move |typed: String| {
        let before = editor.shown_untracked();
        editor.edit(|saved| {
            saved.connection.base_url = typed.as_str().into();
            saved.connection.base_url = saved.connection.tidied().base_url;
        });
        // A key that was entered before the address belongs to the first address. Any other key stays with its
        // origin.
        let key = untrack(|| before.key());
        if !before.origin().is_address() && !key.is_empty() {
            let after = editor.shown_untracked();
            // The help below the key says where it is stored.
            let _ = secrets::put(&after.owner(), &before.origin(), &ApiKey::default());
            let _ = secrets::put(&after.owner(), &after.origin(), &key);
        }
    };
    let input = text_input(editor, |saved| saved.connection.base_url.to_string(), take)
        .attr("type", "url")
        .attr("inputmode", "url")
        .attr(
            "aria-invalid",
            words(move || wrong_address(&editor.shown()).is_some().to_string()),
        )
        .attr("aria-describedby", "connection-base-url-error");
    let error = dynamic(move || match wrong_address(&editor.shown()) {
        Some(error) => el("p").class("error").child(error).view(),
        None => nothing(),
    });
    field("connection-base-url", "Base URL", input).child(
        el("div")
            .attr("id", "connection-base-url-error")
            .child(error),
    )
}

/// The error of the address, if one was entered.
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

fn key_field(editor: Editor) -> El {
    let take = move |typed: String| {
        // A draft becomes a connection, because only a connection can own a key.
        editor.edit(|_| {});
        let saved = editor.shown_untracked();
        let key = ApiKey::new(&typed);
        // The help below the field says where it is stored.
        let _ = secrets::put(&saved.owner(), &saved.origin(), &key);
        editor.trial.forget();
    };
    let input = text_input(editor, |saved| saved.key().expose().to_owned(), take)
        .attr("type", "password")
        .attr(
            "aria-describedby",
            "connection-key-elsewhere connection-key-help",
        );
    let where_kept = words(|| {
        let kept = match secrets::keeping() {
            Keeping::Page => "Stored in memory until the page is closed or reloaded",
            Keeping::Tab => "Stored in this tab",
            Keeping::Device => "Stored on this device",
        };
        format!("{kept}; see API keys below.")
    });
    let make = dynamic(move || {
        let Some(preset) = editor.shown().preset else {
            return nothing();
        };
        match preset.key_url {
            Some(address) => link_away(address, format!("Create a key at {}", preset.name)),
            None => "Only needed if the server was started with one.".into_any(),
        }
    });
    let elsewhere = words(move || key_elsewhere(&editor.shown()));
    let help = all(vec![
        el("span").child(where_kept).view(),
        el("span").child(" ").view(),
        make,
    ]);
    field("connection-key", "API key", input)
        .child(key_help(
            ["connection-key-elsewhere", "connection-key-help"],
            elsewhere,
            help,
        ))
        .child(insecure_page())
}

/// The origins with a key of this connection; empty if there is none, or if the current address has one too.
fn key_elsewhere(saved: &Saved) -> String {
    let origins = secrets::origins(&saved.owner());
    if origins.is_empty() || saved.has_key() {
        return String::new();
    }
    stays_with(&origins)
}
