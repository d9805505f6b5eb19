//! The drawing of the robot, and the oracle.
//!
//! The robot is drawn from the front: a hand that moved forward is drawn higher, one that moved back
//! lower.

use volary_core::json::{Json, Object, Text};
use volary_core::view::{Block, Shape, Tone, View, ViewInput};
use volary_core::{AnyMessage, ToolRequestMessage};

use crate::blocks::verdict;
use crate::calls::{Exchange, action, argument, exchanges};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 200.0;
const MIDDLE: f64 = WIDTH / 2.0;
const SHOULDER: f64 = 92.0;
/// The height of a hand that did not move.
const REST: f64 = 122.0;
/// The maximum distance from there, however far the hand moved.
const REACH: f64 = 48.0;
/// The distances of shoulder, elbow and hand from the robot's middle.
const OUTWARDS: [f64; 3] = [26.0, 58.0, 84.0];

/// The position of a hand.
struct Hand {
    moved: f64,
    tone: Tone,
}

/// The robot with its hands, and the result.
pub fn view(input: &ViewInput<'_>) -> View {
    let exchanges = exchanges(input.messages);
    let left = hand(&exchanges, "move_left_hand");
    let right = hand(&exchanges, "move_right_hand");
    let waves = exchanges
        .iter()
        .any(|exchange| exchange.tool() == "smile_and_wave" && exchange.reply.is_some());
    let broken = right.tone == Tone::Bad;

    let mut shapes = body(waves);
    // Seen from the front, the robot's left is on the viewer's right.
    arm(&mut shapes, 1.0, "left", &left, false);
    arm(&mut shapes, -1.0, "right", &right, waves && !broken);
    let mut blocks = vec![Block::Drawing {
        label: described(&left, &right, waves).into(),
        width: WIDTH,
        height: HEIGHT,
        shapes,
    }];
    if broken {
        blocks.push(verdict(Tone::Bad, "The right hand did not move."));
    }
    if waves {
        blocks.push(verdict(Tone::Good, "The robot smiles and waves."));
    }
    View { blocks }
}

/// Moves both hands in one action, then smiles and waves.
pub fn oracle(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    if input.done {
        return None;
    }
    let acted = input
        .messages
        .iter()
        .any(|message| matches!(message, AnyMessage::Request(_)));
    Some(if acted {
        action(input.messages, [("smile_and_wave", Object::new())])
    } else {
        let distance = || argument("distance", 20);
        let calls = [
            ("move_left_hand", distance()),
            ("move_right_hand", distance()),
        ];
        action(input.messages, calls)
    })
}

/// The position of a hand after the calls of a tool. A call without a reply failed.
fn hand(exchanges: &[Exchange<'_>], tool: &str) -> Hand {
    let mut hand = Hand {
        moved: 0.0,
        tone: Tone::Plain,
    };
    for exchange in exchanges.iter().filter(|exchange| exchange.tool() == tool) {
        if exchange.reply.is_none() {
            hand.tone = Tone::Bad;
            continue;
        }
        let distance = exchange.call.function.arguments.get("distance");
        let distance = distance.and_then(Json::as_f64);
        hand.moved += distance
            .filter(|distance| distance.is_finite())
            .unwrap_or_default();
        if hand.tone == Tone::Plain {
            hand.tone = Tone::Good;
        }
    }
    hand
}

/// Head, face, neck, trunk.
fn body(smiles: bool) -> Vec<Shape> {
    let eye = |side: f64| Shape::Circle {
        center: (MIDDLE + side * 9.0, 38.0),
        radius: 2.5,
        tone: Tone::Plain,
    };
    let mouth = if smiles {
        vec![
            (MIDDLE - 12.0, 50.0),
            (MIDDLE - 6.0, 56.0),
            (MIDDLE + 6.0, 56.0),
            (MIDDLE + 12.0, 50.0),
        ]
    } else {
        vec![(MIDDLE - 10.0, 53.0), (MIDDLE + 10.0, 53.0)]
    };
    let tone = if smiles { Tone::Good } else { Tone::Plain };
    let trunk = [
        (-OUTWARDS[0], SHOULDER - 10.0),
        (OUTWARDS[0], SHOULDER - 10.0),
        (18.0, 160.0),
        (-18.0, 160.0),
        (-OUTWARDS[0], SHOULDER - 10.0),
    ];
    vec![
        Shape::Circle {
            center: (MIDDLE, 43.0),
            radius: 26.0,
            tone: Tone::Plain,
        },
        eye(-1.0),
        eye(1.0),
        Shape::Line {
            points: vec![(MIDDLE, 69.0), (MIDDLE, SHOULDER - 10.0)],
            width: 8.0,
            tone: Tone::Plain,
        },
        Shape::Line {
            points: mouth,
            width: 3.0,
            tone,
        },
        Shape::Line {
            points: trunk.map(|(x, y)| (MIDDLE + x, y)).to_vec(),
            width: 3.0,
            tone: Tone::Plain,
        },
    ]
}

/// An arm with its hand; `side` is 1 for the viewer's right.
fn arm(shapes: &mut Vec<Shape>, side: f64, name: &str, hand: &Hand, waves: bool) {
    let [shoulder, elbow, end] = OUTWARDS.map(|outwards| MIDDLE + side * outwards);
    let height = if waves {
        28.0
    } else {
        REST - hand.moved.clamp(-REACH, REACH)
    };
    let tone = hand.tone;
    shapes.push(Shape::Line {
        points: vec![
            (shoulder, SHOULDER),
            (elbow, (SHOULDER + height) / 2.0 + 12.0),
            (end, height),
        ],
        width: 6.0,
        tone,
    });
    shapes.push(Shape::Circle {
        center: (end, height),
        radius: 9.0,
        tone,
    });
    if waves {
        shapes.extend([16.0, 22.0].map(|distance| Shape::Line {
            points: vec![
                (end + side * distance, height - 10.0),
                (end + side * (distance + 4.0), height),
                (end + side * distance, height + 10.0),
            ],
            width: 2.0,
            tone: Tone::Good,
        }));
    }
    shapes.push(Shape::Label {
        at: (MIDDLE + side * OUTWARDS[2], 190.0),
        text: format!("{name} {}", distance(hand)).into(),
        tone,
    });
}

fn distance(hand: &Hand) -> Text {
    if hand.tone == Tone::Bad && hand.moved == 0.0 {
        return "failed".into();
    }
    if hand.moved == 0.0 {
        "0 mm".into()
    } else if hand.moved.abs() < 1e6 {
        format!("{:+} mm", hand.moved).into()
    } else {
        format!("{:+.0e} mm", hand.moved).into()
    }
}

fn described(left: &Hand, right: &Hand, waves: bool) -> String {
    let face = if waves {
        "smiling and waving"
    } else {
        "at rest"
    };
    format!(
        "A robot, {face}: left hand {}, right hand {}",
        distance(left),
        distance(right)
    )
}
