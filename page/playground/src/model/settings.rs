//! How a model is called: three forms, each generated from a schema, and the value that they represent. Pure.

use volary_agent::model::ToolChoice;
use volary_agent::model::limits::Budget;
use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};
use volary_view::form::Form;

use volary_connections::models::sampling::{self, Sampling};

pub(super) const CONNECTION: &str = "Connection";
const SYSTEM_PROMPT: &str = "System prompt";
const TOOL_CHOICE: &str = "Tool choice";
const MAXIMUM_STEPS: &str = "Maximum steps";
const MAXIMUM_SECONDS: &str = "Maximum seconds";
const TOTAL_TOKENS: &str = "Total tokens";
pub(super) const MAXIMUM_COST: &str = "Maximum cost";

/// Prefix of the option that forces a particular tool; the other options are plain words.
const TOOL: &str = "tool: ";

/// How a model is called, and when to stop.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    /// The name of the connection.
    pub connection: Text,
    pub system_prompt: Option<Text>,
    /// Whether the model must call a tool.
    pub tool_choice: ToolChoice,
    /// Temperature and other sampling options.
    pub sampling: Sampling,
    /// Limits of a run.
    pub budget: Budget,
}

/// The form for the connection and the allowed tools.
pub(super) fn asking_form(connections: &[Text], tools: &[Text]) -> Form {
    Form::new(asking_schema(connections, tools))
}

/// Restores a form from an earlier visit, whatever connections and tools exist now. Returns `None` if the value is not
/// valid.
pub(super) fn asking_form_of(kept: &Json) -> Option<Form> {
    let connection = kept.get(CONNECTION)?.as_text()?.clone();
    let form = Form::with_value(asking_schema(&[connection], &tool_of(kept)), kept);
    (!form.is_raw()).then_some(form)
}

/// The forced tool, if one was chosen.
fn tool_of(asking: &Json) -> Vec<Text> {
    let choice = asking.get(TOOL_CHOICE).and_then(Json::as_text);
    let tool = choice.and_then(|choice| choice.strip_prefix(TOOL));
    tool.map(Text::from).into_iter().collect()
}

/// The same form for other connections and tools; values that are still valid are preserved.
pub(super) fn asking_form_like(form: &Form, connections: &[Text], tools: &[Text]) -> Form {
    if connections.is_empty() {
        // There are no options; preserve the values until there is a connection.
        return form.clone();
    }
    // The tools are unknown until the environment is opened; preserve a choice among them.
    let waiting = form
        .value()
        .map(|value| tool_of(&value))
        .unwrap_or_default();
    let tools = if tools.is_empty() { &waiting } else { tools };
    let fresh = asking_form(connections, tools);
    let (Ok(Json::Object(mut value)), Ok(Json::Object(former))) = (fresh.value(), form.value())
    else {
        return fresh;
    };
    for key in [CONNECTION, SYSTEM_PROMPT, TOOL_CHOICE] {
        let Some(kept) = former.get(key) else {
            continue;
        };
        let mut tried = value.clone();
        tried.insert(key, kept.clone());
        let schema = asking_schema(connections, tools);
        let tried_form = Form::with_value(schema, &Json::Object(tried.clone()));
        if !tried_form.is_raw() && tried_form.value().is_ok() {
            value = tried;
        }
    }
    Form::with_value(asking_schema(connections, tools), &Json::Object(value))
}

fn asking_schema(connections: &[Text], tools: &[Text]) -> Json {
    let mut choices: Vec<Json> = ["required", "auto", "none"].map(Json::from).into();
    choices.extend(tools.iter().map(|tool| format!("{TOOL}{tool}").into()));
    let mut connection = object!({
        "enum": (Json::List(connections.iter().cloned().map(Json::Text).collect())),
        "description": "The model and API key to use."
    });
    if let Some(first) = connections.first() {
        connection.insert("default", first.clone());
    }
    json!({
        "type": "object",
        "properties": {
            CONNECTION: connection,
            SYSTEM_PROMPT: {
                "type": "string",
                "description": "Sent to the model before everything else. Not part of the episode.",
                "format": "multiline",
                "default": ""
            },
            TOOL_CHOICE: {
                "enum": choices,
                "description": "Whether the model must call a tool, may call one, must not, or \
                     must call this one.",
                "default": "required"
            }
        },
        "required": [CONNECTION, SYSTEM_PROMPT, TOOL_CHOICE],
        "additionalProperties": false
    })
}

/// The form of the sampling options. An empty field leaves the default to the provider.
pub(super) fn sampling_form() -> Form {
    Form::new(json!({
        "type": "object",
        "properties": (sampling::properties()),
        "additionalProperties": false
    }))
}

/// The form of the limits on steps, tokens, cost and time.
pub(super) fn limits_form() -> Form {
    Form::new(json!({
        "type": "object",
        "properties": {
            MAXIMUM_STEPS: {
                "type": "integer",
                "description": "Episodes that reach this length are truncated.",
                "default": 20,
                "minimum": 1,
                "maximum": 100000
            },
            MAXIMUM_SECONDS: {
                "type": "number",
                "description": "Elapsed time of one run.",
                "exclusiveMinimum": 0
            },
            TOTAL_TOKENS: {
                "type": "integer",
                "description": "For the whole episode, input and output.",
                "minimum": 1
            },
            MAXIMUM_COST: {
                "type": "number",
                "description": "For the whole episode, in US dollars.",
                "exclusiveMinimum": 0
            }
        },
        "additionalProperties": false
    }))
}

impl Settings {
    /// Builds the settings from the values of the three forms.
    pub fn read(asking: &Json, sampling: &Json, limits: &Json) -> Self {
        let number = |form: &Json, key: &str| form.get(key).and_then(Json::as_f64);
        let count = |key: &str| limits.get(key)?.as_i64()?.try_into().ok();
        let text = |form: &Json, key: &str| form.get(key).and_then(Json::as_text).cloned();
        Settings {
            connection: text(asking, CONNECTION).unwrap_or_default(),
            system_prompt: text(asking, SYSTEM_PROMPT).filter(|prompt| !prompt.trim().is_empty()),
            tool_choice: tool_choice(&text(asking, TOOL_CHOICE).unwrap_or_default()),
            sampling: Sampling::read(sampling),
            budget: Budget {
                steps: count(MAXIMUM_STEPS),
                seconds: number(limits, MAXIMUM_SECONDS),
                tokens: count(TOTAL_TOKENS),
                cost: number(limits, MAXIMUM_COST),
            },
        }
    }
}

fn tool_choice(word: &str) -> ToolChoice {
    match word {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        word => match word.strip_prefix(TOOL) {
            Some(tool) => ToolChoice::Tool(tool.into()),
            None => ToolChoice::Required,
        },
    }
}

/// A short summary of the filled-in fields; `None` if all are empty.
pub(super) fn in_short(form: &Form) -> Option<String> {
    let Ok(Json::Object(value)) = form.value() else {
        return None;
    };
    let value: &Object = &value;
    let words = value
        .iter()
        .map(|(key, value)| format!("{} {}", key.to_lowercase(), value.to_python_text()));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use volary_agent::model::Effort;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<Text> {
        texts.iter().map(|text| Text::from(*text)).collect()
    }

    #[test]
    fn the_forms_are_ready_as_they_are() {
        let asking = asking_form(&texts(&["A", "B"]), &texts(&["f"]));
        let values = [asking, sampling_form(), limits_form()].map(|form| form.value().unwrap());
        let [asking, sampling, limits] = &values;
        let settings = Settings::read(asking, sampling, limits);
        assert_eq!(
            settings,
            Settings {
                connection: "A".into(),
                budget: Budget {
                    steps: Some(20),
                    ..Budget::default()
                },
                ..Settings::default()
            }
        );
    }

    #[test]
    fn without_a_connection_there_is_nothing_to_ask() {
        assert!(asking_form(&[], &[]).value().is_err());
    }

    #[test]
    fn all_settings_can_be_set() {
        let settings = Settings::read(
            &json!({"Connection": "A", "System prompt": "Be brief.", "Tool choice": "tool: f"}),
            &json!({"Temperature": 0.5, "Maximum tokens": 100, "Effort": "low", "Seed": (-1)}),
            &json!({"Maximum steps": 3, "Maximum seconds": 1.5, "Total tokens": 9, "Maximum cost": 0.1}),
        );
        assert_eq!(
            settings,
            Settings {
                connection: "A".into(),
                system_prompt: Some("Be brief.".into()),
                tool_choice: ToolChoice::Tool("f".into()),
                sampling: Sampling {
                    temperature: Some(0.5),
                    max_tokens: Some(100),
                    effort: Some(Effort::Low),
                    seed: Some(-1),
                },
                budget: Budget {
                    steps: Some(3),
                    seconds: Some(1.5),
                    tokens: Some(9),
                    cost: Some(0.1),
                },
            }
        );
    }

    #[test]
    fn form_input_is_kept_where_possible() {
        let value = json!({"Connection": "B", "System prompt": "Hi", "Tool choice": "tool: f"});
        let schema = asking_schema(&texts(&["A", "B"]), &texts(&["f"]));
        let form = Form::with_value(schema, &value);
        let same = asking_form_like(&form, &texts(&["B", "A"]), &texts(&["e", "f"]));
        assert_eq!(same.value(), Ok(value));
        let other = asking_form_like(&form, &texts(&["C"]), &texts(&["g"]));
        assert_eq!(
            other.value(),
            Ok(json!({"Connection": "C", "System prompt": "Hi", "Tool choice": "required"}))
        );
        let none = asking_form_like(&form, &[], &[]);
        assert_eq!(none.value(), form.value());
    }
}
