//! The settings of the model policy: connection and request; sampling and limits are collapsed.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_view::form::Form;

use super::settings::{asking_form_like, in_short};
use super::{ModelState, state};
use crate::state::{Playground, use_playground};
use volary_connections::models::connections;
use volary_ui::icon::{Glyph, Icon};
use volary_ui::{SchemaForm, UnsavedNotice};

pub(super) fn settings_view() -> AnyView {
    let playground = use_playground();
    let state = state(playground);
    Effect::new(move |_| follow(playground, state));
    let connected = Memo::new(move |_| connections::read(|known| !known.list().is_empty()));
    view! {
        <div class="model-settings">
            <Show when=move || !connected.get()>
                <div class="no-connection">
                    <p>{"No model is connected yet."}</p>
                    <a class="button" href="#/settings">
                        {"Connect model"}
                    </a>
                    <p class="help">
                        {"Requests go directly from this page to the address that you enter, with \
                          your own key."}
                    </p>
                </div>
            </Show>
            <Show when=move || connected.get()>
                <UnsavedNotice what="these settings" unsaved=super::keeping::unsaved()/>
                <SchemaForm form=state.asking id_prefix="asking"/>
                <Folded
                    name="Sampling"
                    prefix="sampling"
                    nothing="provider default"
                    form=state.sampling
                />
                <Folded name="Limits" prefix="limits" nothing="none" form=state.limits/>
                <p class="help">
                    {"Manage connections, keys and prices in the "}
                    <a href="#/settings">{"settings"}</a>
                    {"."}
                </p>
            </Show>
        </div>
    }
    .into_any()
}

/// Updates the form for the current connections and tools.
pub(super) fn follow(playground: Playground, state: ModelState) {
    let names: Vec<Text> = connections::read(|known| {
        let preferred = known.default_one().map(|saved| saved.id.clone());
        let mut list: Vec<_> = known.list().iter().collect();
        // The first option is the default.
        list.sort_by_key(|saved| Some(&saved.id) != preferred.as_ref());
        let names = list.into_iter().map(|saved| saved.connection.name.clone());
        names.collect()
    });
    playground.edition().track();
    let tools: Vec<Text> = playground.episode().with_untracked(|episode| {
        let tools = episode.tools.iter();
        tools.map(|tool| tool.info.name.clone()).collect()
    });
    let form = state
        .asking
        .with_untracked(|form| asking_form_like(form, &names, &tools));
    let same = state
        .asking
        .with_untracked(|former| former.schema() == form.schema());
    if !same {
        state.asking.set(form);
    }
}

/// A collapsed form with a summary of its values. It opens when a field is invalid.
#[component]
fn Folded(
    name: &'static str,
    prefix: &'static str,
    /// The summary when no field is filled in.
    nothing: &'static str,
    form: RwSignal<Form>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if form.with(|form| !form.errors().is_empty()) {
            open.set(true);
        }
    });
    let summary = move || {
        let short = form.with(in_short);
        short.unwrap_or_else(|| nothing.to_owned())
    };
    let class = move || {
        if open.get() {
            "quiet disclosure open"
        } else {
            "quiet disclosure"
        }
    };
    view! {
        <div class="folded-form">
            <button
                type="button"
                class=class
                aria-expanded=move || open.get().to_string()
                on:click=move |_| open.update(|open| *open = !*open)
            >
                <Icon glyph=Glyph::Chevron/>
                <span>{name}</span>
                <span class="faint">{summary}</span>
            </button>
            <Show when=move || open.get()>
                <SchemaForm form id_prefix=prefix legend=name/>
            </Show>
        </div>
    }
}
