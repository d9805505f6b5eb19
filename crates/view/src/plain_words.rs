//! What the terms of the built-in word problems mean in plain words. They are shown next to the terms, which stay: an
//! agent sees those. Pure.
//!
//! Invariant: nothing here changes a message, a tool or a schema.

use volary_core::AnyMessage;
use volary_core::message::Role;
use volary_episode::Episode;

/// The environment of the word problems.
const WORD_PROBLEMS: &str = "calculator";

/// How the names of environments begin in which a customer speaks.
const CUSTOMERS: [&str; 2] = ["library_desk", "tau-"];

/// A parameter of a tool: its name, a label, and how to fill it in.
pub type PlainField = (&'static str, &'static str, &'static str);

const CALCULATOR: [PlainField; 1] = [("expr", "Calculation", "For example 6 × 7.")];
const SUBMIT_ANSWER: [PlainField; 1] = [("answer", "Your answer", "A number.")];

/// The parameters of a tool in plain words; empty for a tool that describes itself.
pub fn plain_fields(environment: Option<&str>, tool: &str) -> &'static [PlainField] {
    match (environment, tool) {
        (Some(WORD_PROBLEMS), "calculator") => &CALCULATOR,
        (Some(WORD_PROBLEMS), "submit_answer") => &SUBMIT_ANSWER,
        _ => &[],
    }
}

/// What a tool does, in place of its description for agents; `None` if that is plain enough.
pub fn plain_tool(environment: Option<&str>, tool: &str) -> Option<&'static str> {
    match (environment, tool) {
        (Some(WORD_PROBLEMS), "calculator") => Some("Works out a calculation."),
        (Some(WORD_PROBLEMS), "submit_answer") => {
            Some("Hands in your answer. This ends the episode.")
        }
        _ => None,
    }
}

/// What the result of a tool means; `None` if it speaks for itself.
pub fn plain_result(environment: Option<&str>, tool: &str, result: &str) -> Option<&'static str> {
    match (environment, tool, result) {
        (Some(WORD_PROBLEMS), "submit_answer", "True") => Some("The answer is right."),
        (Some(WORD_PROBLEMS), "submit_answer", "False") => {
            Some("The answer is wrong, or no number.")
        }
        _ => None,
    }
}

/// Who speaks in a message, if its role does not tell: the first message of an environment sets the task, and its role
/// is `user`. Where a customer speaks to the agent, that is who it is.
pub fn plain_speaker(episode: &Episode, step: usize, message: &AnyMessage) -> Option<&'static str> {
    let environment = &episode.recipe.as_ref()?.environment;
    let is_served = CUSTOMERS.iter().any(|name| environment.starts_with(name));
    match message.role() {
        Role::User if is_served => Some("Customer"),
        Role::User if step == 0 => Some("Task"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Recipe;

    use super::*;

    #[test]
    fn the_word_problems_have_plain_words() {
        for tool in ["calculator", "submit_answer"] {
            assert!(plain_tool(Some(WORD_PROBLEMS), tool).is_some());
            assert_eq!(plain_fields(Some(WORD_PROBLEMS), tool).len(), 1);
            assert_eq!(plain_tool(Some("dummy"), tool), None);
            assert!(plain_fields(None, tool).is_empty());
        }
    }

    #[test]
    fn a_verdict_is_explained_and_a_number_is_not() {
        let result = |tool, text| plain_result(Some(WORD_PROBLEMS), tool, text);
        assert_eq!(
            result("submit_answer", "True"),
            Some("The answer is right.")
        );
        assert!(result("submit_answer", "False").is_some());
        assert_eq!(result("calculator", "True"), None);
        assert_eq!(result("submit_answer", "204"), None);
        assert_eq!(plain_result(None, "submit_answer", "True"), None);
    }

    #[test]
    fn only_the_opening_of_an_environment_is_its_task() {
        let played = Episode {
            recipe: Some(Recipe::default()),
            ..Episode::default()
        };
        let user: AnyMessage = Message::user("Count to ten.").into();
        assert_eq!(plain_speaker(&played, 0, &user), Some("Task"));
        assert_eq!(plain_speaker(&played, 1, &user), None);
        let mut served = played.clone();
        if let Some(recipe) = &mut served.recipe {
            recipe.environment = "library_desk".into();
        }
        assert_eq!(plain_speaker(&served, 1, &user), Some("Customer"));
        // In a recording of another tool the user is a person.
        assert_eq!(plain_speaker(&Episode::default(), 0, &user), None);
    }
}
