//! The loss of a token.

use volary_policy::Real;

/// The loss of a token: −min(ρ·A, clip(ρ, 1 − ε, 1 + ε)·A) + β·k3, where ρ = exp(log p − log p_old), and k3 = exp(d) − d − 1
/// with d = log p_reference − log p estimates the divergence from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenLoss {
    pub loss: f32,
    /// The derivative by log p.
    pub slope: f32,
    /// Whether the ratio was outside of its range, so that the advantage has no effect.
    pub is_clipped: bool,
    /// The estimate of the divergence; 0 without a reference.
    pub divergence: f32,
}

/// ε and β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRule {
    pub clip: f32,
    pub kl: f32,
}

impl LossRule {
    /// The loss of a token with its log probability under the policy, the policy that sampled it, and the reference.
    pub fn of_token(
        self,
        log_prob: f32,
        old: f32,
        reference: Option<f32>,
        advantage: f32,
    ) -> TokenLoss {
        let ratio = Real::exp(log_prob - old);
        let (low, high) = (1.0 - self.clip, 1.0 + self.clip);
        let is_clipped = (advantage > 0.0 && ratio > high) || (advantage < 0.0 && ratio < low);
        let bounded = if ratio < low { low } else { ratio };
        let bounded = if bounded > high { high } else { bounded };
        let (plain, clipped) = (ratio * advantage, bounded * advantage);
        let gain = if clipped < plain { clipped } else { plain };
        let mut result = TokenLoss {
            loss: -gain,
            slope: if is_clipped { 0.0 } else { -plain },
            is_clipped,
            divergence: 0.0,
        };
        if let Some(reference) = reference {
            let difference = reference - log_prob;
            let exponential = Real::exp(difference);
            result.divergence = exponential - difference - 1.0;
            result.loss += self.kl * result.divergence;
            result.slope += self.kl * (1.0 - exponential);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_finite_difference() {
        let rule = LossRule { clip: 0.2, kl: 0.3 };
        for log_prob in [-2.5_f32, -1.3, -1.0, -0.9, -0.3] {
            for advantage in [-1.5, 0.0, 0.8] {
                let at = |log_prob| rule.of_token(log_prob, -1.05, Some(-0.7), advantage);
                let step = 1e-2;
                let difference =
                    (at(log_prob + step).loss - at(log_prob - step).loss) / (2.0 * step);
                let slope = at(log_prob).slope;
                assert!(
                    (slope - difference).abs() < 2e-3,
                    "{log_prob} {advantage}: {slope} {difference}"
                );
            }
        }
    }

    #[test]
    fn only_what_went_too_far_in_the_wanted_direction_is_clipped() {
        let rule = LossRule { clip: 0.2, kl: 0.0 };
        let of = |log_prob, advantage| rule.of_token(log_prob, -1.0, None, advantage);
        assert!(of(-0.7, 1.0).is_clipped && of(-0.7, 1.0).slope == 0.0);
        assert!(!of(-0.7, -1.0).is_clipped);
        assert!(of(-1.4, -1.0).is_clipped && !of(-1.4, 1.0).is_clipped);
        // On-policy the ratio is 1, and the slope the advantage.
        assert_eq!(
            (of(-1.0, 2.0).slope, of(-1.0, 2.0).is_clipped),
            (-2.0, false)
        );
    }
}
