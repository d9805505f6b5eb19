//! One group explained step by step: rollouts, rewards, advantages, what is pushed, what changed.

use volary_school::{Aggregation, Estimator, GroupRecord, Knobs};

use super::sample_strip::Role;

/// The part of the explanation that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoryStage {
    #[default]
    Rollouts,
    Rewards,
    Advantages,
    Push,
    Change,
}

impl StoryStage {
    pub const ALL: [StoryStage; 5] = [
        StoryStage::Rollouts,
        StoryStage::Rewards,
        StoryStage::Advantages,
        StoryStage::Push,
        StoryStage::Change,
    ];

    pub fn title(self) -> &'static str {
        match self {
            StoryStage::Rollouts => "1. Rollouts",
            StoryStage::Rewards => "2. Rewards",
            StoryStage::Advantages => "3. Advantages",
            StoryStage::Push => "4. Loss",
            StoryStage::Change => "5. What changed",
        }
    }

    /// What the colours of the characters mean.
    pub fn legend(self) -> &'static [(Role, &'static str)] {
        match self {
            StoryStage::Rollouts | StoryStage::Rewards | StoryStage::Advantages => &[
                (Role::Prompt, "task"),
                (Role::Sampled(0), "written, an improbable character"),
                (Role::Sampled(4), "written, a sure one"),
                (Role::Reply, "reply of the environment"),
            ],
            StoryStage::Push | StoryStage::Change => &[
                (Role::Changed(2), "more probable"),
                (Role::Changed(0), "about the same"),
                (Role::Changed(-2), "less probable"),
                (Role::Reply, "reply of the environment"),
            ],
        }
    }
}

/// What a stage says about a group.
pub fn explanation(stage: StoryStage, group: &GroupRecord, knobs: &Knobs) -> String {
    let count = group.samples.len();
    match stage {
        StoryStage::Rollouts => format!(
            "The policy answered the task {} {count} times; each try, from the task to its end, is a rollout. It samples each character by chance, so the answers differ. Framed \
             characters come from the environment.",
            group.prompt
        ),
        StoryStage::Rewards => format!(
            "The grader gave each sample a reward. The mean of the group is {}.",
            number(group.mean)
        ),
        StoryStage::Advantages => advantages(group, knobs),
        StoryStage::Push => {
            let mask = if knobs.has_mask {
                "Only characters that the policy wrote count: the loss mask leaves out the task and the replies."
            } else {
                "The loss mask is off, so the replies of the environment are pushed, too."
            };
            let mean = match knobs.aggregation {
                Aggregation::Tokens => "All trained characters of the batch weigh the same.",
                Aggregation::Samples => "All samples weigh the same, so characters of long samples weigh less.",
                Aggregation::Constant => "Each character has a fixed weight, whatever the lengths.",
            };
            format!(
                "The loss is the number that an update makes smaller. Here it makes every character of a sample with a positive advantage more probable, and those of a sample with \
                 a negative one less probable. {mask} {mean}"
            )
        }
        StoryStage::Change => {
            "After one step of the optimiser the probability of each character is another one. A small step is meant: many of them \
             make a policy. Characters that good and bad samples share are pushed both ways, and hardly change."
                .to_owned()
        }
    }
}

fn advantages(group: &GroupRecord, knobs: &Knobs) -> String {
    let (mean, deviation) = (number(group.mean), number(group.deviation));
    let is_dead = group.deviation == 0.0;
    match knobs.estimator {
        Estimator::Grpo | Estimator::DrGrpo if is_dead => "All rewards are equal, so all advantages are 0: this group teaches \
                                                           nothing. Such a group is called dead."
            .to_owned(),
        Estimator::Grpo => format!(
            "GRPO compares the samples of one task with each other: advantage = (reward − {mean}) / {deviation}, the mean and the \
             standard deviation of the group."
        ),
        Estimator::DrGrpo => format!(
            "Dr. GRPO compares the samples of one task with each other: advantage = reward − {mean}, the mean of the group. It \
             does not divide by the deviation, which would weigh easy and hard tasks more."
        ),
        Estimator::Reinforce => "REINFORCE without a baseline takes the reward itself: nothing that was sampled is discouraged, \
                                 unless its reward is negative."
            .to_owned(),
        Estimator::ReinforceBaseline => "REINFORCE with a baseline subtracts the mean reward of the whole batch: a hard task has \
                                         negative advantages only, an easy one positive ones only."
            .to_owned(),
    }
}

/// A number with at most two decimals and a real minus sign.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.strip_prefix('-') {
        Some("0") => "0".to_owned(),
        Some(positive) => format!("−{positive}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(mean: f64, deviation: f64) -> GroupRecord {
        GroupRecord {
            prompt: "?37*48=".to_owned(),
            samples: Vec::new(),
            mean,
            deviation,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    #[test]
    fn advantages_are_explained_as_they_are_computed() {
        let mut knobs = Knobs::default();
        let told = explanation(StoryStage::Advantages, &group(0.375, 0.5175), &knobs);
        assert!(
            told.contains("(reward − 0.38) / 0.52") || told.contains("(reward − 0.37) / 0.52"),
            "{told}"
        );
        assert!(explanation(StoryStage::Advantages, &group(1.0, 0.0), &knobs).contains("dead"));
        knobs.estimator = Estimator::Reinforce;
        assert!(
            explanation(StoryStage::Advantages, &group(1.0, 0.0), &knobs)
                .contains("without a baseline")
        );
        knobs.has_mask = false;
        assert!(explanation(StoryStage::Push, &group(1.0, 0.0), &knobs).contains("mask is off"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [number(1.0), number(-0.5), number(-0.001), number(0.375)],
            ["1", "−0.5", "0", "0.38"]
        );
    }
}
