//! Where the environment of a model's episode comes from: a worker, which has it or calls its server.

use futures_util::future::LocalBoxFuture;
use volary_agent::{RunnerError, Stage, Stepped};
use volary_core::AnyMessage;
use volary_trace::{Episode, Recipe};

use super::abroad;
use super::pool::{Pool, Seat};
use super::protocol::Order;
use crate::protocol::Event;

/// An environment in a worker. Dropped, it is closed.
struct WorkerStage(Seat);

/// Opens an environment, here or on a server, and takes the actions; gives it with the episode so far.
pub async fn open(
    pool: &Pool,
    recipe: Recipe,
    actions: Vec<AnyMessage>,
) -> Result<(Box<dyn Stage>, Episode), RunnerError> {
    let crashed = |message: &str| RunnerError::Crashed {
        message: message.into(),
    };
    let seat = pool.seat().ok_or_else(|| crashed("there is no worker"))?;
    seat.send(&Order::Open {
        token: seat.token,
        servers: abroad::access([&recipe]),
        recipe,
        actions,
    });
    let mut episode = Episode::default();
    loop {
        match seat.next().await {
            Event::Opened { head, .. } => episode = head,
            Event::Stepped { steps, patches, .. } => {
                for (step, patch) in steps.into_iter().zip(patches) {
                    let recorded = episode.record(step, patch);
                    recorded.map_err(|error| crashed(&error.to_string()))?;
                }
            }
            Event::Finished { .. } => return Ok((Box::new(WorkerStage(seat)), episode)),
            other => return Err(failure(other)),
        }
    }
}

impl Stage for WorkerStage {
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        Box::pin(async move {
            self.0.send(&Order::Step {
                token: self.0.token,
                action,
            });
            match self.0.next().await {
                Event::Stepped { steps, patches, .. } => {
                    let stepped = steps.into_iter().zip(patches).next();
                    let stepped = stepped.map(|(record, frame)| Stepped { record, frame });
                    stepped.ok_or(RunnerError::Closed)
                }
                other => Err(failure(other)),
            }
        })
    }
}

/// What it means that a worker said something else than hoped for.
fn failure(event: Event) -> RunnerError {
    match event {
        Event::Panicked { message } => RunnerError::Crashed { message },
        Event::Refused { reason, .. } => RunnerError::Elsewhere {
            message: reason,
            concerns_all: false,
        },
        Event::Lost { reason, .. } => RunnerError::Elsewhere {
            message: reason,
            concerns_all: true,
        },
        _ => RunnerError::Closed,
    }
}
