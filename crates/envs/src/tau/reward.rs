//! The reward: 1 if the data equal the result of the task's own actions and the agent mentioned all required
//! outputs, else 0.

use volary_core::json::Text;
use volary_core::{Json, Object, json};

use super::state::{Difference, State};

/// The reward of an episode, and its parts.
#[derive(Clone, Debug)]
pub struct Reward {
    /// 1 or 0.
    pub value: f64,
    /// Whether the data are correct.
    pub data_is_right: bool,
    /// The required outputs, and whether the agent mentioned them.
    pub outputs: Vec<(Text, bool)>,
    /// The records that differ: `here` the agent's, `there` the correct ones.
    pub differences: Vec<Difference>,
    gold: State,
}

impl Reward {
    /// The reward for data and outputs, compared with the correct data.
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

    /// The hash of the correct data. It is slow, since all data are hashed.
    pub fn gold_hash(&self) -> String {
        self.gold.hash()
    }

    /// The original's information about its reward: the outputs if there are any, else the data.
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
