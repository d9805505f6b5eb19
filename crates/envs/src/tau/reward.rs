//! The reward: 1 if the data are those that the task's own actions leave and everything was said that had
//! to be said, else 0.

use volary_core::json::Text;
use volary_core::{Json, Object, json};

use super::state::{Difference, State};

/// The reward of an episode, and what it is made of.
#[derive(Clone, Debug)]
pub struct Reward {
    /// 1 or 0.
    pub value: f64,
    /// Whether the data are the right ones.
    pub data_is_right: bool,
    /// What the agent had to say, and whether it did.
    pub outputs: Vec<(Text, bool)>,
    /// The records that differ: the agent's here, the right ones there.
    pub differences: Vec<Difference>,
    gold: State,
}

impl Reward {
    /// The reward for data and outputs, against the right data.
    pub fn new(state: &State, gold: State, outputs: Vec<(Text, bool)>) -> Self {
        let differences = state.differences(&gold);
        let data_is_right = differences.is_empty();
        let right = data_is_right && outputs.iter().all(|(_, said)| *said);
        Reward {
            value: number(right),
            data_is_right,
            outputs,
            differences,
            gold,
        }
    }

    /// The hash of the right data. It takes a while: all data are hashed.
    pub fn gold_hash(&self) -> String {
        self.gold.hash()
    }

    /// What the original says of its reward: the outputs if there are any, else the data.
    pub fn info(&self) -> Json {
        if self.outputs.is_empty() {
            return json!({
                "r_actions": (number(self.data_is_right)),
                "gt_data_hash": (self.gold_hash()),
            });
        }
        let outputs = self.outputs.iter();
        let said: Object = outputs
            .map(|(output, said)| (output.to_string().into(), (*said).into()))
            .collect();
        let all = self.outputs.iter().all(|(_, said)| *said);
        json!({"r_outputs": (number(all)), "outputs": said})
    }
}

fn number(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}
