//! The list of stored evaluations, with a summary of their results and the actions on them.

use leptos::prelude::*;
use volary_app::evaluation::summary::PolicySummary;
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_view::route::Route;

use super::chart::interval_words;
use super::rename_dialog::RenameDialog;
use super::state::Evaluations;
use volary_browser::{location, timers};
use volary_storage::evaluations::Head;
use volary_ui::keyed::{key_of, keyed};
use volary_ui::text::inert;

/// The list; empty if there are no evaluations. Rows are keyed by evaluation, so that a focused button never ends up
/// deleting another one.
#[component]
pub(super) fn PreviousEvaluations(evaluations: Evaluations) -> impl IntoView {
    let heads = evaluations.heads;
    let chosen = RwSignal::new(Vec::<Text>::new());
    let renamed = RwSignal::new(None::<(String, String)>);
    let keys = move || heads.with(|heads| heads.iter().map(|head| key_of(&head.id)).collect());
    let draw = move |key| {
        let head = Memo::new(move |_| {
            heads.with(|heads| {
                let mut heads = heads.iter();
                heads.find(|head| key_of(&head.id) == key).cloned()
            })
        });
        let row = move || {
            let head = head.get()?;
            Some(view! { <Row evaluations head chosen renamed/> })
        };
        row.into_any()
    };
    let pair = move || heads.with(|heads| chosen.with(|chosen| compared_pair(heads, chosen)));
    let compare = move |_| {
        if let Some((first, second)) = untrack(pair) {
            let route = Route::Evaluate {
                evaluation: Some(first.to_string()),
                beside: Some(second.to_string()),
            };
            location::go(&route.to_hash());
        }
    };
    let several = move || heads.with(|heads| heads.len() > 1);
    view! {
        <Show when=move || heads.with(|heads| !heads.is_empty())>
            <section class="card" aria-label="Previous evaluations">
                <div class="card-head">
                    <h2>{"Previous evaluations"}</h2>
                    <Show when=several>
                        <span class="faint">{"Select two to compare them."}</span>
                        <button
                            type="button"
                            disabled=move || pair().is_none()
                            on:click=compare
                        >
                            {"Compare"}
                        </button>
                    </Show>
                </div>
                <ul class="evaluation-list">{keyed(keys, draw)}</ul>
                <RenameDialog evaluations renamed/>
            </section>
        </Show>
    }
}

/// The baseline and the evaluation to compare with it, if exactly two are selected: the older one is the baseline.
/// Selected evaluations that were deleted meanwhile are ignored.
fn compared_pair(heads: &[Head], chosen: &[Text]) -> Option<(Text, Text)> {
    let known = heads.iter().map(|head| &head.id);
    let mut known = known.filter(|id| chosen.contains(id));
    match (known.next(), known.next(), known.next()) {
        (Some(later), Some(earlier), None) => Some((earlier.clone(), later.clone())),
        _ => None,
    }
}

#[component]
fn Row(
    evaluations: Evaluations,
    head: Head,
    /// The ids of the selected evaluations.
    chosen: RwSignal<Vec<Text>>,
    /// The id and the name of the evaluation to rename.
    renamed: RwSignal<Option<(String, String)>>,
) -> impl IntoView {
    let address = Route::Evaluate {
        evaluation: Some(head.id.to_string()),
        beside: None,
    };
    let words = progress_words(&head);
    let policies = head.policies.iter().map(policy_row).collect_view();
    let (id, name) = (head.id.to_string(), head.name.to_string());
    let key = head.id.clone();
    let is_chosen = {
        let key = key.clone();
        move || chosen.with(|chosen| chosen.contains(&key))
    };
    let choose = move |_| {
        chosen.update(
            |chosen| match chosen.iter().position(|known| *known == key) {
                Some(place) => {
                    chosen.remove(place);
                }
                None => chosen.push(key.clone()),
            },
        );
    };
    let rename = {
        let pair = (id.clone(), name.clone());
        move |_| renamed.set(Some(pair.clone()))
    };
    let duplicate = {
        let id = id.clone();
        move |_| evaluations.duplicate(id.clone())
    };
    let delete = {
        let name = name.clone();
        move |_| evaluations.ask_to_delete(id.clone(), name.clone())
    };
    view! {
        <li>
            <input
                type="checkbox"
                aria-label=format!("Select {name}")
                prop:checked=is_chosen
                on:change=choose
            />
            <div class="evaluation-entry">
                <a href=address.to_hash()>
                    <span dir="auto">{inert(&head.name)}</span>
                </a>
                <span class="faint">
                    <time>{timers::local_time(head.made)}</time>
                    {format!(" · {words}")}
                </span>
                <ul class="policy-scores">{policies}</ul>
            </div>
            <div class="entry-actions">
                <button
                    type="button"
                    class="quiet small"
                    aria-label=format!("Rename {name}")
                    on:click=rename
                >
                    {"Rename"}
                </button>
                <button
                    type="button"
                    class="quiet small"
                    aria-label=format!("Duplicate {name}")
                    on:click=duplicate
                >
                    {"Duplicate"}
                </button>
                <button
                    type="button"
                    class="quiet small"
                    aria-label=format!("Delete {name}")
                    on:click=delete
                >
                    {"Delete"}
                </button>
            </div>
        </li>
    }
}

/// A policy: its models, the number of its episodes, and its success rate.
fn policy_row(policy: &PolicySummary) -> impl IntoView + use<> {
    view! {
        <li>
            <span dir="auto">{inert(&policy_words(&policy.name, &policy.models))}</span>
            <span class="faint">{score_words(policy)}</span>
        </li>
    }
}

fn score_words(policy: &PolicySummary) -> String {
    let score = policy.rate.map_or_else(
        || "no result".to_owned(),
        |rate| format!("success {}", interval_words(rate)),
    );
    let mut words = format!("n = {} · {score}", count_text(policy.finished));
    if policy.failed > 0 {
        words.push_str(&format!(" · {} failed", count_text(policy.failed)));
    }
    words
}

/// The name of a policy and of the models that it called. The models are omitted if the policy has the model's name.
pub(super) fn policy_words(name: &str, models: &[Text]) -> String {
    let others: Vec<&str> = models
        .iter()
        .map(|model| &**model)
        .filter(|model| *model != name)
        .collect();
    if others.is_empty() {
        name.to_owned()
    } else {
        format!("{name} ({})", others.join(", "))
    }
}

fn progress_words(head: &Head) -> String {
    let done = head.finished + head.failed;
    let mut words = if done == head.total {
        plural(head.total, "episode")
    } else {
        format!("{} of {}", count_text(done), plural(head.total, "episode"))
    };
    if head.failed > 0 {
        words.push_str(&format!(", {} failed", count_text(head.failed)));
    }
    words
}

#[cfg(test)]
mod tests {
    use volary_app::evaluation::summary::Interval;

    use super::*;

    fn head(id: &str) -> Head {
        Head {
            id: id.into(),
            name: id.into(),
            ..Head::default()
        }
    }

    #[test]
    fn two_evaluations_are_compared_with_the_older_one_as_the_baseline() {
        // The latest is first.
        let heads = ["c", "b", "a"].map(head);
        let pair = |chosen: &[&str]| {
            let chosen: Vec<Text> = chosen.iter().map(|id| (*id).into()).collect();
            let pair = compared_pair(&heads, &chosen)?;
            Some(format!("{} {}", pair.0, pair.1))
        };
        for (chosen, expected) in [
            (&[][..], None),
            (&["a"], None),
            (&["a", "c"], Some("a c")),
            (&["c", "a"], Some("a c")),
            (&["a", "b", "c"], None),
            // A deleted one does not count.
            (&["a", "gone", "b"], Some("a b")),
            (&["a", "gone"], None),
        ] {
            assert_eq!(pair(chosen).as_deref(), expected, "{chosen:?}");
        }
    }

    #[test]
    fn a_policy_shows_its_episodes_and_its_rate() {
        let mut policy = PolicySummary {
            name: "Mine".into(),
            models: Vec::new(),
            finished: 1_200,
            failed: 0,
            tokens: 0,
            rate: Some(Interval {
                mean: 0.75,
                low: Some(0.53),
                high: Some(0.89),
            }),
        };
        assert_eq!(score_words(&policy), "n = 1,200 · success 75% (53 to 89)");
        policy = PolicySummary {
            finished: 0,
            failed: 3,
            rate: None,
            ..policy
        };
        assert_eq!(score_words(&policy), "n = 0 · no result · 3 failed");
    }

    #[test]
    fn models_follow_the_name_of_their_policy() {
        let words = |models: &[&str]| {
            let models: Vec<Text> = models.iter().map(|model| (*model).into()).collect();
            policy_words("Mine", &models)
        };
        assert_eq!(words(&[]), "Mine");
        assert_eq!(words(&["Mine"]), "Mine");
        assert_eq!(words(&["large", "small"]), "Mine (large, small)");
    }

    #[test]
    fn unfinished_and_failed_episodes_are_shown() {
        let mut head = Head {
            total: 12,
            finished: 11,
            failed: 1,
            ..head("a")
        };
        assert_eq!(progress_words(&head), "12 episodes, 1 failed");
        head.finished = 3;
        assert_eq!(progress_words(&head), "4 of 12 episodes, 1 failed");
    }
}
