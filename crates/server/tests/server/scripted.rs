//! Environments that follow orders, each of them the content of a plain message: hold, hang, panic, fail.
//!
//! Nothing depends on a fixed time: the test releases whatever waits.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tokio::sync::Semaphore;
use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::json::{Json, Object};
use volary_core::{AnyMessage, Environment, EnvironmentError, Frame, Message, Reset, Step, object};

/// The maximum time for which a thread hangs, so that a failing test ends.
const LONGEST_HANG: Duration = Duration::from_secs(60);

/// The state shared by the test and its environments.
pub struct Script {
    /// The names of the environments that were closed.
    closed: Mutex<Vec<String>>,
    /// One permit for each `hold` that may continue.
    released: Semaphore,
    hangs: Mutex<bool>,
    hang_ended: Condvar,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            closed: Mutex::default(),
            released: Semaphore::new(0),
            hangs: Mutex::new(true),
            hang_ended: Condvar::new(),
        }
    }
}

impl Script {
    /// The names of the environments that were closed, sorted.
    pub fn closed(&self) -> Vec<String> {
        let mut closed = self.closed.lock().unwrap().clone();
        closed.sort_unstable();
        closed
    }

    /// Lets the next `count` orders to hold continue.
    pub fn release(&self, count: usize) {
        self.released.add_permits(count);
    }

    /// Releases all threads that hang, now or later.
    pub fn end_hang(&self) {
        *self.hangs.lock().unwrap() = false;
        self.hang_ended.notify_all();
    }

    fn hang(&self) {
        let hangs = self.hangs.lock().unwrap();
        let waited = self
            .hang_ended
            .wait_timeout_while(hangs, LONGEST_HANG, |hangs| *hangs);
        drop(waited.unwrap());
    }
}

/// Makes scripted environments, under the name in the argument `name`.
#[derive(Clone)]
pub struct ScriptedDataset(pub Arc<Script>);

impl TaskDataset for ScriptedDataset {
    fn kind(&self) -> &'static str {
        "ScriptedDataset"
    }

    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        self.environment_with(&Object::new())
    }

    fn environment_with(&self, arguments: &Object) -> Result<Box<dyn Environment>, DatasetError> {
        if arguments.contains_key("panic") {
            panic!("made to panic");
        }
        let name = arguments.get("name").and_then(Json::as_text);
        Ok(Box::new(Scripted {
            name: name.map(|name| name.to_string()).unwrap_or_default(),
            script: Arc::clone(&self.0),
            on_close: String::new(),
            orders: Vec::new(),
        }))
    }
}

struct Scripted {
    name: String,
    script: Arc<Script>,
    on_close: String,
    orders: Vec<String>,
}

impl Scripted {
    /// Follows an order; returns the reward.
    async fn follow(&mut self, order: &str) -> Result<f64, EnvironmentError> {
        let (order, argument) = order.split_once(' ').unwrap_or((order, ""));
        match order {
            "hold" => self.script.released.acquire().await.unwrap().forget(),
            "hang" => self.script.hang(),
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

impl Environment for Scripted {
    fn kind(&self) -> &'static str {
        "Scripted"
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
            let reward = self.follow(&order).await?;
            self.orders.push(order);
            let orders = self.orders.join(", ");
            Ok(Step {
                messages: vec![Message::user(orders).into()],
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
            self.follow(&order).await?;
            self.script.closed.lock().unwrap().push(self.name.clone());
            Ok(())
        })
    }
}
