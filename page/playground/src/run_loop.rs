//! Starts runs of a policy. The state machine decides whether a run starts, and what it does.

use leptos::prelude::*;

use super::policy_settings;
use super::state::Playground;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::run_choice::ActingParty;
use volary_connections::models::connections;

/// Starts a run, or first does what is missing for one: opens the choice of a policy, or starts a new episode.
pub fn run(playground: Playground) {
    let actor = match playground.with_untracked(|machine| machine.policy()) {
        PolicyKind::Manual => ActingParty::Person,
        PolicyKind::Model => ActingParty::Model {
            is_connected: untrack(|| connections::read(|known| !known.list().is_empty())),
        },
        PolicyKind::Scripted | PolicyKind::Random | PolicyKind::Oracle | PolicyKind::Student => {
            ActingParty::Policy
        }
    };
    playground.update(Event::Run(actor));
}

/// Starts a run with the policy that the user has just chosen.
pub fn run_with(playground: Playground, kind: PolicyKind) {
    playground.begin_attempt();
    playground.policy().is_choosing.set(false);
    policy_settings::choose_policy(playground, kind);
    playground.update(Event::Attempt(EpisodeAttempt::Run));
}
