//! Comparison of two episodes: aligned steps, the first difference, and its details.

use leptos::prelude::*;
use volary_analysis::align::AlignedRow;
use volary_core::quantity::{count_text, plural};
use volary_episode::Episode;
use volary_view::compare::{ComparedLine, Marked, Section, sections};
use volary_view::outline::{class_and_name, line};
use volary_view::route::{ClassPlace, IN_PLAYGROUND, PlaygroundPlace, ReviewPlace, Route};
use volary_view::summary::reward_text;

use super::comparison::{EpisodeComparison, is_same_row, verdict_text};
use super::library_page::BackLink;
use volary_ui::rows::{Rows, redrawn};
use volary_ui::text::inert;

/// The height of a row in pixels, as in the style sheet.
const ROW: f64 = 34.0;

/// The names of the left and the right side, for screen readers.
type Sides = [&'static str; 2];

/// The page of a comparison.
#[component]
pub(super) fn ComparePage(comparison: EpisodeComparison) -> impl IntoView {
    view! {
        <div class="compare">
            <Head comparison/>
            <div class="compare-panes">
                <section class="pane compare-rows" aria-label="Aligned steps">
                    {aligned(comparison)}
                </section>
                <section class="pane compare-detail" aria-label="Differences">
                    {move || detail(comparison, ["left", "right"])}
                </section>
            </div>
        </div>
    }
}

#[component]
fn Head(comparison: EpisodeComparison) -> impl IntoView {
    let names = move || {
        comparison.pair.with(|pair| {
            let (left, right) = pair.as_ref()?;
            Some(view! {
                {name(left, "left", false)}
                <span class="faint">"vs."</span>
                {name(right, "right", comparison.live.get())}
            })
        })
    };
    let blind = move || {
        comparison.pair.with(|pair| {
            let (left, right) = pair.as_ref()?;
            let place = ClassPlace::Pair {
                left: left.id.to_string(),
                right: if comparison.live.get() {
                    IN_PLAYGROUND.to_owned()
                } else {
                    right.id.to_string()
                },
            };
            Some(view! {
                <a
                    class="button small quiet"
                    title="Show both as A and B, and who acted only after a choice"
                    href=place.to_hash()
                >
                    {"Judge blind"}
                </a>
            })
        })
    };
    let verdict = move || verdict(comparison);
    let go = move |label: &'static str, forward: bool| {
        view! {
            <button
                type="button"
                class="quiet small"
                on:click=move |_| {
                    comparison.go_to_difference(forward);
                }
            >
                {label}
            </button>
        }
    };
    view! {
        <header class="library-head compare-head">
            <BackLink/>
            <h1 class="visually-hidden">{"Comparison"}</h1>
            {names}
            {blind}
            <p class="faint" role="status">
                {verdict}
            </p>
            <div class="button-row">
                {go("Previous difference", false)}
                {go("Next difference", true)}
            </div>
        </header>
    }
}

fn name(episode: &Episode, side: &'static str, in_playground: bool) -> impl IntoView + use<> {
    let name = match episode.name.trim() {
        "" => &*episode.id,
        name => name,
    };
    let address = if in_playground {
        Route::Playground(PlaygroundPlace {
            environment: episode.environment().map(|name| name.to_string()),
            ..PlaygroundPlace::default()
        })
    } else {
        Route::Review(ReviewPlace {
            episode: Some(episode.id.to_string()),
            ..ReviewPlace::default()
        })
    };
    let who = episode.model.as_ref().or(episode.policy.as_ref());
    let who = who.map(|who| {
        view! { <span class="faint" dir="auto">{inert(&format!("{who}, "))}</span> }
    });
    let reward = episode.reward().map(reward_text);
    let reward =
        reward.map(|reward| view! { <span class="faint">{format!(", reward {reward} ")}</span> });
    view! {
        <span class=format!("compare-name {side}")>
            <a href=address.to_hash()>
                <strong dir="auto">{inert(name)}</strong>
            </a>
            <span class="faint">{" "} {who} {plural(episode.steps.len(), "step")}</span>
            {reward}
            {in_playground.then(|| view! { <span class="badge">"in the playground"</span> })}
        </span>
    }
}

fn aligned(comparison: EpisodeComparison) -> AnyView {
    let count = Memo::new(move |_| comparison.rows() + 1);
    let edition = Memo::new(move |edition: Option<&u32>| {
        comparison.alignment.track();
        edition.map_or(0, |edition| edition.wrapping_add(1))
    });
    Rows {
        count: count.into(),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(move || Some(comparison.selected.get())),
        role: "list",
        class: "aligned",
        name: Some("Aligned steps"),
    }
    .view_of(
        move |number| comparison.identity(number),
        redrawn(move |number| aligned_row(comparison, number)),
    )
}

fn aligned_row(comparison: EpisodeComparison, number: usize) -> AnyView {
    let row = comparison.alignment.with_untracked(|alignment| {
        let alignment = alignment.as_ref()?;
        match number.checked_sub(1) {
            None => Some(AlignedRow {
                left: None,
                right: None,
                likeness: alignment.start,
            }),
            Some(place) => alignment.rows.get(place).cloned(),
        }
    });
    let Some(row) = row else {
        return ().into_any();
    };
    let same = comparison.alignment.with_untracked(|alignment| {
        let alignment = alignment.as_ref();
        alignment.is_none_or(|alignment| is_same_row(alignment, number))
    });
    let sides = comparison.pair.with_untracked(|pair| {
        let (left, right) = pair.as_ref()?;
        Some((side(left, number, row.left), side(right, number, row.right)))
    });
    let (left, right) = sides.unzip();
    let is_selected = move || comparison.selected.get() == number;
    let class = move || match (same, is_selected()) {
        (true, false) => "aligned-row",
        (true, true) => "aligned-row selected",
        (false, false) => "aligned-row differs",
        (false, true) => "aligned-row differs selected",
    };
    let (sign, word) = if same {
        ("=", "same")
    } else {
        ("≠", "different")
    };
    view! {
        <div class=class role="listitem">
            <button
                type="button"
                class="aligned-step"
                aria-current=move || is_selected().then_some("true")
                on:click=move |_| comparison.selected.set(number)
            >
                {left}
                <span class="aligned-sign" role="img" aria-label=word>
                    {sign}
                </span>
                {right}
            </button>
        </div>
    }
    .into_any()
}

/// A cell of a row: the step of one episode.
fn side(episode: &Episode, number: usize, step: Option<usize>) -> AnyView {
    let step = match (number, step) {
        (0, _) => 0,
        (_, Some(step)) => step + 1,
        (_, None) => return view! { <span class="aligned-side missing">"—"</span> }.into_any(),
    };
    let line = line(episode, step);
    let (kind, name) = class_and_name(line.kind);
    let number = match step {
        0 => "Start".to_owned(),
        step => count_text(step),
    };
    view! {
        <span class="aligned-side">
            <span class="outline-number">{number}</span>
            <span class=format!("kind-mark {kind}") title=name></span>
            <span class="outline-title" dir="auto">
                {inert(&line.title)}
            </span>
        </span>
    }
    .into_any()
}

fn verdict(comparison: EpisodeComparison) -> String {
    comparison
        .alignment
        .with(|alignment| alignment.as_deref().map(verdict_text).unwrap_or_default())
}

/// The first difference and its details, for a page that shows no more of the comparison.
pub(super) fn first_difference(comparison: EpisodeComparison, sides: Sides) -> AnyView {
    view! {
        <p role="status">{move || verdict(comparison)}</p>
        {move || detail(comparison, sides)}
    }
    .into_any()
}

fn detail(comparison: EpisodeComparison, sides: Sides) -> Option<Vec<AnyView>> {
    let selected = comparison.selected.get();
    let row = comparison.alignment.with(|alignment| {
        let rows = &alignment.as_ref()?.rows;
        selected
            .checked_sub(1)
            .and_then(|place| rows.get(place))
            .cloned()
    });
    let found = comparison.pair.with(|pair| {
        let (left, right) = pair.as_ref()?;
        Some(sections(left, right, row.as_ref()))
    });
    Some(found?.iter().map(|found| section(found, sides)).collect())
}

fn section(section: &Section, [left, right]: Sides) -> AnyView {
    let lines = section.lines.iter().map(|line| match line {
        ComparedLine::Same(text) => view! { <div class="diff-line">{inert(text)}</div> }.into_any(),
        ComparedLine::Skipped(count) => {
            let words = format!("{} alike", plural(*count, "line"));
            view! { <div class="diff-line skipped">{words}</div> }.into_any()
        }
        ComparedLine::Left(marked) => {
            let mark = inert(&marked.mark);
            let mark = view! { <del>{mark}</del> }.into_any();
            marked_line("diff-line left", left, marked, mark)
        }
        ComparedLine::Right(marked) => {
            let mark = inert(&marked.mark);
            let mark = view! { <ins>{mark}</ins> }.into_any();
            marked_line("diff-line right", right, marked, mark)
        }
    });
    let body = if section.lines.is_empty() {
        view! { <p class="faint">"No differences."</p> }.into_any()
    } else {
        view! {
            <div class="diff-lines" dir="auto">
                {lines.collect_view()}
            </div>
        }
        .into_any()
    };
    let badge = if section.same {
        view! { <span class="badge">"same"</span> }
    } else {
        view! { <span class="badge notice">"differs"</span> }
    };
    view! {
        <section class="diff-section">
            <h2>{section.title} {badge}</h2>
            {body}
        </section>
    }
    .into_any()
}

/// A line of one side. `mark` is the part that differs; it may be empty.
fn marked_line(class: &'static str, side: &'static str, marked: &Marked, mark: AnyView) -> AnyView {
    view! {
        <div class=class>
            <span class="visually-hidden">{side} ": "</span>
            {inert(&marked.before)}
            {(!marked.mark.is_empty()).then_some(mark)}
            {inert(&marked.after)}
        </div>
    }
    .into_any()
}
