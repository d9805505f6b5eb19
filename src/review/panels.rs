//! The side panels of an episode: result, state, notes, details, and the raw step.

use leptos::prelude::*;
use volary_core::Json;
use volary_core::json::{Object, Text};
use volary_trajectory::{Episode, Usage, native};

use super::notes::Notes;
use super::notes_panel::NotesPanel;
use super::result_panel::ResultPanel;
use super::sample_time::sample_time;
use super::state_panel::StatePanel;
use super::tokens::Tokens;
use super::tokens::panel::TokenPanel;
use super::viewer::Viewer;
use crate::components::json_text::json_text;
use crate::components::text::{Fold, inert};
use crate::components::{CopyButton, Tabs};
use crate::playground::state::Playground;
use crate::projection::asking::cost_text;
use crate::projection::library::date_text;
use crate::projection::summary::{reward_text, seconds_text};
use crate::projection::text::{large_count_text, plural};
use crate::projection::transcript::step_record;

const NAMES: &[&str] = &["Result", "State", "Notes", "Details", "Raw"];
/// The tabs of an episode with tokens.
const WITH_TOKENS: &[&str] = &["Result", "State", "Notes", "Details", "Raw", "Tokens"];
/// Index of the tab of the result panel.
pub const RESULT: usize = 0;
/// Index of the tab of the state panel.
pub const STATE: usize = 1;
/// Index of the tab of the notes panel.
pub const NOTES: usize = 2;
/// Index of the tab of the details panel.
pub const DETAILS: usize = 3;
/// Index of the tab of the raw step.
const RAW: usize = 4;
/// Index of the tab of the tokens.
pub const TOKENS: usize = 5;

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
    let tools =
        (!episode.tools.is_empty()).then(|| part("Tools", &native::tools_to_json(&episode.tools)));
    let raw = (!episode.raw.is_empty())
        .then(|| part("Unrecognized data", &Json::from(episode.raw.clone())));
    view! {
        <dl class="facts">{facts.collect_view()}</dl>
        {sample_time(episode)}
        {recipe}
        {metadata}
        {tools}
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

fn facts(episode: &Episode) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut say = |name, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.push((name, value));
        }
    };
    let text = |text: Option<&Text>| text.map(|text| text.to_string());
    say("Id", Some(episode.id.to_string()));
    say("Environment", text(episode.environment()));
    say(
        "Task",
        episode
            .task()
            .map(|task| format!("{} {}", task.dataset, task.id)),
    );
    say("Policy", text(episode.policy.as_ref()));
    say("Model", text(episode.model.as_ref()));
    let recipe = episode.recipe.as_ref();
    say("Seed", recipe.map(|recipe| recipe.seed.to_string()));
    say("Length", Some(plural(episode.steps.len(), "step")));
    say("Reward", episode.reward().map(reward_text));
    say("Outcome", text(episode.outcome.as_ref()));
    for score in &episode.scores {
        let value = match score.value.as_text() {
            Some(value) => value.to_string(),
            None => score.value.to_python_text(),
        };
        let why = score.explanation.as_ref();
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        say("Score", Some(format!("{} {value}{why}", score.name)));
    }
    say("Usage", usage_text(&episode.usage()));
    say("Started", episode.started.map(date_text));
    let steps: f64 = episode.steps.iter().filter_map(|step| step.seconds).sum();
    let seconds = episode.seconds.unwrap_or(steps);
    say("Time", (seconds > 0.0).then(|| seconds_text(seconds)));
    for error in &episode.errors {
        say("Error", Some(error.to_string()));
    }
    for link in &episode.links {
        let step = link.step.map(|step| format!(", from step {}", step + 1));
        let step = step.unwrap_or_default();
        let relation = link.relation.as_str();
        say(
            "Related",
            Some(format!("{relation} {}{step}", link.episode)),
        );
    }
    if let Some(source) = &episode.source {
        let version = source.version.as_deref().unwrap_or_default();
        let parts = [&*source.format, version, &*source.file];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        say("Source", Some(parts.collect::<Vec<_>>().join(", ")));
    }
    facts
}

/// Describes token usage and cost.
fn usage_text(usage: &Usage) -> Option<String> {
    let tokens = |count: Option<u64>, word: &str| {
        count.map(|count| format!("{} {word}", large_count_text(count)))
    };
    let parts = [
        tokens(usage.input, "input tokens"),
        tokens(usage.cached, "cached"),
        tokens(usage.output, "output tokens"),
        tokens(usage.reasoning, "reasoning"),
        usage.cost.map(cost_text),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
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
