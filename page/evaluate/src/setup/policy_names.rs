//! Names for policies of one kind, by the settings in which they differ: `model (temperature 0.2)`. Pure.
//!
//! Invariants: all names of a plan differ, and a policy whose kind occurs once has the name of its kind.

use volary_agent::evaluation::PlannedPolicy;
use volary_core::json::{Json, Object, Text};

use super::policy_form;

/// The maximum length of a setting in a name, in characters.
const LONGEST: usize = 24;

/// Gives policies of the same name the settings in which they differ. Those with equal settings are numbered.
pub(super) fn distinguish(policies: &mut [PlannedPolicy]) {
    let names: Vec<Text> = policies.iter().map(|policy| policy.name.clone()).collect();
    let settings: Vec<Object> = policies.iter().map(settings).collect();
    for (place, policy) in policies.iter_mut().enumerate() {
        let same = names.iter().zip(&settings);
        let same = same.filter(|(name, _)| **name == names[place]);
        let same: Vec<&Object> = same.map(|(_, settings)| settings).collect();
        let differing = differing_keys(&same).into_iter();
        let differing = differing.map(|key| setting_text(key, settings[place].get(key)));
        let differing: Vec<String> = differing.collect();
        if !differing.is_empty() {
            policy.name = format!("{} ({})", policy.name, differing.join(", ")).into();
        }
    }
    number(policies);
}

/// Numbers the policies whose names are still the same.
fn number(policies: &mut [PlannedPolicy]) {
    for place in 0..policies.len() {
        let (before, rest) = policies.split_at_mut(place);
        if let Some(policy) = rest.first_mut() {
            let stem = policy.name.clone();
            let mut number = 1;
            while before.iter().any(|other| other.name == policy.name) {
                number += 1;
                policy.name = format!("{stem} {number}").into();
            }
        }
    }
}

fn settings(policy: &PlannedPolicy) -> Object {
    let (_, value) = policy_form(policy);
    value.as_object().cloned().unwrap_or_default()
}

/// The keys whose values are not the same in all settings, in the order of the form.
fn differing_keys<'a>(settings: &[&'a Object]) -> Vec<&'a str> {
    let mut keys: Vec<&str> = Vec::new();
    for key in settings.iter().flat_map(|settings| settings.keys()) {
        if !keys.contains(&&**key) {
            keys.push(key);
        }
    }
    keys.retain(|key| {
        let mut values = settings.iter().map(|settings| settings.get(key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    });
    keys
}

fn setting_text(key: &str, value: Option<&Json>) -> String {
    let key = key.to_lowercase();
    match value {
        None | Some(Json::Null) => format!("default {key}"),
        Some(Json::Text(text)) => match text.split_whitespace().collect::<Vec<_>>().join(" ") {
            empty if empty.is_empty() => format!("no {key}"),
            text if text.contains(' ') => format!("{key} “{}”", shortened(&text)),
            text => format!("{key} {}", shortened(&text)),
        },
        Some(value) => format!("{key} {}", shortened(&value.to_display())),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::Actor;
    use volary_core::object;

    use super::*;

    fn model(settings: Object, max_steps: usize) -> PlannedPolicy {
        PlannedPolicy {
            name: "small".into(),
            actor: Actor::Model {
                connection: "small".into(),
                settings,
            },
            max_steps,
        }
    }

    fn random(max_steps: usize) -> PlannedPolicy {
        PlannedPolicy {
            name: "random".into(),
            actor: Actor::Random,
            max_steps,
        }
    }

    fn names(mut policies: Vec<PlannedPolicy>) -> Vec<String> {
        distinguish(&mut policies);
        policies
            .iter()
            .map(|policy| policy.name.to_string())
            .collect()
    }

    #[test]
    fn names_show_the_settings_that_differ() {
        let prompt = "Think first, then call one of the tools and explain.";
        let policies = vec![
            model(
                object!({"Temperature": 0.2, "System prompt": "", "Seed": 1}),
                20,
            ),
            random(50),
            model(object!({"System prompt": prompt, "Seed": 1}), 20),
        ];
        assert_eq!(
            names(policies),
            [
                "small (temperature 0.2, no system prompt)",
                "random",
                "small (default temperature, system prompt “Think first, then call o…”)",
            ]
        );
        assert_eq!(
            names(vec![random(5), random(50)]),
            ["random (maximum steps 5)", "random (maximum steps 50)"]
        );
    }

    #[test]
    fn equal_policies_are_numbered() {
        let expected = ["random", "random 2", "random 3"];
        assert_eq!(names(vec![random(5), random(5), random(5)]), expected);
        let mixed = names(vec![random(5), random(5), random(6)]);
        let expected = [
            "random (maximum steps 5)",
            "random (maximum steps 5) 2",
            "random (maximum steps 6)",
        ];
        assert_eq!(mixed, expected);
    }

    #[test]
    fn all_names_differ() {
        let prompts = [
            "",
            " ",
            "a",
            "a a",
            "a a a a a a a a a a a a a",
            "a a a a a a a a a a a a b",
        ];
        let models = prompts.map(|prompt| model(object!({"System prompt": prompt}), 20));
        let mut found = names([random(1), random(1)].into_iter().chain(models).collect());
        let count = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "{found:?}");
    }
}
