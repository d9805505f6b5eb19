//! The environments of models' episodes. They are in a worker, which runs them or calls their server.
//!
//! Invariant: the answers that an environment got from the outside world are recorded, so that a replay asks nothing
//! again.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_agent::{RunnerError, Stage, Stepped};
use volary_app::evaluation::worker_stage::{self, StageOpening, StagePlace, crashed};
use volary_app::outside::PlayingPage;
use volary_core::AnyMessage;
use volary_core::Object;
use volary_episode::{Episode, Recipe};
use volary_protocol::environments::{Event, Question, QuestionId, Request};
use volary_remote::task;

use super::pool::{Lease, Pool};
use super::remote_environments;
use volary_browser::worker_client::Replies;
use volary_connections::outside::Questions;

/// An environment in a worker. Dropping it closes the environment.
pub struct WorkerStage {
    lease: Rc<Lease>,
    place: StagePlace,
    questions: Questions,
    /// The recorded answers from the outside world, as members of the environment's configuration.
    recorded: Object,
}

impl Stage for WorkerStage {
    fn recorded(&self) -> Object {
        self.recorded.clone()
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        Box::pin(async move {
            let mut replies = self.call(&Request::Step {
                environment: self.lease.environment,
                action,
            })?;
            worker_stage::step(self.place, self.next(&mut replies).await?)
        })
    }
}

impl WorkerStage {
    /// Opens an environment in the worker or on a server, replays the actions, and returns it with the episode so far.
    pub async fn open(
        pool: &Pool,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
    ) -> Result<(WorkerStage, Episode), RunnerError> {
        let lease = pool
            .lease()
            .ok_or_else(|| crashed("no worker is available".to_owned()))?;
        let mut stage = WorkerStage {
            place: if task::is_server(&recipe.environment) {
                StagePlace::Server
            } else {
                StagePlace::Worker
            },
            lease: Rc::new(lease),
            questions: Questions::of(PlayingPage::Evaluation),
            recorded: Object::new(),
        };
        let mut replies = stage.call(&Request::Open {
            environment: stage.lease.environment,
            servers: remote_environments::access([&recipe]),
            recipe,
            actions,
        })?;
        let mut opening = StageOpening::new(stage.place);
        loop {
            let reply = stage.next(&mut replies).await;
            if let Some(opened) = opening.push(reply) {
                return opened.map(|episode| (stage, episode));
            }
        }
    }

    /// Returns the next event that is not a question; questions are answered on the way.
    async fn next(&mut self, replies: &mut Replies<Event>) -> Result<Event, RunnerError> {
        loop {
            match self.lease.next(replies).await.map_err(crashed)? {
                Event::Question { id, question } => self.ask(id, question),
                Event::Recorded { members } => self.recorded.extend(members),
                event => return Ok(event),
            }
        }
    }

    fn ask(&self, id: QuestionId, question: Question) {
        let lease = Rc::downgrade(&self.lease);
        self.questions.ask(question, move |answer| {
            let question = id;
            if let Some(lease) = lease.upgrade() {
                // If the worker was lost, the receiver of its events notices it.
                let _ = lease.call(&Request::Answer { question, answer });
            }
        });
    }

    fn call(&self, request: &Request) -> Result<Replies<Event>, RunnerError> {
        self.lease.call(request).map_err(crashed)
    }
}
