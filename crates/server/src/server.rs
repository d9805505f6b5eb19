//! What all requests share: the options, the shards, the counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::{Json, Text};
use volary_remote::reply::Info;

use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::refusal::Refusal;
use crate::shard::{Command, Request, Shard};
use crate::slot::Outcome;
use crate::time::Seconds;

/// Makes the dataset, once on each shard.
pub type MakeDataset = Arc<dyn Fn() -> Result<Box<dyn TaskDataset>, DatasetError> + Send + Sync>;

/// How many requests may be on their way from one shard to another.
const HANDED_OVER: usize = 4096;

/// A server, apart from its sockets and threads.
pub struct Server {
    /// Limits and rules.
    pub options: ServerOptions,
    /// How old environments are counted.
    pub seconds: Seconds,
    /// What is counted.
    pub metrics: Metrics,
    /// How many environments run.
    pub running: AtomicUsize,
    /// How many were ever started; the order of starts.
    pub started: AtomicU64,
    make_dataset: MakeDataset,
    shards: Vec<mpsc::Sender<Request>>,
    next_start: AtomicUsize,
}

impl Server {
    /// A server of so many shards, and what each of them listens to.
    pub fn new(
        options: ServerOptions,
        make_dataset: MakeDataset,
        seconds: Seconds,
        shards: usize,
    ) -> (Arc<Self>, Vec<mpsc::Receiver<Request>>) {
        // An id names its shard in one byte.
        let shards = shards.clamp(1, 256);
        let (senders, receivers) = (0..shards).map(|_| mpsc::channel(HANDED_OVER)).unzip();
        let server = Server {
            options,
            seconds,
            metrics: Metrics::default(),
            running: AtomicUsize::new(0),
            started: AtomicU64::new(0),
            make_dataset,
            shards: senders,
            next_start: AtomicUsize::new(0),
        };
        (Arc::new(server), receivers)
    }

    pub(crate) fn make_dataset(&self) -> Result<Box<dyn TaskDataset>, DatasetError> {
        (self.make_dataset)()
    }

    /// A new id that names its shard.
    pub(crate) fn new_id(&self, shard: usize) -> Uuid {
        let mut bytes = *Uuid::new_v4().as_bytes();
        if let Ok(shard) = u8::try_from(shard) {
            bytes[15] = shard;
        }
        Uuid::from_bytes(bytes)
    }

    /// Runs a command of an environment on the shard that has it.
    pub async fn work(&self, env_id: &Text, work: crate::slot::Work) -> Outcome {
        let unknown = || Refusal::NoEnvironment(env_id.to_string());
        let id = Uuid::try_parse(env_id).map_err(|_| unknown())?;
        let shard = usize::from(id.as_bytes()[15]);
        // Only the form in which ids are given out is an id.
        if shard >= self.shards.len() || id.to_string() != **env_id {
            return Err(unknown());
        }
        self.ask(shard, Command::Work(id, work)).await
    }

    /// Starts an environment: on this thread's shard, so that a connection's environments are near it.
    pub async fn start(&self, start: volary_remote::request::Start) -> Outcome {
        let shard = Shard::index_here()
            .unwrap_or_else(|| self.next_start.fetch_add(1, Ordering::Relaxed) % self.shards.len());
        self.ask(shard, Command::Start(start)).await
    }

    /// Closes old environments everywhere; gives their ids in order of start.
    pub async fn close_old(&self, last_used: f64) -> Result<Vec<Text>, Refusal> {
        let shards = 0..self.shards.len();
        let closed =
            join_all(shards.map(|shard| self.ask(shard, Command::CloseOld(last_used)))).await;
        let lists: Result<Vec<Json>, Refusal> = closed.into_iter().collect();
        Ok(in_order(lists?.iter()))
    }

    /// What `/info` says.
    pub async fn info(&self) -> Result<Info, Refusal> {
        let shards = 0..self.shards.len();
        let infos: Result<Vec<Json>, Refusal> =
            join_all(shards.map(|shard| self.ask(shard, Command::Info)))
                .await
                .into_iter()
                .collect();
        let infos = infos?;
        let part = |info: &Json, place: usize| info.as_list()?.get(place).cloned();
        let size = infos.first().and_then(|info| part(info, 0)?.as_i64());
        let lists: Vec<Json> = infos.iter().filter_map(|info| part(info, 1)).collect();
        Ok(Info {
            dataset_size: size.and_then(|size| u64::try_from(size).ok()),
            running_env_ids: in_order(lists.iter()),
        })
    }

    async fn ask(&self, shard: usize, command: Command) -> Outcome {
        let (reply, outcome) = oneshot::channel();
        if let Some(request) = Shard::here(shard, Request { command, reply }) {
            let sent = self.shards.get(shard).map(|shard| shard.try_send(request));
            if !matches!(sent, Some(Ok(()))) {
                return Err(Refusal::Busy("The server has too much to do; try again."));
            }
        }
        outcome.await.unwrap_or_else(|_| {
            Err(Refusal::Failed(
                "The environment was dropped unanswered.".into(),
            ))
        })
    }
}

/// The ids of lists of `[order, id]`, in order of start.
fn in_order<'a>(lists: impl Iterator<Item = &'a Json>) -> Vec<Text> {
    let mut all: Vec<(i64, Text)> = lists
        .flat_map(|list| list.as_list().unwrap_or(&[]))
        .filter_map(|pair| {
            let [order, id] = pair.as_list()? else {
                return None;
            };
            Some((order.as_i64()?, id.as_text()?.clone()))
        })
        .collect();
    all.sort_unstable();
    all.into_iter().map(|(_, id)| id).collect()
}
