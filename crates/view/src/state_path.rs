//! Rows of a frame as paths into the state, for the history of a value and for annotations.

use volary_core::{Frame, Json};
use volary_episode::diff::Segment;
use volary_episode::history::{Root, StatePath};

use super::compare::path_text;

/// The path of a row from its pointer (`/state/cart/0`). Whether a segment is a key or an index is looked up in
/// the first frame that contains it. `None` for rows that are not part of the state.
pub fn of_pointer(pointer: &str, frames: &[&Frame]) -> Option<StatePath> {
    let mut steps = pointer.strip_prefix('/')?.split('/');
    let root = match steps.next()? {
        "state" => Root::State,
        "info" => Root::Info,
        _ => return None,
    };
    let steps: Vec<&str> = steps.collect();
    // Additional rows (removed or hidden values) have a segment with a prefix that no key has.
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

/// A path in the usual notation: `state.cart[0]`.
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
    fn rows_have_state_paths() {
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
