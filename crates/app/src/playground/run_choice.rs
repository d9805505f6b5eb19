//! What **Run** does: the policy acts, on this episode or on a new one, or something is missing first.

use super::session::Refusal;

/// What chooses the actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The user.
    Person,
    /// A policy that needs nothing else.
    Policy,
    /// A model, with or without a connection.
    Model {
        /// Whether there is a connection to a model.
        is_connected: bool,
    },
}

/// What Run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChoice {
    /// The policy acts until the episode ends.
    Run,
    /// The episode is over: a new one of the same task begins, and the policy acts in it.
    StartOver,
    /// The user chooses who acts, or connects a model first.
    ChoosePolicy,
    /// Nothing, for this reason.
    Refuse(Refusal),
}

/// What Run does, given who acts and whether a step may be taken.
pub fn run_choice(actor: Actor, may_step: Result<(), Refusal>) -> RunChoice {
    let is_ready = !matches!(
        actor,
        Actor::Person
            | Actor::Model {
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

    const MODEL: Actor = Actor::Model { is_connected: true };
    const NO_MODEL: Actor = Actor::Model {
        is_connected: false,
    };

    #[test]
    fn run_always_leads_somewhere_or_says_why_not() {
        for (actor, may_step, expected) in [
            (Actor::Policy, Ok(()), RunChoice::Run),
            (MODEL, Ok(()), RunChoice::Run),
            (Actor::Policy, Err(Refusal::Over), RunChoice::StartOver),
            (MODEL, Err(Refusal::Over), RunChoice::StartOver),
            (Actor::Person, Ok(()), RunChoice::ChoosePolicy),
            (Actor::Person, Err(Refusal::Over), RunChoice::ChoosePolicy),
            (NO_MODEL, Ok(()), RunChoice::ChoosePolicy),
            (NO_MODEL, Err(Refusal::Over), RunChoice::ChoosePolicy),
            (
                Actor::Person,
                Err(Refusal::Busy),
                RunChoice::Refuse(Refusal::Busy),
            ),
            (
                Actor::Policy,
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
