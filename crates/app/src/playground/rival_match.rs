//! A person against a model: a policy plays the task that the person played, and both trajectories are compared.
//!
//! Invariants: the policy acts only in the new episode. If that cannot be opened, or another one is shown by then, the
//! episode in the playground stays as it is.

use volary_core::json::Text;

use super::run::Run;

/// The episode in the playground.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEpisode {
    pub environment: Option<Text>,
    /// The number of times that the shown steps were replaced: another episode has another one.
    pub edition: u32,
    pub steps: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The playground is done with opening the episode.
    Settled(ShownEpisode),
    /// The time of [`Effect::Wait`] has passed.
    Waited { run: Run, shown: ShownEpisode },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Show both trajectories side by side.
    Compare,
    /// Let the policy act.
    Run,
    /// Report [`Event::Waited`] a little later.
    Wait,
    /// Show the playground, which says why the episode cannot be opened.
    ShowPlayground,
    /// Show the new episode in the playground, which says why the policy did not act.
    ShowEpisode,
}

/// A match, from the opening of the episode to the first step of the policy.
#[derive(Clone, Debug)]
pub struct RivalMatch {
    environment: Text,
    /// The edition before the episode was opened.
    before: u32,
}

impl RivalMatch {
    /// A match in this environment, whose episode is about to be opened.
    pub fn new(environment: Text, before: u32) -> RivalMatch {
        RivalMatch {
            environment,
            before,
        }
    }

    pub fn update(&self, event: Event) -> Vec<Effect> {
        match event {
            // The address is that of the comparison before it is that of the policy's episode: Back leads to the
            // person's.
            Event::Settled(shown) if self.is_fresh(&shown) => {
                vec![Effect::Compare, Effect::Run, Effect::Wait]
            }
            Event::Settled(_) => vec![Effect::ShowPlayground],
            Event::Waited { shown, .. } if shown.steps > 0 => Vec::new(),
            Event::Waited { run: Run::Idle, .. } => vec![Effect::ShowEpisode],
            Event::Waited { .. } => vec![Effect::Wait],
        }
    }

    /// Whether this is the new episode, without a step.
    fn is_fresh(&self, shown: &ShownEpisode) -> bool {
        shown.edition != self.before
            && shown.steps == 0
            && shown.environment.as_ref() == Some(&self.environment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(environment: &str, edition: u32, steps: usize) -> ShownEpisode {
        ShownEpisode {
            environment: Some(environment.into()),
            edition,
            steps,
        }
    }

    fn rival() -> RivalMatch {
        RivalMatch::new("calculator".into(), 4)
    }

    fn waited(run: Run, steps: usize) -> Event {
        let shown = shown("calculator", 5, steps);
        Event::Waited { run, shown }
    }

    #[test]
    fn the_policy_acts_in_the_new_episode() {
        let rival = rival();
        let effects = rival.update(Event::Settled(shown("calculator", 5, 0)));
        assert_eq!(effects, [Effect::Compare, Effect::Run, Effect::Wait]);
        assert_eq!(rival.update(waited(Run::Going(1), 0)), [Effect::Wait]);
        assert_eq!(rival.update(waited(Run::Going(1), 1)), []);
        // Its only step may have ended the run already.
        assert_eq!(rival.update(waited(Run::Idle, 1)), []);
    }

    #[test]
    fn the_policy_never_acts_in_the_episode_of_the_person() {
        let others = [
            // The environment could not be opened.
            shown("calculator", 4, 3),
            shown("calculator", 4, 0),
            // The user opened something else meanwhile.
            shown("counter", 5, 0),
            shown("calculator", 6, 2),
            ShownEpisode {
                environment: None,
                ..shown("", 5, 0)
            },
        ];
        for other in others {
            let effects = rival().update(Event::Settled(other));
            assert_eq!(effects, [Effect::ShowPlayground]);
        }
    }

    #[test]
    fn a_policy_that_does_not_act_leads_to_the_playground() {
        let effects = rival().update(waited(Run::Idle, 0));
        assert_eq!(effects, [Effect::ShowEpisode]);
    }
}
