//! The address of the shown episode, and the contents of its links.

use volary_core::{AnyMessage, Object};
use volary_episode::{Episode, Recipe, share};
use volary_remote::task;

use super::consent::Reach;
use super::tasks::{self, TaskSource};

/// The maximum number of steps in an address, because encoding takes noticeable time. The address of a longer episode
/// names the stored episode.
const LONGEST_ENCODED: usize = 500;

/// An address that starts a new episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeStart {
    pub environment: String,
    /// The task id; `None` for the first task, or if there are none.
    pub task: Option<String>,
    /// `None` for 0.
    pub seed: Option<u64>,
}

/// The address that starts a recipe; `None` if the recipe has a custom configuration, which an address cannot name.
/// `default` is the default configuration of a local environment.
pub fn start_of(
    recipe: &Recipe,
    reach: Reach,
    sources: &[TaskSource],
    default: impl FnOnce() -> Option<Object>,
) -> Option<EpisodeStart> {
    let environment = recipe.environment.to_string();
    if reach != Reach::Local || task::python_file(&environment).is_some() {
        // Servers choose tasks and seeds themselves; a Python environment is named by its file only.
        return recipe.task.is_none().then_some(EpisodeStart {
            environment,
            task: None,
            seed: None,
        });
    }
    let first = tasks::first(sources, Some(&environment));
    let task = match &recipe.task {
        Some(reference) => {
            let found = tasks::find(sources, Some(&environment), &reference.id)?;
            let source = sources.get(found.source)?;
            // A file of tasks is gone after a reload.
            if source.dataset != reference.dataset || source.file.is_some() {
                return None;
            }
            (first != Some(found)).then(|| reference.id.to_string())
        }
        None if first.is_some() => return None,
        None if default()? != recipe.configuration => return None,
        None => None,
    };
    Some(EpisodeStart {
        environment,
        task,
        seed: (recipe.seed != 0).then_some(recipe.seed),
    })
}

/// The encoded steps of an episode for an address; `None` if the episode is too long.
pub fn encoded_steps(recipe: &Recipe, episode: &Episode) -> Option<String> {
    (episode.steps.len() <= LONGEST_ENCODED)
        .then(|| share::encode(recipe, &bare_actions(episode)).ok())
        .flatten()
}

/// The encoded text of a link that replays an episode.
pub fn link_text(episode: &Episode) -> Result<(&Recipe, String), String> {
    let recipe = episode.recipe.as_ref().ok_or(
        "The recording does not say how to create its environment, so a link could not replay it.",
    )?;
    let text = share::encode(recipe, &bare_actions(episode)).map_err(|error| error.to_string())?;
    Ok((recipe, text))
}

/// The actions without their metadata: a replay does not need it, and the reasoning of a model would make a link too
/// long.
fn bare_actions(episode: &Episode) -> Vec<AnyMessage> {
    let bare = |action: &AnyMessage| {
        let mut action = action.clone();
        if let AnyMessage::Request(request) = &mut action {
            request.body.info = None;
        }
        action
    };
    episode.actions().map(bare).collect()
}

/// The step for the address; `None` for the last one, which is selected by default.
pub fn step_in_address(selected: usize, last: usize) -> Option<usize> {
    (selected != last).then_some(selected)
}

/// The last selectable step: an imported episode may have more frames than steps.
pub fn last_step(episode: &Episode) -> usize {
    let frames = episode.frames.len().saturating_sub(1);
    episode.steps.len().max(frames)
}

#[cfg(test)]
mod tests {
    use volary_core::message::Body;
    use volary_core::{ToolRequestMessage, object};
    use volary_episode::{Outcome, StepRecord, TaskReference};

    use super::tasks::tests::list;
    use super::tasks::{TaskFile, TaskPlace};
    use super::*;

    fn start(recipe: &Recipe, reach: Reach, sources: &[TaskSource]) -> Option<EpisodeStart> {
        start_of(recipe, reach, sources, || Some(object!({"size": 3})))
    }

    fn recipe(environment: &str) -> Recipe {
        Recipe {
            environment: environment.into(),
            configuration: object!({"size": 3}),
            ..Recipe::default()
        }
    }

    fn plain(environment: &str) -> Option<EpisodeStart> {
        Some(EpisodeStart {
            environment: environment.to_owned(),
            task: None,
            seed: None,
        })
    }

    #[test]
    fn the_address_of_a_task_starts_the_same_task() {
        let sources = [list("sums", "calculator")];
        let place = |task| TaskPlace { source: 0, task };
        let of_task = |task, seed| {
            let task = tasks::at(&sources, place(task)).expect("a task");
            let recipe = tasks::recipe(&sources[0], task, seed);
            start(&recipe, Reach::Local, &sources)
        };
        assert_eq!(of_task(0, 0), plain("calculator"));
        let second = of_task(1, 9).expect("a place");
        assert_eq!(second.task.as_deref(), Some("1"));
        assert_eq!(second.seed, Some(9));
    }

    #[test]
    fn what_a_reload_cannot_start_again_has_no_address() {
        let mut sources = vec![list("sums", "calculator")];
        let of_file = Recipe {
            task: Some(TaskReference {
                dataset: "sums".into(),
                id: "1".into(),
            }),
            ..recipe("calculator")
        };
        sources[0].file = Some(TaskFile {
            text: "".into(),
            name: "mine.jsonl".into(),
            split: "".into(),
        });
        assert_eq!(start(&of_file, Reach::Local, &sources), None);
        // A custom configuration, with tasks or without any.
        assert_eq!(start(&recipe("calculator"), Reach::Local, &sources), None);
        let changed = Recipe {
            configuration: object!({"size": 4}),
            ..recipe("maze")
        };
        assert_eq!(start(&changed, Reach::Local, &[]), None);
        assert_eq!(start(&recipe("maze"), Reach::Local, &[]), plain("maze"));
    }

    #[test]
    fn an_address_names_a_server_alone() {
        let server = Recipe {
            seed: 4,
            ..recipe("https://env.example")
        };
        let place = start(&server, Reach::Connected, &[]);
        assert_eq!(place, plain("https://env.example"));
    }

    fn episode(steps: usize) -> Episode {
        let action = ToolRequestMessage {
            body: Body {
                info: Some(object!({"reasoning": "a secret thought"})),
                ..Body::default()
            },
            ..ToolRequestMessage::default()
        };
        let step = StepRecord {
            action: action.into(),
            outcome: Outcome::Failed { message: "".into() },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        };
        Episode {
            recipe: Some(recipe("maze")),
            steps: vec![step; steps],
            ..Episode::default()
        }
    }

    #[test]
    fn links_hold_actions_without_what_a_model_thought() {
        let (_, text) = link_text(&episode(1))
            .map(|(_, text)| ((), text))
            .expect("a link");
        let shared = share::decode(&text).expect("an episode");
        assert_eq!(shared.recipe, recipe("maze"));
        assert_eq!(shared.actions.len(), 1);
        assert_eq!(shared.actions[0].body().info, None);
        assert!(link_text(&Episode::default()).is_err());
    }

    #[test]
    fn long_episodes_are_not_encoded() {
        let recipe = recipe("maze");
        assert!(encoded_steps(&recipe, &episode(LONGEST_ENCODED)).is_some());
        assert!(encoded_steps(&recipe, &episode(LONGEST_ENCODED + 1)).is_none());
    }

    #[test]
    fn the_last_step_needs_no_name() {
        assert_eq!(step_in_address(3, 3), None);
        assert_eq!(step_in_address(0, 3), Some(0));
        assert_eq!(last_step(&episode(2)), 2);
        assert_eq!(last_step(&Episode::default()), 0);
    }
}
