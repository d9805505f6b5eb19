//! Rich views: an environment describes the view of its frame in blocks that any front end can draw.
//!
//! A view is data, not markup. The page draws each kind of block the same way for all environments, so a new
//! environment brings its view without changes to the page.

use crate::frame::Frame;
use crate::json::Text;
use crate::message::AnyMessage;

/// The input of a view: the frame, and the messages up to it.
pub struct ViewInput<'a> {
    /// The frame to draw.
    pub frame: &'a Frame,
    /// All messages from the reset up to this frame, actions included.
    pub messages: &'a [AnyMessage],
    /// The reward of the step before this frame; `None` directly after the reset.
    pub reward: Option<f64>,
    /// Whether the episode has ended.
    pub done: bool,
}

/// Blocks from top to bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub blocks: Vec<Block>,
}

/// The meaning of a result, verdict or shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neutral.
    #[default]
    Plain,
    /// Correct, done, gained.
    Good,
    /// Wrong, failed, lost.
    Bad,
    /// Needs attention.
    Notice,
}

/// One part of a view.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// A passage of text under a label.
    Passage { label: Text, text: Text },
    /// A short verdict.
    Verdict {
        tone: Tone,
        /// The verdict.
        text: Text,
    },
    /// Rows of an input and its result.
    Results {
        label: Text,
        /// Input, result, and tone of the result.
        rows: Vec<(Text, Text, Tone)>,
    },
    /// A value on a scale.
    Gauge {
        label: Text,
        value: f64,
        /// The minimum.
        low: f64,
        /// The maximum.
        high: f64,
        /// The target value, if there is one.
        target: Option<f64>,
    },
    Drawing {
        /// A text alternative.
        label: Text,
        /// The width in units.
        width: f64,
        /// The height in units.
        height: f64,
        /// The shapes, later ones on top.
        shapes: Vec<Shape>,
    },
}

/// A shape of a drawing, in its units, y downwards.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    Circle {
        /// Centre.
        center: (f64, f64),
        radius: f64,
        tone: Tone,
    },
    /// A line through points.
    Line {
        points: Vec<(f64, f64)>,
        /// The width of the line.
        width: f64,
        tone: Tone,
    },
    /// A short text.
    Label {
        /// Its centre.
        at: (f64, f64),
        text: Text,
        tone: Tone,
    },
}
