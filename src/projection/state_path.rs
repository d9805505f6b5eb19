//! A row of the tree of a frame as a part of the state: to ask when it changed, and to pin notes to it.

use volary_core::{Frame, Json};
use volary_trace::diff::Segment;
use volary_trace::history::{Root, StatePath};

use super::compare::path_text;

/// The part that a row stands for, by the row's pointer (`/state/cart/0`). Whether a step is a key or a
/// place in a list is read off the frames: the first that has the part says so. `None` for rows that
/// stand for no part.
pub fn of_pointer(pointer: &str, frames: &[&Frame]) -> Option<StatePath> {
    let mut steps = pointer.strip_prefix('/')?.split('/');
    let root = match steps.next()? {
        "state" => Root::State,
        "info" => Root::Info,
        _ => return None,
    };
    let steps: Vec<&str> = steps.collect();
    // Rows that say more (of what is gone, of what is hidden) begin a step with a sign no key begins with.
    if steps
        .iter()
        .any(|step| step.starts_with("~-") || *step == "~more")
    {
        return None;
    }
    frames.iter().find_map(|frame| {
        let mut value = match root {
            Root::State => &frame.state,
            Root::Info => &frame.info,
        };
        let mut path = Vec::with_capacity(steps.len());
        for step in &steps {
            value = match value {
                Json::List(list) => {
                    let place: usize = step.parse().ok()?;
                    path.push(Segment::Index(place));
                    list.get(place)?
                }
                Json::Object(object) => {
                    let key = step.replace("~1", "/").replace("~0", "~");
                    let value = object.get(&key)?;
                    path.push(Segment::Key(key.clone().into()));
                    value
                }
                _ => return None,
            };
        }
        Some(StatePath { root, path })
    })
}

/// A part as people write it: `state.cart[0]`.
pub fn words(part: &StatePath) -> String {
    let root = match part.root {
        Root::State => "state",
        Root::Info => "info",
    };
    match part.path.first() {
        None => root.to_owned(),
        Some(Segment::Index(_)) => format!("{root}{}", path_text(&part.path)),
        Some(Segment::Key(_)) => format!("{root}.{}", path_text(&part.path)),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn rows_stand_for_parts() {
        let frame = Frame {
            state: json!({"cart": [{"a/b": 1}], "0": 2}),
            ..Frame::default()
        };
        let read = |pointer: &str| {
            of_pointer(pointer, &[&Frame::default(), &frame]).map(|part| words(&part))
        };
        assert_eq!(read("/state").as_deref(), Some("state"));
        assert_eq!(
            read("/state/cart/0/a~1b").as_deref(),
            Some("state.cart[0].a/b")
        );
        assert_eq!(read("/state/0").as_deref(), Some("state.0"));
        for none in [
            "",
            "/other",
            "/state/cart/7",
            "/state/cart/~-0",
            "/state/~more",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
