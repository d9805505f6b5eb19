//! State machine of the playground's episode: its relation to the worker's environment, the possible commands, and the
//! effect of the worker's events.
//!
//! Invariants:
//! - The shown episode changes only here, and only through a worker's reply or a file.
//! - Another episode replaces it atomically: the shown one stays while another is being opened, and if opening fails it
//!   is unchanged.
//! - An event counts only if it comes from the awaited environment.

use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::{Ending, Episode, Recipe};
use volary_protocol::environments::{EnvironmentId, Event, Request, ServerAccess};
use volary_protocol::episode::{AssemblyError, EpisodeAssembler, EpisodeChunk};

use super::chosen_action::{ChosenAction, StepAside};
use super::consent::{Author, may_rerun};
use super::replay::{ending, first_difference, is_over, record_crash};

/// A command to the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Create an environment, reset it, and take the actions in order.
    Open {
        environment: EnvironmentId,
        recipe: Recipe,
        /// The actions to replay.
        actions: Vec<AnyMessage>,
    },
    /// Take an action.
    Step {
        environment: EnvironmentId,
        action: AnyMessage,
    },
}

impl Command {
    /// The environment that the command is for.
    pub fn environment(&self) -> EnvironmentId {
        match self {
            Command::Open { environment, .. } | Command::Step { environment, .. } => *environment,
        }
    }

    /// The request to the worker. `servers` names the servers that the environment of a recipe may use.
    pub fn into_request(self, servers: impl FnOnce(&Recipe) -> Vec<ServerAccess>) -> Request {
        match self {
            Command::Open {
                environment,
                recipe,
                actions,
            } => Request::Open {
                environment,
                servers: servers(&recipe),
                recipe,
                actions,
            },
            Command::Step {
                environment,
                action,
            } => Request::Step {
                environment,
                action,
            },
        }
    }
}

/// The relation of the shown episode to the worker's environment.
#[derive(Clone, Debug, Default)]
pub enum Phase {
    /// No episode was opened yet.
    #[default]
    Empty,
    /// A record: it has no environment, because it was imported or its worker is gone.
    Record,
    /// The worker's environment is in the final state of the episode.
    Live {
        /// Its id in the worker.
        environment: EnvironmentId,
    },
    /// An action is in flight.
    Stepping {
        environment: EnvironmentId,
        action: Box<ChosenAction>,
    },
    /// Another episode, or this one again, is being opened.
    Opening(Box<PendingOpening>),
}

/// An episode that is being opened.
#[derive(Clone, Debug)]
pub struct PendingOpening {
    environment: EnvironmentId,
    why: Why,
    actions: Vec<AnyMessage>,
    /// The chunks received so far.
    incoming: EpisodeAssembler,
    /// The previous state of the shown episode, restored if opening fails.
    shown: PreviousEpisode,
    then: Option<ChosenAction>,
}

/// The state of the shown episode while another one is being opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreviousEpisode {
    Nothing,
    Record,
    Live(EnvironmentId),
}

/// The reason for opening an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A new episode, with this id and name.
    New { id: Text, name: Text },
    /// The shown episode, replayed to the end of its record or to an earlier step.
    Again,
}

/// The change that an event caused.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Nothing: the event was late, or it reports progress only.
    Nothing,
    /// Steps were added to the shown episode.
    Appended,
    /// Another episode is shown, or the shown one was replayed.
    Replaced {
        why: Why,
        /// The first step at which the replay differs from the record.
        differs: Option<usize>,
        /// The action that waited for the replay.
        then: Option<ChosenAction>,
    },
    /// The episode could not be opened; the shown one is unchanged.
    Refused {
        reason: Text,
        /// The configuration key at fault, if known.
        key: Option<Text>,
    },
    /// The worker no longer has the environment: take the action once more, which replays the episode first.
    Gone {
        /// The action to repeat.
        action: Box<ChosenAction>,
    },
    /// The environment was lost, and the outcome of the action is unknown; the record so far is preserved.
    Lost {
        /// The cause, as far as it is known.
        reason: Text,
    },
    /// The worker crashed; the record so far is preserved.
    Crashed {
        /// The cause, as far as it is known.
        message: Text,
    },
}

/// Why a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Another command is running.
    #[error("The environment is still working.")]
    Busy,
    /// The episode has ended.
    #[error("The episode is over.")]
    Over,
    /// The recording does not say how to create its environment.
    #[error(
        "This episode was recorded elsewhere, and the recording does not say how to create its \
         environment."
    )]
    NoRecipe,
    /// It would run on a server, and the user has not agreed to that.
    #[error("The actions of this episode were imported and would run on a server.")]
    NotAgreed,
    /// The environment of the episode is unknown to this page.
    #[error("This page does not have the environment of this episode.")]
    Unknown,
    /// There is no episode.
    #[error("No episode has been started yet.")]
    Nothing,
}

impl Refusal {
    /// Advice for the user.
    pub const fn advice(self) -> &'static str {
        match self {
            Refusal::Busy => "Wait for it, or press Stop.",
            Refusal::Over => "Press Reset to start over, or Undo to take back the last step.",
            Refusal::NoRecipe | Refusal::Unknown => {
                "You can view it here, or choose an environment and start a new episode."
            }
            Refusal::NotAgreed => "Press Step to review and confirm the plan.",
            Refusal::Nothing => "Choose an environment and press Reset.",
        }
    }
}

/// The state of the playground's episode.
#[derive(Clone, Debug, Default)]
pub struct Session {
    phase: Phase,
    /// The author of the shown episode's actions.
    author: Author,
    /// The number of actions that the user agreed to, if the author is not the user.
    agreed: Option<usize>,
    last: EnvironmentId,
}

impl Session {
    /// A session whose environments have ids above `last`, for a worker that several sessions share.
    pub fn with_ids_above(last: EnvironmentId) -> Session {
        Session {
            last,
            ..Session::default()
        }
    }

    /// Forgets the shown episode. Ids of environments are not used again.
    pub fn clear(&mut self) {
        *self = Session::with_ids_above(self.last);
    }

    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether the first `actions` of the shown episode may be replayed.
    pub fn may_rerun(&self, episode: &Episode, actions: usize) -> bool {
        self.agreed.is_some_and(|agreed| actions <= agreed) || may_rerun(self.author, episode)
    }

    /// Stores the user's consent to the first `actions` of the shown episode.
    pub fn agree(&mut self, actions: usize) {
        self.agreed = Some(actions);
    }

    fn set_author(&mut self, author: Author) {
        self.author = author;
        self.agreed = None;
    }

    /// Whether a command is running.
    pub fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Stepping { .. } | Phase::Opening(_))
    }

    /// Whether an episode is being opened.
    pub fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Opening(_))
    }

    /// Whether the shown episode is a recording without an environment.
    pub fn is_record(&self) -> bool {
        matches!(self.phase, Phase::Record)
    }

    /// Whether an action is in flight.
    pub fn is_stepping(&self) -> bool {
        matches!(self.phase, Phase::Stepping { .. })
    }

    /// Whether the shown episode is that of an environment, and no command is running.
    pub fn is_live_in(&self, opened: EnvironmentId) -> bool {
        matches!(self.phase, Phase::Live { environment } if environment == opened)
    }

    /// The environment whose replies are awaited.
    pub fn awaited(&self) -> Option<EnvironmentId> {
        match &self.phase {
            Phase::Opening(opening) => Some(opening.environment),
            Phase::Stepping { environment, .. } => Some(*environment),
            Phase::Empty | Phase::Record | Phase::Live { .. } => None,
        }
    }

    /// The numbers of replayed and of all actions, while an episode is being opened.
    pub fn progress(&self) -> Option<(usize, usize)> {
        match &self.phase {
            Phase::Opening(opening) => Some((opening.incoming.steps(), opening.actions.len())),
            _ => None,
        }
    }

    /// Whether an event completes a new episode, which replaces the shown one.
    pub fn finishes_new(&self, environment: EnvironmentId, event: &Event) -> bool {
        match (&self.phase, event) {
            (Phase::Opening(opening), Event::Episode(EpisodeChunk::End { .. })) => {
                environment == opening.environment && matches!(opening.why, Why::New { .. })
            }
            _ => false,
        }
    }

    /// Allocates an id for an environment that is opened alongside the shown one.
    pub fn new_environment(&mut self) -> EnvironmentId {
        self.last += 1;
        self.last
    }

    /// Opens a new episode and cancels an opening in progress. The caller makes sure that the user agreed to it
    /// ([`super::consent::judge`]).
    pub fn open(
        &mut self,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        id: Text,
        name: Text,
    ) -> Command {
        self.begin(recipe, actions, Why::New { id, name }, None)
    }

    /// Whether an action may be taken.
    pub fn may_step(&self, episode: &Episode) -> Result<(), Refusal> {
        match &self.phase {
            Phase::Empty => Err(Refusal::Nothing),
            Phase::Stepping { .. } | Phase::Opening(_) => Err(Refusal::Busy),
            Phase::Record | Phase::Live { .. } if is_over(episode) => Err(Refusal::Over),
            Phase::Record if episode.recipe.is_none() => Err(Refusal::NoRecipe),
            Phase::Record | Phase::Live { .. } => Ok(()),
        }
    }

    /// Takes an action; a record is replayed first.
    pub fn step(
        &mut self,
        episode: &mut Episode,
        action: impl Into<ChosenAction>,
    ) -> Result<Command, Refusal> {
        self.may_step(episode)?;
        let action = action.into();
        if let Phase::Live { environment } = self.phase {
            if episode.ending != Ending::Open {
                // A limit had truncated the episode, which continues now.
                episode.ending = Ending::Open;
            }
            let message = action.message.clone();
            self.phase = Phase::Stepping {
                environment,
                action: Box::new(action),
            };
            return Ok(Command::Step {
                environment,
                action: message,
            });
        }
        let recipe = self.recipe_to_rerun(episode, episode.steps.len())?;
        let actions = episode.actions().cloned().collect();
        Ok(self.begin(recipe, actions, Why::Again, Some(action)))
    }

    /// Replays the shown episode up to a step, to continue from there.
    pub fn go_back(&mut self, episode: &Episode, steps: usize) -> Result<Command, Refusal> {
        match self.phase {
            Phase::Empty => return Err(Refusal::Nothing),
            Phase::Stepping { .. } | Phase::Opening(_) => return Err(Refusal::Busy),
            Phase::Record | Phase::Live { .. } => {}
        }
        let recipe = self.recipe_to_rerun(episode, steps)?;
        let actions = episode.actions().take(steps).cloned().collect();
        Ok(self.begin(recipe, actions, Why::Again, None))
    }

    fn recipe_to_rerun(&self, episode: &Episode, actions: usize) -> Result<Recipe, Refusal> {
        let recipe = episode.recipe.clone().ok_or(Refusal::NoRecipe)?;
        if self.may_rerun(episode, actions) {
            Ok(recipe)
        } else {
            Err(Refusal::NotAgreed)
        }
    }

    /// Shows an episode from outside the playground and cancels an opening in progress.
    pub fn show(&mut self) {
        self.phase = Phase::Record;
        self.set_author(Author::Content);
    }

    /// Recovers after a worker that took too long was terminated: the command replays the episode up to its last good
    /// step. `None` if no command was running that could be repeated.
    pub fn interrupted(&mut self, episode: &mut Episode) -> Option<Command> {
        match std::mem::take(&mut self.phase) {
            Phase::Empty => None,
            Phase::Record => {
                self.phase = Phase::Record;
                None
            }
            Phase::Live { .. } | Phase::Stepping { .. } => {
                self.phase = Phase::Record;
                self.go_back(episode, episode.steps.len()).ok()
            }
            Phase::Opening(opening) => {
                self.give_up(
                    *opening,
                    episode,
                    &"It took too long and was stopped.".into(),
                );
                None
            }
        }
    }

    /// Applies a reply of the worker about an environment.
    pub fn receive(
        &mut self,
        environment: EnvironmentId,
        event: Event,
        episode: &mut Episode,
    ) -> Result<Change, AssemblyError> {
        if let Event::Recorded { members } = event {
            let is_shown = matches!(
                self.phase,
                Phase::Live { environment: shown } | Phase::Stepping { environment: shown, .. } if shown == environment
            );
            if let Some(recipe) = episode.recipe.as_mut().filter(|_| is_shown) {
                recipe.configuration.extend(members);
            }
            return Ok(Change::Nothing);
        }
        match &mut self.phase {
            Phase::Opening(opening) if opening.environment == environment => match event {
                Event::Episode(chunk) => match opening.incoming.push(chunk)? {
                    None => Ok(Change::Nothing),
                    Some(fresh) => Ok(self.finish(fresh.episode, episode)),
                },
                Event::Refused { reason, key, .. } => {
                    self.phase = match opening.shown {
                        PreviousEpisode::Nothing => Phase::Empty,
                        PreviousEpisode::Record => Phase::Record,
                        PreviousEpisode::Live(environment) => Phase::Live { environment },
                    };
                    Ok(Change::Refused { reason, key })
                }
                Event::Lost { reason, .. } => Ok(self.lose_environment(reason, episode)),
                Event::Started(_)
                | Event::Stopped { .. }
                | Event::Gone
                | Event::Question { .. }
                | Event::Recorded { .. } => Ok(Change::Nothing),
            },
            Phase::Stepping {
                environment: stepped,
                action,
            } if *stepped == environment => match event {
                Event::Episode(EpisodeChunk::Steps(steps)) => {
                    steps.append_to(episode)?;
                    annotate(action.aside.take(), episode);
                    // The recorded tokens cover only the earlier steps; the player records them again.
                    episode.raw.remove("tokens");
                    episode.ending = ending(episode);
                    self.phase = Phase::Live { environment };
                    Ok(Change::Appended)
                }
                Event::Refused { reason, key, .. } => {
                    self.phase = Phase::Live { environment };
                    Ok(Change::Refused { reason, key })
                }
                Event::Gone => {
                    let action = action.clone();
                    self.phase = Phase::Record;
                    Ok(Change::Gone { action })
                }
                Event::Lost { reason, .. } => Ok(self.lose_environment(reason, episode)),
                Event::Started(_)
                | Event::Stopped { .. }
                | Event::Episode(_)
                | Event::Question { .. }
                | Event::Recorded { .. } => Ok(Change::Nothing),
            },
            Phase::Empty
            | Phase::Record
            | Phase::Live { .. }
            | Phase::Stepping { .. }
            | Phase::Opening(_) => Ok(Change::Nothing),
        }
    }

    fn lose_environment(&mut self, reason: Text, episode: &mut Episode) -> Change {
        self.lost(reason.clone(), episode);
        Change::Lost { reason }
    }

    /// Handles that the worker's code could not be loaded: pending commands are dropped, and the shown episode stays.
    /// Returns whether a command was pending.
    pub fn unloaded(&mut self) -> bool {
        let wanted = self.is_busy();
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Empty => Phase::Empty,
            Phase::Opening(opening) if opening.shown == PreviousEpisode::Nothing => Phase::Empty,
            _ => Phase::Record,
        };
        wanted
    }

    /// Handles a crash of the worker. The record is kept, with the action that caused it.
    pub fn lost(&mut self, message: Text, episode: &mut Episode) -> Change {
        match std::mem::take(&mut self.phase) {
            Phase::Empty => Change::Nothing,
            Phase::Record | Phase::Live { .. } => {
                // No command was running: the record is complete, and is replayed when the user continues.
                self.phase = Phase::Record;
                Change::Nothing
            }
            Phase::Stepping { action, .. } => {
                record_crash(episode, action.message, &message);
                annotate(action.aside, episode);
                self.phase = Phase::Record;
                Change::Crashed { message }
            }
            Phase::Opening(opening) => {
                self.give_up(*opening, episode, &message);
                Change::Crashed { message }
            }
        }
    }

    fn begin(
        &mut self,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        why: Why,
        then: Option<ChosenAction>,
    ) -> Command {
        let environment = self.new_environment();
        let shown = match &self.phase {
            Phase::Empty => PreviousEpisode::Nothing,
            Phase::Record => PreviousEpisode::Record,
            Phase::Live { environment } => PreviousEpisode::Live(*environment),
            // The worker takes the step first, but its result is ignored.
            Phase::Stepping { .. } => PreviousEpisode::Record,
            Phase::Opening(opening) => opening.shown,
        };
        self.phase = Phase::Opening(Box::new(PendingOpening {
            environment,
            why,
            actions: actions.clone(),
            incoming: EpisodeAssembler::default(),
            shown,
            then,
        }));
        Command::Open {
            environment,
            recipe,
            actions,
        }
    }

    /// Replaces the shown episode with the opened one.
    fn finish(&mut self, mut fresh: Episode, episode: &mut Episode) -> Change {
        let Phase::Opening(opening) = std::mem::take(&mut self.phase) else {
            return Change::Nothing;
        };
        let PendingOpening {
            environment,
            why,
            then,
            ..
        } = *opening;
        let differs = match why {
            Why::New { .. } => None,
            Why::Again => first_difference(episode, &fresh),
        };
        keep_name(&mut fresh, &why, episode);
        fresh.ending = ending(&fresh);
        *episode = fresh;
        self.set_author(Author::User);
        self.phase = Phase::Live { environment };
        Change::Replaced { why, differs, then }
    }

    /// Ends an opening whose worker is gone: a new episode is shown up to the last chunk received; the record of a
    /// replayed episode is shown unchanged.
    fn give_up(&mut self, opening: PendingOpening, episode: &mut Episode, message: &Text) {
        let PendingOpening {
            why,
            actions,
            incoming,
            shown,
            ..
        } = opening;
        let new = matches!(why, Why::New { .. });
        let incoming = incoming.into_partial().filter(|_| new);
        let came_to_something = incoming.is_some();
        if let Some(mut fresh) = incoming {
            keep_name(&mut fresh, &why, episode);
            if let Some(action) = actions.into_iter().nth(fresh.steps.len()) {
                record_crash(&mut fresh, action, message);
            }
            *episode = fresh;
            self.set_author(Author::User);
        }
        self.phase = match shown {
            PreviousEpisode::Nothing if !came_to_something => Phase::Empty,
            _ => Phase::Record,
        };
    }
}

fn annotate(aside: Option<Box<StepAside>>, episode: &mut Episode) {
    if let Some(aside) = aside {
        aside.add_to_last_step(episode);
    }
}

/// Names a new episode; a replayed one keeps its id and name.
fn keep_name(fresh: &mut Episode, why: &Why, shown: &Episode) {
    match why {
        Why::New { id, name } => {
            fresh.id = id.clone();
            // An environment with its own ids may have named the episode.
            if fresh.name.is_empty() {
                fresh.name = name.clone();
            }
        }
        Why::Again => {
            fresh.id = shown.id.clone();
            fresh.name = shown.name.clone();
            fresh.policy = shown.policy.clone();
            fresh.metadata = shown.metadata.clone();
            fresh.recipe = shown.recipe.clone();
            fresh.model = shown.model.clone();
            fresh.links = shown.links.clone();
            keep_asides(fresh, shown);
        }
    }
}

/// Copies the details of the recorded steps to the same steps of the replay.
fn keep_asides(fresh: &mut Episode, shown: &Episode) {
    for (step, former) in fresh.steps.iter_mut().zip(&shown.steps) {
        step.details.clone_from(&former.details);
        step.extras.clone_from(&former.extras);
    }
}

#[cfg(test)]
mod tests;
