//! Signals of the playground, by pane. They are data: functions of other modules change them, views read them.

mod manual;
mod policy;
mod setup;
mod transfer;

pub use manual::ManualAction;
pub use policy::PolicySettings;
pub use setup::{CONFIGURATION_FORM, SetupSignals};
pub use transfer::Transfer;
