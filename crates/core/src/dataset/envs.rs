//! A dataset of existing environments, which it returns as shared objects.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::lock::Mutex;

use super::{DatasetError, TaskDataset};
use crate::environment::{Environment, EnvironmentError, Reset, Step};
use crate::frame::Frame;
use crate::json::Text;
use crate::message::AnyMessage;

/// A dataset of given environments. Each index always returns the same environment, in its current state.
pub struct EnvsTaskDataset {
    environments: Vec<Shared>,
}

impl EnvsTaskDataset {
    /// A dataset of the given environments.
    pub fn new(environments: impl IntoIterator<Item = Box<dyn Environment>>) -> Self {
        EnvsTaskDataset {
            environments: environments.into_iter().map(Shared::new).collect(),
        }
    }
}

impl TaskDataset for EnvsTaskDataset {
    fn kind(&self) -> &'static str {
        "EnvsTaskDataset"
    }

    fn length(&self) -> Option<usize> {
        Some(self.environments.len())
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        let environment = self.environments.get(index);
        let environment = environment.ok_or_else(|| DatasetError::OutOfRange {
            index: i64::try_from(index).unwrap_or(i64::MAX),
            length: self.environments.len(),
        })?;
        Ok(Box::new(environment.clone()))
    }
}

/// A shared environment. A reset or step waits while another one is running.
#[derive(Clone)]
struct Shared {
    // Constant, so both can be read while another holder is stepping the environment.
    kind: &'static str,
    id: Result<Text, EnvironmentError>,
    environment: Rc<Mutex<Box<dyn Environment>>>,
}

impl Shared {
    fn new(environment: Box<dyn Environment>) -> Self {
        Shared {
            kind: environment.kind(),
            id: environment.id(),
            environment: Rc::new(Mutex::new(environment)),
        }
    }
}

impl Environment for Shared {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(async { self.environment.lock().await.reset().await })
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async { self.environment.lock().await.step(action).await })
    }

    /// Empty while another holder is stepping the environment.
    fn export_frame(&self) -> Frame {
        let environment = self.environment.try_lock();
        environment.map_or_else(Frame::default, |environment| environment.export_frame())
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        self.id.clone()
    }

    fn close(&mut self) -> LocalBoxFuture<'_, Result<(), EnvironmentError>> {
        Box::pin(async { self.environment.lock().await.close().await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Batches;
    use crate::json::Json;
    use crate::message::Message;
    use crate::virtual_clock::VirtualClock;

    /// Counts its steps.
    struct Steps(i64);

    impl Environment for Steps {
        fn kind(&self) -> &'static str {
            "Steps"
        }

        fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
            self.0 = 0;
            Box::pin(std::future::ready(Ok(Reset::default())))
        }

        fn step(&mut self, _: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
            self.0 += 1;
            Box::pin(std::future::ready(Ok(Step::default())))
        }

        fn export_frame(&self) -> Frame {
            Frame::new(self.0, Json::Null)
        }
    }

    fn dataset() -> EnvsTaskDataset {
        EnvsTaskDataset::new((0..3).map(|_| Box::new(Steps(0)) as Box<dyn Environment>))
    }

    #[test]
    fn the_same_place_gives_the_same_environment() {
        let dataset = dataset();
        let mut one = dataset.environment_at(1).unwrap();
        let step = one.step(Message::user("x").into());
        VirtualClock::new().run(step).unwrap().unwrap();
        let state = |index| dataset.environment_at(index).unwrap().export_frame().state;
        assert_eq!(state(1), Json::from(1));
        assert_eq!(state(0), Json::from(0));
    }

    #[test]
    fn indices_past_the_end_are_an_error() {
        let error = dataset().environment_at(3).err();
        let expected = DatasetError::OutOfRange {
            index: 3,
            length: 3,
        };
        assert_eq!(error, Some(expected));
    }

    #[test]
    fn batches_of_nothing_are_an_error() {
        let error = Batches::new(&dataset(), 0, None).err();
        assert_eq!(error, Some(DatasetError::EmptyBatches));
        let dataset = dataset();
        let sizes: Vec<usize> = Batches::new(&dataset, 2, None)
            .unwrap()
            .map(|batch| batch.unwrap().len())
            .collect();
        assert_eq!(sizes, [2, 1]);
    }
}
