//! What is recorded of a model's episode once it ended. Pure.
//!
//! Invariant: a result that can be retried keeps its draft, with all that was spent on it, so that no step is paid for
//! twice. Only an environment that failed starts again from its reset.

use volary_agent::evaluation::{CellResult, Failure, FailureKind, Job};
use volary_agent::model::exchange::Exchange;
use volary_app::evaluation::{Done, Draft};
use volary_core::json::Json;
use volary_episode::Episode;

use volary_connections::models::record;

/// An episode that a model played until it ended or failed.
pub(super) struct PlayedEpisode {
    pub job: Job,
    pub episode: Episode,
    pub draft: Draft,
    /// Elapsed time in seconds over all attempts, without the waits for rate limits.
    pub seconds: f64,
    /// The exchanges of the step that failed.
    pub unanswered: Vec<Exchange>,
}

impl PlayedEpisode {
    /// The result, the episode if its environment was opened, and the draft for the next attempt.
    pub fn done(self, failure: Option<Failure>) -> Done<Episode> {
        let PlayedEpisode {
            job,
            mut episode,
            mut draft,
            seconds,
            unanswered,
        } = self;
        let attempts = draft.attempts + 1;
        draft.spent.seconds = seconds;
        draft.spent.steps = episode.steps.len() as u64;
        let spent = draft.spent;
        let (result, draft) = match failure {
            None => {
                let result = CellResult::finished(job.cell, &episode, spent, attempts);
                (result, None)
            }
            Some(mut failure) => {
                let can_continue = failure.kind != FailureKind::Environment;
                if failure.kind.is_of_model() {
                    let step = episode.steps.len() + 1;
                    failure.message = format!("Step {step}: {}", failure.message).into();
                }
                if !unanswered.is_empty() {
                    let sent = Json::Object(record::extras(&[], &unanswered, &[]));
                    episode.metadata.insert("failed_step", sent);
                }
                let reward = episode.total_reward();
                let result = CellResult::failed(job.cell, failure, reward, spent, attempts);
                (result, can_continue.then_some(draft))
            }
        };
        let model = episode.model.clone();
        let is_opened = !episode.tools.is_empty() || !episode.start.is_empty();
        let episode = is_opened.then(|| {
            job.label(&mut episode);
            episode
        });
        Done {
            result: CellResult { model, ..result },
            episode,
            draft,
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::{Actor, Status};
    use volary_agent::model::limits::Spent;
    use volary_core::message::Message;
    use volary_core::object;
    use volary_episode::{Ending, Outcome, Recipe, StepRecord};

    use super::*;

    fn job() -> Job {
        Job {
            cell: 3,
            episode: "run.3".into(),
            name: "Count, mine".into(),
            recipe: Recipe::default(),
            actor: Actor::Random,
            policy_seed: 1,
            max_steps: 5,
            evaluation: "run".into(),
            run: "My run".into(),
            attempts: 1,
        }
    }

    fn step(reward: f64) -> StepRecord {
        let action = volary_core::ToolRequestMessage::default().into();
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward,
            done: false,
            truncated: false,
        };
        StepRecord::new(action, outcome)
    }

    /// The second attempt at an episode, after a step that cost something.
    fn played(ending: Ending) -> PlayedEpisode {
        PlayedEpisode {
            job: job(),
            episode: Episode {
                start: vec![Message::user("Count.").into()],
                steps: vec![step(0.5)],
                ending,
                model: Some("large".into()),
                ..Episode::default()
            },
            draft: Draft {
                spent: Spent {
                    tokens: 30,
                    cost: Some(0.5),
                    seconds: 1.0,
                    ..Spent::default()
                },
                attempts: 1,
                recorded: object!({ "answer": "yes" }),
            },
            seconds: 61.0,
            unanswered: Vec::new(),
        }
    }

    fn failure(kind: FailureKind) -> Failure {
        Failure {
            kind,
            message: "It failed.".into(),
        }
    }

    fn failure_of(done: &Done<Episode>) -> &Failure {
        match &done.result.status {
            Status::Failed(failure) => failure,
            Status::Finished { ending } => panic!("finished: {ending}"),
        }
    }

    #[test]
    fn a_finished_episode_has_its_result_and_no_draft() {
        let limit = Ending::Truncated {
            reason: "The limit was reached.".into(),
        };
        for (ending, word) in [(Ending::Done, "done"), (limit, "truncated")] {
            let done = played(ending).done(None);
            let result = &done.result;
            let finished = Status::Finished {
                ending: word.into(),
            };
            assert_eq!(result.status, finished);
            assert_eq!((result.cell, result.attempts, result.reward), (3, 2, 0.5));
            assert_eq!(result.model.as_deref(), Some("large"));
            let Spent {
                tokens,
                cost,
                seconds,
                steps,
                ..
            } = result.spent;
            assert_eq!((tokens, cost, seconds, steps), (30, Some(0.5), 61.0, 1));
            assert_eq!(done.draft, None);
        }
    }

    #[test]
    fn an_episode_is_labelled_with_its_cell() {
        let episode = played(Ending::Done).done(None).episode.unwrap();
        assert_eq!((&*episode.id, &*episode.name), ("run.3", "Count, mine"));
        for (label, value) in [
            ("run", Json::from("My run")),
            ("evaluation", Json::from("run")),
            ("cell", Json::from(3_i64)),
        ] {
            assert_eq!(episode.metadata.get(label), Some(&value), "{label}");
        }
    }

    #[test]
    fn a_retry_continues_with_what_was_spent() {
        let done = played(Ending::Open).done(Some(failure(FailureKind::Network)));
        let draft = done.draft.clone().unwrap();
        assert_eq!(draft.spent, done.result.spent);
        assert_eq!((draft.spent.seconds, draft.spent.steps), (61.0, 1));
        assert_eq!(draft.recorded, object!({ "answer": "yes" }));
        assert_eq!(done.result.attempts, 2);
    }

    #[test]
    fn an_environment_that_failed_starts_again() {
        let crash = Ending::Crashed {
            message: "It failed.".into(),
        };
        let done = played(crash).done(Some(failure(FailureKind::Environment)));
        assert_eq!(done.draft, None);
        assert_eq!(*failure_of(&done), failure(FailureKind::Environment));
        // What was paid for it still counts.
        assert_eq!(done.result.spent.cost, Some(0.5));
        assert!(done.episode.is_some());
    }

    #[test]
    fn a_failure_of_the_model_names_the_step() {
        for (kind, message) in [
            (FailureKind::Answer, "Step 2: It failed."),
            (FailureKind::Key, "Step 2: It failed."),
            (FailureKind::RateLimit, "Step 2: It failed."),
            // These are not about a step.
            (FailureKind::Policy, "It failed."),
            (FailureKind::Server, "It failed."),
        ] {
            let done = played(Ending::Open).done(Some(failure(kind)));
            let found = failure_of(&done);
            assert_eq!((found.kind, &*found.message), (kind, message));
            assert!(done.draft.is_some(), "{message}");
        }
    }

    #[test]
    fn the_exchanges_of_a_failed_step_are_kept() {
        let exchange = Exchange {
            url: "https://models.example/v1/chat".into(),
            ..Exchange::default()
        };
        let mut failing = played(Ending::Open);
        failing.unanswered = vec![exchange.clone()];
        let done = failing.done(Some(failure(FailureKind::Provider)));
        let kept = done.episode.unwrap().metadata;
        let text = kept.get("failed_step").unwrap().to_compact_text();
        assert!(text.contains("https://models.example/v1/chat"), "{text}");

        let without = played(Ending::Open).done(Some(failure(FailureKind::Policy)));
        let metadata = without.episode.unwrap().metadata;
        assert_eq!(metadata.get("failed_step"), None);
    }

    #[test]
    fn an_environment_that_was_not_opened_has_no_episode() {
        let unopened = PlayedEpisode {
            episode: Episode::default(),
            draft: Draft::default(),
            seconds: 0.0,
            ..played(Ending::Open)
        };
        let done = unopened.done(Some(failure(FailureKind::Policy)));
        assert_eq!(done.episode, None);
        assert_eq!(done.result.model, None);
        assert_eq!((done.result.attempts, done.result.reward), (1, 0.0));
    }
}
