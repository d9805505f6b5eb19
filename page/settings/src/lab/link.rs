//! Links to an input of the lab, and the messages of an episode in the lab's format. Pure.

use volary_core::{Json, json};
use volary_episode::Episode;
use volary_episode::share::{LIMIT, ShareError, pack, unpack};
use volary_export::messages_jsonl;
use volary_tokens::Builtin;

use super::input::Input;

/// Encodes an input for a link. The error says why it has no link.
pub(super) fn encode(input: &Input) -> Result<String, String> {
    let object = json!({
        "template": (input.template.map(Builtin::name).map(str::to_owned)),
        "source": (input.source.clone()),
        "messages": (input.messages.clone()),
        "tools": (input.tools.clone()),
        "generation": (input.add_generation_prompt)
    });
    pack(&object.to_compact_text()).map_err(|error| match error {
        ShareError::TooLong { length, .. } => format!(
            "The input is too long for a link: it would have {length} characters, and many programs break links of more than {LIMIT}."
        ),
        error => error.to_string(),
    })
}

/// Decodes an input. Its fields may still be invalid; the lab shows the errors.
pub(super) fn decode(text: &str) -> Result<Input, String> {
    let text = unpack(text).map_err(|error| error.to_string())?;
    let value = json::read(&text).map_err(|_| ShareError::Damaged.to_string())?;
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Json::as_text)
            .map(|text| text.to_string())
    };
    let template = text("template");
    Ok(Input {
        template: template.as_deref().and_then(Builtin::from_name),
        source: text("source").unwrap_or_default(),
        messages: text("messages").ok_or_else(|| ShareError::Damaged.to_string())?,
        tools: text("tools").unwrap_or_default(),
        add_generation_prompt: value
            .get("generation")
            .and_then(Json::as_bool)
            .unwrap_or_default(),
    })
}

/// The messages and tools of an episode, as texts of the fields.
pub(super) fn of_episode(episode: &Episode) -> (String, String) {
    let line = messages_jsonl::line(episode);
    fields(&line.into())
}

/// The messages and tools of an object with `messages`, as texts of the fields.
pub(super) fn fields(record: &Json) -> (String, String) {
    let text = |key: &str| match record.get(key) {
        Some(Json::List(list)) => {
            let items = list
                .iter()
                .map(|item| format!("  {}", item.to_python_text()));
            format!("[\n{}\n]", items.collect::<Vec<_>>().join(",\n"))
        }
        _ => String::new(),
    };
    (text("messages"), text("tools"))
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, Text, object};

    use super::*;
    use crate::lab::examples::EXAMPLES;

    #[test]
    fn inputs_come_back() {
        for example in &EXAMPLES {
            let mut input = example.input();
            assert_eq!(decode(&encode(&input).unwrap()), Ok(input.clone()));
            input.template = None;
            input.source = "{{ messages }} ü".to_owned();
            input.add_generation_prompt = true;
            assert_eq!(decode(&encode(&input).unwrap()), Ok(input));
        }
    }

    #[test]
    fn a_malformed_link_is_an_error() {
        let link = encode(&EXAMPLES[0].input()).unwrap();
        assert!(decode(&link[..link.len() - 4]).is_err());
        assert!(decode("").is_err());
        assert!(decode(&pack("{}").unwrap()).is_err());
        let mut input = EXAMPLES[0].input();
        // Digits that do not compress.
        input.messages = (0..20_000u64)
            .map(|number| (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11).to_string())
            .collect();
        assert!(encode(&input).unwrap_err().contains("too long"));
    }

    #[test]
    fn an_episode_gives_its_messages() {
        let episode = Episode {
            start: vec![Message::new(Role::User, Text::from("Hi")).into()],
            ..Episode::default()
        };
        let (messages, tools) = of_episode(&episode);
        assert!(
            json::read(&messages)
                .unwrap()
                .as_list()
                .is_some_and(|list| list.len() == 1),
            "{messages}"
        );
        assert_eq!(tools, "");
        let record =
            object!({ "messages": (vec![object!({ "role": "user" })]), "tools": (vec![1]) });
        assert_eq!(fields(&record.into()).1, "[\n  1\n]");
    }
}
