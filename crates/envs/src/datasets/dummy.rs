//! An endless dataset of new dummy environments.

use std::cell::Cell;

use volary_core::dataset::{DatasetError, TaskDataset};
use volary_core::environment::{Environment, Setting};
use volary_core::json;
use volary_core::registry::DatasetEntry;

use crate::dummy::{DummyConfig, dummy};
use crate::settings::Settings;

/// The entry in the registry.
pub const ENTRY: DatasetEntry = DatasetEntry {
    name: "dummy",
    summary: "An endless supply of dummy environments.",
    configuration: || json!({"type": "object", "properties": {}, "additionalProperties": false}),
    tasks: |_, _| Ok(Vec::new()),
    make: |arguments, setting| {
        Settings::new(arguments, &[])?;
        Ok(Box::new(DummyDataset {
            setting: setting.clone(),
            given: Cell::new(0),
        }))
    },
};

struct DummyDataset {
    setting: Setting,
    given: Cell<u64>,
}

impl TaskDataset for DummyDataset {
    fn kind(&self) -> &'static str {
        "DummyTaskDataset"
    }

    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        let number = self.given.replace(self.given.get() + 1);
        let setting = Setting {
            seed: self.setting.seed.wrapping_add(number),
            clock: self.setting.clock.clone(),
            outside: std::rc::Rc::new(volary_core::outside::Closed),
        };
        Ok(dummy(DummyConfig::default(), &setting))
    }
}
