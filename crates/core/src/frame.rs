//! A frame: a snapshot of an environment's state.

use crate::fields::{self, FieldError};
use crate::json::{Json, Object};

/// The result of `export_frame`: any JSON values. Values are always copies, so `deepcopy` exists only for
/// compatibility with files that contain it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// aviary's field of the same name; true by default.
    pub deepcopy: bool,
    pub state: Json,
    /// Additional information.
    pub info: Json,
}

impl Default for Frame {
    fn default() -> Self {
        Frame::new(Json::Null, Json::Null)
    }
}

impl Frame {
    /// A frame with a state and an info.
    pub fn new(state: impl Into<Json>, info: impl Into<Json>) -> Self {
        Frame {
            deepcopy: true,
            state: state.into(),
            info: info.into(),
        }
    }

    /// Reads a frame; all fields are optional.
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

    /// The dump, which always has all three keys.
    pub fn dump(&self) -> Object {
        Object::from_distinct(vec![
            ("deepcopy".into(), self.deepcopy.into()),
            ("state".into(), self.state.clone()),
            ("info".into(), self.info.clone()),
        ])
    }
}
