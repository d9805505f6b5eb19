//! Messages for failures of models and servers.

use volary_agent::evaluation::{CellResult, Failure, FailureKind, Status};
use volary_core::json::Text;

/// The number of consecutive failed episodes after which no more are started.
const MOST_MISSES: usize = 3;

/// The message after an episode of a model failed; `None` if the evaluation can continue.
pub(super) fn of_failures(failure: &Failure, misses: usize) -> Option<Text> {
    let message = &failure.message;
    if failure.kind.concerns_all() {
        let advice = "Enter a different key in the settings, then retry the failures.";
        return Some(format!("{message} {advice}").into());
    }
    (misses >= MOST_MISSES).then(|| {
        format!(
            "{misses} episodes in a row failed, so no more are started. Last error: {message} \
             Resume to run the remaining ones, or retry the failures."
        )
        .into()
    })
}

/// The message after a cell failed because the server of its environment is unavailable.
pub(super) fn of_server(result: &CellResult) -> Option<Text> {
    match &result.status {
        Status::Failed(failure) if failure.kind == FailureKind::Server => Some(
            format!(
                "{} Retry the failures when the server works again.",
                failure.message
            )
            .into(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_pauses_only_if_it_concerns_all() {
        let failure = |kind| Failure {
            kind,
            message: "It did.".into(),
        };
        let passing = failure(FailureKind::RateLimit);
        assert_eq!(of_failures(&passing, 2), None);
        assert!(
            of_failures(&passing, 3).is_some_and(|said| said.starts_with("3 episodes in a row"))
        );
        assert!(of_failures(&failure(FailureKind::Key), 1).is_some());
    }
}
