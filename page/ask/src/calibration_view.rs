//! Labels of a person for a sample of trajectories, before the answers of the model are shown, and the agreement afterwards.

use leptos::prelude::*;
use volary_app::ask::asked::AskedQuestion;
use volary_app::ask::{AskScope, Event};
use volary_ask::Rendered;
use volary_ask::calibration::{Calibration, sample};
use volary_browser::{element, spawn};
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_library_client::texts;
use volary_ui::term::Terms;
use volary_ui::text::inert;

use super::answers_view::{episode_hash, quotes_view};
use super::plan_view::LABELLED;
use super::question_view::asked;
use super::run_view::RunView;
use super::setup_view::groups;
use super::state::{AskState, use_ask};

/// The seed of the sample.
const SEED: u64 = 1;
/// The id of the trajectory that is labelled.
const TEXT: &str = "ask-labelled-text";

#[component]
pub(super) fn CalibrationPage(id: Text) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let count = Memo::new(move |_| {
        question.with(|question| question.as_ref().map(|known| known.calibration.len()))
    });
    let labelled = Memo::new(move |_| {
        let question = question.get()?;
        Some(state.history.with(|history| {
            let labels = history.labels(&question.labels);
            let rows = question.calibration.iter();
            rows.filter(|row| labels.is_some_and(|labels| labels.contains_key(*row)))
                .count()
        }))
    });
    let is_complete = Memo::new(move |_| {
        let count = count.get().unwrap_or_default();
        count > 0 && labelled.get() == Some(count)
    });
    let id = StoredValue::new(id);
    view! {
        <Show when=move || count.get() == Some(0)>
            <Begin id=id.get_value()/>
        </Show>
        <Show when=move || count.get().unwrap_or_default() != 0>
            <Labelling id=id.get_value()/>
        </Show>
        <Show when=move || is_complete.get()>
            <RunView id=id.get_value() scope=AskScope::Calibration/>
            <AgreementView id=id.get_value()/>
        </Show>
    }
}

/// Draws the sample.
#[component]
fn Begin(id: Text) -> impl IntoView {
    let state = use_ask();
    let begin = move |_| {
        let rows = state
            .history
            .with_untracked(|history| Some(history.question(&id)?.rows.clone()))
            .unwrap_or_default();
        let rows = state.host.rows.with_untracked(|all| {
            let rows = all.iter().filter(|row| rows.contains(&row.id));
            rows.cloned().collect::<Vec<_>>()
        });
        let chosen = sample(&groups(&rows), LABELLED, SEED).into_iter();
        let chosen = chosen.filter_map(|index| Some(rows.get(index)?.id.clone()));
        state.dispatch(Event::SetCalibration {
            id: id.clone(),
            rows: chosen.collect(),
        });
    };
    view! {
        <section class="card" aria-label="Labels">
            <h2>{"How far do you agree with the model?"}</h2>
            <p>
                {format!(
                    "Label up to {LABELLED} trajectories yourself, without seeing the answers. Then you see how \
                     often the model says the same, and where you differ.",
                )}
            </p>
            <button type="button" class="primary" on:click=begin>
                {"Start to label"}
            </button>
        </section>
    }
}

/// One trajectory after the other, with the labels to choose from.
#[component]
fn Labelling(id: Text) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let first = question.with_untracked(|question| first_open(state, question.as_ref()?));
    let at = RwSignal::new(first.unwrap_or_default());
    let episode = Memo::new(move |_| {
        question.with(|question| question.as_ref()?.calibration.get(at.get()).cloned())
    });
    let label = Memo::new(move |_| {
        let (question, episode) = (question.get()?, episode.get()?);
        state
            .history
            .with(|history| history.labels(&question.labels)?.get(&episode).cloned())
    });
    let total = Memo::new(move |_| {
        question.with(|question| question.as_ref().map_or(0, |known| known.calibration.len()))
    });
    let done = Memo::new(move |_| {
        let Some(question) = question.get() else {
            return 0;
        };
        state.history.with(|history| {
            let labels = history.labels(&question.labels);
            let rows = question.calibration.iter();
            rows.filter(|row| labels.is_some_and(|labels| labels.contains_key(*row)))
                .count()
        })
    });
    let choose = {
        let id = id.clone();
        move |label: Text| {
            let Some(episode) = episode.get_untracked() else {
                return;
            };
            state.dispatch(Event::Label {
                id: id.clone(),
                episode,
                label: Some(label),
            });
            if at.get_untracked() + 1 < total.get_untracked() {
                at.update(|at| *at += 1);
                element::scroll_to_id(TEXT);
            }
        }
    };
    let labels = move || {
        let labels = question.with(|question| {
            let question = question.as_ref()?;
            Some(question.setup.question.answer.labels())
        });
        let labels = labels.unwrap_or_default().into_iter();
        labels
            .map(|text| {
                let choose = choose.clone();
                let chosen = text.clone();
                let pressed = text.clone();
                view! {
                    <button
                        type="button"
                        aria-pressed=move || {
                            label.with(|label| *label == Some(pressed.clone())).to_string()
                        }
                        on:click=move |_| choose(chosen.clone())
                    >
                        {inert(&text)}
                    </button>
                }
            })
            .collect_view()
    };
    let options = Memo::new(move |_| {
        question.with(|question| Some(question.as_ref()?.setup.options.clone()))
    });
    let text = RwSignal::new(None::<Result<Rendered, Text>>);
    let here = episode;
    Effect::watch(
        move || (episode.get(), options.get()),
        move |(episode, options), _, _| {
            let (Some(episode), Some(options)) = (episode.clone(), options.clone()) else {
                return;
            };
            spawn(async move {
                let rendered = texts::rendered(state.host.client, episode.clone(), options).await;
                // The person may have gone on meanwhile.
                if here.try_get_untracked().flatten() == Some(episode) {
                    text.set(Some(rendered));
                }
            });
        },
        true,
    );
    let shown = move || match text.get() {
        None => view! { <p class="faint">"Reading…"</p> }.into_any(),
        Some(Err(reason)) => view! {
            <p class="help" dir="auto">
                {inert(&reason)}
            </p>
        }
        .into_any(),
        Some(Ok(rendered)) => text_view(&rendered),
    };
    let position = move || {
        format!(
            "Trajectory {} of {}. {} labelled.",
            count_text(at.get() + 1),
            count_text(total.get()),
            count_text(done.get())
        )
    };
    let is_last = move || at.get() + 1 == total.get();
    view! {
        <section class="card ask-labelling" aria-label="Labels">
            <div class="card-head">
                <h2>{"Your labels"}</h2>
                <span class="faint" role="status">
                    {position}
                </span>
                <div class="button-row">
                    <button
                        type="button"
                        disabled=move || at.get() == 0
                        on:click=move |_| at.update(|at| *at = at.saturating_sub(1))
                    >
                        {"Previous"}
                    </button>
                    <button
                        type="button"
                        disabled=is_last
                        on:click=move |_| at.update(|at| *at += 1)
                    >
                        {"Next"}
                    </button>
                </div>
            </div>
            <div class="ask-text" id=TEXT tabindex="0" role="region" aria-label="Trajectory">
                {shown}
            </div>
            <div class="button-row ask-labels" role="group" aria-label="Label">
                {labels}
            </div>
        </section>
    }
}

/// The first trajectory without a label.
fn first_open(state: AskState, question: &AskedQuestion) -> Option<usize> {
    state.history.with_untracked(|history| {
        let labels = history.labels(&question.labels);
        let mut rows = question.calibration.iter();
        rows.position(|row| labels.is_none_or(|labels| !labels.contains_key(row)))
    })
}

/// A trajectory as the model sees it.
fn text_view(rendered: &Rendered) -> AnyView {
    let messages = rendered.messages.iter().enumerate();
    let messages = messages.map(|(index, message)| {
        // The first line is the marker.
        let text = message.text.split_once('\n').map_or("", |(_, text)| text);
        view! {
            <section>
                <h3>{format!("{index}. {}", message.speaker)}</h3>
                <pre dir="auto">{inert(text)}</pre>
            </section>
        }
    });
    view! {
        {messages.collect_view()}
        <pre dir="auto">{inert(&rendered.tail)}</pre>
    }
    .into_any()
}

/// The agreement, and the trajectories on which person and model differ, side by side.
#[component]
fn AgreementView(id: Text) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    move || {
        let question = question.get()?;
        state.history.with(|history| {
            let Calibration {
                agreement,
                differing,
            } = history.calibration(&id);
            let observed = agreement.observed?;
            let kappa = agreement
                .kappa
                .map_or_else(|| "–".to_owned(), |kappa| format!("{kappa:.2}"));
            let rows = differing.into_iter().filter_map(|(row, person, model)| {
                let episode = question.calibration.get(row)?;
                let record = history.answer(&id, episode)?;
                let name = super::answers_view::name_of(record).clone();
                Some(view! {
                    <tr>
                        <th scope="row" dir="auto">
                            <a href=episode_hash(episode)>{inert(&name)}</a>
                        </th>
                        <td dir="auto">{inert(&person)}</td>
                        <td>
                            <strong dir="auto">{inert(&model)}</strong>
                            <p dir="auto">{inert(&record.answer.explanation)}</p>
                            {quotes_view(record)}
                        </td>
                    </tr>
                })
            });
            let rows: Vec<_> = rows.collect();
            let table = if rows.is_empty() {
                view! { <p>{"You and the model say the same everywhere."}</p> }.into_any()
            } else {
                view! {
                    <div
                        class="table-scroll"
                        tabindex="0"
                        role="region"
                        aria-label="Where you differ"
                    >
                        <table class="ask-table">
                            <thead>
                                <tr>
                                    <th scope="col">{"Trajectory"}</th>
                                    <th scope="col">{"You"}</th>
                                    <th scope="col">{"The model"}</th>
                                </tr>
                            </thead>
                            <tbody>{rows}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            };
            let text = format!(
                "{:.0} % of {} are labelled the same; kappa {kappa}.",
                observed * 100.0,
                plural(agreement.items, "trajectory")
            );
            Some(view! {
                <section class="card" aria-label="Agreement">
                    <h2>{"Agreement"} <Terms place="ask-agreement" terms=&["kappa"]/></h2>
                    <p role="status">{text}</p>
                    <p class="help">
                        {"A changed question keeps your labels, as long as it has the same answers."}
                    </p>
                    {table}
                </section>
            })
        })
    }
}
