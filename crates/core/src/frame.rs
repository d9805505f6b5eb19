//! A frame: the state of an environment at one moment, to look at.

use crate::fields::{self, FieldError};
use crate::json::{Json, Object};

/// What `export_frame` gives: any JSON values. Values are copies already, so `deepcopy` is only
/// carried along for the files that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// As aviary's field of the same name; true by default.
    pub deepcopy: bool,
    /// The state.
    pub state: Json,
    /// What else there is to say.
    pub info: Json,
}

impl Default for Frame {
    fn default() -> Self {
        Frame::new(Json::Null, Json::Null)
    }
}

impl Frame {
    /// A frame of a state and an info.
    pub fn new(state: impl Into<Json>, info: impl Into<Json>) -> Self {
        Frame {
            deepcopy: true,
            state: state.into(),
            info: info.into(),
        }
    }

    /// Reads a frame; every field may be missing.
    pub fn read(value: &Json) -> Result<Self, FieldError> {
        let object = fields::object("", value)?;
        let mut frame = Frame::new(
            object.get("state").cloned().unwrap_or_default(),
            object.get("info").cloned().unwrap_or_default(),
        );
        if let Some(flag) = object.get("deepcopy") {
            frame.deepcopy = fields::flag("deepcopy", flag)?;
        }
        Ok(frame)
    }

    /// The dump: always all three keys.
    pub fn dump(&self) -> Object {
        Object::from_distinct(vec![
            ("deepcopy".into(), self.deepcopy.into()),
            ("state".into(), self.state.clone()),
            ("info".into(), self.info.clone()),
        ])
    }
}
