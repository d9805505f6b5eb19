//! The pages of what the address opens: a training run, an episode, a comparison or a grid, with the bars above them. A
//! lazily loaded part, so that the table appears before their code is there.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::review::opening::ReviewOpening;
use volary_view::route::ReviewPlace;

use super::actions::Actions;
use super::agent_tools;
use super::compare_page::ComparePage;
use super::episode_page::EpisodePage;
use super::evaluation_bar::EvaluationBar;
use super::grid_page::GridPage;
use super::page::{Review, use_review};
use super::progress::Progress;
use super::sequence::SequenceBar;
use super::training::TrainingPage;
use super::training::trail::Trail;
use volary_behaviour::panel::{BehaviourInputs, BehaviourPanel};
use volary_browser::appearance;
use volary_browser::lazy::{DrawFn, Loaded};
use volary_ui::keep_alive::KeepAlive;
use volary_ui::lazy::Coming;
use volary_ui::present::presenter::Presenter;
use volary_view::review::screen::ReviewScreen;

/// Returns whether the address names one of these pages.
pub fn are_wanted(place: &ReviewPlace) -> bool {
    !matches!(
        ReviewScreen::of(place),
        ReviewScreen::Library | ReviewScreen::Ask
    )
}

/// Loads the code of these pages.
pub fn load() -> Coming {
    Box::pin(opened_pages())
}

#[wasm_split(opened, wasm_split_path = leptos::wasm_split, fallible)]
fn opened_pages() -> Loaded<DrawFn> {
    appearance::adopt(include_str!("../../../style/outline.css"));
    appearance::adopt(include_str!("../../../style/episode.css"));
    appearance::adopt(include_str!("../../../style/notes.css"));
    appearance::adopt(include_str!("../../../style/reading.css"));
    appearance::adopt(include_str!("../../../style/compare.css"));
    appearance::adopt(include_str!("../../../style/tokens.css"));
    appearance::adopt(include_str!("../../../style/result.css"));
    appearance::adopt(include_str!("../../../style/lanes.css"));
    appearance::adopt(include_str!("../../../style/training.css"));
    appearance::adopt(include_str!("../../../style/present.css"));
    Ok(|| view! { <OpenedPages/> }.into_any())
}

/// Loads the code of the panel of behaviour, which is in the same part.
pub fn load_behaviour() -> Coming {
    Box::pin(behaviour())
}

#[wasm_split(opened, wasm_split_path = leptos::wasm_split, fallible)]
fn behaviour() -> Loaded<DrawFn> {
    appearance::adopt(include_str!("../../../style/behaviour.css"));
    Ok(|| {
        let look = use_review().look;
        let inputs = BehaviourInputs {
            client: look.client,
            link: look.behaviour,
            shown: look.shown.into(),
            is_settled: look.is_settled(),
            notes: look.notes.all,
        };
        view! { <BehaviourPanel inputs/> }.into_any()
    })
}

/// Loads the code of the tools for agents, which is in the same part.
pub fn load_agent_tools() -> Coming {
    Box::pin(agent_tools())
}

#[wasm_split(opened, wasm_split_path = leptos::wasm_split, fallible)]
fn agent_tools() -> Loaded<DrawFn> {
    Ok(|| {
        agent_tools::offer(use_review());
        ().into_any()
    })
}

#[component]
fn OpenedPages() -> impl IntoView {
    let review = use_review();
    let Review { client, .. } = review;
    view! {
        <KeepAlive is_wanted=Signal::derive(move || review.part.get() == ReviewScreen::Training)>
            <TrainingPage training=review.training/>
        </KeepAlive>
        <Show when=move || review.is_arriving()>
            <div class="page">
                <Progress client/>
                <OpeningWords/>
            </div>
        </Show>
        <EvaluationBar place=review.place/>
        <Trail training=review.training place=review.place/>
        <Show when=move || review.is_presenting()>
            <Presenter deck=review.viewer.deck title="Episode"/>
        </Show>
        <Opened review part=ReviewScreen::Episode is_there=review.shows_episode()>
            <EpisodePage
                client
                viewer=review.viewer
                notes=review.notes
                playground=review.playground
                sequence=move || {
                    // A sample of a group has its neighbours there.
                    let is_sample = move || {
                        review.place.with(|place| review.training.shows_sample(place))
                    };
                    view! {
                        <Show when=move || !is_sample()>
                            <SequenceBar sequence=review.sequence/>
                        </Show>
                    }
                        .into_any()
                }
            >
                <Actions client viewer=review.viewer playground=review.playground/>
            </EpisodePage>
        </Opened>
        <Opened review part=ReviewScreen::Comparison is_there=review.shows_comparison()>
            <ComparePage comparison=review.comparison/>
        </Opened>
        <Opened review part=ReviewScreen::Grid is_there=review.shows_grid()>
            <GridPage grid=review.grid/>
        </Opened>
    }
}

/// A part of the page that is built on first use. Shows its content once it is loaded, or why it could not be opened.
#[component]
fn Opened(
    review: Review,
    part: ReviewScreen,
    is_there: Signal<bool>,
    children: ChildrenFn,
) -> impl IntoView {
    let is_wanted =
        Signal::derive(move || review.part.get() == part && review.question.with(Option::is_none));
    let state = move || match review.opening.get() {
        ReviewOpening::Failed(reason) => view! { <Failed reason/> }.into_any(),
        ReviewOpening::Wanted(_) => view! { <OpeningWords/> }.into_any(),
        ReviewOpening::Nothing | ReviewOpening::Shown(_) => ().into_any(),
    };
    view! {
        <KeepAlive is_wanted>
            {state}
            <div class="page" hidden=move || !is_there.get()>
                {children()}
            </div>
        </KeepAlive>
    }
}

#[component]
fn OpeningWords() -> impl IntoView {
    view! {
        <p class="opening" role="status">
            "Opening…"
        </p>
    }
}

#[component]
fn Failed(reason: String) -> impl IntoView {
    view! {
        <div class="empty-state" role="alert">
            <h1>{"This trajectory cannot be shown."}</h1>
            <p>{reason}</p>
            <a class="button" href="#/review">
                {"All trajectories"}
            </a>
        </div>
    }
}
