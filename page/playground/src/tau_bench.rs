//! Adds the tasks of the user's checkout of tau-bench to the task lists of the playground.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::tasks::TaskSource;
use volary_core::json::Text;
use volary_envs::tau::checkout::{Original, Split};
use volary_envs::tau::original::{environment_name, listed};

use super::state::Playground;
use volary_browser as browser;
use volary_connections::tau_bench::{self, Checkout};

/// Offers the tasks of the checkout, now and whenever it changes.
pub(super) fn follow(playground: Playground) {
    // Offer them at once: an address may name one of them.
    offer(playground, &untrack(tau_bench::checkout));
    Effect::new(move |former: Option<Checkout>| {
        let checkout = tau_bench::checkout();
        if former.is_some_and(|former| former != checkout) {
            offer(playground, &checkout);
        }
        checkout
    });
    // The oracle needs more than the task list; its data are read when such an environment is chosen.
    Effect::new(move |known: Option<Option<Text>>| {
        let known = known.flatten();
        let is_chosen = playground
            .setup()
            .environment
            .with(|name| is_of_checkout(name));
        let summary = tau_bench::checkout().summary.filter(|_| is_chosen);
        match summary {
            Some(summary) if known.as_ref() != Some(&summary.id) => {
                let id = summary.id.clone();
                browser::spawn(tau_bench::tell_oracle(summary));
                Some(id)
            }
            _ => known,
        }
    });
}

fn is_of_checkout(environment: &str) -> bool {
    Original::ALL
        .into_iter()
        .any(|original| environment_name(original) == environment)
}

/// Replaces the lists of the previous checkout.
fn offer(playground: Playground, checkout: &Checkout) {
    let known = playground.with_untracked(|machine| Arc::clone(machine.setup().sources()));
    let others = known.iter().filter(|list| !is_list_of_checkout(list));
    let sources = others.cloned().chain(lists(checkout)).collect();
    playground.update(Event::Sources(sources));
}

fn is_list_of_checkout(list: &TaskSource) -> bool {
    let first = list.tasks.first();
    first.is_some_and(|task| is_of_checkout(task.environment))
}

/// One task list for each split that has tasks.
fn lists(checkout: &Checkout) -> Vec<TaskSource> {
    let mut lists = Vec::new();
    let domains = checkout.summary.iter().flat_map(|summary| &summary.domains);
    for domain in domains {
        let Some(original) = Original::from_name(&domain.name) else {
            continue;
        };
        for split in domain.splits.iter().filter(|split| split.tasks > 0) {
            let Ok(kind) = Split::from_name(&split.name) else {
                continue;
            };
            let tasks = listed(original, kind, split.tasks, checkout.customer());
            let note = if domain.differences.is_empty() {
                ""
            } else {
                " (not the original)"
            };
            lists.push(TaskSource {
                dataset: format!("{}/{}", environment_name(original), split.name).into(),
                title: format!("tau-bench {}, {}{note}", domain.name, split.name).into(),
                tasks: tasks.into(),
                file: None,
            });
        }
    }
    lists
}
