//! The **Result** panel: how an episode ended and why. Shows scores with their explanations, the expected and the given
//! answer, what the agent said last, the submitted patch as a diff, and the last error.

use leptos::prelude::*;
use volary_analysis::behaviour::diagnostics::diagnostics;
use volary_analysis::result::{IntermediateScore, LastError, LastWords, PatchLine, TaskOutcome};
use volary_analysis::scores::grades;
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_episode::{Episode, Score};
use volary_view::summary::reward_text;
use volary_view::text::cut_at;

use super::viewer::Viewer;
use volary_behaviour::diagnostics_view::diagnostics_section;
use volary_ui::text::inert;
use volary_view::review::episode_facts::{
    PatchCounts, ending_texts, grade_text, score_text, verdict_class,
};

/// The maximum number of lines of a patch that are shown.
const MOST_LINES: usize = 2_000;
/// The maximum number of bytes of another text that are shown.
const MOST_BYTES: usize = 20_000;

/// The panel, which is rendered again for each episode.
#[component]
pub(super) fn ResultPanel(viewer: Viewer) -> impl IntoView {
    move || {
        let result = viewer.result.get();
        let (verdict, scores) = viewer
            .shown
            .episode
            .with(|episode| (verdict(episode, result.verdict), scores(episode)));
        let error = result
            .last_error
            .as_ref()
            .map(|error| last_error(viewer, error));
        let found = viewer.shown.episode.with(|episode| diagnostics(episode));
        let select = Callback::new(move |step| viewer.select(step));
        let is_told = viewer
            .shown
            .episode
            .with_untracked(|episode| !result.is_empty(episode));
        let nothing = (!is_told).then(|| {
            view! {
                <p class="help">"No scores, answer, patch or error are recorded."</p>
            }
        });
        view! {
            <div class="result-panel">
                {verdict}
                {scores}
                {texts("Expected", &result.expected)}
                {texts("Answer given", &result.given)}
                {error}
                {result.last_words.as_ref().map(|words| last_words(viewer, words))}
                {intermediate(viewer, &result.intermediate)}
                {diagnostics_section(&found, select)}
                {result.patches.iter().map(|(name, patch)| patch_view(name, patch)).collect_view()}
                {nothing}
            </div>
        }
    }
}

/// The verdict: success or failure, reward, and ending.
fn verdict(episode: &Episode, verdict: Option<TaskOutcome>) -> AnyView {
    let badge = verdict.map(|verdict| {
        view! { <span class=verdict_class(verdict)>{verdict.label()}</span> }
    });
    let reward = match episode.reward() {
        Some(reward) => format!("Reward {}", reward_text(reward)),
        None => "No reward is recorded".to_owned(),
    };
    let ending = ending_texts(episode).into_iter();
    let ending = ending.map(|text| {
        view! {
            <span class="result-ending" dir="auto">
                {inert(&text)}
            </span>
        }
    });
    view! {
        <p class="result-verdict">
            {badge}
            <span>{reward}</span>
            {ending.collect_view()}
        </p>
    }
    .into_any()
}

fn scores(episode: &Episode) -> Option<AnyView> {
    grades(episode).next()?;
    let score = |score: &Score| {
        let value = score_text(score);
        let why = score.explanation.as_ref();
        let why = why.filter(|why| !why.trim().is_empty());
        let why = why.map(|why| text_block(why));
        view! {
            <div class="result-score">
                <dt dir="auto">{inert(&score.name)}</dt>
                <dd>
                    <strong dir="auto">{inert(&value)}</strong>
                    {why}
                </dd>
            </div>
        }
    };
    let scores = grades(episode).map(score).collect_view();
    Some(
        view! {
            <section class="detail">
                <h2>{"Scores"}</h2>
                <dl class="facts">{scores}</dl>
            </section>
        }
        .into_any(),
    )
}

fn texts(title: &'static str, texts: &[(String, Text)]) -> Option<AnyView> {
    if texts.is_empty() {
        return None;
    }
    let texts = texts.iter().map(|(name, text)| {
        view! {
            <p class="faint" dir="auto">
                {inert(name)}
            </p>
            {text_block(text)}
        }
    });
    Some(
        view! {
            <section class="detail">
                <h2>{title}</h2>
                {texts.collect_view()}
            </section>
        }
        .into_any(),
    )
}

/// A preformatted text without blank lines around it, truncated to [`MOST_BYTES`].
fn text_block(text: &str) -> AnyView {
    let text = text.trim();
    let shown = text.get(..cut_at(text, MOST_BYTES)).unwrap_or_default();
    let more = (shown.len() < text.len()).then(|| {
        view! { <p class="faint">"The rest is in Details or Raw."</p> }
    });
    view! {
        <pre class="result-text" dir="auto" tabindex="0">
            {inert(shown)}
        </pre>
        {more}
    }
    .into_any()
}

/// What the agent submitted with its last action, or said in it.
fn last_words(viewer: Viewer, words: &LastWords) -> AnyView {
    let step = words.step;
    let title = match words.tool {
        Some(_) => "Submitted",
        None => "Last message",
    };
    let tool = words.tool.as_ref().map(|tool| {
        view! {
            <p class="faint" dir="auto">
                {inert(tool)}
            </p>
        }
    });
    view! {
        <section class="detail">
            <h2>{title}</h2>
            {tool}
            {text_block(&words.text)}
            <button type="button" class="small" on:click=move |_| viewer.select(step)>
                {format!("Go to step {step}")}
            </button>
        </section>
    }
    .into_any()
}

fn intermediate(viewer: Viewer, scores: &[IntermediateScore]) -> Option<AnyView> {
    if scores.is_empty() {
        return None;
    }
    let scores = scores.iter().map(|score| {
        let step = score.step;
        let value = inert(&grade_text(&score.value));
        let why = score.explanation.as_ref().map(|why| text_block(why));
        view! {
            <div class="result-score">
                <dt>
                    <button
                        type="button"
                        class="quiet small"
                        aria-label=format!("Go to step {step}")
                        on:click=move |_| viewer.select(step)
                    >
                        {format!("Step {step}")}
                    </button>
                </dt>
                <dd>
                    <strong dir="auto">{value}</strong>
                    {why}
                </dd>
            </div>
        }
    });
    Some(
        view! {
            <section class="detail">
                <h2>{"Intermediate scores"}</h2>
                <dl class="facts">{scores.collect_view()}</dl>
            </section>
        }
        .into_any(),
    )
}

fn last_error(viewer: Viewer, error: &LastError) -> AnyView {
    let line = error.line();
    let go = error.step.map(|step| {
        let show = move |_| {
            viewer.select(step);
            if let Some(target) = &line {
                viewer.go_to(target);
                viewer.linked.set(Some(target.clone()));
            }
        };
        view! {
            <button type="button" class="small" on:click=show>
                {format!("Go to step {step}")}
            </button>
        }
    });
    view! {
        <section class="detail">
            <h2>{"Last error"}</h2>
            {text_block(&error.message)}
            {go}
        </section>
    }
    .into_any()
}

fn patch_view(name: &str, patch: &str) -> AnyView {
    let lines = PatchLine::of(patch).take(MOST_LINES).map(|(kind, line)| {
        let class = match kind {
            PatchLine::Head => "patch-head",
            PatchLine::Passage => "patch-passage",
            PatchLine::Added => "patch-added",
            PatchLine::Removed => "patch-removed",
            PatchLine::Same => "patch-same",
        };
        view! { <span class=class>{inert(line)}{"\n"}</span> }
    });
    let lines = lines.collect_view();
    let PatchCounts {
        added,
        removed,
        all,
    } = PatchCounts::of(patch);
    let more = all.checked_sub(MOST_LINES).filter(|more| *more > 0);
    let more = more.map(|more| {
        view! { <p class="faint">{format!("{} more lines.", count_text(more))}</p> }
    });
    view! {
        <section class="detail">
            <h2>{"Patch"}</h2>
            <p class="faint" dir="auto">
                {inert(name)}
                {format!(": {} added, {} removed", plural(added, "line"), plural(removed, "line"))}
            </p>
            <pre class="patch" dir="ltr" tabindex="0">
                {lines}
            </pre>
            {more}
        </section>
    }
    .into_any()
}
