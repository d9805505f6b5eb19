//! A sample as characters with their roles: what the policy read, what it wrote and how probable that was.

use volary_school::record::SampleRecord;

/// The role of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Of the task.
    Prompt,
    /// Written by the environment.
    Reply,
    /// Sampled by the policy, from 0 (improbable) to 4 (sure).
    Sampled(u8),
    /// Made less (−2) to more (2) probable by an update.
    Changed(i8),
}

/// A character of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub character: char,
    pub role: Role,
    /// What a tooltip says.
    pub tip: String,
}

/// The characters of a sample, the sampled ones by their probability.
pub fn by_probability(sample: &SampleRecord) -> Vec<Cell> {
    cells(sample, |token| {
        let probability = f64::from(*sample.log_probs.get(token)?).exp();
        let tip = format!("probability {}", chance(probability));
        Some((Role::Sampled(shade(probability)), tip))
    })
}

/// The characters of a sample, the sampled ones by how an update changed their probability, from log probabilities before
/// and after it.
pub fn by_change(sample: &SampleRecord, before: &[f32], after: &[f32]) -> Vec<Cell> {
    cells(sample, |token| {
        let (before, after) = (
            f64::from(*before.get(token)?),
            f64::from(*after.get(token)?),
        );
        let role = Role::Changed(match after - before {
            change if change < -0.1 => -2,
            change if change < -0.01 => -1,
            change if change <= 0.01 => 0,
            change if change <= 0.1 => 1,
            _ => 2,
        });
        Some((
            role,
            format!("{} → {}", chance(before.exp()), chance(after.exp())),
        ))
    })
}

/// The characters of a sample, the sampled ones by the direction in which the loss pushes them: that of the advantage.
pub fn by_push(sample: &SampleRecord) -> Vec<Cell> {
    let (role, tip) = match sample.advantage {
        low if low < -0.1 => (Role::Changed(-2), "made less probable"),
        low if low < -0.01 => (Role::Changed(-1), "made a little less probable"),
        middle if middle <= 0.01 => (Role::Changed(0), "not pushed"),
        high if high <= 0.1 => (Role::Changed(1), "made a little more probable"),
        _ => (Role::Changed(2), "made more probable"),
    };
    cells(sample, |_| Some((role, tip.to_owned())))
}

fn cells(sample: &SampleRecord, sampled: impl Fn(usize) -> Option<(Role, String)>) -> Vec<Cell> {
    let characters = sample.text.chars().enumerate();
    let cell = |(token, character)| {
        let is_sampled = sample.mask.get(token).copied().unwrap_or(false);
        let (role, tip) = if token < sample.prompt {
            (Role::Prompt, "task".to_owned())
        } else if is_sampled {
            sampled(token).unwrap_or((Role::Sampled(0), String::new()))
        } else {
            (
                Role::Reply,
                "reply of the environment, not trained".to_owned(),
            )
        };
        Cell {
            character,
            role,
            tip,
        }
    };
    characters.map(cell).collect()
}

fn shade(probability: f64) -> u8 {
    match probability {
        low if low < 0.1 => 0,
        low if low < 0.4 => 1,
        middle if middle < 0.7 => 2,
        high if high < 0.95 => 3,
        _ => 4,
    }
}

/// A probability as a percentage, with more digits near 0 and 1.
fn chance(probability: f64) -> String {
    let percent = probability * 100.0;
    if (1.0..=99.0).contains(&percent) {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.2} %")
    }
}

#[cfg(test)]
mod tests {
    use volary_school::Behaviour;

    use super::*;

    fn sample() -> SampleRecord {
        SampleRecord {
            group: 0,
            sample: 0,
            text: "?1=c)>2;".to_owned(),
            prompt: 3,
            mask: vec![false, false, false, true, true, false, false, false],
            log_probs: vec![0.0, 0.0, 0.0, 0.5_f32.ln(), 0.999_f32.ln(), 0.0, 0.0, 0.0],
            behaviour: Behaviour::Unfinished,
            graded: 0.0,
            reward: 0.0,
            advantage: 0.0,
        }
    }

    #[test]
    fn characters_have_the_role_of_who_wrote_them() {
        let cells = by_probability(&sample());
        let roles: Vec<Role> = cells.iter().map(|cell| cell.role).collect();
        let (prompt, reply) = (Role::Prompt, Role::Reply);
        assert_eq!(
            roles,
            [
                prompt,
                prompt,
                prompt,
                Role::Sampled(2),
                Role::Sampled(4),
                reply,
                reply,
                reply
            ]
        );
        assert_eq!(cells[3].tip, "probability 50 %");
        assert_eq!(cells[4].tip, "probability 99.90 %");
    }

    #[test]
    fn a_push_has_the_direction_of_the_advantage() {
        let push = |advantage| {
            let cells = by_push(&SampleRecord {
                advantage,
                ..sample()
            });
            assert_eq!(cells[5].role, Role::Reply);
            (cells[3].role, cells[4].tip.clone())
        };
        let (role, tip) = push(1.4);
        assert_eq!(
            (role, tip.as_str()),
            (Role::Changed(2), "made more probable")
        );
        assert_eq!(push(-0.05).0, Role::Changed(-1));
        let (role, tip) = push(0.0);
        assert_eq!((role, tip.as_str()), (Role::Changed(0), "not pushed"));
    }

    #[test]
    fn changes_have_a_direction_and_a_size() {
        let before = [0.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 0.0];
        let after = [0.0, 0.0, 0.0, -0.5, -1.05, 0.0, 0.0, 0.0];
        let cells = by_change(&sample(), &before, &after);
        assert_eq!(cells[3].role, Role::Changed(2));
        assert_eq!(cells[3].tip, "37 % → 61 %");
        assert_eq!(cells[4].role, Role::Changed(-1));
    }
}
