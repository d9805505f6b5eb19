//! Judging trajectories of one task in pairs without knowing who acted: pupils, and models from the library.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_app::class::blind_judging::{BlindJudging, Event, PairSide};
use volary_app::notice::Notice;
use volary_classroom::blind::{Preference, anonymize};
use volary_episode::{Episode, native};

use super::board::Board;
use volary_browser as browser;
use volary_storage::episodes;
use volary_ui::Transcript;
use volary_ui::text::inert;

/// The maximum number of models' episodes that take part.
const MOST_MODELS: usize = 10;

/// Somebody who acted in the task.
#[derive(Clone)]
pub struct Entrant {
    /// The display name, shown after the judgement.
    pub name: String,
    pub episode: Arc<Episode>,
}

/// A comparison that was started.
#[derive(Clone)]
pub struct Blind {
    /// The title of the task.
    pub title: String,
    entrants: Arc<Vec<Entrant>>,
}

impl Blind {
    /// A comparison of at least two trajectories.
    pub fn of(title: String, mut entrants: Vec<Entrant>) -> Blind {
        for entrant in &mut entrants {
            anonymize(Arc::make_mut(&mut entrant.episode));
        }
        Blind {
            title,
            entrants: Arc::new(entrants),
        }
    }

    /// The hand-ins of a task, and the episodes of models in the same task that the library has.
    pub async fn load(
        board: Board,
        rows: Vec<(String, String)>,
        place: usize,
        title: String,
    ) -> Result<Blind, Notice> {
        let mut entrants = Vec::new();
        for (id, name) in rows {
            let episodes = board.whole(&id).await?.into_episodes(&id);
            if let Some(Some(episode)) = episodes.into_iter().nth(place) {
                entrants.push(Entrant {
                    name,
                    episode: Arc::new(episode),
                });
            }
        }
        if let Some(first) = entrants.first() {
            entrants.extend(models(&Arc::clone(&first.episode)).await);
        }
        match entrants.len() {
            0 | 1 => Err(Notice::new(
                "There is nothing to compare yet.",
                "Only one trajectory of this task is known.",
                "Wait for another hand-in, or let a model play the task in the playground.",
            )),
            _ => Ok(Blind::of(title, entrants)),
        }
    }
}

/// The episodes of models in the task of an episode.
async fn models(like: &Episode) -> Vec<Entrant> {
    let wanted = Row::of(like, Vec::new());
    let listed = episodes::list().await.unwrap_or_default().into_iter();
    let rows = listed.map(|listed| listed.row);
    let rows = rows.filter(|row| may_take_part(row, &wanted));
    let mut found = Vec::new();
    for row in rows {
        if found.len() == MOST_MODELS {
            break;
        }
        // Episodes of large files have no texts of their own and take no part.
        let text = episodes::text(&row.id).await.ok().flatten();
        let read = text.and_then(|text| native::read(&text.to_text()).ok());
        let Some(episode) = read.and_then(|reading| reading.episodes.into_iter().next()) else {
            continue;
        };
        if is_same_task(&episode, like) {
            found.push(Entrant {
                name: row
                    .model
                    .map_or_else(String::new, |model| model.to_string()),
                episode: Arc::new(episode),
            });
        }
    }
    found
}

/// Whether the episode of a row may be one of a model in the task of another row.
fn may_take_part(row: &Row, wanted: &Row) -> bool {
    row.model.is_some() && row.environment == wanted.environment && row.task == wanted.task
}

/// Whether two episodes of an environment began alike. Without a dataset, each seed is a task of its own.
fn is_same_task(one: &Episode, other: &Episode) -> bool {
    let (Some(one), Some(other)) = (&one.recipe, &other.recipe) else {
        return false;
    };
    let is_seed_equal = one.task.is_some() || one.seed == other.seed;
    one.task == other.task && one.configuration == other.configuration && is_seed_equal
}

/// The pairs one after the other, then the result.
#[component]
pub(super) fn BlindView(
    blind: Blind,
    on_end: Callback<()>,
    /// The label of the button that ends it.
    back: &'static str,
) -> impl IntoView {
    let names = blind.entrants.iter().map(|entrant| entrant.name.clone());
    let judging = BlindJudging::new(names.collect(), browser::random_number());
    let judging = RwSignal::new(judging);
    let entrants = StoredValue::new(blind.entrants);
    let is_over = Memo::new(move |_| judging.with(BlindJudging::is_over));
    let is_judged = Memo::new(move |_| judging.with(BlindJudging::is_judged));
    let pair = Memo::new(move |_| judging.with(BlindJudging::pair));
    let handle = move |event| judging.update(|judging| judging.update(event));
    let sides = move || {
        let pair = pair.get()?;
        let side = |entrant: usize, side: PairSide| {
            let entrant = entrants.with_value(|entrants| entrants.get(entrant).cloned())?;
            Some(view! { <Side entrant side judging/> })
        };
        Some(view! {
            <div class="class-pair">{side(pair.left, PairSide::A)} {side(pair.right, PairSide::B)}</div>
        })
    };
    let choice = move |verdict: Preference, label: &'static str| {
        view! {
            <button type="button" on:click=move |_| handle(Event::Judge(verdict))>
                {label}
            </button>
        }
    };
    let choices = move || {
        if is_judged.get() {
            view! {
                <button type="button" class="primary" on:click=move |_| handle(Event::Next)>
                    {"Next"}
                </button>
            }
            .into_any()
        } else {
            view! {
                {choice(Preference::Left, "A is better")}
                {choice(Preference::Equal, "Equal")}
                {choice(Preference::Right, "B is better")}
            }
            .into_any()
        }
    };
    let body = move || {
        if is_over.get() {
            view! { <Outcome judging/> }.into_any()
        } else {
            view! {
                <p class="help" role="status">
                    {move || judging.with(BlindJudging::progress)}
                </p>
                {sides}
                <div class="button-row" role="group" aria-label="Which is better?">
                    {choices}
                    <button type="button" class="quiet" on:click=move |_| handle(Event::Stop)>
                        {"Show the result"}
                    </button>
                </div>
            }
            .into_any()
        }
    };
    view! {
        <section class="class-blind" aria-label="Blind comparison">
            <header class="class-board-head">
                <h2 dir="auto">{"Blind comparison: "} {inert(&blind.title)}</h2>
                <button type="button" class="quiet" on:click=move |_| on_end.run(())>
                    {back}
                </button>
            </header>
            {body}
        </section>
    }
}

#[component]
fn Side(entrant: Entrant, side: PairSide, judging: RwSignal<BlindJudging>) -> impl IntoView {
    let episode = RwSignal::new(entrant.episode);
    let edition = RwSignal::new(1);
    let selected = RwSignal::new(0);
    let heading = Memo::new(move |_| judging.with(|judging| judging.heading(side)));
    let name = match side {
        PairSide::A => "Trajectory A",
        PairSide::B => "Trajectory B",
    };
    view! {
        <section class="lesson-play" aria-label=name>
            <h3 dir="auto" aria-live="polite">
                {heading}
            </h3>
            <Transcript episode edition selected/>
        </section>
    }
}

/// The judgements on each entrant, the most wins first.
#[component]
fn Outcome(judging: RwSignal<BlindJudging>) -> impl IntoView {
    let lines = judging.with_untracked(BlindJudging::result);
    let lines = lines.into_iter().map(|(name, tally)| {
        view! {
            <tr>
                <th scope="row" dir="auto">
                    {inert(&name)}
                </th>
                <td>{tally.won}</td>
                <td>{tally.equal}</td>
                <td>{tally.lost}</td>
            </tr>
        }
    });
    view! {
        <div class="class-table" tabindex="0" role="region" aria-label="Result">
            <table>
                <thead>
                    <tr>
                        <th scope="col">{"Who"}</th>
                        <th scope="col">{"Better"}</th>
                        <th scope="col">{"Equal"}</th>
                        <th scope="col">{"Worse"}</th>
                    </tr>
                </thead>
                <tbody>{lines.collect_view()}</tbody>
            </table>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json::Object;
    use volary_core::object;
    use volary_episode::{Recipe, TaskReference};

    use super::*;

    fn episode(task: Option<&str>, seed: u64, configuration: Object) -> Episode {
        let task = task.map(|id| TaskReference {
            dataset: "sums".into(),
            id: id.into(),
        });
        Episode {
            recipe: Some(Recipe {
                environment: "calculator".into(),
                configuration,
                seed,
                task,
            }),
            ..Episode::default()
        }
    }

    #[test]
    fn only_episodes_that_began_alike_are_compared() {
        let easy = || object!({ "level": 1 });
        let like = episode(None, 7, easy());
        assert!(is_same_task(&episode(None, 7, easy()), &like));
        assert!(!is_same_task(&episode(None, 8, easy()), &like));
        assert!(!is_same_task(
            &episode(None, 7, object!({ "level": 2 })),
            &like
        ));
        assert!(!is_same_task(&episode(Some("a"), 7, easy()), &like));
        // The trials of a task differ in their seeds only.
        let like = episode(Some("a"), 7, easy());
        assert!(is_same_task(&episode(Some("a"), 8, easy()), &like));
        assert!(!is_same_task(&episode(Some("b"), 7, easy()), &like));
        // What was not played here began with something unknown.
        assert!(!is_same_task(&Episode::default(), &Episode::default()));
    }

    #[test]
    fn only_models_join_a_comparison() {
        let wanted = Row::of(&episode(Some("a"), 0, Object::new()), Vec::new());
        let row = |model: Option<&str>, task: &str| {
            let mut played = episode(Some(task), 3, Object::new());
            played.model = model.map(Into::into);
            Row::of(&played, Vec::new())
        };
        assert!(may_take_part(&row(Some("large"), "a"), &wanted));
        assert!(!may_take_part(&row(None, "a"), &wanted));
        assert!(!may_take_part(&row(Some("large"), "b"), &wanted));
    }

    #[test]
    fn an_entrant_is_shown_without_its_model() {
        let mut played = episode(Some("a"), 0, Object::new());
        played.model = Some("large".into());
        let entrant = Entrant {
            name: "large".to_owned(),
            episode: Arc::new(played),
        };
        let kept = Arc::clone(&entrant.episode);
        let blind = Blind::of("A task".to_owned(), vec![entrant]);
        assert_eq!(blind.entrants[0].episode.model, None);
        // The library's copy is unchanged.
        assert_eq!(kept.model.as_deref(), Some("large"));
    }
}
