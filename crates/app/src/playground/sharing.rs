//! Contents of a shared link: the task alone, or the task and the actions.
//!
//! Invariants: a link to the task holds no action. If an address can name the task, the link holds no configuration
//! either, and with it no answer. Otherwise the link holds the packed configuration: it is not readable in the link,
//! but it is not secret.

use volary_analysis::sensitive::{self, Finding};
use volary_core::Json;
use volary_episode::{Episode, Recipe};

use super::address::{EpisodeStart, link_text};

/// The shared part of an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum What {
    /// Environment, configuration and seed.
    Task,
    /// The same, and the actions.
    #[default]
    Actions,
}

impl What {
    pub const ALL: [What; 2] = [What::Task, What::Actions];
}

/// A shared link.
#[derive(Clone, Debug, PartialEq)]
pub enum ShareLink {
    /// The name of a task that every page has.
    Named(EpisodeStart),
    /// A packed recipe, with the actions if there are any.
    Packed {
        /// The name of the environment, which the path of the address shows.
        environment: String,
        /// The text that `volary_episode::share` encodes.
        text: String,
    },
}

/// The part of an episode that is shared.
pub fn part(episode: &Episode, what: What) -> Episode {
    let steps = match what {
        What::Task => Vec::new(),
        What::Actions => episode.steps.clone(),
    };
    Episode {
        recipe: episode.recipe.clone(),
        steps,
        ..Episode::default()
    }
}

/// Sensitive data in a part of an episode, which the user should perhaps not share.
pub fn findings(part: &Episode, start: Option<&EpisodeStart>) -> Vec<Finding> {
    match start.filter(|_| part.steps.is_empty()) {
        Some(_) => Vec::new(),
        None => sensitive::check_actions(part),
    }
}

/// The link to a part of an episode. `start` names its task, if an address can.
pub fn link(
    part: &Episode,
    start: Option<&EpisodeStart>,
    is_masked: bool,
) -> Result<ShareLink, String> {
    if let Some(start) = start.filter(|_| part.steps.is_empty()) {
        return Ok(ShareLink::Named(start.clone()));
    }
    let masked = if is_masked {
        Some(sensitive::masked_actions(part).map_err(|error| error.to_string())?)
    } else {
        None
    };
    let (recipe, text) = link_text(masked.as_ref().unwrap_or(part))?;
    Ok(ShareLink::Packed {
        environment: recipe.environment.to_string(),
        text,
    })
}

/// The titles of the configuration fields that are meant for reviewers only, such as the answer: those that the schema
/// marks as `writeOnly`.
pub fn reviewers_fields(recipe: &Recipe, schema: &Json) -> Vec<String> {
    let properties = schema.get("properties").and_then(Json::as_object);
    let properties = properties
        .into_iter()
        .flat_map(|properties| properties.iter());
    let marked = properties.filter(|(name, property)| {
        property.get("writeOnly") == Some(&Json::Bool(true))
            && recipe
                .configuration
                .get(name)
                .is_some_and(|value| !value.is_null())
    });
    marked
        .map(|(name, property)| {
            let title = property.get("title").and_then(Json::as_text);
            title.map_or_else(|| name.to_string(), |title| title.to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, json, object};
    use volary_episode::{Outcome, StepRecord, share};

    use super::*;

    fn episode(problem: &str) -> Episode {
        let action = Message::new(Role::Assistant, "I mail ada@example.org.");
        let failed = Outcome::Failed { message: "".into() };
        Episode {
            recipe: Some(Recipe {
                environment: "calculator".into(),
                configuration: object!({"problem": problem, "answer": 42, "hint": null}),
                seed: 7,
                task: None,
            }),
            steps: vec![StepRecord::new(action.into(), failed)],
            ..Episode::default()
        }
    }

    fn packed(link: Result<ShareLink, String>) -> share::Shared {
        let Ok(ShareLink::Packed { environment, text }) = link else {
            panic!("{link:?}");
        };
        assert_eq!(environment, "calculator");
        share::decode(&text).expect("a link")
    }

    #[test]
    fn the_task_has_no_actions_and_no_readable_answer() {
        let task = part(&episode("6 * 7?"), What::Task);
        let Ok(ShareLink::Packed { text, .. }) = link(&task, None, false) else {
            panic!("no link");
        };
        assert!(!text.contains("42") && !text.contains("answer"), "{text}");
        let shared = share::decode(&text).expect("a link");
        assert_eq!(shared.actions, []);
        assert_eq!(shared.recipe.seed, 7);
        assert_eq!(Some(shared.recipe), task.recipe);
    }

    #[test]
    fn a_task_with_a_name_is_named_unless_actions_are_shared() {
        let start = EpisodeStart {
            environment: "calculator".into(),
            task: Some("easy-02".into()),
            seed: None,
        };
        let whole = episode("Ask bob@example.org");
        let task = part(&whole, What::Task);
        assert_eq!(
            link(&task, Some(&start), false),
            Ok(ShareLink::Named(start.clone()))
        );
        assert_eq!(findings(&task, Some(&start)), []);
        let actions = part(&whole, What::Actions);
        assert_eq!(packed(link(&actions, Some(&start), false)).actions.len(), 1);
    }

    #[test]
    fn findings_are_those_of_what_is_shared_and_can_be_masked() {
        let whole = episode("Ask bob@example.org");
        let of = |what| findings(&part(&whole, what), None).len();
        assert_eq!((of(What::Task), of(What::Actions)), (1, 2));
        let masked = packed(link(&part(&whole, What::Actions), None, true));
        let problem = masked.recipe.configuration.get("problem").cloned();
        assert_eq!(problem, Some("Ask [e-mail address]".into()));
        assert!(link(&Episode::default(), None, false).is_err());
    }

    #[test]
    fn fields_for_reviewers_are_named_where_they_are_filled() {
        let schema = json!({"properties": {
            "problem": {"type": "string"},
            "answer": {"type": "number", "title": "Answer", "writeOnly": true},
            "hint": {"writeOnly": true},
        }});
        let recipe = episode("").recipe.expect("a recipe");
        assert_eq!(reviewers_fields(&recipe, &schema), ["Answer"]);
    }
}
