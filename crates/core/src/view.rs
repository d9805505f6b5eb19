//! Rich views: an environment describes the view of its frame in blocks that any front end can draw.
//!
//! A view is data, not markup. The page draws each kind of block the same way for all environments, so a new
//! environment brings its view without changes to the page.

use crate::frame::Frame;
use crate::json::Text;
use crate::message::AnyMessage;

/// The input of a view: the frame, and the messages up to it.
pub struct ViewInput<'a> {
    /// The frame to show.
    pub frame: &'a Frame,
    /// All messages from the reset up to this frame, actions included.
    pub messages: &'a [AnyMessage],
    /// The reward of the step that led here; `None` right after the reset.
    pub reward: Option<f64>,
    /// Whether the episode is over here.
    pub done: bool,
}

/// Blocks from top to bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// How something is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No judgement.
    #[default]
    Plain,
    /// Right, done, gained.
    Good,
    /// Wrong, failed, lost.
    Bad,
    /// Look here.
    Notice,
}

/// One part of a view.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// A passage of text under a label.
    Passage {
        /// What it is.
        label: Text,
        /// The text.
        text: Text,
    },
    /// A short verdict.
    Verdict {
        /// How it is meant.
        tone: Tone,
        /// The verdict.
        text: Text,
    },
    /// Rows of an input and its result.
    Results {
        /// What they are.
        label: Text,
        /// Input, result, and how the result is meant.
        rows: Vec<(Text, Text, Tone)>,
    },
    /// A value on a scale.
    Gauge {
        /// What it is.
        label: Text,
        /// The value.
        value: f64,
        /// The low end.
        low: f64,
        /// The high end.
        high: f64,
        /// Where it shall go, if anywhere.
        target: Option<f64>,
    },
    /// A drawing.
    Drawing {
        /// What it shows, in words.
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
    /// A circle.
    Circle {
        /// Centre.
        center: (f64, f64),
        /// Radius.
        radius: f64,
        /// How it is meant.
        tone: Tone,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<(f64, f64)>,
        /// How wide the line is.
        width: f64,
        /// How it is meant.
        tone: Tone,
    },
    /// A word or two.
    Label {
        /// Its centre.
        at: (f64, f64),
        /// The words.
        text: Text,
        /// How it is meant.
        tone: Tone,
    },
}
