//! The rich view of a task: the actions and, after the end, the differences from the correct data.

use volary_core::Json;
use volary_core::json::{Object, Text};
use volary_core::view::{Block, Tone, View, ViewInput};

use super::RESPOND;
use crate::blocks::{Row, results, verdict};
use crate::calls::{Exchange, latest_exchanges};

/// The actions, and after the end the parts of the reward.
pub fn view(input: &ViewInput<'_>) -> View {
    let info = &input.frame.info;
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(results("Actions", latest_exchanges(input.messages), row));
    let Some(reward) = info.get("reward").and_then(Json::as_f64) else {
        return View { blocks };
    };
    if let Some(text) = info.get("instruction").and_then(Json::as_text) {
        blocks.push(Block::Passage {
            label: "What the customer wanted".into(),
            text: text.clone(),
        });
    }
    let list = |key: &str| info.get(key).and_then(Json::as_list).unwrap_or_default();
    blocks.extend(results(
        "A right way",
        list("gold_actions").iter().rev(),
        gold_row,
    ));
    let mut differing = Vec::new();
    list("differences")
        .iter()
        .for_each(|difference| add_difference(&mut differing, difference));
    blocks.extend(results(
        "Records that differ",
        differing.into_iter().rev(),
        |row| row,
    ));
    let outputs = info.get("outputs").and_then(Json::as_object);
    let outputs = outputs.into_iter().flat_map(Object::iter).rev();
    blocks.extend(results("What had to be said", outputs, |(output, said)| {
        if said.as_bool() == Some(true) {
            (Text::from(&**output), "said".into(), Tone::Good)
        } else {
            (Text::from(&**output), "not said".into(), Tone::Bad)
        }
    }));
    blocks.push(if reward > 0.0 {
        verdict(Tone::Good, "The customer got what the policy allows.")
    } else {
        verdict(Tone::Bad, "The data or the answers are not the right ones.")
    });
    View { blocks }
}

fn row(exchange: Exchange<'_>) -> Row {
    let arguments = &exchange.call.function.arguments;
    let asked = match exchange.tool() {
        RESPOND => arguments
            .get("content")
            .map_or_else(String::new, Json::to_display),
        tool => format!("{tool} {}", arguments.to_python_text()),
    };
    match exchange.content() {
        None => (asked.into(), "The step failed.".into(), Tone::Bad),
        Some(text) if text.starts_with("Error: ") => (asked.into(), text, Tone::Bad),
        Some(text) => (asked.into(), text, Tone::Plain),
    }
}

fn gold_row(action: &Json) -> Row {
    let name = action
        .get("name")
        .map_or_else(String::new, Json::to_display);
    let arguments = action
        .get("kwargs")
        .map_or_else(String::new, Json::to_python_text);
    (name.into(), arguments.into(), Tone::Plain)
}

/// Adds a row for each member in which a record differs.
fn add_difference(rows: &mut Vec<Row>, difference: &Json) {
    let text = |key: &str| {
        difference
            .get(key)
            .map_or_else(String::new, Json::to_display)
    };
    let label = format!("{} {}", text("table"), text("key"));
    let (is, should) = (difference.get("is"), difference.get("should_be"));
    add_differing(rows, &label, is, should);
}

/// Adds the differing members. Records are long, so equal members are omitted. A list is shown as a whole.
fn add_differing(rows: &mut Vec<Row>, label: &str, is: Option<&Json>, should: Option<&Json>) {
    if let (Some(Json::Object(is)), Some(Json::Object(should))) = (is, should) {
        let added = should.keys().filter(|key| !is.contains_key(key));
        for key in is.keys().chain(added) {
            let (is, should) = (is.get(key), should.get(key));
            if text_of(is) != text_of(should) {
                add_differing(rows, &format!("{label} {key}"), is, should);
            }
        }
        return;
    }
    let both = format!("is {} and should be {}", text_of(is), text_of(should));
    rows.push((label.into(), both.into(), Tone::Bad));
}

fn text_of(value: Option<&Json>) -> String {
    value.map_or_else(|| "absent".to_owned(), Json::to_python_text)
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    fn rows(difference: &Json) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        add_difference(&mut rows, difference);
        let texts = rows.iter();
        texts
            .map(|(label, both, _)| (label.to_string(), both.to_string()))
            .collect()
    }

    #[test]
    fn only_the_members_that_differ_are_shown() {
        let found = rows(&json!({
            "table": "orders", "key": "#W1",
            "is": {"status": "pending", "by": "ana_1", "to": {"zip": "1", "city": "A"}, "old": 1},
            "should_be": {"status": "cancelled", "by": "ana_1", "to": {"zip": "2", "city": "A"}, "new": [2]},
        }));
        let expected = [
            (
                "orders #W1 status",
                "is \"pending\" and should be \"cancelled\"",
            ),
            ("orders #W1 to zip", "is \"1\" and should be \"2\""),
            ("orders #W1 old", "is 1 and should be absent"),
            ("orders #W1 new", "is absent and should be [2]"),
        ];
        let expected = expected.map(|(label, both)| (label.to_owned(), both.to_owned()));
        assert_eq!(found, expected);
        let whole = rows(&json!({"table": "users", "key": "a", "is": {"n": 1}, "should_be": null}));
        let (label, both) = ("users a", "is {\"n\": 1} and should be null");
        assert_eq!(whole, [(label.to_owned(), both.to_owned())]);
    }
}
