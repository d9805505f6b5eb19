//! The glossary: the source of the terms in the help and of the explanations next to labels. Pure.

/// The terms, each with its meaning in one or two sentences, as CONTRIBUTING.md and the documentation use them.
pub const TERMS: [(&str, &str); 16] = [
    (
        "environment",
        "A state, the tools that act on it, and a rule that computes rewards and ends episodes.",
    ),
    (
        "message",
        "A text, tool call or result that environment and agent exchange. A conversation is a list of messages.",
    ),
    (
        "tool",
        "A function that the agent can call, with a name and parameters. Its result is returned as a message.",
    ),
    (
        "reward",
        "A number that the environment returns after each step. The sum measures how well an episode went.",
    ),
    (
        "done",
        "The environment ended the episode, because the task is solved or can no longer be solved.",
    ),
    (
        "truncated",
        "The episode was stopped from outside, for example by a step limit. The task may be unfinished.",
    ),
    (
        "frame",
        "A snapshot of the environment's state after a step. An agent does not see it.",
    ),
    (
        "policy",
        "The part that chooses actions: a person, a model, a script, random choice, or an oracle.",
    ),
    (
        "oracle",
        "A policy that knows the correct answer. It shows which reward is achievable.",
    ),
    (
        "seed",
        "A number that determines all randomness. The same seed gives the same episode.",
    ),
    (
        "episode",
        "One run of an environment: its configuration and seed, the actions, and their results.",
    ),
    (
        "trajectory",
        "A recorded episode from any tool, as Review shows it.",
    ),
    (
        "pass@k, pass^k",
        "The probability that at least one of k trials succeeds, and that all of them do.",
    ),
    (
        "95% interval",
        "A range that contains the true value in 19 of 20 evaluations. Success rates have Wilson's interval, in which \
         trials of one task count less the more they agree; mean rewards have Student's over tasks.",
    ),
    (
        "exact, close, elsewhere, not found",
        "Whether a quote in an answer of a model holds: the same words are in the message that it names, similar ones are, \
         they are in another message, or in none.",
    ),
    (
        "kappa",
        "Cohen's kappa: the agreement of two labellers beyond what chance would give. 1 is perfect, 0 is chance.",
    ),
];

/// What a term means; empty for a word that is not in the glossary.
pub fn meaning(term: &str) -> &'static str {
    let known = TERMS.iter().find(|(known, _)| *known == term);
    known.map_or("", |(_, meaning)| meaning)
}

/// The question that these terms answer: `What do “reward”, “done” and “truncated” mean?`
pub fn question(terms: &[&str]) -> String {
    match terms {
        [] => String::new(),
        [term] => format!("What does “{term}” mean?"),
        [terms @ .., last] => format!("What do “{}” and “{last}” mean?", terms.join("”, “")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_has_one_meaning_that_does_not_need_itself() {
        for (place, (term, meaning)) in TERMS.iter().enumerate() {
            assert!(!meaning.is_empty() && meaning.ends_with('.'), "{term}");
            assert!(
                TERMS[..place].iter().all(|(other, _)| other != term),
                "{term}"
            );
            assert_eq!(super::meaning(term), *meaning);
        }
        assert_eq!(meaning("nothing"), "");
    }

    #[test]
    fn the_question_names_the_terms() {
        assert_eq!(question(&["seed"]), "What does “seed” mean?");
        assert_eq!(
            question(&["reward", "done", "truncated"]),
            "What do “reward”, “done” and “truncated” mean?"
        );
    }
}
