//! The knobs of a run as form fields: a label, what the knob does, and what to look for.

use volary_school::{Aggregation, Estimator, Grader, Knobs};

/// The control of a knob.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    Number,
    /// Values and labels.
    Choice(&'static [(&'static str, &'static str)]),
    Switch,
}

/// A setting of a run, with its texts and how it is read and written.
pub struct KnobField {
    /// The name in links.
    pub name: &'static str,
    pub label: &'static str,
    /// What it does, and what to look for.
    pub help: &'static str,
    pub control: Control,
    get: fn(&Knobs) -> String,
    set: fn(&mut Knobs, &str) -> Option<()>,
}

impl KnobField {
    /// The value as text; `true` or `false` for a switch.
    pub fn value(&self, knobs: &Knobs) -> String {
        (self.get)(knobs)
    }

    /// The knobs with another value; `None` if the text is no such value. Ranges are those of [`Knobs::check`].
    pub fn changed(&self, knobs: &Knobs, value: &str) -> Option<Knobs> {
        let mut knobs = knobs.clone();
        (self.set)(&mut knobs, value.trim())?;
        Some(knobs)
    }
}

/// Reads a decimal number, also one with a comma.
fn decimal(text: &str) -> Option<f64> {
    text.replace(',', ".").parse().ok()
}

macro_rules! number {
    ($name:ident, $label:literal, $help:literal) => {
        KnobField {
            name: stringify!($name),
            label: $label,
            help: $help,
            control: Control::Number,
            get: |knobs| knobs.$name.to_string(),
            set: |knobs, text| {
                knobs.$name = decimal(text)?;
                Some(())
            },
        }
    };
}

macro_rules! whole_number {
    ($name:ident, $label:literal, $help:literal) => {
        KnobField {
            name: stringify!($name),
            label: $label,
            help: $help,
            control: Control::Number,
            get: |knobs| knobs.$name.to_string(),
            set: |knobs, text| {
                knobs.$name = text.parse().ok()?;
                Some(())
            },
        }
    };
}

const ESTIMATORS: &[(&str, &str)] = &[
    ("grpo", "GRPO"),
    ("dr_grpo", "Dr. GRPO"),
    ("reinforce_baseline", "REINFORCE, batch baseline"),
    ("reinforce", "REINFORCE, no baseline"),
];

const AGGREGATIONS: &[(&str, &str)] = &[
    ("tokens", "mean over tokens"),
    ("samples", "mean over samples"),
    ("constant", "sum over tokens, fixed divisor"),
];

const GRADERS: &[(&str, &str)] = &[("honest", "the environment"), ("leaky", "one with a leak")];

/// The knobs in the order of display.
pub const KNOB_FIELDS: [KnobField; 14] = [
    whole_number!(
        group,
        "Group size",
        "Samples of each task that are compared with each other. With 2, the rewards of a group are often equal, so that it teaches nothing: watch Checks."
    ),
    whole_number!(
        prompts,
        "Tasks an update",
        "More tasks make an update steadier, and slower."
    ),
    KnobField {
        name: "estimator",
        label: "Advantage",
        help: "How rewards become advantages. Without a baseline, nothing that was sampled becomes less probable.",
        control: Control::Choice(ESTIMATORS),
        get: |knobs| {
            match knobs.estimator {
                Estimator::Grpo => "grpo",
                Estimator::DrGrpo => "dr_grpo",
                Estimator::Reinforce => "reinforce",
                Estimator::ReinforceBaseline => "reinforce_baseline",
            }
            .to_owned()
        },
        set: |knobs, text| {
            knobs.estimator = match text {
                "grpo" => Estimator::Grpo,
                "dr_grpo" => Estimator::DrGrpo,
                "reinforce" => Estimator::Reinforce,
                "reinforce_baseline" => Estimator::ReinforceBaseline,
                _ => return None,
            };
            Some(())
        },
    },
    number!(
        temperature,
        "Temperature",
        "How freely it samples. At 0.2 samples of a task are alike, and nothing new is found."
    ),
    number!(
        learning_rate,
        "Learning rate",
        "The size of a step. Too large, and success collapses: try 0.02."
    ),
    whole_number!(
        updates_per_batch,
        "Steps a batch",
        "Steps of the optimiser with one batch. From the second on, ratios leave 1 and are clipped."
    ),
    number!(
        clip,
        "Clipping ε",
        "The ratio of new to old probability counts only within 1 ± ε. It matters with two or more steps a batch."
    ),
    number!(
        kl,
        "KL weight β",
        "Holds the policy to the warm start. A large one keeps it from learning."
    ),
    number!(
        call_price,
        "Price of a call",
        "Subtracted for each tool call. Watch how often it still calls the tool."
    ),
    number!(
        length_price,
        "Price of a character",
        "Subtracted for each character that it writes: it is rewarded for being brief."
    ),
    KnobField {
        name: "aggregation",
        label: "Loss",
        help: "How the losses of characters become one number: long samples weigh more, the same, or by their length.",
        control: Control::Choice(AGGREGATIONS),
        get: |knobs| {
            match knobs.aggregation {
                Aggregation::Tokens => "tokens",
                Aggregation::Samples => "samples",
                Aggregation::Constant => "constant",
            }
            .to_owned()
        },
        set: |knobs, text| {
            knobs.aggregation = match text {
                "tokens" => Aggregation::Tokens,
                "samples" => Aggregation::Samples,
                "constant" => Aggregation::Constant,
                _ => return None,
            };
            Some(())
        },
    },
    KnobField {
        name: "grader",
        label: "Grader",
        help: "Who gives rewards. One with a leak also pays for something easier, and the policy finds it.",
        control: Control::Choice(GRADERS),
        get: |knobs| {
            match knobs.grader {
                Grader::Honest => "honest",
                Grader::Leaky => "leaky",
            }
            .to_owned()
        },
        set: |knobs, text| {
            knobs.grader = match text {
                "honest" => Grader::Honest,
                "leaky" => Grader::Leaky,
                _ => return None,
            };
            Some(())
        },
    },
    KnobField {
        name: "has_mask",
        label: "Loss mask",
        help: "Trains only what the policy wrote. Off, it also learns to write the environment's replies.",
        control: Control::Switch,
        get: |knobs| knobs.has_mask.to_string(),
        set: |knobs, text| {
            knobs.has_mask = text.parse().ok()?;
            Some(())
        },
    },
    whole_number!(
        seed,
        "Seed",
        "Tasks and samples follow from it: the same seed gives the same curve everywhere. Another one begins again."
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_but_the_environment_has_a_field_with_its_name_in_links() {
        let knobs = serde_json::to_value(Knobs::default()).unwrap();
        let mut names: Vec<&str> = KNOB_FIELDS.iter().map(|field| field.name).collect();
        names.push("environment");
        names.sort_unstable();
        let mut members: Vec<&str> = knobs
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        members.sort_unstable();
        assert_eq!(names, members);
    }

    #[test]
    fn a_field_reads_what_it_shows() {
        let knobs = Knobs::default();
        for field in &KNOB_FIELDS {
            let value = field.value(&knobs);
            assert_eq!(
                field.changed(&knobs, &value),
                Some(knobs.clone()),
                "{}",
                field.name
            );
            assert_eq!(field.changed(&knobs, "nonsense"), None, "{}", field.name);
            if let Control::Choice(choices) = field.control {
                for (value, _) in choices {
                    let changed = field.changed(&knobs, value).unwrap();
                    assert_eq!(field.value(&changed), *value);
                }
            }
        }
    }

    #[test]
    fn a_comma_is_a_decimal_point() {
        let temperature = KNOB_FIELDS
            .iter()
            .find(|field| field.name == "temperature")
            .unwrap();
        let changed = temperature.changed(&Knobs::default(), " 0,5 ").unwrap();
        assert_eq!(changed.temperature, 0.5);
    }
}
