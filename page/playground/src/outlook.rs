//! What **Step** would do, in words. Pure.

use volary_app::playground::session::Refusal;
use volary_core::json::Text;

/// What **Step** would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutlook {
    /// Nothing: the episode is being replayed.
    Replaying { done: usize, all: usize },
    /// Nothing: the last step failed, which ended the episode before an answer was submitted.
    Failed,
    /// Nothing, for this reason.
    Refused(Refusal),
    /// Ask the model, which already acts if `is_asked`.
    Model { is_asked: bool },
    /// Call these tools in order.
    Calls(Vec<Text>),
}

impl StepOutlook {
    /// The text for the user.
    pub fn words(&self) -> String {
        match self {
            StepOutlook::Replaying { done, all } => format!("Replaying: {done} of {all} steps."),
            StepOutlook::Failed => {
                "That failed, and a failure ends the episode here. Press Undo and try again."
                    .to_owned()
            }
            StepOutlook::Refused(refusal) => format!("{refusal} {}", refusal.advice()),
            StepOutlook::Model { is_asked: true } => {
                "Waiting for the model. Press Stop to cancel. To act yourself, fill in a tool or \
                 add a call."
                    .to_owned()
            }
            StepOutlook::Model { is_asked: false } => {
                "Step asks the model for one action. To act yourself, fill in a tool or add a call."
                    .to_owned()
            }
            StepOutlook::Calls(names) if names.is_empty() => {
                "Step sends an action without calls.".to_owned()
            }
            StepOutlook::Calls(names) => format!("Step calls {}.", names.join(", then ")),
        }
    }
}

/// A call on one line, truncated.
pub fn short(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_says_what_it_would_send() {
        let calls = |names: &[&str]| {
            let names = names.iter().copied().map(Text::from);
            StepOutlook::Calls(names.collect()).words()
        };
        assert_eq!(calls(&[]), "Step sends an action without calls.");
        assert_eq!(calls(&["f"]), "Step calls f.");
        assert_eq!(calls(&["f", "g", "f"]), "Step calls f, then g, then f.");
        let model = |is_asked| StepOutlook::Model { is_asked }.words();
        assert!(model(true).contains("Press Stop"));
        assert!(model(false).starts_with("Step asks the model"));
    }

    #[test]
    fn a_disabled_step_says_why_and_what_to_do() {
        let replaying = StepOutlook::Replaying { done: 2, all: 7 };
        assert_eq!(replaying.words(), "Replaying: 2 of 7 steps.");
        let over = StepOutlook::Refused(Refusal::Over).words();
        assert!(over.contains("is over") && over.contains("Undo"), "{over}");
    }

    #[test]
    fn a_long_call_is_cut_between_characters() {
        let exact = "é".repeat(120);
        assert_eq!(short(&exact), exact);
        assert_eq!(short(&format!("{exact}é")), format!("{exact}…"));
        assert_eq!(short(""), "");
    }
}
