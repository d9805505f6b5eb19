//! The action of the **Run** button: the policy acts on this episode or on a new one, or a prerequisite is missing.

use super::session::Refusal;

/// Who chooses the next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActingParty {
    /// The user.
    Person,
    /// A policy that needs no connection.
    Policy,
    /// A model, with or without a connection.
    Model {
        /// Whether it has a connection.
        is_connected: bool,
    },
}

/// The effect of **Run**.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChoice {
    /// The policy acts until the episode ends.
    Run,
    /// The episode is over: start a new one of the same task, in which the policy acts.
    StartOver,
    /// The user chooses a policy or connects a model first.
    ChoosePolicy,
    /// Run is disabled, for this reason.
    Refuse(Refusal),
}

/// Decides the effect of **Run** from the acting party and from whether a step is allowed.
pub fn run_choice(actor: ActingParty, may_step: Result<(), Refusal>) -> RunChoice {
    let is_ready = !matches!(
        actor,
        ActingParty::Person
            | ActingParty::Model {
                is_connected: false
            }
    );
    match may_step {
        Ok(()) | Err(Refusal::Over) if !is_ready => RunChoice::ChoosePolicy,
        Ok(()) => RunChoice::Run,
        Err(Refusal::Over) => RunChoice::StartOver,
        Err(refusal) => RunChoice::Refuse(refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: ActingParty = ActingParty::Model { is_connected: true };
    const NO_MODEL: ActingParty = ActingParty::Model {
        is_connected: false,
    };

    #[test]
    fn run_always_acts_or_states_the_reason() {
        for (actor, may_step, expected) in [
            (ActingParty::Policy, Ok(()), RunChoice::Run),
            (MODEL, Ok(()), RunChoice::Run),
            (
                ActingParty::Policy,
                Err(Refusal::Over),
                RunChoice::StartOver,
            ),
            (MODEL, Err(Refusal::Over), RunChoice::StartOver),
            (ActingParty::Person, Ok(()), RunChoice::ChoosePolicy),
            (
                ActingParty::Person,
                Err(Refusal::Over),
                RunChoice::ChoosePolicy,
            ),
            (NO_MODEL, Ok(()), RunChoice::ChoosePolicy),
            (NO_MODEL, Err(Refusal::Over), RunChoice::ChoosePolicy),
            (
                ActingParty::Person,
                Err(Refusal::Busy),
                RunChoice::Refuse(Refusal::Busy),
            ),
            (
                ActingParty::Policy,
                Err(Refusal::NoRecipe),
                RunChoice::Refuse(Refusal::NoRecipe),
            ),
            (
                MODEL,
                Err(Refusal::NotAgreed),
                RunChoice::Refuse(Refusal::NotAgreed),
            ),
        ] {
            assert_eq!(
                run_choice(actor, may_step),
                expected,
                "{actor:?}, {may_step:?}"
            );
        }
    }
}
