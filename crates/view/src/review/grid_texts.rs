//! The texts of the grid of episodes. Pure.

use std::sync::Arc;

use crate::summary::{reward_text, seconds_text};
use volary_analysis::align::grid::{EpisodeTotal, GridOrder, StepTotal};
use volary_core::quantity::{count_text, plural};
use volary_episode::Episode;

/// The number of rows: one for the start, and one for each step of the longest episode.
pub fn row_count(episodes: &[Arc<Episode>]) -> usize {
    let longest = episodes.iter().map(|episode| episode.steps.len()).max();
    longest.map_or(0, |longest| longest + 1)
}

/// The number of a row.
pub fn step_number(step: usize) -> String {
    match step {
        0 => "Start".to_owned(),
        step => count_text(step),
    }
}

/// The name of an order in its select.
pub fn order_name(order: GridOrder) -> &'static str {
    match order {
        GridOrder::Chosen => "as chosen",
        GridOrder::Name => "name",
        GridOrder::Reward => "reward",
        GridOrder::Steps => "steps",
        GridOrder::Errors => "errors",
    }
}

/// The order of this name.
pub fn order_named(name: &str) -> GridOrder {
    let mut orders = GridOrder::ALL.into_iter();
    let order = orders.find(|order| order_name(*order) == name);
    order.unwrap_or_default()
}

/// The title of an episode's column.
pub fn title(episode: &Episode) -> &str {
    match episode.name.trim() {
        "" => &episode.id,
        name => name,
    }
}

/// The facts below the title.
pub fn facts(episode: &Episode) -> String {
    let reward = episode.reward();
    let reward = reward.map(|reward| format!("reward {}", reward_text(reward)));
    let outcome = episode.outcome.as_ref().map(ToString::to_string);
    let facts = [Some(plural(episode.steps.len(), "step")), reward, outcome];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    facts.join(", ")
}

/// The totals of all episodes together. Rewards and times of several trials have no sensible sum.
pub fn sum(totals: &[EpisodeTotal]) -> EpisodeTotal {
    EpisodeTotal {
        reward: None,
        steps: totals.iter().map(|total| total.steps).sum(),
        calls: totals.iter().map(|total| total.calls).sum(),
        errors: totals.iter().map(|total| total.errors).sum(),
        seconds: None,
    }
}

pub fn total_text(total: &EpisodeTotal) -> String {
    let mut parts = Vec::new();
    parts.extend(
        total
            .reward
            .map(|reward| format!("reward {}", reward_text(reward))),
    );
    parts.push(plural(total.calls, "call"));
    if total.errors > 0 {
        parts.push(plural(total.errors, "error"));
    }
    parts.extend(
        total
            .seconds
            .filter(|seconds| *seconds > 0.0)
            .map(seconds_text),
    );
    parts.join(" · ")
}

/// Describes the agreement of the episodes at a step.
pub fn step_text(total: &StepTotal) -> String {
    let alike = match total.present {
        0 | 1 => plural(total.present, "episode"),
        present if total.alike == present => "all alike".to_owned(),
        _ if total.alike == 1 => "all differ".to_owned(),
        present => format!("{} of {present} alike", total.alike),
    };
    match total.reward.filter(|reward| *reward != 0.0) {
        Some(reward) => format!("{alike} · {}", reward_text(reward)),
        None => alike,
    }
}

/// Describes the whole grid. `common` is the number of initial steps that are the same in all episodes.
pub fn summary(episodes: &[Arc<Episode>], common: usize) -> String {
    let rewards: Vec<f64> = episodes
        .iter()
        .filter_map(|episode| episode.reward())
        .collect();
    let mean = if rewards.is_empty() {
        String::new()
    } else {
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        format!(", mean reward {}", reward_text(mean))
    };
    let alike = match common {
        0 => "first difference: step 1".to_owned(),
        common => format!("same actions for {}", plural(common, "step")),
    };
    format!(
        "{} side by side{mean}; {alike}.",
        plural(episodes.len(), "episode")
    )
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::{Outcome, Rewards, StepRecord};

    use super::*;

    fn episode(id: &str, steps: usize) -> Arc<Episode> {
        let message = "it failed".into();
        let step = StepRecord::new(Message::user("go").into(), Outcome::Failed { message });
        Arc::new(Episode {
            id: id.into(),
            steps: vec![step; steps],
            rewards: Rewards::Unknown,
            ..Episode::default()
        })
    }

    #[test]
    fn the_grid_has_a_row_for_the_start_and_each_step_of_the_longest() {
        let episodes = [episode("a", 2), episode("b", 12_000)];
        assert_eq!(row_count(&episodes), 12_001);
        assert_eq!(row_count(&[]), 0);
        assert_eq!(step_number(0), "Start");
        assert_eq!(step_number(12_000), count_text(12_000));
    }

    #[test]
    fn each_order_is_found_by_its_name() {
        for order in GridOrder::ALL {
            assert_eq!(order_named(order_name(order)), order);
        }
        assert_eq!(order_named("size"), GridOrder::Chosen);
    }

    #[test]
    fn an_episode_without_a_name_is_called_by_its_id() {
        let named = Episode {
            id: "1".into(),
            name: " Refund ".into(),
            outcome: Some("gave up".into()),
            rewards: Rewards::Whole(0.5),
            ..Episode::default()
        };
        assert_eq!(title(&named), "Refund");
        assert_eq!(facts(&named), "0 steps, reward 0.5, gave up");
        assert_eq!(title(&episode("1", 1)), "1");
        assert_eq!(facts(&episode("1", 1)), "1 step");
    }

    #[test]
    fn totals_name_errors_only_if_there_are_some() {
        let total = |reward, errors, seconds| EpisodeTotal {
            reward,
            steps: 3,
            calls: 2,
            errors,
            seconds,
        };
        let one = total(Some(0.5), 0, Some(0.0));
        assert_eq!(total_text(&one), "reward 0.5 · 2 calls");
        let other = total(None, 1, Some(61.0));
        assert_eq!(
            total_text(&other),
            format!("2 calls · 1 error · {}", seconds_text(61.0))
        );
        let both = sum(&[one, other]);
        assert_eq!((both.steps, both.calls, both.errors), (6, 4, 1));
        assert_eq!((both.reward, both.seconds), (None, None));
    }

    #[test]
    fn a_step_says_how_many_actions_are_alike() {
        let text = |present, alike, reward| {
            step_text(&StepTotal {
                present,
                alike,
                reward,
            })
        };
        assert_eq!(text(1, 1, None), "1 episode");
        assert_eq!(text(3, 3, None), "all alike");
        assert_eq!(text(3, 1, Some(0.0)), "all differ");
        assert_eq!(text(3, 2, Some(1.5)), "2 of 3 alike · 1.5");
    }

    #[test]
    fn the_summary_names_the_first_difference() {
        let episodes = [episode("a", 1), episode("b", 2)];
        let expected = "2 episodes side by side; first difference: step 1.";
        assert_eq!(summary(&episodes, 0), expected);
        let expected = "2 episodes side by side; same actions for 1 step.";
        assert_eq!(summary(&episodes, 1), expected);
        let rewarded = |reward| {
            Arc::new(Episode {
                rewards: Rewards::Whole(reward),
                ..Episode::default()
            })
        };
        let words = summary(&[rewarded(1.0), rewarded(0.0), episode("c", 0)], 2);
        let mean = "3 episodes side by side, mean reward 0.5;";
        assert!(words.starts_with(mean), "those with a reward: {words}");
    }
}
