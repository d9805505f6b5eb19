//! The environments of models' episodes: in a worker, which runs them or calls their server.

use futures_util::future::LocalBoxFuture;
use volary_agent::{RunnerError, Stage, Stepped};
use volary_core::AnyMessage;
use volary_core::Frame;
use volary_protocol::environments::{Event, Request};
use volary_protocol::episode::{Assembled, EpisodeAssembler, EpisodeChunk};
use volary_remote::task;
use volary_trajectory::{Ending, Episode, FramePatch, Recipe, StepRecord};

use super::pool::{Lease, Pool};
use super::remote_environments;
use crate::browser::worker_client::Replies;

/// An environment in a worker. Dropping it closes it.
struct WorkerStage {
    lease: Lease,
    is_on_server: bool,
}

/// Opens an environment, here or on a server, replays the actions, and returns it with the episode so far.
pub async fn open(
    pool: &Pool,
    recipe: Recipe,
    actions: Vec<AnyMessage>,
) -> Result<(Box<dyn Stage>, Episode), RunnerError> {
    let lease = pool
        .lease()
        .ok_or_else(|| crashed("no worker is available".to_owned()))?;
    let stage = WorkerStage {
        is_on_server: task::is_server(&recipe.environment),
        lease,
    };
    let mut replies = stage.call(&Request::Open {
        environment: stage.lease.environment,
        servers: remote_environments::access([&recipe]),
        recipe,
        actions,
    })?;
    let mut assembler = EpisodeAssembler::default();
    loop {
        match stage.lease.next(&mut replies).await.map_err(crashed)? {
            Event::Episode(chunk) => {
                let assembled = assembler.push(chunk);
                let assembled = assembled.map_err(|error| crashed(error.to_string()))?;
                if let Some(Assembled { mut episode, .. }) = assembled {
                    let last = episode.steps.last();
                    episode.ending = last.map_or(Ending::Open, StepRecord::ending);
                    return Ok((Box::new(stage), episode));
                }
            }
            other => return Err(stage.failure(other)),
        }
    }
}

impl Stage for WorkerStage {
    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Stepped, RunnerError>> {
        Box::pin(async move {
            let mut replies = self.call(&Request::Step {
                environment: self.lease.environment,
                action,
            })?;
            match self.lease.next(&mut replies).await.map_err(crashed)? {
                Event::Episode(EpisodeChunk::Steps(steps)) => {
                    let record = steps.records.into_iter().next();
                    let record = record.ok_or(RunnerError::Closed)?;
                    // Servers without frames report no changes.
                    let frame = steps.patches.into_iter().next();
                    let frame = frame.unwrap_or_else(|| {
                        FramePatch::between(&Frame::default(), &Frame::default())
                    });
                    Ok(Stepped { record, frame })
                }
                other => Err(self.failure(other)),
            }
        })
    }
}

impl WorkerStage {
    fn call(&self, request: &Request) -> Result<Replies<Event>, RunnerError> {
        self.lease.call(request).map_err(crashed)
    }

    /// Why a worker sent an unexpected reply.
    fn failure(&self, event: Event) -> RunnerError {
        match event {
            Event::Lost {
                reason,
                is_server_lost: false,
            } if !self.is_on_server => RunnerError::Crashed { message: reason },
            Event::Refused {
                reason,
                is_server_lost,
                ..
            }
            | Event::Lost {
                reason,
                is_server_lost,
            } => RunnerError::Elsewhere {
                message: reason,
                concerns_all: is_server_lost,
            },
            _ => RunnerError::Closed,
        }
    }
}

fn crashed(message: String) -> RunnerError {
    RunnerError::Crashed {
        message: message.into(),
    }
}
