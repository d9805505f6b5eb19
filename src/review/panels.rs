//! The side panels of an episode: state, notes, details, and the raw step.

use leptos::prelude::*;
use volary_core::Json;
use volary_core::json::{Object, Text};
use volary_trajectory::{Episode, Usage, native};

use super::notes::Notes;
use super::notes_panel::notes_panel;
use super::state_panel::state_panel;
use super::viewer::Viewer;
use crate::components::Tabs;
use crate::components::copy_button::copy_button;
use crate::components::erased::{dynamic, flag, words};
use crate::components::json_text::json_text;
use crate::components::markup::{El, all, el};
use crate::components::text::{Fold, inert_in};
use crate::playground::controls::help;
use crate::playground::state::Playground;
use crate::projection::asking::cost_text;
use crate::projection::library::date_text;
use crate::projection::summary::{reward_text, seconds_text};
use crate::projection::text::{large_count_text, plural};
use crate::projection::transcript::step_record;

const NAMES: &[&str] = &["State", "Notes", "Details", "Raw"];
/// The indices of the panels among the tabs.
pub const STATE: usize = 0;
/// What people noted.
pub const NOTES: usize = 1;
/// What is known of the whole.
pub const DETAILS: usize = 2;
/// The step as it was read.
const RAW: usize = 3;

/// The panels.
pub fn panels(viewer: Viewer, notes: Notes, playground: Playground) -> El {
    let tabs = view! { <Tabs label="Beside the transcript" names=NAMES active=viewer.panel id_prefix="beside"/> };
    let panel = |place: usize, content: AnyView| {
        el("div")
            .class("beside-panel")
            .attr("role", "tabpanel")
            .attr("id", format!("beside-panel-{place}"))
            .attr("aria-labelledby", format!("beside-tab-{place}"))
            .attr("hidden", flag(move || viewer.panel.get() != place))
            .child(content)
    };
    let state = el("div")
        .class("frame-pane")
        .attr("role", "region")
        .attr("aria-label", "Frame")
        .child(state_panel(viewer, notes, playground));
    el("section")
        .class("pane beside-pane")
        .attr("id", "frame-pane")
        .attr("aria-label", "State and details")
        .child(tabs.into_any())
        .child(panel(STATE, state.view()))
        .child(panel(NOTES, notes_panel(viewer, notes)))
        .child(panel(DETAILS, details(viewer)))
        .child(panel(RAW, raw(viewer)))
}

/// The details of the episode.
fn details(viewer: Viewer) -> AnyView {
    dynamic(move || {
        // Rendered on demand, because metadata may be large.
        if viewer.panel.get() != DETAILS {
            return ().into_any();
        }
        viewer.shown.episode.with(|episode| {
            let facts = facts(episode).into_iter().map(|(name, value)| {
                el("div")
                    .class("fact")
                    .child(el("dt").child(name))
                    .child(el("dd").child(inert_in("span", "", &value)))
                    .view()
            });
            let facts = el("dl").class("facts").child(facts.collect::<Vec<_>>());
            let tools = (!episode.tools.is_empty())
                .then(|| part("Tools", &native::tools_to_json(&episode.tools)));
            let recipe = episode
                .recipe
                .as_ref()
                .map(|recipe| part("Configuration", &Json::from(recipe.configuration.clone())));
            let raw = (!episode.raw.is_empty())
                .then(|| part("Unrecognized data", &Json::from(episode.raw.clone())));
            let metadata = (!episode.metadata.is_empty())
                .then(|| part("Metadata", &Json::from(episode.metadata.clone())));
            let parts = [recipe, metadata, tools, raw].into_iter().flatten();
            all(std::iter::once(facts.view())
                .chain(parts.map(El::view))
                .collect())
        })
    })
}

fn part(title: &'static str, value: &Json) -> El {
    el("section")
        .class("detail")
        .child(el("h2").child(title))
        .child(json_text(value, RwSignal::default()))
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

/// Token usage and cost in words.
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
fn raw(viewer: Viewer) -> AnyView {
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
    let heading = words(move || match viewer.shown.selected.get() {
        0 => "The reset as recorded.".to_owned(),
        step => format!("Step {step} as recorded."),
    });
    let copied = Callback::new(move |()| untrack(json).to_python_text_indented(2));
    all(vec![
        el("div")
            .class("pane-head")
            .child(help(heading))
            .child(copy_button(copied, "Copy", false))
            .view(),
        dynamic(move || match viewer.panel.get() {
            // Nothing else is shown there, so it starts expanded.
            RAW => json_text(&json(), RwSignal::new(Fold::Open(0))),
            _ => ().into_any(),
        }),
    ])
}
