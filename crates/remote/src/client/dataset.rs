//! A remote dataset.

use std::rc::Rc;

use volary_core::dataset::DatasetError;
use volary_core::json::{Json, Object, Text};
use volary_core::{Environment, json};

use super::exchange::{ClientError, Exchange};
use super::{ClientOptions, TaskEnvironmentClient};
use crate::description::Description;
use crate::reply::Info;
use crate::request::Start;
use crate::transport::Transport;

/// A dataset on a server. Its environments start when they are reset.
#[derive(Clone)]
pub struct TaskDatasetClient {
    exchange: Exchange,
    length: Option<u64>,
}

impl TaskDatasetClient {
    /// Connects to a server and requests the length of its dataset.
    pub async fn connect(
        options: ClientOptions,
        transport: Rc<dyn Transport>,
    ) -> Result<Self, ClientError> {
        let exchange = Exchange {
            options: Rc::new(options),
            transport,
        };
        let info = Info::read(&exchange.get("/info").await?)?;
        Ok(TaskDatasetClient {
            exchange,
            length: info.dataset_size,
        })
    }

    /// Requests the current `/info`.
    pub async fn info(&self) -> Result<Info, ClientError> {
        Ok(Info::read(&self.exchange.get("/info").await?)?)
    }

    /// Requests the server's description of its paths; `None` if there is none that can be parsed. Not every
    /// server has one, and another kind of server may answer at the address.
    pub async fn describe(
        options: ClientOptions,
        transport: Rc<dyn Transport>,
    ) -> Option<Description> {
        let exchange = Exchange {
            options: Rc::new(options),
            transport,
        };
        Description::read(&exchange.get("/openapi.json").await.ok()?)
    }

    /// The number of tasks.
    pub fn length(&self) -> Result<u64, DatasetError> {
        self.length.ok_or_else(|| DatasetError::Failed {
            message: "Server did not define dataset length.".into(),
        })
    }

    /// An environment for a task. It is started by its first reset.
    pub fn environment(&self, start: Start) -> TaskEnvironmentClient {
        TaskEnvironmentClient::new(self.exchange.clone(), start)
    }

    /// The environment of the task at an index; negative indices count from the end.
    pub fn environment_at(&self, index: i64) -> Box<dyn Environment> {
        Box::new(self.environment(Start::Index(index)))
    }

    /// The environment of a task made from arguments.
    pub fn environment_with(&self, arguments: Object) -> Box<dyn Environment> {
        Box::new(self.environment(Start::Arguments(arguments)))
    }

    /// Closes all environments that were unused for this many seconds; returns their ids.
    pub async fn close_old(&self, last_used: f64) -> Result<Vec<Text>, ClientError> {
        let body = json!({"last_used": (last_used)});
        let reply = self.exchange.post("/close_old_envs", &body).await?;
        let ids = reply
            .get("closed_env_ids")
            .and_then(Json::as_list)
            .unwrap_or(&[]);
        Ok(ids.iter().filter_map(Json::as_text).cloned().collect())
    }
}
