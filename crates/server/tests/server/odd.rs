//! Environments that do as they are told: wait, hang, panic, fail. Each order is the content of a plain message.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::{Json, Object};
use volary_core::{AnyMessage, Environment, EnvironmentError, Frame, Message, Reset, Step, object};

/// Hands out odd environments, under the name in the argument `name`.
#[derive(Clone, Default)]
pub struct OddDataset {
    /// The names of those that were closed.
    pub closed: Arc<Mutex<Vec<String>>>,
}

impl TaskDataset for OddDataset {
    fn kind(&self) -> &'static str {
        "OddDataset"
    }

    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        self.environment_with(&Object::new())
    }

    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        if arguments.contains_key("panic") {
            panic!("made to panic");
        }
        let name = arguments.get("name").and_then(Json::as_text);
        Ok(Box::new(Odd {
            name: name.map(|name| name.to_string()).unwrap_or_default(),
            closed: Arc::clone(&self.closed),
            on_close: String::new(),
            orders: Vec::new(),
        }))
    }
}

struct Odd {
    name: String,
    closed: Arc<Mutex<Vec<String>>>,
    on_close: String,
    orders: Vec<String>,
}

impl Odd {
    /// Does what an order such as `wait 0.5` says, and gives the reward.
    async fn obey(&mut self, order: &str) -> Result<f64, EnvironmentError> {
        let (order, argument) = order.split_once(' ').unwrap_or((order, ""));
        let duration = || Duration::from_secs_f64(argument.parse().unwrap());
        match order {
            "wait" => tokio::time::sleep(duration()).await,
            "hang" => std::thread::sleep(duration()),
            "panic" => panic!("told to panic"),
            "fail" => {
                return Err(EnvironmentError::Failed {
                    message: argument.into(),
                });
            }
            "close" => self.on_close = argument.to_owned(),
            "reward" => return Ok(argument.parse().unwrap()),
            _ => {}
        }
        Ok(0.0)
    }
}

impl Environment for Odd {
    fn kind(&self) -> &'static str {
        "Odd"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        self.orders.clear();
        Box::pin(std::future::ready(Ok(Reset::default())))
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            let order = action
                .body()
                .content
                .as_deref()
                .unwrap_or_default()
                .to_owned();
            let reward = self.obey(&order).await?;
            self.orders.push(order);
            let said = self.orders.join(", ");
            Ok(Step {
                messages: vec![Message::user(said).into()],
                reward,
                ..Step::default()
            })
        })
    }

    fn export_frame(&self) -> Frame {
        Frame::new(object!({"orders": (self.orders.len() as i64)}), Json::Null)
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<(), EnvironmentError>> {
        Box::pin(async {
            let order = std::mem::take(&mut self.on_close);
            self.obey(&order).await?;
            self.closed.lock().unwrap().push(self.name.clone());
            Ok(())
        })
    }
}
