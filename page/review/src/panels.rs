//! The side panels of an episode: result, state, notes, details, and the raw step.

use leptos::prelude::*;
use volary_core::Json;
use volary_core::json::Object;
use volary_episode::{Episode, native};
use volary_view::transcript::step_record;

use super::notes::Notes;
use super::notes_panel::NotesPanel;
use super::result_panel::ResultPanel;
use super::sample_time::sample_time;
use super::state_panel::StatePanel;
use super::tokens::Tokens;
use super::tokens::panel::TokenPanel;
use super::tool_list::tool_list;
use super::viewer::Viewer;
use volary_playground::state::Playground;
use volary_ui::json_text::json_text;
use volary_ui::text::{Fold, inert};
use volary_ui::{CopyButton, Tabs};
use volary_view::review::episode_facts::facts;
use volary_view::review::side_panels::{
    DETAILS, NAMES, NOTES, RAW, RESULT, STATE, TOKENS, WITH_TOKENS,
};

#[component]
pub(super) fn Panels(
    viewer: Viewer,
    notes: Notes,
    playground: Playground,
    tokens: Tokens,
) -> impl IntoView {
    let has_tokens = tokens.has_tokens;
    Effect::new(move |_| {
        if !has_tokens.get() && viewer.panel.get_untracked() == TOKENS {
            viewer.panel.set(RESULT);
        }
    });
    let tabs = move || {
        let names = if has_tokens.get() { WITH_TOKENS } else { NAMES };
        view! {
            <Tabs
                label="Next to the transcript"
                names
                active=viewer.panel
                id_prefix="beside"
            />
        }
    };
    view! {
        <section class="pane beside-pane" id="frame-pane" aria-label="State and details">
            {tabs}
            <Panel viewer place=RESULT>
                <ResultPanel viewer/>
            </Panel>
            <Panel viewer place=STATE>
                <div class="frame-pane" role="region" aria-label="Frame">
                    <StatePanel viewer notes playground/>
                </div>
            </Panel>
            <Panel viewer place=NOTES>
                <NotesPanel viewer notes/>
            </Panel>
            <Panel viewer place=DETAILS>
                <Details viewer/>
            </Panel>
            <Panel viewer place=RAW>
                <Raw viewer/>
            </Panel>
            <Show when=move || has_tokens.get()>
                <Panel viewer place=TOKENS>
                    <TokenPanel tokens/>
                </Panel>
            </Show>
        </section>
    }
}

#[component]
fn Panel(viewer: Viewer, place: usize, children: Children) -> impl IntoView {
    view! {
        <div
            class="beside-panel"
            role="tabpanel"
            id=format!("beside-panel-{place}")
            aria-labelledby=format!("beside-tab-{place}")
            hidden=move || viewer.panel.get() != place
        >
            {children()}
        </div>
    }
}

/// The details of the episode, rendered on demand, because metadata may be large.
#[component]
fn Details(viewer: Viewer) -> impl IntoView {
    view! {
        <Show when=move || viewer.panel.get() == DETAILS>
            {move || viewer.shown.episode.with(|episode| details(episode))}
        </Show>
    }
}

fn details(episode: &Episode) -> impl IntoView + use<> {
    let facts = facts(episode).into_iter().map(|(name, value)| {
        view! {
            <div class="fact">
                <dt>{name}</dt>
                <dd>
                    <span dir="auto">{inert(&value)}</span>
                </dd>
            </div>
        }
    });
    let recipe = episode.recipe.as_ref();
    let recipe =
        recipe.map(|recipe| part("Configuration", &Json::from(recipe.configuration.clone())));
    let metadata = (!episode.metadata.is_empty())
        .then(|| part("Metadata", &Json::from(episode.metadata.clone())));
    let raw = (!episode.raw.is_empty())
        .then(|| part("Unrecognized data", &Json::from(episode.raw.clone())));
    view! {
        <dl class="facts">{facts.collect_view()}</dl>
        {sample_time(episode)}
        {recipe}
        {metadata}
        {tool_list(&episode.tools)}
        {raw}
    }
}

fn part(title: &'static str, value: &Json) -> impl IntoView + use<> {
    view! {
        <section class="detail">
            <h2>{title}</h2>
            {json_text(value, RwSignal::default())}
        </section>
    }
}

/// The selected step as JSON.
#[component]
fn Raw(viewer: Viewer) -> impl IntoView {
    let json = move || {
        let step = viewer.shown.selected.get();
        viewer
            .shown
            .episode
            .with(|episode| match step_record(episode, step) {
                Some(record) => native::step_to_json(record),
                None => {
                    let mut start = Object::default();
                    start.insert("start", native::messages_to_json(&episode.start));
                    Json::from(start)
                }
            })
    };
    let heading = move || match viewer.shown.selected.get() {
        0 => "The reset as recorded.".to_owned(),
        step => format!("Step {step} as recorded."),
    };
    // The panel shows nothing else, so the tree starts expanded.
    let shown = move || {
        let is_open = viewer.panel.get() == RAW;
        is_open.then(|| json_text(&json(), RwSignal::new(Fold::Open(0))))
    };
    view! {
        <div class="pane-head">
            <p class="help">{heading}</p>
            <CopyButton text=move || untrack(json).to_python_text_indented(2)/>
        </div>
        {shown}
    }
}
